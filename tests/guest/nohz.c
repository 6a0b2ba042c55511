// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * On a CPU whose tick stops for a thread that runs alone (nohz_full), the tick goes on while that
 * thread counts: the value that RDPMC returns must be set back in time.
 */
#include "guest.h"
#include "loop.h"

#include <perfctr.h>
#include <time.h>
#include <unistd.h>

#define CPU		1
#define TICKS_A_SECOND	250	/* CONFIG_HZ */

/* Timer interrupts of the CPU until now. */
static uint64_t ticks(void)
{
	uint64_t n = interrupts("LOC", CPU);

	EXPECT(n > 0);
	return n;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/*
 * Measures two seconds while the thread runs alone. Before that, the thread may still be disturbed.
 */
static double ticks_a_second(void)
{
	uint64_t before;
	double begin;

	for (begin = seconds(); seconds() < begin + 1;)
		;
	before = ticks();
	for (begin = seconds(); seconds() < begin + 2;)
		;
	return (double)(ticks() - before) / (seconds() - begin);
}

static struct perfctr *open_self(void)
{
	struct perfctr *p = perfctr_open();
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));

	ck_assert_ptr_nonnull(p);
	ck_assert_int_eq(perfctr_set_control(p, &control), 0);
	return p;
}

START_TEST(the_tick_stops_for_who_runs_alone_and_counts_nothing)
{
	struct perfctr *p;

	ck_assert_uint_eq(read_number("/sys/devices/system/cpu/nohz_full"), CPU);
	pin(0, CPU);
	ck_assert_double_lt(ticks_a_second(), TICKS_A_SECOND / 10);
	p = open_self();
	ck_assert_double_gt(ticks_a_second(), TICKS_A_SECOND / 2);
	ck_assert_int_eq(perfctr_stop(p), 0);
	ck_assert_double_lt(ticks_a_second(), TICKS_A_SECOND / 10);
	perfctr_close(p);
}
END_TEST

static void keep_ticks(void *unused)
{
	(void)unused;
	pin(0, CPU);
	EXPECT(ticks_a_second() > TICKS_A_SECOND / 2.0);
}

START_TEST(the_tick_goes_on_for_children_that_count)
{
	int fd = tree_open(0);

	in_child(keep_ticks, NULL);
	close(fd);
}
END_TEST

#define TURNS		1100000000u	/* 4 loops of 2 instructions a turn are more than 2^33 */

/*
 * Returns the instructions of a pass: those of its turns, and a constant number of others. If a
 * switch interrupts a read, the read tries again, which takes more instructions. At the end of the
 * pass they would be counted, so the pass is repeated.
 */
static uint64_t pass(const struct perfctr_page *page, uint32_t turns)
{
	const struct perfctr_page_counter *c = &page->counter[0];
	uint64_t begin, end;

	do {
		while (!perfctr_try_pmc(c, &begin))
			;
		for (int i = 0; i < 4; i++)
			loop(turns);
	} while (!perfctr_try_pmc(c, &end));
	return end - begin;
}

START_TEST(a_thread_alone_reads_itself_right_beyond_2_to_the_32)
{
	struct perfctr *p = open_self();
	uint64_t least = pass(perfctr_get_page(p), 1);

	pin(0, CPU);
	ck_assert_uint_eq(pass(perfctr_get_page(p), TURNS), least + 4 * 2ull * (TURNS - 1));
	perfctr_close(p);
}
END_TEST

SUITE(nohz, a_thread_alone_reads_itself_right_beyond_2_to_the_32, BY_THE_CLOCK,
      the_tick_stops_for_who_runs_alone_and_counts_nothing,
      the_tick_goes_on_for_children_that_count)
