// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf.h"

int main(void)
{
	Suite *suite = suite_create("bpf");
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, self_tests());
	suite_add_tcase(suite, tree_tests());
	suite_add_tcase(suite, remote_tests());
	suite_add_tcase(suite, group_tests());
	suite_add_tcase(suite, cost_tests());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
