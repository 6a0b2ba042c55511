// SPDX-License-Identifier: GPL-2.0-or-later
/* A thread that reads its own counters without a system call. */
#include "guest.h"
#include "msr.h"

#include <fcntl.h>
#include <perfctr.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define READS 1000000

static struct perfctr *open_self(const struct event *events, size_t n)
{
	struct perfctr *p = perfctr_open();
	struct perfctr_control control = control_of(events, n);

	ck_assert(p);
	ck_assert_int_eq(perfctr_set_control(p, &control), 0);
	ck_assert(perfctr_get_page(p));
	return p;
}

static struct perfctr_counts sums(const struct perfctr *p)
{
	struct perfctr_counts counts;

	ck_assert_int_eq(perfctr_read(p, &counts), 0);
	return counts;
}

/* Moves the reader between the CPUs for as long as it reads. */
struct mover {
	pthread_t thread;
	pid_t reader;
	atomic_bool stop;
};

static void *move(void *argument)
{
	struct mover *m = argument;

	for (int cpu = 0; !m->stop; cpu = !cpu) {
		pin(m->reader, cpu);
		sleep_us(1000);
	}
	return NULL;
}

/*
 * Competitors preempt the reader, and it is moved about every millisecond, until 20 moves have been
 * seen.
 */
static void read_under_disturbance(const struct perfctr *p,
				   void (*read)(const struct perfctr_page *page))
{
	struct mover m = { .reader = gettid() };

	competitors_start(2);
	ck_assert_int_eq(pthread_create(&m.thread, NULL, move, &m), 0);
	do
		read(perfctr_get_page(p));
	while (sums(p).migrations < 20);
	m.stop = true;
	pthread_join(m.thread, NULL);
	ck_assert_uint_gt(sums(p).switches, sums(p).migrations / 2);
}

static const struct perfctr *reader;

static void read_pmc_strictly_monotone(const struct perfctr_page *page)
{
	uint64_t low = sums(reader).counter[0];
	uint64_t first = perfctr_read_pmc(page, 0), last = first;

	ck_assert_uint_le(low, first);
	for (int i = 1; i < READS; i++) {
		uint64_t now = perfctr_read_pmc(page, 0);

		/* A read is several instructions long, so the counter has moved on. */
		if (now <= last)
			ck_abort_msg("read %d: %#llx after %#llx", i, (unsigned long long)now,
				     (unsigned long long)last);
		last = now;
	}
	ck_assert_uint_le(last, sums(reader).counter[0]);
	/* A read takes 5 instructions. With a comparison and the loop they are fewer than 40. */
	ck_assert_uint_ge(last - first, 5ull * (READS - 1));
	ck_assert_uint_le(last - first, 40ull * READS);
}

static void read_tsc_monotone(const struct perfctr_page *page)
{
	uint64_t low = sums(reader).tsc;
	uint64_t first = perfctr_read_tsc(page), last = first;

	ck_assert_uint_le(low, first);
	for (int i = 1; i < READS; i++) {
		uint64_t now = perfctr_read_tsc(page);

		if (now < last)
			ck_abort_msg("read %d: %#llx after %#llx", i, (unsigned long long)now,
				     (unsigned long long)last);
		last = now;
	}
	ck_assert_uint_le(last, sums(reader).tsc);
}

/*
 * Counters 0 and 1 and fixed counter 0 count the same from the same instruction on. They differ by
 * the 4 instructions from one RDPMC to the next, unless a snapshot is torn.
 */
static void read_snapshots_in_one_piece(const struct perfctr_page *page)
{
	struct perfctr_snapshot now, last;

	perfctr_read_snapshot(page, 3, &last);
	ck_assert_uint_eq(last.counter[1] - last.counter[0], 4);
	for (int i = 1; i < READS; i++) {
		perfctr_read_snapshot(page, 3, &now);
		if (now.tsc < last.tsc || now.counter[0] <= last.counter[0] ||
		    now.counter[1] != now.counter[0] + 4 || now.counter[2] != now.counter[1] + 4)
			ck_abort_msg("snapshot %d: tsc %#llx, %#llx %#llx %#llx after tsc %#llx, %#llx",
				     i, (unsigned long long)now.tsc,
				     (unsigned long long)now.counter[0],
				     (unsigned long long)now.counter[1],
				     (unsigned long long)now.counter[2],
				     (unsigned long long)last.tsc,
				     (unsigned long long)last.counter[0]);
		last = now;
	}
}

