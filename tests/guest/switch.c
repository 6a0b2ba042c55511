// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost of a context switch. The suite "baseline" measures the unpatched kernel and leaves the
 * result in a file; "switch_unpatched" measures the patched one against it.
 */
#include "cost.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

START_TEST(unpatched_kernel_switch_cost_is_recorded)
{
	struct cost cost = measure_round_trips(NULL, 0, NULL, 0);

	ck_assert_msg(access("/dev/perfctr", F_OK) < 0, "this kernel is patched");
	write_baseline(&cost);
}
END_TEST

SUITE(baseline, unpatched_kernel_switch_cost_is_recorded)

START_TEST(a_switch_of_unmonitored_threads_costs_what_it_cost_unpatched)
{
	struct cost unpatched = read_baseline(), patched = measure_round_trips(NULL, 0, NULL, 0);

	ck_assert_uint_eq(patched.instructions, unpatched.instructions);
	ck_assert_uint_eq(patched.statistics[PMU_RDMSR], 0);
	ck_assert_uint_eq(patched.statistics[PMU_WRMSR], 0);
	ck_assert_uint_eq(patched.statistics[RDPMC], 0);
	/*
	 * Other registers, such as FS_BASE and the timer's, are accessed as often as before. The
	 * division drops the timer's few ticks.
	 */
	ck_assert_uint_eq(patched.statistics[WRMSR] / ROUND_TRIPS,
			  unpatched.statistics[WRMSR] / ROUND_TRIPS);
	ck_assert_uint_eq(patched.statistics[RDMSR] / ROUND_TRIPS,
			  unpatched.statistics[RDMSR] / ROUND_TRIPS);
}
END_TEST

/* Away and back: at most 2 WRMSR, none of an event register, 1 RDPMC per counter each way. */
static void expect_cheap(const struct cost *cost, unsigned int n)
{
	/* The process did leave its CPU in every round. */
	ck_assert_uint_ge(cost->switches, ROUND_TRIPS);
	ck_assert_uint_le(cost->statistics[PMU_WRMSR], 2 * cost->switches);
	ck_assert_uint_eq(cost->statistics[EVENT_SELECT], 0);
	/*
	 * Every tick checks that the enables and the events are still as the driver has set them.
	 */
	ck_assert_uint_le(cost->statistics[PMU_RDMSR], (n + 1) * cost->ticks);
	/* The two context_read() and every tick read the counters, too. */
	ck_assert_uint_le(cost->statistics[RDPMC], n * (2 * cost->switches + 2 + cost->ticks));
}

START_TEST(a_monitored_switch_to_the_same_owner_is_at_most_2_wrmsr_and_no_event_register)
{
	struct cost one = measure_round_trips(EVENTS({ 0, USER(INSTRUCTIONS) }), NULL, 0);
	struct cost two = measure_round_trips(EVENTS({ 0, USER(INSTRUCTIONS) },
						     { PERFCTR_FIXED, USER(FIXED) }),
					      NULL, 0);

	expect_cheap(&one, 1);
	expect_cheap(&two, 2);
}
END_TEST

/*
 * A thread of the caller's process that answers the caller, as struct partner does. Both map their
 * pages.
 */
struct companion {
	struct partner pipes;
	int to, from;
	const struct event *event;
	size_t n;
};

struct self {
	int fd;
	void *page;
};

static struct self read_itself(const struct event *event, size_t n)
{
	struct self self = { .fd = context_open(0, PERFCTR_OPEN_CREATE) };

	context_control(self.fd, event, n);
	self.page = (void *)context_map(self.fd);
	return self;
}

static void stop_reading(const struct self *self)
{
	EXPECT(munmap(self->page, PERFCTR_PAGE_SIZE) == 0);
	close(self->fd);
}

static void *answer(void *arg)
{
	const struct companion *c = arg;
	struct self self = read_itself(c->event, c->n);

	partner_answer(c->to, c->from);
	stop_reading(&self);
	return NULL;
}

static struct cost measure_threads(const struct event *event, size_t n)
{
	struct companion c = { .event = event, .n = n };
	struct self self = read_itself(event, n);
	int to[2], from[2];
	pthread_t thread;
	struct cost cost;

