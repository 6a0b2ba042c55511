// SPDX-License-Identifier: GPL-2.0-or-later
/* Loops of known length: in one thread, in a thread that moves between CPUs, and in children. */
#define _GNU_SOURCE
#include "loop.h"
#include "machine.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The empty loop, then lengths over five decades. */
static const unsigned long lengths[] = { 0, 100, 1000, 10000, 100000, 1000000, 10000000 };

enum {
	N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]),
	RUNS = 10,
	CHILDREN = 8,
	CHILD_LENGTHS = 4,
	MOVE_MS = 1,
};

static void report_fit(const struct loop_event *event, const struct loop_runs *runs, unsigned int n,
		       struct outcome *outcome)
{
	struct loop_fit fit;

	if (!fit_loops(runs, n, event->per_iteration, &fit)) {
		const struct loop_runs *bad = &runs[fit.bad];

		add_detail(
			outcome,
			"%s: %llu + %u for each of %llu iterations expected, %llu counted at least",
			event->spec, (unsigned long long)fit.overhead, event->per_iteration,
			(unsigned long long)bad->iterations, (unsigned long long)bad->least);
		if (fit.bad_missing)
			end_check(outcome, VERDICT_FAILED, "%s: %llu are missing", event->spec,
				  (unsigned long long)fit.bad_missing);
		end_check(outcome, VERDICT_FAILED,
			  "%s: %llu too many in %u runs, of which %llu are explained", event->spec,
			  (unsigned long long)fit.bad_beyond, bad->runs,
			  (unsigned long long)bad->allowed);
	}
	add_detail(outcome,
		   "%s: %llu + %u for each iteration, as counted by hand; %llu beyond in all runs, "
		   "%llu explained",
		   event->spec, (unsigned long long)fit.overhead, event->per_iteration,
		   (unsigned long long)fit.beyond, (unsigned long long)fit.allowed);
}

void check_loops(const struct subject *subject, struct outcome *outcome)
{
	struct loop_runs runs[N_LOOP_EVENTS][N_LENGTHS] = { 0 };
	struct perfctr *meter = meter_open(subject, 0, outcome);
	struct perfctr_counts counts;
	int cpu = pin_here(outcome);

	meter_loop(meter, 0, &counts, outcome);
	for (unsigned int i = 0; i < N_LENGTHS; i++) {
		struct surroundings around = surroundings_begin(cpu);

		for (unsigned int k = 0; k < RUNS; k++) {
			meter_loop(meter, lengths[i], &counts, outcome);
			for (unsigned int e = 0; e < subject->n_events; e++)
				loop_runs_add(&runs[e][i], counts.counter[e]);
		}
		surroundings_end(&around, cpu);
		for (unsigned int e = 0; e < subject->n_events; e++) {
			runs[e][i].iterations = lengths[i];
			runs[e][i].allowed = allowed_beyond(&around);
		}
	}
	for (unsigned int e = 0; e < subject->n_events; e++)
		report_fit(&loop_events[e], runs[e], N_LENGTHS, outcome);
	add_uncounted(subject, outcome);
	end_check(outcome, VERDICT_PASSED, "%s", "");
}

void check_migration(const struct subject *subject, struct outcome *outcome)
{
	const struct cpu_list *cpus = &subject->cpus;
	struct surroundings around;
	struct looper *looper;
	uint64_t ordered = 0;

	need_events(subject, outcome);
	if (cpus->n < 2)
		end_check(outcome, VERDICT_IMPOSSIBLE, "perfex may run on one CPU alone");
	looper = start_looper(subject, cpus->cpu[0], find_iterations(subject->phase_ms), outcome);
	around = surroundings_begin(-1);
	release_loopers(&looper, 1, outcome);
	while (is_looping(looper)) {
		ordered++;
		pin_to(looper->pid, cpus->cpu[ordered % cpus->n], outcome);
		sleep_ms(MOVE_MS);
	}
	await_looper(looper, outcome);
	surroundings_end(&around, -1);
	add_detail(outcome, "it was sent to another CPU %llu times, over %u CPUs",
		   (unsigned long long)ordered, cpus->n);
	if (subject->backend.capabilities & PERFCTR_CAN_SWITCHES)
		add_detail(outcome, "it was on another CPU than before %llu times",
			   (unsigned long long)looper->counts.migrations);
	judge_looper(subject, looper, "", around, outcome);
	add_uncounted(subject, outcome);
	if (!judge_moves(ordered, subject->backend.capabilities & PERFCTR_CAN_SWITCHES
					  ? looper->counts.migrations
					  : ordered))
		end_check(outcome, VERDICT_FAILED, "its migrations are not what was ordered");
	end_check(outcome, VERDICT_PASSED, "%s", "");
}

/* Starts a child that executes nothing but the loop, so that all else is the same in each child. */
static void start_loop(unsigned long iterations, struct outcome *outcome)
{
	pid_t pid = (pid_t)syscall(SYS_fork);

	if (pid == 0) {
		run_loop(iterations);
		syscall(SYS_exit, 0);
	}
	if (pid < 0)
		end_check(outcome, VERDICT_IMPOSSIBLE, "a process cannot be started: %m");
}

/* Starts the children and waits for them.  Child k, counted from 0, runs (k + 1) * iterations. */
static void run_children(unsigned long iterations, struct outcome *outcome)
{
	for (unsigned int k = 0; k < CHILDREN; k++)
		start_loop((k + 1) * iterations, outcome);
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static void count_children(const struct perfctr *meter, unsigned long iterations,
			   struct perfctr_counts *counts, struct outcome *outcome)
{
	struct perfctr_counts before;

	meter_read(meter, PERFCTR_SCOPE_CHILDREN, &before, outcome);
	run_children(iterations, outcome);
	meter_read(meter, PERFCTR_SCOPE_CHILDREN, counts, outcome);
	for (unsigned int i = 0; i < counts->n_counters; i++)
		counts->counter[i] -= before.counter[i];
}

void check_inheritance(const struct subject *subject, struct outcome *outcome)
{
	struct loop_runs runs[N_LOOP_EVENTS][CHILD_LENGTHS] = { 0 };
	struct perfctr_counts counts;
	struct perfctr *meter;

	need_events(subject, outcome);
	if (!(subject->backend.capabilities & PERFCTR_CAN_INHERIT))
		end_check(outcome, VERDICT_IMPOSSIBLE, "this backend counts single threads");
	meter = meter_open(subject, PERFCTR_CONTROL_INHERIT, outcome);
	count_children(meter, 0, &counts, outcome);
	for (unsigned int i = 0; i < CHILD_LENGTHS; i++) {
		unsigned long length = i ? lengths[i + 2] : 0;
		struct surroundings around = surroundings_begin(-1);

		for (unsigned int k = 0; k < RUNS; k++) {
			count_children(meter, length, &counts, outcome);
			for (unsigned int e = 0; e < subject->n_events; e++)
				loop_runs_add(&runs[e][i], counts.counter[e]);
		}
		surroundings_end(&around, -1);
		for (unsigned int e = 0; e < subject->n_events; e++) {
			runs[e][i].iterations = length * CHILDREN * (CHILDREN + 1) / 2;
			runs[e][i].allowed = allowed_beyond(&around);
		}
	}
	add_detail(outcome, "%u children each time, whose sums are read after they were waited for",
		   CHILDREN);
	for (unsigned int e = 0; e < subject->n_events; e++)
		report_fit(&loop_events[e], runs[e], CHILD_LENGTHS, outcome);
	add_uncounted(subject, outcome);
	end_check(outcome, VERDICT_PASSED, "%s", "");
}
