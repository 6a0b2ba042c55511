// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A context switch: processes, or threads of one process, hand a byte round in a ring of pipes.
 * Some of them are counted: one by one, as one tree, by a session that counts their mark, or each
 * by itself, with its page mapped.
 */
#include "bench.h"

#include <err.h>
#include <perfctr.h>
#include <perfctr_sessions.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PROCESSES 32
#define ROUNDS 101
#define RINGS 5
#define TRACE_BYTES (1u << 20) /* for all rounds of a ring */

static const unsigned int numbers[] = { 1, 2, 4 }; /* of counters */

enum kind { PROCESSES, THREADS };

/* The counters by which each member counts itself, to read them by RDPMC. */
struct self {
	enum by by;
	unsigned int events; /* 0: nothing */
};

/* Member 0 is this process, or its first thread. */
struct ring {
	unsigned int n;
	enum kind kind;
	struct self self;
	struct counting counting; /* of member 0 */
	struct member {
		struct ring *ring;
		unsigned int i;
		pid_t pid;
		pthread_t thread;
		int pipe[2]; /* it reads from this pipe, to which the member before it writes */
	} member[MAX_PROCESSES];
};

static bool pass_on(const struct ring *ring, unsigned int i)
{
	char byte;

	return read(ring->member[i].pipe[0], &byte, 1) == 1 &&
	       write(ring->member[(i + 1) % ring->n].pipe[1], &byte, 1) == 1;
}

static struct counting count_self(const struct self *self)
{
	return counting_start(self->events ? self->by : BY_NOTHING, 0, self->events, PLAIN,
			      COUNT_MAP);
}

/* Runs until it is killed, or nobody is left to write. */
static void *be_member(void *argument)
{
	const struct member *member = argument;
	struct counting counting = count_self(&member->ring->self);

	while (pass_on(member->ring, member->i))
		;
	counting_stop(&counting);
	return NULL;
}

static void member_start(struct member *member)
{
	if (member->ring->kind == THREADS) {
		if (pthread_create(&member->thread, NULL, be_member, member) != 0)
			errx(1, "pthread_create failed");
		return;
	}
	member->pid = fork();
	if (member->pid < 0)
		err(1, "fork");
	if (member->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		be_member(member);
		_exit(0);
	}
}

static void ring_start(struct ring *ring, unsigned int n, enum kind kind, struct self self)
{
	ring->n = n;
	ring->kind = kind;
	ring->self = self;
	for (unsigned int i = 0; i < n; i++) {
		ring->member[i] = (struct member){ .ring = ring, .i = i };
		if (pipe(ring->member[i].pipe) < 0)
			err(1, "pipe");
	}
	for (unsigned int i = 1; i < n; i++)
		member_start(&ring->member[i]);
	ring->counting = count_self(&self);
}

static void member_stop(struct member *member)
{
	close(member->pipe[1]);
	if (member->ring->kind == THREADS) {
		pthread_join(member->thread, NULL);
	} else {
		kill(member->pid, SIGKILL);
		waitpid(member->pid, NULL, 0);
	}
	close(member->pipe[0]);
}

static void ring_stop(struct ring *ring)
{
	counting_stop(&ring->counting);
	for (unsigned int i = 1; i < ring->n; i++)
		member_stop(&ring->member[i]);
	close(ring->member[0].pipe[0]);
	close(ring->member[0].pipe[1]);
}

static void go_round(void *argument)
{
	const struct ring *ring = argument;
	char byte = 0;

	if (write(ring->member[1].pipe[1], &byte, 1) != 1 ||
	    read(ring->member[0].pipe[0], &byte, 1) != 1)
		err(1, "the ring is broken");
}

static struct cost measure_ring(struct ring *ring)
{
	struct cost cost = measure(go_round, ring, ROUNDS);

	return divide(&cost, cost.quantity[SWITCHES]);
}

/* Of n members, the first ones, so many, are counted or marked. */
struct setting {
	unsigned int n, counted;
	enum by by;
	unsigned int events;
	enum flavour second; /* of every second member: OTHER has another control */
	unsigned int flags;  /* COUNT_* of a tree */
	enum kind kind;	     /* of members that count themselves */
	bool traced;	     /* marked members are */
};

static struct cost measure_counted(const struct setting *s)
{
	struct counting counting[MAX_PROCESSES];
	struct ring ring;
	struct cost cost;

	ring_start(&ring, s->n, PROCESSES, (struct self){ 0 });
	for (unsigned int i = 0; i < s->counted; i++)
		counting[i] = counting_start(s->by, ring.member[i].pid, s->events,
					     i % 2 ? s->second : PLAIN, 0);
	cost = measure_ring(&ring);
	for (unsigned int i = 0; i < s->counted; i++)
		counting_stop(&counting[i]);
	ring_stop(&ring);
	return cost;
}

static struct cost measure_tree(const struct setting *s)
{
	struct counting counting = counting_start(s->by, 0, s->events, PLAIN, s->flags);
	struct ring ring;
	struct cost cost;

	ring_start(&ring, s->n, PROCESSES, (struct self){ 0 });
	cost = measure_ring(&ring);
	ring_stop(&ring);
	counting_stop(&counting);
	return cost;
}

static struct cost measure_marked(const struct setting *s)
{
	struct perfctr_session_options options = {
		.size = sizeof(options),
		.mark = perfctr_mark_open(NULL),
		.policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED,
		.trace_bytes = s->traced ? TRACE_BYTES : 0,
	};
	struct perfctr_session *session = perfctr_session_open(&options);
	struct perfctr_control control = control_of(s->events, PLAIN);
	struct ring ring;
	struct cost cost;

