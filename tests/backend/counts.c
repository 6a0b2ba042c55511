// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts of the caller, and of other programs while they run, stop and exit. */
#include "backend.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/*
 * A read that a switch disturbs copies the counts again, which adds to them: the least is
 * undisturbed.
 */
static uint64_t least_of_loops(const struct perfctr *self, uint32_t iterations)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t before = instructions_of(self), n;

		loop(iterations);
		nap(3);
		loop(iterations);
		n = instructions_of(self) - before;
		least = n < least ? n : least;
	}
	return least;
}

/* There are switches inside. Instructions around the loops drop out of the difference. */
START_TEST(a_thread_counts_itself_exactly)
{
	struct perfctr *self = counted(0, 1, 0);
	uint64_t once, thrice;

	least_of_loops(self, 1);
	once = least_of_loops(self, ITERATIONS);
	thrice = least_of_loops(self, 3 * ITERATIONS);
	ck_assert_uint_eq(thrice - once, 8ull * ITERATIONS);
	perfctr_close(self);
}
END_TEST

static void expect_loop(const struct perfctr *p, uint64_t instructions, uint64_t branches)
{
	struct perfctr_counts counts = own_counts(p);

	ck_assert_uint_eq(counts.n_counters, 2);
	ck_assert_uint_eq(counts.counter[0], instructions);
	ck_assert_uint_eq(counts.counter[1], branches);
	ck_assert_uint_ne(counts.flags & PERFCTR_COUNTS_EXITED, 0);
	ck_assert_uint_ne(counts.flags & PERFCTR_COUNTS_CONSISTENT, 0);
	ck_assert_uint_eq(counts.members, 0);
	ck_assert_uint_gt(counts.tsc, 0);
}

START_TEST(a_program_is_counted_from_its_first_instruction_to_its_last)
{
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("loop")));
	struct perfctr *p = counted(pid, 2, 0);

	run_to_end(pid);
	expect_loop(p, LOOP_INSTRUCTIONS(SHORT_LOOP), LOOP_BRANCHES(SHORT_LOOP));
	perfctr_close(p);
}
END_TEST

START_TEST(programs_that_share_a_cpu_have_each_their_own_counts)
{
	struct perfctr *p[2];
	pid_t pid[2];

	for (int i = 0; i < 2; i++) {
		pid[i] = stopped_start(0, COMMAND(program("loop-long")));
		p[i] = counted(pid[i], 1, 0);
	}
	stopped_go(pid[0]);
	run_to_end(pid[1]);
	ck_assert_int_eq(wait_for(pid[0], NULL), pid[0]);
	for (int i = 0; i < 2; i++) {
		struct perfctr_counts counts = counts_of(p[i], PERFCTR_SCOPE_SELF);

		ck_assert_uint_eq(counts.counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
		/* The programs took turns. */
		ck_assert_uint_gt(counts.switches, 2);
		perfctr_close(p[i]);
	}
}
END_TEST

/* asm/exec.S executes 5 instructions, one of them a branch. */
START_TEST(a_thread_that_executes_another_program_is_counted_on)
{
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("exec"), program("loop")));
	struct perfctr *p = counted(pid, 2, 0);

	run_to_end(pid);
	expect_loop(p, 5 + LOOP_INSTRUCTIONS(SHORT_LOOP), 1 + LOOP_BRANCHES(SHORT_LOOP));
	perfctr_close(p);
}
END_TEST

START_TEST(who_has_exited_is_read_but_not_controlled)
{
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("loop")));
	struct perfctr *p = counted(pid, 2, 0);
	struct perfctr_control control = user_control(1, 0);

	run_to_end(pid);
	expect_refusal(perfctr_set_control(p, &control), ESRCH);
	expect_refusal(perfctr_start(p), ESRCH);
	expect_loop(p, LOOP_INSTRUCTIONS(SHORT_LOOP), LOOP_BRANCHES(SHORT_LOOP));
	perfctr_close(p);
}
END_TEST

static void turn(void)
{
	for (;;)
		loop(ITERATIONS);
}

static void turn_and_nap(void)
{
	for (;;) {
		loop(ITERATIONS);
		nap(1);
	}
}