#define ALIKE EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(INSTRUCTIONS) }, \
		     { PERFCTR_FIXED, USER(FIXED) })

START_TEST(a_million_snapshots_under_preemption_and_migration_are_of_one_moment_each)
{
	struct perfctr *p = open_self(ALIKE);

	read_under_disturbance(p, read_snapshots_in_one_piece);
	perfctr_close(p);
}
END_TEST

START_TEST(a_million_inline_counter_reads_under_preemption_and_migration_are_strictly_monotone)
{
	struct perfctr *p = open_self(EVENTS({ 0, USER(INSTRUCTIONS) }));

	reader = p;
	read_under_disturbance(p, read_pmc_strictly_monotone);
	perfctr_close(p);
}
END_TEST

START_TEST(a_million_inline_reads_of_the_fixed_counter_are_strictly_monotone)
{
	struct perfctr *p = open_self(EVENTS({ PERFCTR_FIXED, USER(FIXED) }));

	reader = p;
	read_under_disturbance(p, read_pmc_strictly_monotone);
	perfctr_close(p);
}
END_TEST

START_TEST(a_million_inline_time_stamp_reads_under_preemption_and_migration_are_monotone)
{
	struct perfctr *p = open_self(NULL, 0);

	reader = p;
	read_under_disturbance(p, read_tsc_monotone);
	perfctr_close(p);
}
END_TEST

/*
 * Where a hardware counter is narrower than its sum, or a sign matters, reads could jump. The test
 * sets the counter to shortly before the boundary while nobody counts. Then the reads cross the
 * boundary.
 */
#define IA32_A_PMC0 0x4c1	/* full-width write access to general counter 0 */

static void preset_counter_0(uint64_t value)
{
	msr_write(0, IA32_A_PMC0, value);
}

/* A sleeping child for which counter 0 is held. */
static pid_t holder_start(void)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	pid_t pid = spawn_sleeper(eventfd(0, EFD_CLOEXEC));

	ck_assert_int_eq(ioctl(context_open(pid, PERFCTR_OPEN_CREATE), PERFCTR_IOC_CONTROL,
			       &control),
			 0);
	return pid;
}

START_TEST(p1_reads_stay_exact_when_the_hardware_counter_crosses_a_power_of_two)
{
	static const unsigned int bits[] = { 31, 32, 40, 47, 48 };
	struct perfctr *p = open_self(EVENTS({ 0, USER(INSTRUCTIONS) }));
	pid_t holder = holder_start(); /* without it RDPMC would be forbidden while p is stopped */

	reader = p;
	pin(0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		/* A million reads take 5 million instructions and more. */
		uint64_t preset = (1ull << bits[i]) - 4000000;

		ck_assert_int_eq(perfctr_stop(p), 0);
		preset_counter_0(preset);
		ck_assert_uint_eq(rdpmc(0), preset);
		ck_assert_int_eq(perfctr_start(p), 0);
		read_pmc_strictly_monotone(perfctr_get_page(p));
	}
	kill_and_wait(holder);
	perfctr_close(p);
}
END_TEST

START_TEST(snapshots_stay_in_one_piece_when_a_counter_is_set_back_before_it_wraps)
{
	struct perfctr *p = open_self(ALIKE);
	uint64_t preset = (1ull << 47) - 4000000;

	pin(0, 0);
	ck_assert_int_eq(perfctr_stop(p), 0);
	preset_counter_0(preset);
	ck_assert_int_eq(perfctr_start(p), 0);
	read_snapshots_in_one_piece(perfctr_get_page(p));
	/* Counter 0 has been set back. The others have counted the same from 0 on. */
	ck_assert_uint_lt(rdpmc(0), preset);
	perfctr_close(p);
}
END_TEST

/*
 * In particular of narrow counters, which ticks set back again and again while the kernel executes.
 */
