// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost of one call of libperfctr: instructions in user mode and in the kernel, and ticks of the
 * time stamp counter.  The counters measure it: their progress over many calls, less their progress
 * over as many empty calls.  They cannot measure calls that stop or clear them: the cost of those
 * is only in ticks.  If time is made of instructions (scripts/vm --icount), a tick is an
 * instruction.
 */
#include <errno.h>
#include <inttypes.h>
#include <perfctr.h>
#include <perfctr_sessions.h>
#include <perfctr_regions.h>
#include <stdio.h>
#include <unistd.h>

#define USER_INSTRUCTIONS	0x004100c0
#define KERNEL_INSTRUCTIONS	0x004200c0
#define CALLS			1000

struct subject {
	struct perfctr *self;
	const struct perfctr_page *page;
	struct perfctr_control control;
	struct perfctr_counts counts;
	struct perfctr_snapshot snapshot;
	struct perfctr_regions *regions;
	struct perfctr_region *region;
	struct perfctr_mark *mark;
	struct perfctr_session *session;
};

static void call_nothing(struct subject *s)
{
	__asm__ volatile("" : : "r"(s));
}

static void call_read_pmc(struct subject *s)
{
	__asm__ volatile("" : : "r"(perfctr_read_pmc(s->page, 0)));
}

static void call_read_tsc(struct subject *s)
{
	__asm__ volatile("" : : "r"(perfctr_read_tsc(s->page)));
}

static void call_read_snapshot(struct subject *s)
{
	perfctr_read_snapshot(s->page, 2, &s->snapshot);
}

static void call_region(struct subject *s)
{
	perfctr_region_enter(s->region, 2);
	perfctr_region_exit(s->region, 2);
}

static void call_regions_read(struct subject *s)
{
	struct perfctr_region_result result;

	perfctr_regions_read(s->regions, 0, 0, 0, &result);
}

static void call_read_counter(struct subject *s)
{
	__asm__ volatile("" : : "r"(perfctr_read_counter(s->self, 0)));
}

static void call_read(struct subject *s)
{
	perfctr_read(s->self, &s->counts);
}

static void call_get_control(struct subject *s)
{
	struct perfctr_control control;

	perfctr_get_control(s->self, &control);
}

static void call_read_tree(struct subject *s)
{
	perfctr_read_scope(s->self, PERFCTR_SCOPE_TREE, &s->counts);
}

static void call_next_record(struct subject *s)
{
	struct perfctr_exit_record record;

	perfctr_next_exit_record(s->self, &record);
}

static void call_stop_and_start(struct subject *s)
{
	perfctr_stop(s->self);
	perfctr_start(s->self);
}

static void call_control(struct subject *s)
{
	perfctr_set_control(s->self, &s->control);
}

static void call_calibrate(struct subject *s)
{
	struct perfctr_overhead overhead;

	perfctr_calibrate(s->self, &s->control, &overhead);
}

static void call_pmu_info(struct subject *s)
{
	struct perfctr_pmu_info info;

	(void)s;
	perfctr_get_pmu_info(&info);
}

static void call_open_tid_and_close(struct subject *s)
{
	(void)s;
	perfctr_close(perfctr_open_tid(0, 0));
}

static void call_segment(struct subject *s)
{
	perfctr_segment_begin(s->mark);
	perfctr_segment_end(s->mark);
}

static void call_mark(struct subject *s)
{
	perfctr_mark_set(s->mark, 0, PERFCTR_MARK_PROCESS);
	perfctr_mark_clear(s->mark, 0, PERFCTR_MARK_PROCESS);
}

static void call_marked(struct subject *s)
{
	uint64_t id;

	(void)s;
	perfctr_mark_get(0, &id);
}

static void call_members(struct subject *s)
{
	perfctr_members(s->mark, NULL, 0);
}

static void call_session_sum(struct subject *s)
{
	perfctr_session_sum(s->session, &s->counts);
}

static void call_session_read(struct subject *s)
{
	perfctr_session_read(s->session, &s->counts);
}

static void call_session_stop_and_start(struct subject *s)
{
	perfctr_session_stop(s->session);
	perfctr_session_start(s->session);
}

static void call_session_open_and_close(struct subject *s)
{
	const struct perfctr_session_options options = {
		.size = sizeof(options),
		.mark = s->mark, .policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED,
	};

	perfctr_session_close(perfctr_session_open(&options));
}

