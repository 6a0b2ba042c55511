// SPDX-License-Identifier: GPL-2.0-or-later
/* Regions: pieces of a program that count what is executed in them. */
#include "regions.h"
#include "synthetic.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static struct perfctr_region_result corrected(const struct subject *s, unsigned int region)
{
	struct perfctr_region_result result = result_of(s, region, PERFCTR_REGIONS_CORRECTED);

	ck_assert_uint_eq(result.flags, PERFCTR_REGIONS_CORRECTED);
	return result;
}

#define ONE_EVENT EVENTS({ 0, USER(INSTRUCTIONS) })
#define FOUR_EVENTS                                                                                \
	EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(BRANCHES) }, { 2, USER(LOADS) },               \
	       { 3, USER(STORES) })

/* Between two reads of counter 0; the least of some passes, the first of which are the extremes. */
#define COST_OF_PAIR(n, s)                                                                         \
	({                                                                                         \
		const struct perfctr_page *page = perfctr_get_page((s)->p);                        \
		uint64_t least = UINT64_MAX, first, cost;                                          \
		for (int i = 0; i < 100; i++) {                                                    \
			first = perfctr_read_pmc(page, 0);                                         \
			perfctr_region_enter(&(s)->mine[A], n);                                    \
			perfctr_region_exit(&(s)->mine[A], n);                                     \
			cost = perfctr_read_pmc(page, 0) - first;                                  \
			least = cost < least ? cost : least;                                       \
		}                                                                                  \
		for (int i = 0; i < 100; i++) {                                                    \
			first = perfctr_read_pmc(page, 0);                                         \
			first = perfctr_read_pmc(page, 0) - first;                                 \
			cost = first < cost ? first : cost;                                        \
		}                                                                                  \
		least - cost;                                                                      \
	})

START_TEST(entering_and_leaving_execute_at_most_60_instructions_with_two_counters)
{
	struct subject one = subject(ONE_EVENT), two, four;
	uint64_t cost[3];

	cost[0] = COST_OF_PAIR(1, &one);
	done(&one);
	two = subject(TWO_EVENTS);
	cost[1] = COST_OF_PAIR(2, &two);
	done(&two);
	four = subject(FOUR_EVENTS);
	cost[2] = COST_OF_PAIR(4, &four);
	done(&four);
	printf("region cost: 1 counter %llu, 2 counters %llu, 4 counters %llu instructions\n",
	       (unsigned long long)cost[0], (unsigned long long)cost[1],
	       (unsigned long long)cost[2]);
	ck_assert_uint_le(cost[0], 45);
	ck_assert_uint_le(cost[1], 60);
	ck_assert_uint_le(cost[2], 100);
}
END_TEST

START_TEST(a_region_around_the_synthetic_programs_counts_them_exactly_after_calibration)
{
	struct subject s = subject(FOUR_EVENTS);
	struct perfctr_region_result r;

	ck_assert_int_eq(perfctr_regions_calibrate(s.mine, 4), 0);
	for (int i = 0; i < 100; i++) {
		perfctr_region_enter(&s.mine[A], 4);
		synthetic_1();
		perfctr_region_exit(&s.mine[A], 4);
		perfctr_region_enter(&s.mine[B], 4);
		synthetic_2();
		perfctr_region_exit(&s.mine[B], 4);
	}
	r = corrected(&s, A);
	printf("synthetic 1: %llu instructions, %llu branches\n",
	       (unsigned long long)r.counter[0].min, (unsigned long long)r.counter[1].min);
	ck_assert_uint_eq(r.counter[0].min, SYNTHETIC_1_INSTRUCTIONS);
	ck_assert_uint_eq(r.counter[1].min, SYNTHETIC_1_BRANCHES);
	r = corrected(&s, B);
	ck_assert_uint_eq(r.counter[0].min, SYNTHETIC_2_INSTRUCTIONS);
	ck_assert_uint_eq(r.counter[1].min, SYNTHETIC_2_BRANCHES);
	ck_assert_uint_eq(r.counter[2].min, SYNTHETIC_2_LOADS);
	ck_assert_uint_eq(r.counter[3].min, SYNTHETIC_2_STORES);
	/* A switch may fall into the end of a pass, but not into the ends of many. */
	if (!r.retried)
		ck_assert_uint_eq(r.counter[0].total, 100 * SYNTHETIC_2_INSTRUCTIONS);
	ck_assert_uint_le(r.retried, 10);
	done(&s);
}
END_TEST