START_TEST(the_same_event_of_kernel_mode_is_the_same_on_two_counters)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	time_t end = time(NULL) + 3;
	struct perfctr_counts counts;

	context_control(fd, EVENTS({ 0, KERNEL(INSTRUCTIONS) }, { 1, KERNEL(INSTRUCTIONS) }));
	while (time(NULL) < end || context_read(fd).counter[0] <= 1 << 21)
		for (int i = 0; i < 1000; i++)
			syscall(SYS_getppid);
	counts = context_read(fd);
	ck_assert_uint_gt(counts.counter[0], 1 << 21);
	ck_assert_uint_eq(counts.counter[0], counts.counter[1]);
	close(fd);
}
END_TEST

START_TEST(a_stopped_counter_reads_the_sum_of_the_kernel)
{
	struct perfctr *p = open_self(EVENTS({ 0, USER(INSTRUCTIONS) }));

	spin(1000);
	ck_assert_int_eq(perfctr_stop(p), 0);
	spin(1000);
	ck_assert_uint_eq(perfctr_read_pmc(perfctr_get_page(p), 0), sums(p).counter[0]);
	ck_assert_uint_eq(perfctr_read_tsc(perfctr_get_page(p)), sums(p).tsc);
	ck_assert_uint_eq(perfctr_read_counter(p, 0), sums(p).counter[0]);
	perfctr_close(p);
}
END_TEST

START_TEST(a_stopped_snapshot_is_the_sums_of_the_kernel)
{
	struct perfctr *p = open_self(ALIKE);
	struct perfctr_snapshot snapshot;
	struct perfctr_counts counts;

	spin(1000);
	ck_assert_int_eq(perfctr_stop(p), 0);
	spin(1000);
	perfctr_read_snapshot(perfctr_get_page(p), 3, &snapshot);
	counts = sums(p);
	ck_assert_uint_gt(counts.counter[0], 1000);
	ck_assert_uint_eq(snapshot.tsc, counts.tsc);
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_uint_eq(snapshot.counter[i], counts.counter[i]);
	perfctr_close(p);
}
END_TEST

START_TEST(stop_and_start_leave_out_what_was_between)
{
	struct perfctr *p = open_self(EVENTS({ 0, USER(INSTRUCTIONS) }));
	uint64_t before;

	ck_assert_int_eq(perfctr_stop(p), 0);
	before = sums(p).counter[0];
	spin(1000000);
	ck_assert_uint_eq(sums(p).counter[0], before);
	ck_assert_int_eq(perfctr_start(p), 0);
	ck_assert_int_eq(perfctr_stop(p), 0);
	/*
	 * The two calls, which are bound at their first use, and none of spin()'s 2,000,000
	 * instructions.
	 */
	ck_assert_uint_gt(sums(p).counter[0], before);
	ck_assert_uint_lt(sums(p).counter[0], before + 1000000);
	perfctr_close(p);
}
END_TEST

/*
 * The cost of a read, counted by the counter itself. Two reads in a row differ by the instructions
 * between their RDPMC, which are one whole read.
 */
__attribute__((noinline)) static uint64_t cost_of_read_pmc(const struct perfctr_page *page)
{
	uint64_t first = perfctr_read_pmc(page, 0);
	uint64_t second = perfctr_read_pmc(page, 0);

	return second - first;
}

__attribute__((noinline)) static uint64_t cost_with_read_tsc(const struct perfctr_page *page)
{
	uint64_t first = perfctr_read_pmc(page, 0);
	uint64_t tsc = perfctr_read_tsc(page);
	uint64_t second = perfctr_read_pmc(page, 0);

	__asm__ volatile("" : : "r"(tsc));
	return second - first;
}

__attribute__((noinline)) static uint64_t cost_with_snapshot(const struct perfctr_page *page,
							     struct perfctr_snapshot *snapshot)
{
	uint64_t first = perfctr_read_pmc(page, 0);
	uint64_t second;

	perfctr_read_snapshot(page, 2, snapshot);
	second = perfctr_read_pmc(page, 0);
	return second - first;
}

