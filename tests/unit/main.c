// SPDX-License-Identifier: GPL-2.0-or-later
#include "unit.h"

#include <stdlib.h>

int main(void)
{
	Suite *suite = suite_create("unit");
	SRunner *runner;
	int failed;

	/*
	 * The timeout is for tests that hang.  With sanitizers or on a loaded host tests take longer than libcheck's 4
	 * seconds.
	 */
	setenv("CK_DEFAULT_TIMEOUT", "120", 0);
	suite_add_tcase(suite, event_tests());
	suite_add_tcase(suite, family_tests());
	suite_add_tcase(suite, names_tests());
	suite_add_tcase(suite, names_refused_tests());
	suite_add_tcase(suite, names_listed_tests());
	suite_add_tcase(suite, names_tables_tests());
	suite_add_tcase(suite, opened_tests());
	suite_add_tcase(suite, hybrid_tests());
	suite_add_tcase(suite, listing_tests());
	suite_add_tcase(suite, habits_tests());
	suite_add_tcase(suite, assign_tests());
	suite_add_tcase(suite, control_tests());
	suite_add_tcase(suite, error_tests());
	suite_add_tcase(suite, read_tests());
	suite_add_tcase(suite, bpf_slot_tests());
	suite_add_tcase(suite, prepare_tests());
	suite_add_tcase(suite, regions_tests());
	suite_add_tcase(suite, regions_named_tests());
	suite_add_tcase(suite, perfex_tests());
	suite_add_tcase(suite, compare_tests());
	suite_add_tcase(suite, derive_tests());
	suite_add_tcase(suite, groups_tests());
	suite_add_tcase(suite, diff_tests());
	suite_add_tcase(suite, limits_tests());
	suite_add_tcase(suite, merge_tests());
	suite_add_tcase(suite, experiment_tests());
	suite_add_tcase(suite, rules_tests());
	suite_add_tcase(suite, together_tests());
	suite_add_tcase(suite, student_tests());
	suite_add_tcase(suite, estimate_tests());
	suite_add_tcase(suite, report_tests());
	suite_add_tcase(suite, machine_tests());
	suite_add_tcase(suite, against_tests());
	suite_add_tcase(suite, fit_tests());
	suite_add_tcase(suite, warn_tests());
	suite_add_tcase(suite, kernels_tests());
	suite_add_tcase(suite, stat_of_tests());
	suite_add_tcase(suite, statistics_tests());
	suite_add_tcase(suite, format_tests());
	suite_add_tcase(suite, software_tests());
	suite_add_tcase(suite, strangers_tests());
	suite_add_tcase(suite, hierarchy_tests());
	suite_add_tcase(suite, samples_tests());
	suite_add_tcase(suite, path_tests());
	suite_add_tcase(suite, rank_tests());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