START_TEST(passes_give_total_smallest_and_largest)
{
	static const unsigned int length[] = { 500, 100, 900, 100, 300 };
	struct subject s = subject(TWO_EVENTS);
	struct perfctr_region_result r;

	ck_assert_int_eq(perfctr_regions_calibrate(s.mine, 2), 0);
	for (size_t i = 0; i < ARRAY_SIZE(length); i++) {
		rounds = length[i];
		perfctr_region_enter(&s.mine[B], 2);
		loop();
		perfctr_region_exit(&s.mine[B], 2);
	}
	r = corrected(&s, B);
	ck_assert_str_eq(r.name, "b");
	ck_assert_int_eq(r.tid, gettid());
	ck_assert_uint_eq(r.n_counters, 2);
	ck_assert_uint_eq(r.entries, 5);
	ck_assert_uint_eq(r.exits, 5);
	ck_assert_uint_eq(r.passes, 5);
	ck_assert_uint_eq(r.retried, 0);
	ck_assert_uint_eq(r.counter[0].min, LOOP(100));
	ck_assert_uint_eq(r.counter[0].max, LOOP(900));
	ck_assert_uint_eq(r.counter[0].total, 4 + LOOP(1900));
	ck_assert_uint_eq(r.counter[1].min, 100);
	ck_assert_uint_eq(r.counter[1].max, 900);
	ck_assert_uint_eq(r.counter[1].total, 1900);
	ck_assert_uint_ge(r.tsc.max, r.tsc.min);
	ck_assert_uint_ge(r.tsc.total, r.tsc.min + r.tsc.max);

	r = result_of(&s, A, PERFCTR_REGIONS_CORRECTED);
	ck_assert_uint_eq(r.entries + r.exits + r.passes + r.counter[0].total, 0);
	ck_assert_uint_eq(r.counter[0].min + r.counter[0].max, 0);
	r = result_of(&s, B, 0);
	ck_assert_uint_eq(r.flags, 0);
	ck_assert_uint_gt(r.counter[0].min, LOOP(100));
	done(&s);
}
END_TEST

START_TEST(regions_lie_in_each_other_and_overlap)
{
	struct subject s = subject(TWO_EVENTS);

	ck_assert_int_eq(perfctr_regions_calibrate(s.mine, 2), 0);
	rounds = 100;
	perfctr_region_enter(&s.mine[A], 2);
	loop();
	rounds = 200;
	perfctr_region_enter(&s.mine[B], 2);
	loop();
	rounds = 400;
	perfctr_region_enter(&s.mine[C], 2);
	loop();
	perfctr_region_exit(&s.mine[C], 2); /* C lies in B */
	perfctr_region_exit(&s.mine[A], 2); /* A and B overlap */
	rounds = 800;
	loop();
	perfctr_region_exit(&s.mine[B], 2);
	/*
	 * An enter or exit inside a region has branches of its own: 2 and 5, or more in a first
	 * pass.
	 */
	ck_assert_uint_eq(corrected(&s, C).counter[1].total, 400);
	ck_assert_uint_eq(corrected(&s, C).counter[0].total, LOOP(400));
	ck_assert_uint_ge(corrected(&s, A).counter[1].total, 700 + 2 + 2 + 5);
	ck_assert_uint_le(corrected(&s, A).counter[1].total, 700 + 50);
	ck_assert_uint_ge(corrected(&s, B).counter[1].total, 1400 + 2 + 5 + 5);
	ck_assert_uint_le(corrected(&s, B).counter[1].total, 1400 + 50);
	done(&s);
}
END_TEST