START_TEST(an_inline_snapshot_of_two_counters_and_the_time_stamp_executes_16_instructions)
{
	struct perfctr *p = open_self(ALIKE);
	uint64_t pmc = UINT64_MAX, both = UINT64_MAX;
	struct perfctr_snapshot snapshot;

	for (int i = 0; i < 100; i++) {
		uint64_t a = cost_of_read_pmc(perfctr_get_page(p));
		uint64_t b = cost_with_snapshot(perfctr_get_page(p), &snapshot);

		pmc = a < pmc ? a : pmc;
		both = b < both ? b : both;
	}
	ck_assert_uint_eq(both - pmc, 16);
	perfctr_close(p);
}
END_TEST

START_TEST(an_inline_read_executes_5_instructions_and_7_for_the_time_stamp)
{
	struct perfctr *p = open_self(EVENTS({ 0, USER(INSTRUCTIONS) }));
	uint64_t pmc = UINT64_MAX, both = UINT64_MAX;

	/* The least of several: a switch in between makes a read longer. */
	for (int i = 0; i < 100; i++) {
		uint64_t a = cost_of_read_pmc(perfctr_get_page(p));
		uint64_t b = cost_with_read_tsc(perfctr_get_page(p));

		pmc = a < pmc ? a : pmc;
		both = b < both ? b : both;
	}
	printf("read cost: counter %llu, time stamp %llu instructions\n", (unsigned long long)pmc,
	       (unsigned long long)(both - pmc));
	/* A read, and an instruction that keeps the first value. */
	ck_assert_uint_eq(pmc, 5 + 1);
	ck_assert_uint_eq(both - pmc, 7);
	perfctr_close(p);
}
END_TEST

/* For the disassembler: a function around the read. Its ret is not counted. */
__attribute__((noinline)) uint64_t disassembled_read_pmc(const struct perfctr_page *page)
{
	return perfctr_read_pmc(page, 0);
}

__attribute__((noinline)) uint64_t disassembled_read_tsc(const struct perfctr_page *page)
{
	return perfctr_read_tsc(page);
}

static unsigned int instructions_until_ret(const char *function)
{
	char command[256], line[256];
	unsigned int n = 0;
	bool returned = false;
	FILE *objdump;

	snprintf(command, sizeof(command),
		 "objdump -d --no-show-raw-insn --disassemble=%s /proc/%d/exe", function,
		 getpid());
	objdump = popen(command, "r");
	ck_assert(objdump);
	while (fgets(line, sizeof(line), objdump)) {
		const char *tab = strchr(line, '\t');

		if (!tab || returned)
			continue;
		if (strncmp(tab + 1, "ret", 3) == 0)
			returned = true;
		else
			n++;
	}
	ck_assert_int_eq(pclose(objdump), 0);
	ck_assert_msg(returned, "no ret in the disassembly of %s", function);
	return n;
}

START_TEST(the_disassembly_of_an_inline_read_has_5_instructions_and_7_for_the_time_stamp)
{
	ck_assert_uint_eq(instructions_until_ret("disassembled_read_pmc"), 5);
	ck_assert_uint_eq(instructions_until_ret("disassembled_read_tsc"), 7);
}
END_TEST

SUITE(read,
      a_million_inline_counter_reads_under_preemption_and_migration_are_strictly_monotone,
      a_million_inline_reads_of_the_fixed_counter_are_strictly_monotone,
      a_million_inline_time_stamp_reads_under_preemption_and_migration_are_monotone,
      a_million_snapshots_under_preemption_and_migration_are_of_one_moment_each,
      p1_reads_stay_exact_when_the_hardware_counter_crosses_a_power_of_two,
      snapshots_stay_in_one_piece_when_a_counter_is_set_back_before_it_wraps,
      the_same_event_of_kernel_mode_is_the_same_on_two_counters,
      a_stopped_counter_reads_the_sum_of_the_kernel,
      a_stopped_snapshot_is_the_sums_of_the_kernel,
      stop_and_start_leave_out_what_was_between,
      an_inline_read_executes_5_instructions_and_7_for_the_time_stamp,
      an_inline_snapshot_of_two_counters_and_the_time_stamp_executes_16_instructions,
      the_disassembly_of_an_inline_read_has_5_instructions_and_7_for_the_time_stamp)
