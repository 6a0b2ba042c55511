// SPDX-License-Identifier: GPL-2.0-or-later
/* guest-tests [SUITE]...: runs the suites named, or lists them all. */
#include "guest.h"
#include "perf_beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	Suite *(*create)(void);
} suites[] = {
	{ "baseline", baseline_suite },
	{ "beside", beside_suite },
	{ "births", births_suite },
	{ "busy", busy_suite },
	{ "calibrate", calibrate_suite },
	{ "charges", charges_suite },
	{ "conservation", conservation_suite },
	{ "container", container_suite },
	{ "control", control_suite },
	{ "counts", counts_suite },
	{ "derive", derive_suite },
	{ "disturbed", disturbed_suite },
	{ "domains", domains_suite },
	{ "experiment", experiment_suite },
	{ "fail_contexts", fail_contexts_suite },
	{ "fail_life", fail_life_suite },
	{ "fail_marks", fail_marks_suite },
	{ "fail_sessions", fail_sessions_suite },
	{ "forks", forks_suite },
	{ "gate", gate_suite },
	{ "gate_unpatched", gate_unpatched_suite },
	{ "holding", holding_suite },
	{ "isolation", isolation_suite },
	{ "leak", leak_suite },
	{ "life", life_suite },
	{ "machine_report", machine_report_suite },
	{ "mark", mark_suite },
	{ "module_births", module_births_suite },
	{ "module_cost", module_cost_suite },
	{ "module_settings", module_settings_suite },
	{ "module_load", module_load_suite },
	{ "module_kvm", module_kvm_suite },
	{ "module_room", module_room_suite },
	{ "names", names_suite },
	{ "matrix", matrix_suite },
	{ "members", members_suite },
	{ "neighbours", neighbours_suite },
	{ "nohz", nohz_suite },
	{ "overflow_signal", overflow_signal_suite },
	{ "overflow_signal_life", overflow_signal_life_suite },
	{ "overflow_signal_limits", overflow_signal_limits_suite },
	{ "overflow_signal_prompt", overflow_signal_prompt_suite },
	{ "page", page_suite },
	{ "maps", maps_suite },
	{ "paranoid", paranoid_suite },
	{ "perfex", perfex_suite },
	{ "perfex_compare", perfex_compare_suite },
	{ "perfex_hybrid", perfex_hybrid_suite },
	{ "perfex_jobs", perfex_jobs_suite },
	{ "perfex_long", perfex_long_suite },
	{ "perfex_output", perfex_output_suite },
	{ "perfex_record", perfex_record_suite },
	{ "perfex_rotate", perfex_rotate_suite },
	{ "perfex_run", perfex_run_suite },
	{ "perfex_terminal", perfex_terminal_suite },
	{ "perfex_time", perfex_time_suite },
	{ "period", period_suite },
	{ "period_prompt", period_prompt_suite },
	{ "sandbox", sandbox_suite },
	{ "sample", sample_suite },
	{ "sample_life", sample_life_suite },
	{ "sample_prompt", sample_prompt_suite },
	{ "permission", permission_suite },
	{ "power", power_suite },
	{ "protocol", protocol_suite },
	{ "rdpmc", rdpmc_suite },
	{ "rdpmc_table", rdpmc_table_suite },
	{ "read", read_suite },
	{ "record", record_suite },
	{ "regions", regions_suite },
	{ "regions_traced", regions_traced_suite },
	{ "remote", remote_suite },
	{ "sequences", sequences_suite },
	{ "sequences_sleep", sequences_sleep_suite },
	{ "screens", screens_suite },
	{ "screens_few", screens_few_suite },
	{ "session", session_suite },
	{ "session_cpus", session_cpus_suite },
	{ "session_limits", session_limits_suite },
	{ "session_marks", session_marks_suite },
	{ "session_pages", session_pages_suite },
	{ "session_safety", session_safety_suite },
	{ "suspend", suspend_suite },
	{ "starved", starved_suite },
	{ "strangers", strangers_suite },
	{ "suspend_fails", suspend_fails_suite },
	{ "switch", switch_suite },
	{ "switch_unpatched", switch_unpatched_suite },
	{ "system", system_suite },
	{ "system_cpus", system_cpus_suite },
	{ "told", told_suite },
	{ "totals", totals_suite },
	{ "totals_large", totals_large_suite },
	{ "totals_life", totals_life_suite },
	{ "trace", trace_suite },
	{ "tree", tree_suite },
	{ "validity", validity_suite },
	{ "validity_amd", validity_amd_suite },
	{ "validity_hybrid", validity_hybrid_suite },
	{ "validity_miscount", validity_miscount_suite },
	{ "validity_p4", validity_p4_suite },
	{ "validity_thesis", validity_thesis_suite },
	{ "validity_zen", validity_zen_suite },
	{ "zen", zen_suite },
};

static Suite *find_suite(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(suites); i++)
		if (strcmp(suites[i].name, name) == 0)
			return suites[i].create();
	return NULL;
}

/* The machine may have been booted with the watchdog. The tests need the counters, as users do. */
static void switch_watchdog_off(void)
{
	FILE *f = fopen(NMI_WATCHDOG, "r+");

	if (!f)
		return;
	if (getc(f) == '1') {
		rewind(f);
		fputs("0", f);
		puts("the NMI watchdog had a counter");
	}
	fclose(f);
}

int main(int argc, char **argv)
{
	SRunner *runner = NULL;
	bool failed;

	read_test_rounds();
	setenv("CK_DEFAULT_TIMEOUT", "120", 0);
	for (int i = 1; i < argc; i++) {
		Suite *suite = find_suite(argv[i]);

		if (!suite) {
			fprintf(stderr, "guest-tests: no suite \"%s\"\n", argv[i]);
			return EXIT_FAILURE;
		}
		if (runner)
			srunner_add_suite(runner, suite);
		else
			runner = srunner_create(suite);
	}
	if (!runner) {
		fputs("usage: guest-tests SUITE...; suites:", stderr);
		for (size_t i = 0; i < ARRAY_SIZE(suites); i++)
			fprintf(stderr, " %s", suites[i].name);
		fputc('\n', stderr);
		return EXIT_FAILURE;
	}
	setvbuf(stdout, NULL, _IONBF, 0);	/* children print too */
	perf_beside_start();
	switch_watchdog_off();
	srunner_run_all(runner, CK_VERBOSE);
	failed = srunner_ntests_failed(runner);
	failed |= !perf_beside_finish();
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
