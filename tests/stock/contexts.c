// SPDX-License-Identifier: GPL-2.0-or-later
/* Contexts of the library where perf_events counts. */
#include "stock.h"
#include "../guest/loop.h"

#include <errno.h>
#include <perfctr.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define ITERATIONS 1000000u

/* Starts to count what counter and evntsel say; thread 0: the caller. */
static struct perfctr *counted(pid_t tid, uint32_t flags, const struct event *events, size_t n)
{
	struct perfctr *p = perfctr_open_tid(tid, PERFCTR_OPEN_CREATE);
	struct perfctr_control control;
	char text[512] = "";

	ck_assert_msg(p, "%s", strerror(errno));
	ck_assert_str_eq(perfctr_backend_name(p), "perf_events");
	perfctr_control_init(&control);
	control.flags = flags;
	for (size_t i = 0; i < n; i++)
		perfctr_control_add(&control, events[i].counter, events[i].evntsel, 0);
	if (perfctr_set_control(p, &control)) {
		struct perfctr_pmu_info info;

		ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
		perfctr_control_error(errno, &control, &info, text, sizeof(text));
		ck_abort_msg("%s", text);
	}
	return p;
}

static struct perfctr_counts counts_of(const struct perfctr *p, unsigned int scope)
{
	struct perfctr_counts counts;

	ck_assert_msg(perfctr_read_scope(p, scope, &counts) == 0, "%s", strerror(errno));
	return counts;
}

static uint64_t first_count(const struct perfctr *p)
{
	return counts_of(p, PERFCTR_SCOPE_SELF).counter[0];
}

START_TEST(perf_events_is_chosen_and_the_patch_tells_why_it_is_not)
{
	struct perfctr_backend_info info;

	ck_assert_int_eq(perfctr_backend(NULL, &info), 0);
	ck_assert_str_eq(info.name, "perf_events");
	ck_assert_uint_eq(info.n_counters, 4);
	ck_assert(info.capabilities & PERFCTR_CAN_HARDWARE);
	ck_assert(info.capabilities & PERFCTR_CAN_SOFTWARE);
	ck_assert(!(info.capabilities & PERFCTR_CAN_ISOLATE));

	ck_assert_int_eq(perfctr_backend("patch", &info), -1);
	ck_assert_uint_eq(info.available, 0);
	ck_assert_msg(strstr(info.why, "patch"), "%s", info.why);
}
END_TEST

/* What stands around the loop goes out of the difference; not from the first time. */
START_TEST(a_thread_counts_itself_exactly)
{
	static const uint32_t iterations[] = { 1, ITERATIONS, 3 * ITERATIONS };
	struct perfctr *p = counted(0, 0, EVENTS({ PERFCTR_ANY, USER(INSTRUCTIONS) }));
	uint64_t n[ARRAY_SIZE(iterations)];

	for (size_t i = 0; i < ARRAY_SIZE(iterations); i++) {
		uint64_t before = first_count(p);

		loop(iterations[i]);
		n[i] = first_count(p) - before;
	}
	ck_assert_uint_eq(n[2] - n[1], 4ull * ITERATIONS);
	perfctr_close(p);
}
END_TEST

START_TEST(another_program_is_counted_from_its_first_instruction_to_its_last)
{
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("loop")));
	struct perfctr *p = counted(pid, 0,
				    EVENTS({ PERFCTR_ANY, USER(INSTRUCTIONS) },
					   { PERFCTR_ANY, USER(BRANCHES) }));
	struct perfctr_counts counts;

	stopped_finish(pid);
	counts = counts_of(p, PERFCTR_SCOPE_SELF);
	ck_assert_uint_eq(counts.counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(counts.counter[1], LOOP_BRANCHES(SHORT_LOOP));
	perfctr_close(p);
}
END_TEST

