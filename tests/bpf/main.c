// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * usage: bpf-tests [events | lost | attacks | hidden | hostile | memory | yama | end | notify | forged | unused |
 * walk]
 */
#include "bpf.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *which; /* "": without an argument */
	TCase *(*make)(void);
} cases[] = {
	{ "", self_tests },	     { "", tree_tests },	   { "", remote_tests },
	{ "", mark_tests },	     { "", cost_tests },	   { "events", event_tests },
	{ "", self_clock_tests },    { "", mark_clock_tests },	   { "lost", lost_event_tests },
	{ "attacks", attack_tests }, { "yama", yama_tests },	   { "attacks", slot_tests },
	{ "end", end_tests },	     { "hostile", hostile_tests }, { "notify", notify_tests },
	{ "hidden", hidden_tests },  { "memory", memory_tests },   { "forged", forged_tests },
	{ "unused", unused_tests },  { "attacks", exit_tests },	   { "walk", walk_tests },
	{ "attacks", proof_tests },
};

TCase *clock_case(const char *name)
{
	TCase *tests = tcase_create(name);

	tcase_set_timeout(tests, 60);
	tcase_set_tags(tests, "clock");
	return tests;
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "";
	Suite *suite = suite_create("bpf");
	SRunner *runner;
	int failed, n = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(cases[i].which, which) == 0) {
			suite_add_tcase(suite, cases[i].make());
			n++;
		}
	if (!n) {
		fprintf(stderr,
			"bpf-tests: there are events, lost, attacks, hidden, hostile, memory, yama, end, "
			"notify, forged, unused and walk, not '%s'\n",
			which);
		return 1;
	}
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
