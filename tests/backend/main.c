// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * backend-tests --backend NAME [--partly]: prints each sentence of the contract as a line
 * "contract|SENTENCE|RESULT". RESULT is one of ok, FAILED and - (the backend lacks the capability).
 * A sentence that was not asked for has no line. --partly: the backend may lack capabilities that
 * its manual names.
 */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct contract *const contracts[] = {
	context_contract, count_contract,   tree_contract,
	mark_contract,	  session_contract, permission_contract,
};

#define FOR_EACH_CONTRACT(c)                                                                       \
	for (size_t i_ = 0; i_ < ARRAY_SIZE(contracts); i_++)                                      \
		for (const struct contract *c = contracts[i_]; c->test; c++)

static uint32_t can;

uint32_t capabilities(void)
{
	return can;
}

/* Is the backend there? Then this fills in `can`. */
static bool ask_backend(bool whole)
{
	struct perfctr_backend_info info;

	if (perfctr_backend(NULL, &info) < 0) {
		fprintf(stderr, "backend-tests: %s\n", info.why);
		return false;
	}
	can = info.capabilities | (whole ? WHOLE : 0) | (getuid() ? 0 : BY_ROOT);
	if (perfctr_mark_clear(NULL, 0, PERFCTR_MARK_THREAD) == 0 || errno != ENOTSUP)
		can |= KEEPS_MARKS;
	if (!perfctr_open_tid(0, 0) && errno != ENOTSUP)
		can |= KEEPS_CONTEXTS;
	return true;
}

static bool is_possible(const struct contract *contract)
{
	uint32_t needs = contract->needs & ~BY_CLOCK;

	return (can & needs) == needs;
}

/* Each test is a case of its own, because libcheck reports the results of cases by name. */
static void add_test(Suite *suite, const struct contract *contract)
{
	TCase *tests = tcase_create((*contract->test)->name);

	tcase_set_timeout(tests, 400);
	if (contract->needs & BY_CLOCK)
		tcase_set_tags(tests, "clock");
	tcase_add_test(tests, *contract->test);
	suite_add_tcase(suite, tests);
}

/* libcheck leaves the test out by itself. */
static bool is_asked_for(const struct contract *contract)
{
	const char *excluded = getenv("CK_EXCLUDE_TAGS");

	return !(contract->needs & BY_CLOCK) || !excluded || !strstr(excluded, "clock");
}

static const char *result_of(const char *name, TestResult *const results[], int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(tr_tcname(results[i]), name) == 0)
			return tr_rtype(results[i]) == CK_PASS ? "ok" : "FAILED";
	return "-";
}

static void print_result(const char *name, const char *result)
{
	printf("contract|");
	for (; *name; name++)
		putchar(*name == '_' ? ' ' : *name);
	printf("|%s\n", result);
}

int main(int argc, char **argv)
{
	bool partly = argc == 4 && strcmp(argv[3], "--partly") == 0;
	Suite *suite = suite_create("backend");
	TestResult **results;
	SRunner *runner;
	int failed, n;

	if (argc != (partly ? 4 : 3) || strcmp(argv[1], "--backend") != 0) {
		fprintf(stderr, "usage: backend-tests --backend NAME [--partly]\n");
		return EXIT_FAILURE;
	}
	setenv("PERFCTR_BACKEND", argv[2], 1);
	if (!ask_backend(!partly))
		return EXIT_FAILURE;
	FOR_EACH_CONTRACT(c)
	if (is_possible(c))
		add_test(suite, c);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	results = srunner_results(runner);
	n = srunner_ntests_run(runner);
	FOR_EACH_CONTRACT(c)
	if (is_asked_for(c))
		print_result((*c->test)->name, result_of((*c->test)->name, results, n));
	free(results);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
