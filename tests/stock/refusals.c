// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Permission to count with perf_events, and the refusals: one line that names the setting and the
 * remedy. The settings are Linux's own, set by the test.
 */
#include "stock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define FAILED (125 << 8)

static const char instructions_u[] = "instructions:u";
static const char instructions_uk[] = "instructions:uk";

/* One line of perfex that has all the words, without a result. */
static void expect_refusal(const struct run *r, const char *what, const char *const words[])
{
	ck_assert_msg(r->status == FAILED, "%s: wait status %#x: %s", what, r->status, r->err);
	ck_assert_msg(strncmp(r->err, "perfex: ", 8) == 0 &&
			      strchr(r->err, '\n') == r->err + strlen(r->err) - 1,
		      "%s: not one line: %s", what, r->err);
	for (; *words; words++)
		ck_assert_msg(strstr(r->err, *words), "%s: no \"%s\" in: %s", what, *words, r->err);
}

#define WORDS(...)                                                                                 \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

/* Runs perfex as an ordinary user, with one capability or none (""). */
static void run_as_user(struct run *r, const char *capability, const char *event)
{
	char inheritable[32], ambient[32];

	snprintf(inheritable, sizeof(inheritable), "--inh-caps=-all%s", capability);
	snprintf(ambient, sizeof(ambient), "--ambient-caps=-all%s", capability);
	RUN(r, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", inheritable, ambient,
	    "perfex", "-e", event, program("loop"));
}

static const struct {
	const char *paranoid;
	const char *capability;
	bool user, kernel; /* may be counted */
} levels[] = {
	/* Levels above 2 are Debian's own. There CAP_PERFMON is not enough. */
	{ "4", "", false, false },
	{ "3", "", false, false },
	{ "3", ",+perfmon", false, false },
	{ "3", ",+sys_admin", true, true },
	{ "2", "", true, false },
	{ "2", ",+perfmon", true, true },
	{ "1", "", true, true },
};

START_TEST(each_level_of_perf_event_paranoid_allows_what_linux_says)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		const char *level = levels[i].paranoid;
		const char *who = level[0] > '2' ? "CAP_SYS_ADMIN" : "CAP_PERFMON";
		struct run r;

		write_file(PARANOID, level);
		run_as_user(&r, levels[i].capability, instructions_u);
		if (levels[i].user)
			ck_assert_uint_eq(printed_count(r.err, instructions_u),
					  LOOP_INSTRUCTIONS(SHORT_LOOP));
		else
			expect_refusal(&r, level, WORDS("perf_event_paranoid", who, level));
		run_as_user(&r, levels[i].capability, instructions_uk);
		if (levels[i].kernel)
			ck_assert_uint_gt(printed_count(r.err, instructions_uk),
					  LOOP_INSTRUCTIONS(SHORT_LOOP));
		else
			expect_refusal(&r, level, WORDS("perf_event_paranoid", who));
	}
	write_file(PARANOID, "3");
}
END_TEST

static void expect_filter_is_named(int error)
{
	struct run r;

	forbid_perf_events(error);
	errno = 0;
	ck_assert_int_eq(perf_open(0, 0, 0, 0, -1), -1);
	ck_assert_int_eq(errno, error);
	RUN(&r, "perfex", program("loop"));
	expect_refusal(&r, strerror(error), WORDS("perf_event_open", "seccomp", "container"));
}

START_TEST(a_container_s_filter_that_says_eperm_is_named)
{
	expect_filter_is_named(EPERM);
}
END_TEST

START_TEST(a_container_s_filter_that_says_enosys_is_named)
{
	expect_filter_is_named(ENOSYS);
}
END_TEST

START_TEST(a_missing_patch_is_named_when_asked_for)
{
	struct run r;

	RUN(&r, "perfex", "--backend", "patch", program("loop"));
	expect_refusal(&r, "--backend patch", WORDS("/dev/perfctr", "modprobe perfctr"));
}
END_TEST

START_TEST(a_wrong_backend_gets_the_list_of_the_right_ones)
{
	struct run r;

	RUN(&r, "perfex", "--backend", "nothing", program("loop"));
	expect_refusal(&r, "--backend nothing", WORDS("nothing", "patch", "perf_events"));
	RUN(&r, "env", "PERFCTR_BACKEND=nothing", "perfex", program("loop"));
	expect_refusal(&r, "PERFCTR_BACKEND=nothing", WORDS("nothing", "patch", "perf_events"));
}
END_TEST

SUITE(refusals, each_level_of_perf_event_paranoid_allows_what_linux_says,
      a_container_s_filter_that_says_eperm_is_named, a_container_s_filter_that_says_enosys_is_named,
      a_missing_patch_is_named_when_asked_for, a_wrong_backend_gets_the_list_of_the_right_ones)
