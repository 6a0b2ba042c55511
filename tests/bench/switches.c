// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A context switch: processes that hand a byte round in a ring of pipes.  Some of them are counted,
 * one by one, as one tree, or by a session that counts their group.
 */
#include "bench.h"

#include <err.h>
#include <perfctr.h>
#include <perfctr_groups.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PROCESSES 32
#define ROUNDS 101

/* Process 0 is this one. */
struct ring {
	unsigned int n;
	pid_t pid[MAX_PROCESSES];
	int pipe[MAX_PROCESSES][2]; /* what process i reads from, and the one before writes to */
};

static bool pass_on(const struct ring *ring, unsigned int i)
{
	char byte;

	return read(ring->pipe[i][0], &byte, 1) == 1 &&
	       write(ring->pipe[(i + 1) % ring->n][1], &byte, 1) == 1;
}

static void ring_start(struct ring *ring, unsigned int n)
{
	ring->n = n;
	ring->pid[0] = 0;
	for (unsigned int i = 0; i < n; i++)
		if (pipe(ring->pipe[i]) < 0)
			err(1, "pipe");
	for (unsigned int i = 1; i < n; i++) {
		ring->pid[i] = fork();
		if (ring->pid[i] < 0)
			err(1, "fork");
		if (ring->pid[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (pass_on(ring, i))
				;
			_exit(0);
		}
	}
}

static void ring_stop(struct ring *ring)
{
	for (unsigned int i = 1; i < ring->n; i++) {
		kill(ring->pid[i], SIGKILL);
		waitpid(ring->pid[i], NULL, 0);
	}
	for (unsigned int i = 0; i < ring->n; i++) {
		close(ring->pipe[i][0]);
		close(ring->pipe[i][1]);
	}
}

static void go_round(void *argument)
{
	const struct ring *ring = argument;
	char byte = 0;

	if (write(ring->pipe[1][1], &byte, 1) != 1 || read(ring->pipe[0][0], &byte, 1) != 1)
		err(1, "the ring is broken");
}

static struct cost measure_ring(struct ring *ring)
{
	struct cost cost = measure(go_round, ring, ROUNDS);

	return divide(&cost, cost.quantity[SWITCHES]);
}

/* The first so many of the ring; with OTHER every second one has another control. */
static struct cost measure_counted(unsigned int n, unsigned int counted, enum by by,
				   unsigned int events, enum flavour second)
{
	struct counting counting[MAX_PROCESSES];
	struct ring ring;
	struct cost cost;

	ring_start(&ring, n);
	for (unsigned int i = 0; i < counted; i++)
		counting[i] = counting_start(by, ring.pid[i], events, i % 2 ? second : PLAIN, 0);
	cost = measure_ring(&ring);
	for (unsigned int i = 0; i < counted; i++)
		counting_stop(&counting[i]);
	ring_stop(&ring);
	return cost;
}

static struct cost measure_tree(unsigned int n, enum by by, unsigned int events)
{
	struct counting counting = counting_start(by, 0, events, PLAIN, COUNT_INHERIT);
	struct ring ring;
	struct cost cost;

	ring_start(&ring, n);
	cost = measure_ring(&ring);
	ring_stop(&ring);
	counting_stop(&counting);
	return cost;
}

static struct cost measure_marked(unsigned int n, unsigned int marked, unsigned int events)
{
	struct perfctr_session_options options = {
		.group = perfctr_group_open(NULL),
		.policy = PERFCTR_POLICY_DP | PERFCTR_POLICY_DMR,
	};
	struct perfctr_session *session = perfctr_session_open(&options);
	struct perfctr_control control = control_of(events, PLAIN);
	struct ring ring;
	struct cost cost;

	if (!session || perfctr_session_control(session, &control) < 0)
		err(1, "session of %u events", events);
	ring_start(&ring, n);
	for (unsigned int i = 0; i < marked; i++)
		if (perfctr_mark(options.group, ring.pid[i], PERFCTR_MARK_PROCESS) < 0)
			err(1, "mark");
	cost = measure_ring(&ring);
	ring_stop(&ring);
	perfctr_session_close(session);
	perfctr_group_close(options.group);
	return cost;
}

static void bench_counted(unsigned int n, enum by by, unsigned int events)
{
	struct cost cost;

	cost = measure_counted(n, 1, by, events, PLAIN);
	print_row("switch", "pipe", n, "one", events, by, &cost);
	cost = measure_counted(n, n, by, events, PLAIN);
	print_row("switch", "pipe", n, "all", events, by, &cost);
	cost = measure_counted(n, n, by, events, OTHER);
	print_row("switch", "pipe", n, "all; controls differ", events, by, &cost);
	cost = measure_tree(n, by, events);
	print_row("switch", "pipe", n, "all; one tree", events, by, &cost);
}

static void bench_marked(unsigned int n, unsigned int events)
{
	static const char *const names[] = { "none; session", "one; marked group",
					     "all; marked group" };
	const unsigned int marked[] = { 0, 1, n };

	for (size_t i = 0; i < ARRAY_SIZE(marked); i++) {
		struct cost cost = measure_marked(n, marked[i], events);

		print_row("switch", "pipe", n, names[i], events, BY_PERFCTR, &cost);
	}
}

static void bench_ring(unsigned int n)
{
	static const unsigned int events[] = { 1, 2, 4 };

	if (wanted(BY_NOTHING)) {
		struct cost cost = measure_counted(n, 0, BY_NOTHING, 0, PLAIN);

		print_row("switch", "pipe", n, "none", 0, BY_NOTHING, &cost);
	}
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		for (enum by by = BY_PERFCTR; by < N_BY; by++)
			if (wanted(by))
				bench_counted(n, by, events[i]);
		if (wanted(BY_PERFCTR))
			bench_marked(n, events[i]);
	}
}

void bench_switches(const struct options *options)
{
	static const unsigned int processes[] = { 2, 8, MAX_PROCESSES };

	for (size_t i = 0; i < ARRAY_SIZE(processes); i++)
		if (processes[i] <= options->max_processes)
			bench_ring(processes[i]);
}