START_TEST(a_missed_exit_shows_and_does_not_spoil_the_next_pass)
{
	struct subject s = subject(TWO_EVENTS);
	struct perfctr_region_result r;

	ck_assert_int_eq(perfctr_regions_calibrate(s.mine, 2), 0);
	for (int i = 0; i < 10; i++) {
		rounds = i == 4 ? 100000 : 50;
		perfctr_region_enter(&s.mine[A], 2);
		loop();
		if (i == 4)
			continue; /* like a return in the middle */
		perfctr_region_exit(&s.mine[A], 2);
	}
	r = corrected(&s, A);
	ck_assert_uint_eq(r.entries, 10);
	ck_assert_uint_eq(r.exits, 9);
	ck_assert_uint_eq(r.passes, 9);
	/* Includes the comparison and its branch. */
	ck_assert_uint_eq(r.counter[0].max, LOOP(50) + 2);
	perfctr_region_exit(&s.mine[B], 2);
	r = result_of(&s, B, 0);
	ck_assert_uint_eq(r.entries, 0);
	ck_assert_uint_eq(r.exits, 1);
	ck_assert_uint_eq(r.passes, 0);
	perfctr_region_enter(&s.mine[B], 2);
	r = result_of(&s, B, 0);
	ck_assert_uint_eq(r.entries, 1);
	ck_assert_uint_eq(r.counter[0].total, 0);
	perfctr_region_exit(&s.mine[B], 2);
	r = result_of(&s, B, 0);
	ck_assert_uint_eq(r.entries, 1);
	ck_assert_uint_eq(r.exits, 2);
	ck_assert_uint_gt(r.counter[0].total, 0);
	done(&s);
}
END_TEST

static void recurse(struct perfctr_region *region, unsigned int depth)
{
	rounds = 100;
	perfctr_region_enter(region, 2);
	loop();
	if (depth)
		recurse(region, depth - 1);
	perfctr_region_exit(region, 2);
}

START_TEST(of_a_recursion_the_innermost_pass_counts)
{
	struct subject s = subject(TWO_EVENTS);
	struct perfctr_region_result r;

	recurse(&s.mine[A], 9);
	r = result_of(&s, A, 0);
	ck_assert_uint_eq(r.entries, 10);
	ck_assert_uint_eq(r.exits, 10);
	ck_assert_uint_eq(r.passes, 1);
	ck_assert_uint_ge(r.counter[1].total, 100);
	ck_assert_uint_lt(r.counter[1].total, 200);
	done(&s);
}
END_TEST

#define THREADS 4
#define PASSES 20000

static void *pass_in_thread(void *argument)
{
	struct subject *shared = argument;
	struct perfctr_control control = shared->control;
	struct perfctr *p = open_context(&control);
	struct perfctr_region *mine = perfctr_regions_thread(shared->regions, p);

	EXPECT(mine);
	EXPECT(perfctr_regions_calibrate(mine, 2) == 0);
	for (int i = 0; i < PASSES; i++) {
		rounds = 1000;
		perfctr_region_enter(&mine[A], 2);
		loop();
		perfctr_region_exit(&mine[A], 2);
	}
	EXPECT(perfctr_regions_thread(shared->regions, p) == mine);
	perfctr_close(p);
	return NULL;
}

START_TEST(each_thread_counts_its_own_passes_exactly_under_preemption)
{
	struct subject s = { .control = control_of(TWO_EVENTS) };
	struct perfctr_region_result r;
	pthread_t thread[THREADS];

	s.regions = perfctr_regions_open(&s.control, NULL, names, ARRAY_SIZE(names));
	ck_assert(s.regions);
	competitors_start(2);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, pass_in_thread, &s), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned int i = 0; i < THREADS; i++) {
		ck_assert_int_eq(perfctr_regions_read(s.regions, i, A, PERFCTR_REGIONS_CORRECTED,
						      &r),
				 0);
		ck_assert_uint_eq(r.passes, PASSES);
		ck_assert_uint_eq(r.counter[0].min, LOOP(1000));
		ck_assert_uint_le(r.counter[0].total - PASSES * LOOP(1000),
				  DISTURBANCE * r.retried);
		ck_assert_uint_le(r.counter[0].max, LOOP(1000) + DISTURBANCE * r.retried);
		ck_assert_uint_le(r.retried, PASSES / 100);
	}
	ck_assert_int_eq(perfctr_regions_read(s.regions, THREADS, A, 0, &r), -1);
	ck_assert_int_eq(errno, ENOENT);
	perfctr_regions_close(s.regions);
}
END_TEST