/* This includes threads that are not switched away: root may interrupt their CPU. */
static void expect_counts_until_now(const struct perfctr *p)
{
	struct perfctr_counts before = own_counts(p), now;
	unsigned int grown = 0;

	while (grown < 20) {
		nap(1);
		now = own_counts(p);
		ck_assert_uint_ge(now.counter[0], before.counter[0]);
		grown += now.switches == before.switches && now.counter[0] > before.counter[0];
		before = now;
	}
}

START_TEST(a_thread_that_runs_is_counted_until_now_stopped_and_started)
{
	bool by_root = capabilities() & BY_ROOT;
	struct child child = make_child(by_root ? turn : turn_and_nap);
	struct perfctr *p;
	uint64_t count;

	release_child(&child);
	nap(100);
	p = counted(child.pid, 1, 0);
	if (by_root)
		expect_counts_until_now(p);
	while (instructions_of(p) < ITERATIONS)
		nap(1);
	ck_assert_int_eq(perfctr_stop(p), 0);
	count = instructions_of(p);
	nap(100);
	ck_assert_uint_eq(instructions_of(p), count);
	ck_assert_int_eq(perfctr_start(p), 0);
	while (instructions_of(p) < count + ITERATIONS)
		nap(1);
	kill_and_wait(child.pid);
	perfctr_close(p);
}
END_TEST

START_TEST(a_stopped_context_stands_still)
{
	struct perfctr *self = counted(0, 2, 0);
	struct perfctr_counts stopped, later;

	ck_assert_int_eq(perfctr_stop(self), 0);
	stopped = own_counts(self);
	loop(ITERATIONS);
	nap(3);
	later = own_counts(self);
	ck_assert_uint_eq(stopped.flags & PERFCTR_COUNTS_STARTED, 0);
	ck_assert_uint_eq(later.tsc, stopped.tsc);
	for (int i = 0; i < 2; i++)
		ck_assert_uint_eq(later.counter[i], stopped.counter[i]);
	ck_assert_uint_eq(perfctr_read_counter(self, 0), stopped.counter[0]);

	ck_assert_int_eq(perfctr_start(self), 0);
	loop(ITERATIONS);
	later = own_counts(self);
	ck_assert_uint_ne(later.flags & PERFCTR_COUNTS_STARTED, 0);
	ck_assert_uint_gt(later.tsc, stopped.tsc);
	ck_assert_uint_gt(later.counter[0], stopped.counter[0] + 2 * ITERATIONS);
	ck_assert_uint_lt(later.counter[0], stopped.counter[0] + 3 * ITERATIONS);
	perfctr_close(self);
}
END_TEST

START_TEST(a_control_may_wait_for_its_start)
{
	struct perfctr *self = counted(0, 1, PERFCTR_CONTROL_STOPPED);
	struct perfctr_counts counts;

	loop(ITERATIONS);
	counts = own_counts(self);
	ck_assert_uint_eq(counts.flags & PERFCTR_COUNTS_STARTED, 0);
	ck_assert_uint_eq(counts.tsc, 0);
	ck_assert_uint_eq(counts.counter[0], 0);
	ck_assert_int_eq(perfctr_start(self), 0);
	loop(ITERATIONS);
	ck_assert_uint_gt(instructions_of(self), 2 * ITERATIONS);
	ck_assert_uint_lt(instructions_of(self), 3 * ITERATIONS);
	perfctr_close(self);
}
END_TEST

START_TEST(a_control_clears_all_sums)
{
	struct perfctr_control control = user_control(1, PERFCTR_CONTROL_STOPPED);
	struct perfctr *self = counted(0, 1, 0);
	struct perfctr_counts counts;

	loop(ITERATIONS);
	ck_assert_int_eq(perfctr_set_control(self, &control), 0);
	counts = own_counts(self);
	ck_assert_uint_eq(counts.tsc, 0);
	ck_assert_uint_eq(counts.counter[0], 0);
	perfctr_close(self);
}
END_TEST

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * The time stamp is nearer to that than to the time that has passed. Tests of single backends check
 * how near.
 */
START_TEST(virtual_time_is_the_threads_cpu_time)
{
	struct perfctr *self = counted(0, 0, 0);
	uint64_t wall = wall_ns(), cpu = thread_ns();
	uint64_t ticks = own_counts(self).tsc;
	double away;

	burn(100000000);
	sleep_us(300000);
	burn(100000000);
	ticks = own_counts(self).tsc - ticks;
	cpu = thread_ns() - cpu;
	wall = wall_ns() - wall;
	away = (double)(wall - cpu);
	ck_assert_double_ge(away, 300e6);
	ck_assert_double_eq_tol(ns_of_ticks(ticks), (double)cpu, away / 2);
	perfctr_close(self);
}
END_TEST

