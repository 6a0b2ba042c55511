/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the tests of all PMU families. The program is static and does without libcheck: kernels
 * of the older families cannot execute any other 32-bit program. It speaks to the kernel through
 * its ABI only, except for reads in user mode.
 */
#ifndef FAMILIES_H
#define FAMILIES_H

#define _GNU_SOURCE

#include <errno.h>
#include <linux/perfctr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* Prints what is not so, for the reader of the log. The test has failed then. */
#define EXPECT(condition)                                                                          \
	((condition) || (printf("%s:%d: not so: %s (errno: %s)\n", __FILE__, __LINE__, #condition, \
				strerror(errno)),                                                  \
			 false))
#define EXPECT_EQUAL(got, expected)                                                                \
	expect_equal(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(expected))
#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!EXPECT(condition))                                                            \
			return false;                                                              \
	} while (0)

bool expect_equal(const char *file, int line, const char *what, uint64_t got, uint64_t expected);

/* profile.c: a line of the file profiles */
struct registers {
	uint64_t evntsel;
	uint64_t evntsel2;
};

struct counting {
	uint32_t counter;
	struct registers event; /* without modes */
};

struct event_list {
	size_t n;
	struct counting of[PERFCTR_MAX_COUNTERS];
};

struct profile {
	const char *name;
	const char *family;
	unsigned int cpus;
	unsigned int n_general, general_bits;
	unsigned int n_fixed, fixed_bits;
	uint32_t features; /* PERFCTR_FEATURE_* */
	bool hides;	   /* hides counters that are not the thread's */
	bool perf;	   /* Linux has a driver of its own for the PMU */
	struct event_list instructions;
	struct event_list branches;
	struct registers user;
	struct registers kernel;
};

#define PROFILE_COLUMNS 10
/* Returns false, and prints what is wrong on stderr. */
bool profile_parse(struct profile *profile, char *const columns[PROFILE_COLUMNS]);
extern struct profile profile; /* of this machine */
/* Is it this processor, or a 64-bit one that claims to be it: PROCESSOR-64? */
bool profile_is_of(const char *processor);
/* Are user and kernel mode counted apart? */
bool profile_has_modes(void);
/* Does the count have so many user instructions, and those of the kernel meanwhile? */
bool is_count_of_both_modes(uint64_t count, uint64_t user_instructions);

/* context.c */
enum mode { USER = 1, KERNEL = 2, BOTH = USER | KERNEL };

int context_open(pid_t tid); /* -1 with errno */
int mark_open(void);
bool mark(int mark_fd, pid_t tid);
int session_open(int mark_fd, uint32_t policy);
int device_call(unsigned long request, void *argument);
struct perfctr_control control_empty(uint32_t flags);
void control_add(struct perfctr_control *control, const struct counting *counting, enum mode mode);
struct perfctr_control control_one(const struct counting *counting, enum mode mode);
bool context_control(int fd, const struct perfctr_control *control);
/* Does the kernel return this control? */
bool is_told(int fd, const struct perfctr_control *control);
struct perfctr_counts counts_of(int fd, uint32_t scope);
/*
 * The final counts of a thread that waits, or is about to. Linux calls a thread sleeping before it
 * has left its CPU.
 */
struct perfctr_counts counts_at_rest(int fd);
struct perfctr_pmu_info machine_info(void);
bool pin(pid_t tid, unsigned int cpu);

/*
 * workload.c: a child that executes rounds. In each one it reads a byte, executes the loop and
 * writes the byte. Its instructions in user mode are known by hand. Its system calls are INT 80H.
 */
struct workload {
	int in;
	int out;
	uint32_t rounds;
	uint32_t loop; /* iterations in each round */
};

/* From fork() to the child's end. */
uint64_t workload_instructions(const struct workload *w);
uint64_t workload_branches(const struct workload *w);
/* From a moment at which the child waits for its first byte to its end. */
uint64_t waiting_instructions(const struct workload *w);
uint64_t waiting_branches(const struct workload *w);
/* From one wait to the next. */
uint64_t round_instructions(const struct workload *w);

pid_t workload_fork(const struct workload *w);
/* fork(), and then waits until the child waits for its first byte. */
pid_t workload_waiting(const struct workload *w);
bool wait_until_waiting(pid_t pid);
bool reap(pid_t pid);
/* Input and output that never block. */
int zeros(void);
int nowhere(void);

/* counts.c: the counts of n children of this thread, which run side by side; fd: its context */
bool count_children_of(int fd, const struct perfctr_control *control, const struct workload *w,
		       unsigned int n, struct perfctr_counts *counts);