START_TEST(a_region_counts_on_when_its_context_is_stopped_and_started)
{
	struct subject s = subject(TWO_EVENTS);
	struct perfctr_region_result r;

	ck_assert_int_eq(perfctr_stop(s.p), 0);
	rounds = 100000;
	perfctr_region_enter(&s.mine[A], 2); /* stopped: the pass begins with the sums */
	loop();
	ck_assert_int_eq(perfctr_start(s.p), 0);
	rounds = 10000;
	loop();
	perfctr_region_exit(&s.mine[A], 2);
	rounds = 10000;
	perfctr_region_enter(&s.mine[B], 2);
	loop();
	ck_assert_int_eq(perfctr_stop(s.p), 0);
	rounds = 100000;
	loop();
	perfctr_region_exit(&s.mine[B], 2);
	for (unsigned int i = A; i <= B; i++) {
		r = result_of(&s, i, 0);
		ck_assert_uint_eq(r.passes, 1);
		ck_assert_uint_ge(r.counter[1].total, 10000);
		ck_assert_uint_lt(r.counter[1].total, 20000);
		ck_assert_uint_eq(r.counter[1].min, r.counter[1].total);
		ck_assert_uint_eq(r.counter[1].max, r.counter[1].total);
	}
	done(&s);
}
END_TEST

#define RDPMC_SWITCH "/sys/bus/event_source/devices/cpu/rdpmc"

START_TEST(where_rdpmc_is_forbidden_regions_count_by_system_calls)
{
	struct perfctr_region_result r;
	struct subject s;

	write_file(RDPMC_SWITCH, "0");
	s = subject(TWO_EVENTS);
	for (int i = 1; i <= 3; i++) {
		rounds = 10000 * i;
		perfctr_region_enter(&s.mine[A], 2);
		loop();
		perfctr_region_exit(&s.mine[A], 2);
	}
	perfctr_region_exit(&s.mine[A], 2);
	perfctr_region_enter(&s.mine[A], 2);
	perfctr_region_enter(&s.mine[A], 2);
	write_file(RDPMC_SWITCH, "1");
	r = result_of(&s, A, 0);
	ck_assert_ptr_null(perfctr_get_page(s.p));
	ck_assert_uint_eq(r.passes, 3);
	ck_assert_uint_eq(r.entries, 5);
	ck_assert_uint_eq(r.exits, 4);
	ck_assert_uint_ge(r.counter[1].min, 10000);
	ck_assert_uint_lt(r.counter[1].min, 11000);
	ck_assert_uint_ge(r.counter[1].max, 30000);
	ck_assert_uint_lt(r.counter[1].max, 31000);
	ck_assert_uint_ge(r.counter[1].total, 60000);
	ck_assert_uint_lt(r.counter[1].total, 63000);
	done(&s);
}
END_TEST

static void use_regions_of_parent(void *argument)
{
	struct subject *s = argument;
	struct perfctr_region_result r;
	struct subject own = { .control = s->control };

	/* The parent was inside A when it forked. */
	errno = 0;
	perfctr_region_exit(&s->mine[A], 2);
	perfctr_region_enter(&s->mine[A], 2);
	perfctr_region_exit(&s->mine[B], 2);
	EXPECT(errno == 0);
	EXPECT(perfctr_regions_calibrate(s->mine, 2) < 0 && errno == EPERM);
	EXPECT(perfctr_regions_read(s->regions, 0, A, 0, &r) < 0 && errno == EPERM);
	EXPECT(perfctr_regions_write(s->regions, stdout, PERFCTR_REGIONS_TEXT, 0) < 0 &&
	       errno == EPERM);
	EXPECT(!perfctr_regions_thread(s->regions, s->p) && errno == EPERM);

	own.p = open_context(&own.control);
	EXPECT(!perfctr_regions_thread(s->regions, own.p) && errno == EPERM);
	own.regions = perfctr_regions_open(&own.control, NULL, names, ARRAY_SIZE(names));
	EXPECT(own.regions);
	EXPECT(!perfctr_regions_thread(own.regions, s->p) && errno == EPERM);
	own.mine = perfctr_regions_thread(own.regions, own.p);
	EXPECT(own.mine);
	rounds = 100;
	perfctr_region_enter(&own.mine[A], 2);
	loop();
	perfctr_region_exit(&own.mine[A], 2);
	EXPECT(perfctr_regions_read(own.regions, 0, A, 0, &r) == 0);
	EXPECT(r.passes == 1 && r.counter[1].total >= 100 && r.counter[1].total < 110);
	perfctr_regions_close(own.regions);
	perfctr_close(own.p);
	perfctr_regions_close(s->regions);
	perfctr_close(s->p);
}