static uint64_t faults_of(const struct rusage *usage)
{
	return (uint64_t)usage->ru_minflt + (uint64_t)usage->ru_majflt;
}

static uint64_t switches_of(const struct rusage *usage)
{
	return (uint64_t)usage->ru_nvcsw + (uint64_t)usage->ru_nivcsw;
}

/* Nothing has happened between two accounts that agree. */
static struct perfctr_counts account(const struct perfctr *p, struct rusage *usage)
{
	struct perfctr_counts counts;
	struct rusage before;

	do {
		getrusage(RUSAGE_THREAD, &before);
		counts = own_counts(p);
		getrusage(RUSAGE_THREAD, usage);
	} while (switches_of(&before) != switches_of(usage) ||
		 faults_of(&before) != faults_of(usage));
	return counts;
}

START_TEST(switches_are_those_of_rusage)
{
	struct perfctr *self = counted(0, 0, 0);
	struct rusage first, last;
	struct perfctr_counts before = account(self, &first), after;

	nap(50);
	after = account(self, &last);
	ck_assert_uint_gt(after.switches, before.switches);
	ck_assert_uint_eq(after.switches - before.switches,
			  switches_of(&last) - switches_of(&first));
	ck_assert_uint_le(after.migrations - before.migrations, after.switches - before.switches);
	perfctr_close(self);
}
END_TEST

START_TEST(each_touched_page_is_a_fault_and_those_are_the_kernels)
{
	enum { PAGES = 1000 };
	struct perfctr *self = counted_software(0, 0);
	struct rusage first, last;
	struct perfctr_counts before = account(self, &first), after;

	touch(PAGES);
	nap(20);
	after = account(self, &last);
	for (uint32_t i = 0; i < after.n_counters; i++)
		after.counter[i] -= before.counter[i];
	ck_assert_uint_ge(after.counter[PERFCTR_MINOR_FAULTS], PAGES);
	ck_assert_uint_eq(after.counter[PERFCTR_MINOR_FAULTS],
			  (uint64_t)(last.ru_minflt - first.ru_minflt));
	ck_assert_uint_eq(after.counter[PERFCTR_PAGE_FAULTS], faults_of(&last) - faults_of(&first));
	ck_assert_uint_gt(after.counter[PERFCTR_CONTEXT_SWITCHES], 0);
	ck_assert_uint_eq(after.counter[PERFCTR_CONTEXT_SWITCHES],
			  switches_of(&last) - switches_of(&first));
	perfctr_close(self);
}
END_TEST

/* The page is of the same instant, or is behind by the difference of the clocks. */
START_TEST(a_thread_reads_its_time_live)
{
	struct perfctr *self = counted(0, 0, 0);
	const struct perfctr_page *page = perfctr_tsc_page(self);
	uint64_t first, second, stopped;

	ck_assert_ptr_nonnull(page);
	first = perfctr_read_tsc(page);
	burn(5000000);
	second = perfctr_read_tsc(page);
	ck_assert_double_ge(ns_of_ticks(second - first), 4.5e6);
	ck_assert_double_le(ns_of_ticks(second), ns_of_ticks(own_counts(self).tsc) + CLOCKS_OFF_NS);
	ck_assert_int_eq(perfctr_stop(self), 0);
	stopped = perfctr_read_tsc(page);
	loop(ITERATIONS);
	ck_assert_uint_eq(perfctr_read_tsc(page), stopped);
	ck_assert_uint_eq(own_counts(self).tsc, stopped);
	perfctr_close(self);
}
END_TEST

/* A read that is a system call has at least some hundred instructions in the kernel. */
START_TEST(a_thread_reads_its_counters_without_a_system_call)
{
	struct perfctr_control control = user_control(1, 0);
	struct perfctr *self = open_context(0);
	uint64_t kernel, last = 0;
	bool grows = true;

	perfctr_control_add(&control, PERFCTR_ANY, KERNEL(INSTRUCTIONS), 0);
	set_control(self, &control);
	kernel = perfctr_read_counter(self, 1);
	/* An assertion makes system calls. */
	for (int i = 0; i < 10000; i++) {
		uint64_t now = perfctr_read_counter(self, 0);

		grows &= now > last;
		last = now;
	}
	kernel = perfctr_read_counter(self, 1) - kernel;
	ck_assert(grows);
	ck_assert_uint_lt(kernel, 10000 * 50);
	/* The count is the same. */
	ck_assert_uint_gt(instructions_of(self), last);
	ck_assert_uint_lt(instructions_of(self), last + 10000);
	perfctr_close(self);
}
END_TEST