START_TEST(a_tree_is_counted_exactly)
{
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("tree"), program("loop")));
	struct perfctr *p =
		counted(pid, PERFCTR_CONTROL_INHERIT, EVENTS({ PERFCTR_ANY, USER(INSTRUCTIONS) }));

	stopped_finish(pid);
	ck_assert_uint_eq(counts_of(p, PERFCTR_SCOPE_TREE).counter[0], TREE_INSTRUCTIONS);
	perfctr_close(p);
}
END_TEST

/* On the other CPU: in user mode it does not go on while its counters are read. */
START_TEST(counters_of_one_control_are_read_at_one_moment)
{
	pid_t pid = fork();
	struct perfctr *p;
	uint64_t last = 0;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			__asm__ volatile("");
	}
	p = counted(pid, 0,
		    EVENTS({ PERFCTR_ANY, USER(INSTRUCTIONS) }, { PERFCTR_ANY, USER(LOADS) },
			   { PERFCTR_ANY, USER(INSTRUCTIONS) }));
	for (int i = 0; i < 200; i++) {
		struct perfctr_counts counts = counts_of(p, PERFCTR_SCOPE_SELF);

		ck_assert_uint_eq(counts.counter[0], counts.counter[2]);
		ck_assert_uint_ge(counts.counter[0], last);
		last = counts.counter[0];
		sleep_us(1000);
	}
	ck_assert_uint_gt(last, 0);
	kill(pid, SIGKILL);
	wait_for(pid, NULL);
	perfctr_close(p);
}
END_TEST

/* A read that is one has at least some hundred instructions in the kernel. */
START_TEST(a_thread_reads_its_counters_without_a_system_call)
{
	struct perfctr *p = counted(0, 0,
				    EVENTS({ PERFCTR_ANY, USER(INSTRUCTIONS) },
					   { PERFCTR_ANY, KERNEL(INSTRUCTIONS) }));
	uint64_t kernel = perfctr_read_counter(p, 1), last = 0;
	bool grows = true;

	/* An assertion is system calls. */
	for (int i = 0; i < 10000; i++) {
		uint64_t now = perfctr_read_counter(p, 0);

		grows &= now > last;
		last = now;
	}
	kernel = perfctr_read_counter(p, 1) - kernel;
	ck_assert(grows);
	ck_assert_uint_lt(kernel, 10000 * 50);
	/* And it is the same count. */
	ck_assert_uint_gt(first_count(p), last);
	ck_assert_uint_lt(first_count(p), last + 10000);
	perfctr_close(p);
}
END_TEST

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

#define TRIES 5

/*
 * What the thread read lies between what the kernel's clock showed before and behind it.  The host
 * may stop the machine between the two accounts of one switch, so one try of several has to do.
 */
START_TEST(virtual_time_is_the_thread_s_cpu_time)
{
	struct perfctr *p = counted(0, 0, NULL, 0);
	double before[2], behind[2], ticks[2], seconds, least, most;
	struct perfctr_pmu_info info;
	int tries = 0;

	ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
	ck_assert_uint_gt(info.tsc_khz, 0);
	do {
		for (int i = 0; i < 2; i++) {
			before[i] = cpu_seconds();
			ticks[i] = counts_of(p, PERFCTR_SCOPE_SELF).tsc;
			behind[i] = cpu_seconds();
			sleep_us(200000);
			while (cpu_seconds() < behind[i] + 0.2)
				loop(ITERATIONS);
		}
		seconds = (ticks[1] - ticks[0]) / (info.tsc_khz * 1e3);
		least = (before[1] - behind[0]) * 0.999;
		most = (behind[1] - before[0]) * 1.001;
	} while ((seconds <= least || seconds >= most) && ++tries < TRIES);
	ck_assert_double_gt(seconds, least);
	ck_assert_double_lt(seconds, most);
	perfctr_close(p);
}
END_TEST

static uint64_t faults_of(const struct rusage *usage)
{
	return usage->ru_minflt + usage->ru_majflt;
}

static uint64_t switches_of(const struct rusage *usage)
{
	return usage->ru_nvcsw + usage->ru_nivcsw;
}

/* Between two accounts that agree nothing has happened. */
static struct perfctr_counts account(const struct perfctr *p, struct rusage *usage)
{
	struct perfctr_counts counts;
	struct rusage before;

