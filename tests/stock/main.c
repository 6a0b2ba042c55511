// SPDX-License-Identifier: GPL-2.0-or-later
/* stock-tests SUITE...: runs the suites named. */
#include "stock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	Suite *(*create)(void);
} suites[] = {
	{ "command", command_suite },	{ "contexts", contexts_suite }, { "no_pmu", no_pmu_suite },
	{ "refusals", refusals_suite }, { "witness", witness_suite },
};

int main(int argc, char **argv)
{
	SRunner *runner = srunner_create(NULL);
	int failed;

	for (int i = 1; i < argc; i++) {
		size_t n = 0;

		while (n < ARRAY_SIZE(suites) && strcmp(suites[n].name, argv[i]) != 0)
			n++;
		if (n == ARRAY_SIZE(suites)) {
			fprintf(stderr, "stock-tests: no suite \"%s\"\n", argv[i]);
			return EXIT_FAILURE;
		}
		srunner_add_suite(runner, suites[n].create());
	}
	setvbuf(stdout, NULL, _IONBF, 0); /* children print too */
	srunner_run_all(runner, CK_VERBOSE);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