#define FIXED_USER 0x410000

/* Fixed counter 0 counts the same event as the other counter. */
START_TEST(an_inline_read_agrees_with_every_other_way)
{
	struct perfctr_control control = user_control(1, 0);
	struct perfctr *self = open_context(0);
	const struct perfctr_page *page;
	uint64_t first, inlined, chosen, fixed;

	perfctr_control_add(&control, PERFCTR_FIXED, FIXED_USER, 0);
	set_control(self, &control);
	page = perfctr_get_page(self);
	ck_assert_ptr_nonnull(page);
	first = instructions_of(self);
	loop(ITERATIONS);
	inlined = perfctr_read_pmc(page, 0);
	chosen = perfctr_read_counter(self, 0);
	fixed = perfctr_read_pmc(page, 1);
	ck_assert_uint_gt(inlined, first + 2 * ITERATIONS);
	ck_assert_uint_gt(chosen, inlined);
	ck_assert_uint_gt(fixed, chosen);
	ck_assert_uint_gt(instructions_of(self), fixed);

	ck_assert_int_eq(perfctr_stop(self), 0);
	inlined = perfctr_read_pmc(page, 0);
	loop(ITERATIONS);
	ck_assert_uint_eq(perfctr_read_pmc(page, 0), inlined);
	ck_assert_uint_eq(instructions_of(self), inlined);
	ck_assert_int_eq(perfctr_start(self), 0);
	loop(ITERATIONS);
	ck_assert_uint_gt(perfctr_read_pmc(page, 0), inlined + 2 * ITERATIONS);
	perfctr_close(self);
}
END_TEST

START_TEST(every_way_to_read_a_counter_agrees)
{
	struct perfctr *self = counted(0, 1, 0);
	uint64_t first = instructions_of(self), chosen, last;

	loop(ITERATIONS);
	chosen = perfctr_read_counter(self, 0);
	last = instructions_of(self);
	ck_assert_uint_gt(chosen, first + 2 * ITERATIONS);
	ck_assert_uint_gt(last, chosen);
	errno = 0;
	perfctr_read_counter(self, 0);
	ck_assert_int_eq(errno, 0);
	ck_assert_uint_eq(perfctr_read_counter(self, 1), 0);
	ck_assert_int_eq(errno, EINVAL);
	perfctr_close(self);
}
END_TEST

#define H PERFCTR_CAN_HARDWARE
#define HR (PERFCTR_CAN_HARDWARE | PERFCTR_CAN_REMOTE)

const struct contract count_contract[] = {
	{ H, &a_thread_counts_itself_exactly },
	{ HR, &a_program_is_counted_from_its_first_instruction_to_its_last },
	{ HR, &programs_that_share_a_cpu_have_each_their_own_counts },
	{ HR, &a_thread_that_executes_another_program_is_counted_on },
	{ HR, &who_has_exited_is_read_but_not_controlled },
	{ HR, &a_thread_that_runs_is_counted_until_now_stopped_and_started },
	{ H, &a_stopped_context_stands_still },
	{ H, &a_control_may_wait_for_its_start },
	{ H, &a_control_clears_all_sums },
	{ BY_CLOCK, &virtual_time_is_the_threads_cpu_time },
	{ PERFCTR_CAN_SWITCHES, &switches_are_those_of_rusage },
	{ PERFCTR_CAN_SOFTWARE, &each_touched_page_is_a_fault_and_those_are_the_kernels },
	{ BY_CLOCK | PERFCTR_CAN_LIVE_READ, &a_thread_reads_its_time_live },
	{ BY_ROOT | H | PERFCTR_CAN_RDPMC, &a_thread_reads_its_counters_without_a_system_call },
	{ H | PERFCTR_CAN_RDPMC | PERFCTR_CAN_LIVE_READ,
	  &an_inline_read_agrees_with_every_other_way },
	{ H, &every_way_to_read_a_counter_agrees },
	{ 0, NULL },
};
