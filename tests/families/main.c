// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * families SEED NUMBER COLUMN...: runs the tests of the machine that a line of the file profiles
 * describes, and puts NUMBER controls, made from SEED, to the kernel. Prints a line for each test:
 * "ok NAME" or "FAILED NAME".
 */
#include "families.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct profile profile;

/* MODELESS: the counters count user and kernel mode together. */
enum machine { EVENTS = 1, TIMESTAMP = 2, MODELESS = 4, COUNTERS = EVENTS | MODELESS, ANY = 7 };

#define TEST(machine, function)                                                                    \
	{                                                                                          \
		machine, #function, function                                                       \
	}

static const struct {
	enum machine machine;
	const char *name;
	bool (*function)(void);
} tests[] = {
	TEST(ANY, machine_is_what_its_profile_says),
	TEST(EVENTS, linux_itself_counts_the_same),
	TEST(EVENTS, perf_events_and_contexts_keep_each_other_out),
	TEST(EVENTS, instructions_are_exact_on_every_counter),
	TEST(EVENTS, branches_are_exact_on_every_counter),
	TEST(EVENTS, controls_are_told_as_they_were_set),
	TEST(EVENTS, all_counters_count_at_once),
	TEST(EVENTS, user_and_kernel_make_up_both),
	TEST(EVENTS, kernel_mode_alone_has_no_user_instruction),
	TEST(EVENTS, children_inherit_and_are_counted_exactly),
	TEST(EVENTS, two_programs_that_alternate_are_exact),
	TEST(EVENTS, programs_that_migrate_are_exact),
	TEST(MODELESS, counts_of_both_modes_hold_the_user_instructions),
	TEST(MODELESS, two_programs_that_alternate_do_not_count_each_other),
	TEST(COUNTERS, reads_of_the_thread_itself_lie_between_read_calls),
	TEST(COUNTERS, rdpmc_is_for_those_who_may),
	TEST(EVENTS, a_switch_writes_no_more_than_it_has_to),
	TEST(EVENTS, a_gate_writes_no_more_than_it_has_to),
	TEST(EVENTS, e3_counters_of_others_are_hidden_from_rdpmc),
	TEST(EVENTS, counters_of_the_uncore_that_count_are_not_shown),
	TEST(EVENTS, counters_of_the_uncore_that_count_are_not_shown_to_who_maps_a_page_then),
	TEST(EVENTS, counters_of_the_uncore_that_count_are_not_shown_to_threads_that_are_not_counted),
	TEST(EVENTS, counters_that_others_left_frozen_count),
	TEST(COUNTERS, registers_that_somebody_writes_are_put_right_and_it_is_told),
	TEST(COUNTERS, periods_are_exact_on_every_counter_or_refused),
	TEST(EVENTS, periods_of_all_counters_at_once_are_exact),
	TEST(COUNTERS, samples_tell_all_events_of_every_counter_or_are_refused),
	TEST(EVENTS, a_period_of_more_than_2_to_the_31_ends),
	TEST(EVENTS, no_overflow_is_left_in_the_status_register),
	TEST(EVENTS, counters_are_set_as_near_to_their_overflow_as_the_model_allows),
	TEST(EVENTS, hybrid_kinds_are_told),
	TEST(EVENTS, hybrid_controls_are_refused_for_the_right_reason),
	TEST(EVENTS, hybrid_linux_itself_counts_the_same_on_each_kind),
	TEST(EVENTS, hybrid_events_of_one_kind_count_there_alone),
	TEST(EVENTS, hybrid_codes_mean_what_they_mean_on_their_kind),
	TEST(EVENTS, e4_hybrid_rounds_on_kinds_at_random_are_exact_with_their_time),
	TEST(EVENTS, hybrid_parts_make_up_the_whole_at_any_moment),
	TEST(EVENTS, hybrid_self_reads_are_exact_on_each_kind),
	TEST(EVENTS, hybrid_self_reads_across_migrations_are_exact),
	TEST(EVENTS, hybrid_children_inherit_kinds),
	TEST(EVENTS, hybrid_sessions_count_on_both_kinds),
	TEST(EVENTS, hybrid_cores_may_go_and_come),
	TEST(EVENTS, hybrid_rdpmc_of_a_counter_that_is_not_here_is_executed),
	TEST(EVENTS, hybrid_rdpmc_of_a_counter_that_is_nowhere_faults),
	TEST(EVENTS, hybrid_threads_that_migrate_read_their_own_counters),
	TEST(EVENTS, hybrid_a_session_with_events_of_kinds_agrees_with_a_context),
	TEST(EVENTS, hybrid_a_kind_whose_last_cpu_goes_waits_for_it),
	TEST(EVENTS, hybrid_counters_that_are_not_here_are_no_disturbance),
	TEST(EVENTS, the_first_to_count_leaves_a_cpu_alone_that_cannot),
	TEST(EVENTS, a_cpu_that_cannot_count_comes_and_it_is_told),
	TEST(EVENTS, p4_counters_have_the_routes_of_the_manual),
	TEST(EVENTS, p4_controls_are_refused_for_the_right_reason),
	TEST(EVENTS, p4_uops_tagged_for_another_control_do_not_count),
	TEST(EVENTS, p4_a_session_neither_tags_nor_takes_a_context_s_tags_away),
	TEST(EVENTS, p4_a_detector_that_a_session_has_is_nobody_elses),
	TEST(EVENTS, p4_the_event_whose_detector_is_taken_is_named),
	TEST(EVENTS, p4_the_library_finds_the_counters_of_a_free_detector),
	TEST(EVENTS, p4_a_period_and_fast_rdpmc_exclude_each_other),
	TEST(COUNTERS, counters_that_cannot_count_an_event_are_refused),
	TEST(EVENTS, pentium_takes_the_codes_of_its_events_and_no_others),
	TEST(TIMESTAMP, only_the_time_stamp_can_be_controlled),
	TEST(ANY, the_time_stamp_counts_while_the_thread_runs),
};

