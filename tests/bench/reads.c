// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost for a thread of reading its own counters. */
#include "bench.h"
#include "perf_page.h"

#include <err.h>
#include <perfctr.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS 1000
#define ROUNDS 31

/* The counters that are read. perf_events has a descriptor and a page for each event. */
struct subject {
	struct perfctr *self;
	const struct perfctr_page *page;
	struct counting counting;
	const struct perf_event_mmap_page *perf_page[MAX_EVENTS];
};

/* Makes the compiler produce the value, and everything that it is made of. */
#define USE(value) __asm__ volatile("" : : "r"(value))
#define USE_MEMORY(object) __asm__ volatile("" : : "r"(&(object)) : "memory")

/* A loop around the statement. The cost of the loop can be subtracted. */
#define READ(name, statement)                                                                      \
	static void name(void *argument)                                                           \
	{                                                                                          \
		const struct subject *s = argument;                                                \
		const struct perfctr_page *page = s->page;                                         \
		const struct perf_event_mmap_page *perf_page = s->perf_page[0];                    \
                                                                                                   \
		(void)page;                                                                        \
		(void)perf_page;                                                                   \
		for (unsigned int i = 0; i < CALLS; i++) {                                         \
			__asm__ volatile("" : "+r"(i));                                            \
			statement;                                                                 \
		}                                                                                  \
	}

/* A buffer that every read uses and none keeps. */
static union {
	struct perfctr_counts counts;
	struct perfctr_snapshot snapshot;
	uint64_t values[1 + MAX_EVENTS]; /* of a group: their number first */
} buffer;

static void system_call_that_fails(void)
{
	syscall(-1);
}

static void read_each(const struct subject *s)
{
	for (unsigned int i = 0; i < MAX_EVENTS; i++)
		if (read(s->counting.fd[i], buffer.values, sizeof(uint64_t)) < 0)
			err(1, "read");
}

static void read_group(const struct subject *s)
{
	if (read(s->counting.fd[0], buffer.values, sizeof(buffer.values)) < 0)
		err(1, "read of a group");
}

static void read_pages(const struct subject *s)
{
#pragma GCC unroll 4
	for (unsigned int i = 0; i < MAX_EVENTS; i++)
		USE(perf_page_count(s->perf_page[i]));
}

static void read_pages_and_times(const struct subject *s)
{
	uint64_t enabled, running;

#pragma GCC unroll 4
	for (unsigned int i = 0; i < MAX_EVENTS; i++) {
		USE(perf_page_read(s->perf_page[i], &enabled, &running));
		USE(enabled);
		USE(running);
	}
}

READ(empty, )
READ(bare_rdtsc, USE(perf_page_rdtsc()))
READ(bare_system_call, system_call_that_fails())
READ(inline_pmc, USE(perfctr_read_pmc(page, 0)))
READ(inline_tsc, USE(perfctr_read_tsc(page)))
READ(inline_snapshot, perfctr_read_snapshot(page, MAX_EVENTS, &buffer.snapshot); USE_MEMORY(buffer))
READ(call_counter, USE(perfctr_read_counter(s->self, 0)))
READ(call_read, perfctr_read(s->self, &buffer.counts))
READ(page_count, USE(perf_page_count(perf_page)))
READ(page_counts, read_pages(s))
READ(page_read, uint64_t enabled; uint64_t running;
     USE(perf_page_read(perf_page, &enabled, &running)); USE(enabled); USE(running))
READ(page_reads, read_pages_and_times(s))
READ(page_time, USE(perf_page_time(perf_page)))
READ(read_one, if (read(s->counting.fd[0], buffer.values, sizeof(uint64_t)) < 0) err(1, "read"))
READ(read_four, read_each(s))
READ(read_four_as_group, read_group(s))

static const struct {
	const char *work;
	enum by by;
	unsigned int counters;
	unsigned int flags; /* of counting_start() */
	void (*read)(void *argument);
} reads[] = {
	{ "RDTSC", BY_NOTHING, 0, 0, bare_rdtsc },
	{ "system call that fails", BY_NOTHING, 0, 0, bare_system_call },
	{ "inline: counter", BY_PERFCTR, 1, 0, inline_pmc },
	{ "inline: virtual time stamp", BY_PERFCTR, 1, 0, inline_tsc },
	{ "inline: snapshot with time stamp", BY_PERFCTR, 4, 0, inline_snapshot },
	{ "library: perfctr_read_counter", BY_PERFCTR, 1, 0, call_counter },
	{ "system call: perfctr_read", BY_PERFCTR, 1, 0, call_read },
	{ "system call: perfctr_read", BY_PERFCTR, 4, 0, call_read },
	{ "mmap page: count alone", BY_PERF_EVENTS, 1, 0, page_count },
	{ "mmap page: count alone", BY_PERF_EVENTS, 4, 0, page_counts },
	{ "mmap page: count and times", BY_PERF_EVENTS, 1, 0, page_read },
	{ "mmap page: count and times", BY_PERF_EVENTS, 4, 0, page_reads },
	{ "mmap page: time enabled", BY_PERF_EVENTS, 1, 0, page_time },
	{ "system call: read(2)", BY_PERF_EVENTS, 1, 0, read_one },
	{ "system calls: read(2) of each", BY_PERF_EVENTS, 4, 0, read_four },
	{ "system call: read(2) of a group", BY_PERF_EVENTS, 4, COUNT_GROUP, read_four_as_group },
};

static void open_perfctr(struct subject *s, unsigned int n)
{
	struct perfctr_control control = control_of(n, PLAIN);

	s->self = perfctr_open();
	if (!s->self || perfctr_set_control(s->self, &control) < 0)
		err(1, "perfctr, %u events", n);
	s->page = perfctr_get_page(s->self);
	if (!s->page)
		errx(1, "this machine has no RDPMC in user mode");
}

static void check_perf_pages(struct subject *s)
{
	for (unsigned int i = 0; i < s->counting.n; i++) {
		s->perf_page[i] = s->counting.page[i];
		if (!s->perf_page[i]->cap_user_rdpmc || !s->perf_page[i]->index)
			errx(1, "perf event %u cannot be read by RDPMC", i);
	}
}

static void close_subject(struct subject *s)
{
	perfctr_close(s->self);
	counting_stop(&s->counting);
}

static void bench_read(size_t i)
{
	struct subject s = { 0 };
	struct cost cost, loop;

	if (reads[i].by == BY_PERFCTR)
		open_perfctr(&s, reads[i].counters);
	s.counting = counting_start(reads[i].by == BY_PERF_EVENTS ? BY_PERF_EVENTS : BY_NOTHING, 0,
				    reads[i].counters, PLAIN, reads[i].flags | COUNT_MAP);
	check_perf_pages(&s);
	cost = measure(reads[i].read, &s, ROUNDS);
	loop = measure(empty, &s, ROUNDS);
	close_subject(&s);
	for (int q = 0; q < N_QUANTITIES; q++)
		cost.quantity[q] -= loop.quantity[q];
	cost = divide(&cost, CALLS);
	print_row("read", reads[i].work, 1, "itself", reads[i].counters, reads[i].by, &cost);
}

void bench_reads(const struct options *options)
{
	(void)options;
	for (size_t i = 0; i < ARRAY_SIZE(reads); i++)
		if (wanted(reads[i].by))
			bench_read(i);
}
