/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * These tests do what programs of perfctr 2.6 do, as such a program: they use only the old header.
 * Each test prints what is not so, and returns false.
 */
#ifndef OLD_H
#define OLD_H

#include <errno.h>
#include <libperfctr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "../guest/loop.h"

#define EXPECT(condition)                                                                          \
	((condition) || (printf("%s:%d: not so: %s (errno: %s)\n", __FILE__, __LINE__, #condition, \
				strerror(errno)),                                                  \
			 false))
#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!EXPECT(condition))                                                            \
			return false;                                                              \
	} while (0)
#define REFUSED(call, error) EXPECT((errno = 0, (call) < 0) && errno == (error))
#define REFUSED_POINTER(call, error) EXPECT((errno = 0, !(call)) && errno == (error))

/* Both structs must have been filled in as a whole. */
static inline bool is_same(const void *one, const void *other, size_t size)
{
	return memcmp(one, other, size) == 0;
}

#define ITERATIONS 100000u

/* From the command line: the profile, and two events that count user instructions. */
struct machine {
	unsigned int cpu_type;
	unsigned int n_counters;
	unsigned int n_events; /* 0 or 2 */
	struct {
		unsigned int evntsel, escr, pmc;
	} event[2];
};

extern struct machine machine;

/* The counting backend: PERFCTR_BACKEND, or the kernel driver. */
enum { DRIVER = 1, PERF_EVENTS = 2, BPF = 4, ANY = DRIVER | PERF_EVENTS | BPF };
bool runs_on(unsigned int backends);

/* The time stamp, and all events of the machine. */
struct vperfctr_control control_of_all(void);
/* Only the time stamp. */
struct vperfctr_control control_of_tsc(void);
/* With the driver, every family that has a machine here has interrupts. */
bool can_interrupt(void);
/* The first event counts. The second one counts from -events to an interrupt, which sends SIGIO. */
struct vperfctr_control interrupting(int events);
/* A state of the calling thread that counts under the control. */
struct vperfctr *counting(struct vperfctr_control control);
/* Ends the state and the handle. */
void end_state(struct vperfctr *self);
/*
 * A child that waits for a byte from the pipe, executes a loop of n and exits. Except for the loop,
 * it always counts the same.
 */
pid_t looping_child(uint32_t n, int *pipe_to_child);
/* Waits until the process is in a system call. */
void wait_until_asleep(pid_t pid);
bool release_child(pid_t pid, int pipe_to_child);
/*
 * count_child returns the sums of such a child. The sums of two children differ by the instructions
 * of their loops.
 */
bool loops_are_counted(bool (*count_child)(uint32_t n, struct perfctr_sum_ctrs *sum));

bool the_machine_is_called_as_in_2_6(void);
bool text_is_that_of_2_6(void);
bool cpus_are_told(void);
bool own_instructions_are_counted(void);
bool a_fixed_counter_takes_no_event(void);
bool the_time_stamp_is_read_a_million_times(void);
bool a_second_handle_controls(void);
bool a_state_stays_when_handles_are_closed(void);
bool preserved_counters_go_on(void);
bool the_time_stamp_goes_on(void);
bool sums_stay_after_stop_and_unlink(void);
bool sums_stay_after_the_threads_exit(void);
bool each_thread_has_its_own(void);
bool a_forked_child_has_none(void);
bool an_unlinked_state_ends_with_a_forked_child(void);
bool a_new_program_has_none(void);
bool another_process_is_counted(void);
bool a_running_process_is_read(void);
bool what_another_program_counts_is_read(void);
bool counters_that_interrupt_stop_and_go_on(void);
bool what_interrupts_is_refused_as_in_2_6(void);
bool controls_are_refused_as_in_2_6(void);
bool what_ran_goes_on_after_a_refusal(void);
bool a_descriptor_asks(void);
bool a_control_is_read_back(void);
bool a_descriptor_goes_to_another_process(void);
bool a_state_by_descriptor_needs_the_driver(void);
bool cpus_are_counted(void);
bool cpus_in_two_ways_are_counted(void);
bool two_handles_count_different_cpus_in_two_ways(void);
bool cpus_are_refused(void);
bool a_handle_has_its_own_cpus(void);
bool a_refused_control_of_a_cpu_changes_nothing(void);
bool lost_counts_of_a_cpu_are_no_zeros(void);
bool a_state_outlives_taken_counters(void);
bool who_may_not_is_refused(void);

#endif