START_TEST(a_forked_child_leaves_its_parents_regions_alone)
{
	struct subject s = subject(TWO_EVENTS);
	struct perfctr_region_result r;

	rounds = 1000;
	perfctr_region_enter(&s.mine[A], 2);
	loop();
	in_child(use_regions_of_parent, &s);
	perfctr_region_exit(&s.mine[A], 2);
	r = result_of(&s, A, 0);
	ck_assert_uint_eq(r.entries, 1);
	ck_assert_uint_eq(r.exits, 1);
	ck_assert_uint_ge(r.counter[1].total, 1000);
	ck_assert_uint_eq(result_of(&s, B, 0).exits, 0);
	done(&s);
}
END_TEST

/* The second user has other regions, with another name, and a handle that may only read. */
START_TEST(two_users_in_one_process_do_not_meet)
{
	static const char *const other_names[] = { "x" };
	struct subject first = subject(TWO_EVENTS), second = { .control = first.control };
	struct perfctr_region_result r;

	second.p = perfctr_open_tid(0, 0);
	ck_assert(second.p);
	second.regions = perfctr_regions_open(&second.control, NULL, other_names, 1);
	ck_assert(second.regions);
	second.mine = perfctr_regions_thread(second.regions, second.p);
	ck_assert(second.mine);
	perfctr_region_enter(&first.mine[A], 2);
	rounds = 1000;
	perfctr_region_enter(&second.mine[0], 2);
	loop();
	perfctr_region_exit(&second.mine[0], 2);
	rounds = 1000;
	loop();
	perfctr_region_exit(&first.mine[A], 2);
	r = result_of(&second, 0, 0);
	ck_assert_str_eq(r.name, "x");
	ck_assert_uint_ge(r.counter[1].total, 1000);
	ck_assert_uint_lt(r.counter[1].total, 1020);
	done(&second);
	rounds = 1000;
	perfctr_region_enter(&first.mine[B], 2);
	loop();
	perfctr_region_exit(&first.mine[B], 2);
	ck_assert_uint_ge(result_of(&first, A, 0).counter[1].total, 2000);
	ck_assert_uint_lt(result_of(&first, A, 0).counter[1].total, 2060);
	ck_assert_uint_lt(result_of(&first, B, 0).counter[1].total, 1020);
	done(&first);
}
END_TEST