/* Tests of each machine with counters, and of all machines. */
bool machine_is_what_its_profile_says(void);
bool instructions_are_exact_on_every_counter(void);
bool branches_are_exact_on_every_counter(void);
bool controls_are_told_as_they_were_set(void);
bool all_counters_count_at_once(void);
bool user_and_kernel_make_up_both(void);
bool kernel_mode_alone_has_no_user_instruction(void);
bool children_inherit_and_are_counted_exactly(void);
bool two_programs_that_alternate_are_exact(void);
bool two_programs_that_alternate_do_not_count_each_other(void);
bool counts_of_both_modes_hold_the_user_instructions(void);
bool programs_that_migrate_are_exact(void);
bool reads_of_the_thread_itself_lie_between_read_calls(void);
bool rdpmc_is_for_those_who_may(void);
bool e3_counters_of_others_are_hidden_from_rdpmc(void);
bool counters_that_others_left_frozen_count(void);

/* Executes RDPMC. Returns false if it faults. Not for two threads at a time. */
bool read_pmc(uint32_t index, uint64_t *value);

/* foreign.c */
void run_for_a_while(void); /* over many ticks */
bool registers_that_somebody_writes_are_put_right_and_it_is_told(void);

/* period.c */
bool periods_are_exact_on_every_counter_or_refused(void);
bool periods_of_all_counters_at_once_are_exact(void);
bool a_period_of_more_than_2_to_the_31_ends(void);
bool p4_a_period_and_fast_rdpmc_exclude_each_other(void);

/* sample.c */
bool samples_tell_all_events_of_every_counter_or_are_refused(void);
bool has_overflow_status(void);
bool no_overflow_is_left_in_the_status_register(void);
bool distances_are_known(void);
bool counters_are_set_as_near_to_their_overflow_as_the_model_allows(void);

/* hybrid.c */
bool kind_info(uint32_t number, struct perfctr_kind *kind);
bool hybrid_kinds_are_told(void);
bool hybrid_controls_are_refused_for_the_right_reason(void);
bool hybrid_linux_itself_counts_the_same_on_each_kind(void);
bool hybrid_events_of_one_kind_count_there_alone(void);
bool hybrid_codes_mean_what_they_mean_on_their_kind(void);
bool e4_hybrid_rounds_on_kinds_at_random_are_exact_with_their_time(void);
bool hybrid_parts_make_up_the_whole_at_any_moment(void);
bool hybrid_self_reads_are_exact_on_each_kind(void);
bool hybrid_self_reads_across_migrations_are_exact(void);
bool hybrid_children_inherit_kinds(void);
bool hybrid_sessions_count_on_both_kinds(void);
bool hybrid_cores_may_go_and_come(void);

/* kinds.c */
bool hybrid_rdpmc_of_a_counter_that_is_not_here_is_executed(void);
bool hybrid_rdpmc_of_a_counter_that_is_nowhere_faults(void);
bool hybrid_threads_that_migrate_read_their_own_counters(void);
bool hybrid_a_session_with_events_of_kinds_agrees_with_a_context(void);
bool hybrid_a_kind_whose_last_cpu_goes_waits_for_it(void);
bool hybrid_counters_that_are_not_here_are_no_disturbance(void);

/* mute.c */
bool has_a_cpu_that_cannot_count(void);
bool a_cpu_that_cannot_count_comes_and_it_is_told(void);
bool has_watchdog(void);
bool the_first_to_count_leaves_a_cpu_alone_that_cannot(void);

/* p4.c */
bool p4_counters_have_the_routes_of_the_manual(void);
bool p4_controls_are_refused_for_the_right_reason(void);
bool p4_uops_tagged_for_another_control_do_not_count(void);
bool p4_a_session_neither_tags_nor_takes_a_context_s_tags_away(void);
bool p4_a_detector_that_a_session_has_is_nobody_elses(void);
bool p4_the_event_whose_detector_is_taken_is_named(void);
bool p4_the_library_finds_the_counters_of_a_free_detector(void);
bool only_the_time_stamp_can_be_controlled(void);
bool the_time_stamp_counts_while_the_thread_runs(void);
/* Print the MSR accesses of a switch. Return false if there are more than necessary. */
bool a_switch_writes_no_more_than_it_has_to(void);
bool a_gate_writes_no_more_than_it_has_to(void);

/* perf.c */
bool linux_itself_counts_the_same(void);
bool perf_events_and_contexts_keep_each_other_out(void);
/* uncore.c: AMD's counters that all processors share */
bool has_uncore(void);
bool counters_of_the_uncore_that_count_are_not_shown(void);
bool counters_of_the_uncore_that_count_are_not_shown_to_who_maps_a_page_then(void);
bool counters_of_the_uncore_that_count_are_not_shown_to_threads_that_are_not_counted(void);

/* refusals.c: for the profiles in its table */
bool refusals_are_known(void);
bool counters_that_cannot_count_an_event_are_refused(void);
bool is_pentium(void);
bool pentium_takes_the_codes_of_its_events_and_no_others(void);

/* fuzz.c: n controls, the same ones for the same seed */
bool fuzz(uint64_t seed, unsigned long n);

#endif