	do {
		getrusage(RUSAGE_THREAD, &before);
		counts = counts_of(p, PERFCTR_SCOPE_SELF);
		getrusage(RUSAGE_THREAD, usage);
	} while (switches_of(&before) != switches_of(usage) ||
		 faults_of(&before) != faults_of(usage));
	return counts;
}

START_TEST(faults_and_switches_are_those_of_rusage)
{
	struct perfctr *p = counted(0, 0,
				    EVENTS({ PERFCTR_SOFTWARE + PERFCTR_PAGE_FAULTS, 0 },
					   { PERFCTR_SOFTWARE + PERFCTR_CONTEXT_SWITCHES, 0 }));
	size_t page = sysconf(_SC_PAGESIZE);
	struct rusage first, last;
	struct perfctr_counts before = account(p, &first), after;
	char *memory =
		mmap(NULL, 100 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert(memory != MAP_FAILED);
	for (size_t i = 0; i < 100; i++)
		memory[i * page] = 1;
	for (int i = 0; i < 20; i++)
		sleep_us(1000);
	after = account(p, &last);
	ck_assert_uint_ge(after.counter[0] - before.counter[0], 100);
	ck_assert_uint_eq(after.counter[0] - before.counter[0],
			  faults_of(&last) - faults_of(&first));
	/* On a slow machine the time may be over before the thread sleeps. */
	ck_assert_uint_gt(after.counter[1] - before.counter[1], 0);
	ck_assert_uint_eq(after.counter[1] - before.counter[1],
			  switches_of(&last) - switches_of(&first));
	perfctr_close(p);
}
END_TEST

START_TEST(a_stopped_context_counts_nothing)
{
	struct perfctr *p = counted(0, 0, EVENTS({ PERFCTR_ANY, USER(INSTRUCTIONS) }));
	uint64_t stopped;

	ck_assert_int_eq(perfctr_stop(p), 0);
	stopped = first_count(p);
	loop(ITERATIONS);
	ck_assert_uint_eq(first_count(p), stopped);
	ck_assert_int_eq(perfctr_start(p), 0);
	loop(ITERATIONS);
	ck_assert_uint_gt(first_count(p), stopped + 2 * ITERATIONS);
	perfctr_close(p);
}
END_TEST

/* Codes that the general counters alone count. */
START_TEST(five_events_of_four_counters_are_refused_at_once)
{
	static const uint64_t codes[] = { LOADS, STORES, BRANCHES, 0x20c4, 0x010b };
	struct perfctr *p = perfctr_open();
	struct perfctr_control control;
	struct perfctr_pmu_info info;
	char text[512] = "";

	ck_assert(p);
	ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
	ck_assert_uint_eq(info.n_general, 4);
	perfctr_control_init(&control);
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		perfctr_control_add(&control, PERFCTR_ANY, USER(codes[i]), 0);
	errno = 0;
	ck_assert_int_eq(perfctr_set_control(p, &control), -1);
	ck_assert_int_eq(errno, ENOSPC);
	perfctr_control_error(errno, &control, &info, text, sizeof(text));
	ck_assert_msg(strstr(text, "0x0041010b") && strstr(text, "4 general counters"), "%s", text);
	/* Four of them can be had. */
	control.n_events = 4;
	ck_assert_int_eq(perfctr_set_control(p, &control), 0);
	perfctr_close(p);
}
END_TEST

SUITE(contexts, perf_events_is_chosen_and_the_patch_tells_why_it_is_not,
      a_thread_counts_itself_exactly,
      another_program_is_counted_from_its_first_instruction_to_its_last, a_tree_is_counted_exactly,
      counters_of_one_control_are_read_at_one_moment,
      a_thread_reads_its_counters_without_a_system_call, virtual_time_is_the_thread_s_cpu_time,
      faults_and_switches_are_those_of_rusage, a_stopped_context_counts_nothing,
      five_events_of_four_counters_are_refused_at_once)