	EXPECT(pipe(to) == 0 && pipe(from) == 0);
	c.pipes = (struct partner){ .to = to[1], .from = from[0] };
	c.to = to[0];
	c.from = from[1];
	EXPECT(pthread_create(&thread, NULL, answer, &c) == 0);
	cost = measure_partner(&c.pipes, self.fd);
	close(to[1]);
	EXPECT(pthread_join(thread, NULL) == 0);
	close(to[0]);
	close(from[0]);
	close(from[1]);
	stop_reading(&self);
	return cost;
}

static void expect_no_wrmsr(void *unused)
{
	static const struct event events[] = {
		{ 0, USER(INSTRUCTIONS) }, { 1, USER(BRANCHES) }, { 2, USER(INSTRUCTIONS) },
		{ 3, USER(BRANCHES) },
	};

	(void)unused;
	for (unsigned int n = 1; n <= ARRAY_SIZE(events); n += 3) {
		struct cost cost = measure_threads(events, n);

		EXPECT(cost.switches >= ROUND_TRIPS);
		/*
		 * A tick reads the counters. After it, a kernel thread may run between the two
		 * threads.
		 */
		EXPECT(cost.ticks < ROUND_TRIPS / 100);
		EXPECT(cost.statistics[PMU_WRMSR] <= 2 * cost.ticks);
		EXPECT(cost.statistics[RDPMC] <= n * (2 * cost.switches + 2 + 3 * cost.ticks));
	}
}

/* In a child: the C library's calls cost more in a process that has ever had a second thread. */
START_TEST(threads_of_one_process_that_read_themselves_cost_each_other_no_wrmsr)
{
	in_child(expect_no_wrmsr, NULL);
}
END_TEST

/* The line of the only CPU in /sys/kernel/debug/perfctr. */
struct cpu_line {
	char family[32];
	unsigned int contexts;
	unsigned long long owner, running, entries, starts, loads, clears;
};

static struct cpu_line cpu_line(void)
{
	FILE *file = fopen("/sys/kernel/debug/perfctr", "r");
	struct cpu_line line;

	ck_assert(file);
	ck_assert_int_eq(fscanf(file, "family: %31[^\n] contexts: %u", line.family, &line.contexts),
			 2);
	ck_assert_int_eq(
		fscanf(file,
		       " cpu owner running entries starts loads clears 0 %llu %llu %llu %llu %llu %llu",
		       &line.owner, &line.running, &line.entries, &line.starts, &line.loads,
		       &line.clears),
		6);
	fclose(file);
	return line;
}

/* Event registers are written only where the former control was another one. */
START_TEST(debugfs_tells_how_often_who_entered_and_what_that_took)
{
	struct partner partner = partner_start();
	int own = context_open(0, PERFCTR_OPEN_CREATE);
	int other = context_open(partner.pid, PERFCTR_OPEN_CREATE);
	struct cpu_line before, same, different;

	context_control(own, EVENTS({ 0, USER(INSTRUCTIONS) }));
	context_control(other, EVENTS({ 0, USER(INSTRUCTIONS) }));
	measure_partner(&partner, own);
	before = cpu_line();
	ck_assert_msg(strstr(before.family, "architectural"), "%s", before.family);
	ck_assert_uint_eq(before.contexts, pmu_info().n_contexts);
	ck_assert_uint_ne(before.owner, 0);
	ck_assert_uint_eq(before.running, 1);
	measure_partner(&partner, own);
	same = cpu_line();
	/* The owner is one of the two threads: the quick path between them does not change it. */
	ck_assert_uint_ne(same.owner, 0);
	ck_assert_uint_ge(same.entries - before.entries, 2 * ROUND_TRIPS);
	ck_assert_uint_eq(same.loads, before.loads);

	context_control(other, EVENTS({ 0, USER(BRANCHES) }));
	measure_partner(&partner, own);
	different = cpu_line();
	ck_assert_uint_ge(different.loads - same.loads, 2 * ROUND_TRIPS);
	ck_assert_uint_le(different.loads - same.loads, different.entries - same.entries);
	partner_stop(&partner);
	close(other);
	close(own);
}
END_TEST

SUITE(switch_unpatched, a_switch_of_unmonitored_threads_costs_what_it_cost_unpatched)

SUITE(switch,
      a_monitored_switch_to_the_same_owner_is_at_most_2_wrmsr_and_no_event_register,
      threads_of_one_process_that_read_themselves_cost_each_other_no_wrmsr,
      debugfs_tells_how_often_who_entered_and_what_that_took)