START_TEST(a_thread_takes_part_with_its_own_context_and_events_only)
{
	static const char *const one[] = { "one" };
	struct subject s = subject(TWO_EVENTS);
	struct perfctr_control other = control_of(ONE_EVENT);
	struct perfctr_regions *regions;
	struct perfctr_region_result r;

	ck_assert_ptr_null(perfctr_regions_open(&s.control, NULL, names, 0));
	ck_assert_int_eq(errno, EINVAL);
	regions = perfctr_regions_open(&other, NULL, one, 1);
	ck_assert(regions);
	ck_assert_ptr_null(perfctr_regions_thread(regions, s.p));
	ck_assert_int_eq(errno, EINVAL);
	perfctr_regions_close(regions);
	ck_assert_int_eq(perfctr_regions_read(s.regions, 0, 3, 0, &r), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(perfctr_regions_read(s.regions, 0, 0, 2, &r), -1);
	ck_assert_int_eq(errno, EINVAL);
	done(&s);
}
END_TEST

/* malloc() gives the new context the address of the old one. */
START_TEST(a_context_that_is_opened_again_has_regions_of_its_own)
{
	struct subject s = subject(TWO_EVENTS);
	struct perfctr_region *old = s.mine;
	struct perfctr_region_result r;

	rounds = 10;
	perfctr_region_enter(&old[A], 2);
	loop();
	perfctr_region_exit(&old[A], 2);
	perfctr_region_enter(&old[B], 2);
	perfctr_close(s.p);
	s.p = open_context(&s.control);
	s.mine = perfctr_regions_thread(s.regions, s.p);
	ck_assert(s.mine);
	ck_assert_ptr_ne(s.mine, old);
	perfctr_region_exit(&s.mine[B], 2);
	ck_assert_int_eq(perfctr_regions_read(s.regions, 0, A, 0, &r), 0);
	ck_assert_uint_eq(r.passes, 1);
	ck_assert_int_eq(perfctr_regions_read(s.regions, 1, A, 0, &r), 0);
	ck_assert_uint_eq(r.passes, 0);
	ck_assert_int_eq(perfctr_regions_read(s.regions, 1, B, 0, &r), 0);
	ck_assert_uint_eq(r.passes, 0);
	done(&s);
}
END_TEST

/* At every tick of the timer, the handler reads counters and passes through a region of its own. */
static struct subject *interrupted;
static volatile sig_atomic_t handled;
static uint64_t in_handler;

static void read_in_handler(int signo)
{
	const struct perfctr_page *page = perfctr_get_page(interrupted->p);
	unsigned long rounds_outside = rounds;
	uint64_t read;

	(void)signo;
	perfctr_region_enter(&interrupted->mine[B], 2);
	read = perfctr_read_pmc(page, 0);
	EXPECT(read > in_handler);
	in_handler = read;
	EXPECT(perfctr_read_counter(interrupted->p, 0) > read);
	rounds = 100;
	loop();
	perfctr_region_exit(&interrupted->mine[B], 2);
	rounds = rounds_outside;
	handled++;
}

START_TEST(signal_handlers_read_and_pass_through_regions)
{
	struct subject s = subject(TWO_EVENTS);
	struct itimerval timer = { .it_value.tv_usec = 200, .it_interval.tv_usec = 200 };
	struct perfctr_region_result a, b;
	uint64_t last = 0, passes = 0;

	interrupted = &s;
	signal(SIGALRM, read_in_handler);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (handled < 200) {
		uint64_t now = perfctr_read_pmc(perfctr_get_page(s.p), 0);

		ck_assert_uint_gt(now, last);
		last = now;
		rounds = 1000;
		perfctr_region_enter(&s.mine[A], 2);
		loop();
		perfctr_region_exit(&s.mine[A], 2);
		passes++;
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	a = result_of(&s, A, 0);
	b = result_of(&s, B, 0);
	ck_assert_uint_eq(a.passes, passes);
	ck_assert_uint_eq(a.entries, a.exits);
	ck_assert_uint_eq(b.passes, handled);
	ck_assert_uint_eq(b.entries, b.exits);
	ck_assert_uint_ge(a.counter[1].min, 1000);
	ck_assert_uint_lt(a.counter[1].min, 1010);
	ck_assert_uint_ge(b.counter[1].min, 100);
	ck_assert_uint_lt(b.counter[1].min, 130);
	done(&s);
}
END_TEST

/* Blocks are regions; an exception leaves one of them. perfex reads what exit() has saved. */
START_TEST(a_cxx_program_counts_blocks_and_saves_them_at_exit)
{
	static const char *const rows[] = {
		"\r\nblock,1,10,10,",
		"\r\nexception,1,1,1,",
		"0x004100c4@1,user,10000,1000,1000,1000,yes\r\n",
		"0x004100c0@0,user,20010,2001,2001,2001,yes\r\n",
	};
	struct run r;

	RUN(&r, program("regions-cxx"), SAVED);
	ck_assert_msg(r.status == 0, "status %#x: %s%s", r.status, r.out, r.err);
	RUN(&r, program("../../bin/perfex"), "stat-of", "--csv", SAVED);
	ck_assert_msg(r.status == 0, "status %#x: %s", r.status, r.err);
	unlink(SAVED);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_msg(strstr(r.out, rows[i]), "no %s in\n%s", rows[i], r.out);
}
END_TEST

START_TEST(a_32_bit_program_counts_regions)
{
	struct run r;

	RUN(&r, program("regions32"));
	ck_assert_msg(r.status == 0, "status %#x: %s%s", r.status, r.out, r.err);
	printf("%s", r.out);
}
END_TEST

SUITE(regions, entering_and_leaving_execute_at_most_60_instructions_with_two_counters,
      a_region_around_the_synthetic_programs_counts_them_exactly_after_calibration,
      passes_give_total_smallest_and_largest, regions_lie_in_each_other_and_overlap,
      a_missed_exit_shows_and_does_not_spoil_the_next_pass,
      of_a_recursion_the_innermost_pass_counts,
      each_thread_counts_its_own_passes_exactly_under_preemption,
      a_region_counts_on_when_its_context_is_stopped_and_started,
      where_rdpmc_is_forbidden_regions_count_by_system_calls,
      a_forked_child_leaves_its_parents_regions_alone, two_users_in_one_process_do_not_meet,
      a_thread_takes_part_with_its_own_context_and_events_only,
      a_context_that_is_opened_again_has_regions_of_its_own,
      signal_handlers_read_and_pass_through_regions,
      a_cxx_program_counts_blocks_and_saves_them_at_exit, a_32_bit_program_counts_regions)