/* A test that does not apply is not counted as passed. */
static bool applies(size_t i)
{
	enum machine machine = !profile.n_general    ? TIMESTAMP
			       : profile_has_modes() ? EVENTS
						     : MODELESS;

	if (tests[i].function == the_first_to_count_leaves_a_cpu_alone_that_cannot)
		return has_a_cpu_that_cannot_count() && has_watchdog();
	/* All other tests run on the same machine without this CPU. */
	if (tests[i].function != machine_is_what_its_profile_says &&
	    has_a_cpu_that_cannot_count() !=
		    (tests[i].function == a_cpu_that_cannot_count_comes_and_it_is_told))
		return false;
	if (tests[i].function == branches_are_exact_on_every_counter && !profile.branches.n)
		return false;
	if ((tests[i].function == linux_itself_counts_the_same ||
	     tests[i].function == perf_events_and_contexts_keep_each_other_out) &&
	    !profile.perf)
		return false;
	if (tests[i].function == e3_counters_of_others_are_hidden_from_rdpmc && !profile.hides)
		return false;
	if (tests[i].function == periods_of_all_counters_at_once_are_exact &&
	    !(profile.features & PERFCTR_FEATURE_INTERRUPT))
		return false;
	if (tests[i].function == a_period_of_more_than_2_to_the_31_ends &&
	    (profile.general_bits != 40 || !(profile.features & PERFCTR_FEATURE_INTERRUPT)))
		return false;
	if (tests[i].function == counters_that_others_left_frozen_count &&
	    strcmp(profile.name, "arch-v4") && strcmp(profile.name, "arch-v5") &&
	    strcmp(profile.name, "arch-v6"))
		return false;
	if (tests[i].function == no_overflow_is_left_in_the_status_register &&
	    !has_overflow_status())
		return false;
	if (tests[i].function == counters_are_set_as_near_to_their_overflow_as_the_model_allows &&
	    !distances_are_known())
		return false;
	if (strstr(tests[i].name, "_of_the_uncore_") && !has_uncore())
		return false;
	if (strstr(tests[i].name, "hybrid_") && strncmp(profile.name, "hybrid", 6))
		return false;
	if (!strncmp(tests[i].name, "p4_", 3) && strncmp(profile.name, "p4", 2))
		return false;
	if (tests[i].function == programs_that_migrate_are_exact && profile.cpus == 1)
		return false;
	if (tests[i].function == counters_that_cannot_count_an_event_are_refused &&
	    !refusals_are_known())
		return false;
	if (tests[i].function == pentium_takes_the_codes_of_its_events_and_no_others &&
	    !is_pentium())
		return false;
	return tests[i].machine & machine;
}

static unsigned int failed;

static void report(bool good, const char *name)
{
	printf("%s %s\n", good ? "ok     " : "FAILED ", name);
	failed += !good;
}

/*
 * In a process group of its own: processes that a failed test leaves behind must not fail the next
 * one.
 */
static bool passes(bool (*test)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		setpgid(0, 0);
		_exit(test() ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	waitpid(pid, &status, 0);
	kill(-pid, SIGKILL);
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	uint64_t seed;
	unsigned long n;

	setvbuf(stdout, NULL, _IONBF, 0); /* children print too */
	if (argc != 3 + PROFILE_COLUMNS) {
		fputs("usage: families SEED NUMBER COLUMN...\n", stderr);
		return EXIT_FAILURE;
	}
	seed = strtoull(argv[1], NULL, 0);
	n = strtoul(argv[2], NULL, 0);
	if (!profile_parse(&profile, argv + 3))
		return EXIT_FAILURE;
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		if (applies(i))
			report(passes(tests[i].function), tests[i].name);
	if (n && profile.n_general && !has_a_cpu_that_cannot_count())
		report(fuzz(seed, n), "no_control_harms_the_machine");
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