	if (!session || perfctr_session_control(session, &control) < 0)
		err(1, "session of %u events", s->events);
	ring_start(&ring, s->n, PROCESSES, (struct self){ 0 });
	for (unsigned int i = 0; i < s->counted; i++)
		if (perfctr_mark_set(options.mark, ring.member[i].pid, PERFCTR_MARK_PROCESS) < 0)
			err(1, "mark");
	cost = measure_ring(&ring);
	if (s->traced && perfctr_session_lost(session))
		errx(1, "records of the trace were lost");
	ring_stop(&ring);
	perfctr_session_close(session);
	perfctr_mark_close(options.mark);
	return cost;
}

static struct cost measure_self(const struct setting *s)
{
	struct ring ring;
	struct cost cost;

	ring_start(&ring, s->n, s->kind, (struct self){ s->by, s->events });
	cost = measure_ring(&ring);
	ring_stop(&ring);
	return cost;
}

static double instructions_of(const struct cost *cost)
{
	return cost->quantity[USER_INSTRUCTIONS] + cost->quantity[KERNEL_INSTRUCTIONS];
}

static int compare_costs(const void *a, const void *b)
{
	double left = instructions_of(a), right = instructions_of(b);

	return (left > right) - (left < right);
}

/* The middle one: two rings of one setting differ by a few instructions, counted or not. */
static struct cost measure_rings(struct cost (*measure_one)(const struct setting *),
				 const struct setting *setting)
{
	struct cost costs[RINGS];

	for (size_t i = 0; i < RINGS; i++)
		costs[i] = measure_one(setting);
	qsort(costs, RINGS, sizeof(costs[0]), compare_costs);
	return costs[RINGS / 2];
}

static void bench_counted(unsigned int n, enum by by, unsigned int events)
{
	static const struct {
		const char *name;
		struct cost (*measure)(const struct setting *);
		bool one;
		enum flavour second;
		unsigned int flags;
	} cases[] = {
		{ "one", measure_counted, true, PLAIN, 0 },
		{ "all", measure_counted, false, PLAIN, 0 },
		{ "all; controls differ", measure_counted, false, OTHER, 0 },
		{ "all; one tree", measure_tree, false, PLAIN, COUNT_INHERIT },
		{ "all; totals", measure_tree, false, PLAIN, COUNT_TOTALS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct setting setting = {
			.n = n,
			.counted = cases[i].one ? 1 : n,
			.by = by,
			.events = events,
			.second = cases[i].second,
			.flags = cases[i].flags,
		};
		struct cost cost;

		if (by != BY_PERFCTR && cases[i].flags == COUNT_TOTALS)
			continue;
		cost = measure_rings(cases[i].measure, &setting);
		print_row("switch", "pipe", n, cases[i].name, events, by, &cost);
	}
}

static void bench_marked(unsigned int n, unsigned int events)
{
	static const char *const names[] = { "none; session", "one; mark",
					     "all; mark", "all; mark; trace" };
	const unsigned int marked[] = { 0, 1, n, n };

	for (size_t i = 0; i < ARRAY_SIZE(marked); i++) {
		const struct setting setting = {
			.n = n, .counted = marked[i], .events = events, .traced = i == 3
		};
		struct cost cost = measure_rings(measure_marked, &setting);

		print_row("switch", "pipe", n, names[i], events, BY_PERFCTR, &cost);
	}
}

/*
 * Two members read their counters by RDPMC. Rows of processes stand beside the others of the same
 * work.
 */
static void bench_mapped(enum kind kind)
{
	const char *work = kind == THREADS ? "pipe, threads" : "pipe";

	if (kind == THREADS && wanted(BY_NOTHING)) {
		const struct setting setting = { .n = 2, .by = BY_NOTHING, .kind = kind };
		struct cost cost = measure_rings(measure_self, &setting);

		print_row("switch", work, 2, "none", 0, BY_NOTHING, &cost);
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		for (enum by by = BY_PERFCTR; by < N_BY; by++) {
			const struct setting setting = {
				.n = 2, .by = by, .events = numbers[i], .kind = kind
			};
			struct cost cost;

			if (!wanted(by))
				continue;
			cost = measure_rings(measure_self, &setting);
			print_row("switch", work, 2, "all; pages mapped", numbers[i], by, &cost);
		}
	}
}

static void bench_ring(unsigned int n)
{
	if (wanted(BY_NOTHING)) {
		const struct setting setting = { .n = n, .by = BY_NOTHING };
		struct cost cost = measure_rings(measure_counted, &setting);

		print_row("switch", "pipe", n, "none", 0, BY_NOTHING, &cost);
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		for (enum by by = BY_PERFCTR; by < N_BY; by++)
			if (wanted(by))
				bench_counted(n, by, numbers[i]);
		if (wanted(BY_PERFCTR))
			bench_marked(n, numbers[i]);
	}
}

void bench_switches(const struct options *options)
{
	static const unsigned int processes[] = { 2, 8, MAX_PROCESSES };

	for (size_t i = 0; i < ARRAY_SIZE(processes); i++)
		if (processes[i] <= options->max_processes)
			bench_ring(processes[i]);
	bench_mapped(PROCESSES);
	bench_mapped(THREADS);
}