static const struct {
	const char *name;
	void (*call)(struct subject *s);
	int disturbs;		/* the counters that measure */
} calls[] = {
	{ "perfctr_read_pmc", call_read_pmc, 0 },
	{ "perfctr_read_tsc", call_read_tsc, 0 },
	{ "perfctr_read_snapshot", call_read_snapshot, 0 },
	{ "perfctr_region_enter + _exit", call_region, 0 },
	{ "perfctr_regions_read", call_regions_read, 0 },
	{ "perfctr_read_counter", call_read_counter, 0 },
	{ "perfctr_read", call_read, 0 },
	{ "perfctr_get_control", call_get_control, 0 },
	{ "perfctr_read_scope, tree of one", call_read_tree, 0 },
	{ "perfctr_next_exit_record, none there", call_next_record, 0 },
	{ "perfctr_stop + perfctr_start", call_stop_and_start, 1 },
	{ "perfctr_set_control", call_control, 1 },
	{ "perfctr_calibrate", call_calibrate, 1 },
	{ "perfctr_get_pmu_info", call_pmu_info, 0 },
	{ "perfctr_open_tid + perfctr_close", call_open_tid_and_close, 0 },
	{ "perfctr_segment_begin + _end", call_segment, 0 },
	{ "perfctr_mark_set + perfctr_mark_clear", call_mark, 0 },
	{ "perfctr_mark_get", call_marked, 0 },
	{ "perfctr_members", call_members, 0 },
	{ "perfctr_session_sum", call_session_sum, 0 },
	{ "perfctr_session_read", call_session_read, 0 },
	{ "perfctr_session_stop + _start", call_session_stop_and_start, 0 },
	{ "perfctr_session_open + _close", call_session_open_and_close, 0 },
};

static uint64_t rdtsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* The hardware's time stamp replaces the thread's virtual one, because nothing can stop it. */
static struct perfctr_counts measure(struct subject *s, void (*call)(struct subject *s))
{
	struct perfctr_counts before, after;
	uint64_t tsc;

	call(s);
	perfctr_read(s->self, &before);
	tsc = rdtsc();
	for (int i = 0; i < CALLS; i++)
		call(s);
	tsc = rdtsc() - tsc;
	perfctr_read(s->self, &after);
	after.tsc = tsc;
	after.counter[0] -= before.counter[0];
	after.counter[1] -= before.counter[1];
	return after;
}

static uint64_t per_call(uint64_t with, uint64_t without)
{
	return with > without ? (with - without + CALLS / 2) / CALLS : 0;
}

static int refused(const char *text)
{
	fprintf(stderr, "cost: %s\n", text);
	return 1;
}

/* A mark and a session of it, with one event. */
static int open_session(struct subject *s)
{
	struct perfctr_session_options options = {
		.size = sizeof(options),
		.policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED,
	};
	struct perfctr_control control;

	s->mark = perfctr_mark_open(NULL);
	if (!s->mark)
		return -1;
	options.mark = s->mark;
	s->session = perfctr_session_open(&options);
	if (!s->session)
		return -1;
	perfctr_control_init(&control);
	perfctr_control_add(&control, PERFCTR_ANY, USER_INSTRUCTIONS, 0);
	return perfctr_session_control(s->session, &control);
}

int main(void)
{
	struct perfctr_counts nothing, counts;
	struct perfctr_pmu_info info;
	struct subject s = { 0 };
	char text[256];

	s.self = perfctr_open();
	if (!s.self || perfctr_get_pmu_info(&info) < 0) {
		perfctr_open_error(errno, text, sizeof(text));
		return refused(text);
	}
	perfctr_control_init(&s.control);
	perfctr_control_add(&s.control, PERFCTR_ANY, USER_INSTRUCTIONS, 0);
	perfctr_control_add(&s.control, PERFCTR_ANY, KERNEL_INSTRUCTIONS, 0);
	if (perfctr_set_control(s.self, &s.control) < 0) {
		perfctr_control_error(errno, &s.control, &info, text, sizeof(text));
		return refused(text);
	}
	s.page = perfctr_get_page(s.self);
	if (!s.page)
		return refused("this machine does not let user mode read its counters");

	s.regions = perfctr_regions_open(&s.control, NULL, &(const char *){ "region" }, 1);
	s.region = s.regions ? perfctr_regions_thread(s.regions, s.self) : NULL;
	if (!s.region)
		return refused("no memory for a region");

	if (open_session(&s) < 0)
		return refused("no session: it takes a counter that is free");

	printf("%-36s %10s %10s %10s\n", "one call of", "user", "kernel", "tsc");
	nothing = measure(&s, call_nothing);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		counts = measure(&s, calls[i].call);
		printf("%-36s", calls[i].name);
		if (calls[i].disturbs)
			printf(" %10s %10s", "-", "-");
		else
			printf(" %10" PRIu64 " %10" PRIu64,
			       per_call(counts.counter[0], nothing.counter[0]),
			       per_call(counts.counter[1], nothing.counter[1]));
		printf(" %10" PRIu64 "\n", per_call(counts.tsc, nothing.tsc));
	}
	perfctr_session_close(s.session);
	perfctr_mark_close(s.mark);
	perfctr_regions_close(s.regions);
	perfctr_close(s.self);
	return 0;
}
