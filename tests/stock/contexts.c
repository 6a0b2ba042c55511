// SPDX-License-Identifier: GPL-2.0-or-later
/* Properties of contexts with perf_events. tests/backend has what all backends do. */
#include "stock.h"
#include "../bpf/work.h"

#include <errno.h>
#include <perfctr.h>
#include <signal.h>
#include <string.h>
#include <linux/perf_event.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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
	ck_assert_msg(strstr(info.why, "modprobe perfctr"), "%s", info.why);
}
END_TEST

/* The program runs on the other CPU. In user mode it does not go on while its counters are read. */
START_TEST(counters_of_one_control_are_read_at_one_moment)
{
	pid_t pid = fork();
	struct perfctr_control control = user_control(1, 0);
	struct perfctr *p;
	uint64_t last = 0;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			__asm__ volatile("");
	}
	p = open_context(pid);
	perfctr_control_add(&control, PERFCTR_ANY, USER(LOADS), 0);
	perfctr_control_add(&control, PERFCTR_ANY, USER(INSTRUCTIONS), 0);
	set_control(p, &control);
	for (int i = 0; i < 200; i++) {
		struct perfctr_counts counts = own_counts(p);

		ck_assert_uint_eq(counts.counter[0], counts.counter[2]);
		ck_assert_uint_ge(counts.counter[0], last);
		last = counts.counter[0];
		sleep_us(1000);
	}
	ck_assert_uint_gt(last, 0);
	kill_and_wait(pid);
	perfctr_close(p);
}
END_TEST

/* Takes the CPU's general counters: what counts a CPU comes before what counts a thread. */
static void take_counters(int fd[4], int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW,
		.size = sizeof(attr),
		.config = LOADS,
		.pinned = 1,
	};

	for (int i = 0; i < 4; i++) {
		fd[i] = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		ck_assert_int_ge(fd[i], 0);
	}
}

/* perf_events tells this only while the thread lives; the library tells it later, too. */
START_TEST(counts_that_others_have_cut_short_are_refused_after_the_exit)
{
	static const uint32_t flags[] = { 0, PERFCTR_CONTROL_INHERIT };

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		struct perfctr_control control = user_control(0, flags[i]);
		struct perfctr_counts counts;
		pid_t pid = fork();
		struct perfctr *p;
		int fd[4];

		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pin(0, 0);
			for (;;)
				__asm__ volatile("");
		}
		p = open_context(pid);
		perfctr_control_add(&control, PERFCTR_ANY, USER(LOADS), 0);
		perfctr_control_add(&control, PERFCTR_ANY, USER(BRANCHES), 0);
		set_control(p, &control);
		do {
			ck_assert_int_eq(perfctr_read_scope(p, PERFCTR_SCOPE_TREE, &counts), 0);
			sleep_us(1000);
		} while (counts.counter[1] < 1000);
		take_counters(fd, 0);
		sleep_us(50000);
		for (int k = 0; k < 4; k++)
			close(fd[k]);
		kill_and_wait(pid);
		errno = 0;
		ck_assert_int_eq(perfctr_read_scope(p, PERFCTR_SCOPE_TREE, &counts), -1);
		ck_assert_int_eq(errno, EBUSY);
		perfctr_close(p);
	}
}
END_TEST

#define TRIES 5

/*
 * The time that the thread reads lies between the kernel's clock before and after. The host may
 * stop the machine between the two accounts of a switch, so one try of several is enough.
 */
START_TEST(virtual_time_is_within_a_thousandth_of_the_thread_s_cpu_time)
{
	struct perfctr *p = counted(0, 0, 0);
	uint64_t before[2], behind[2], ticks[2];
	double ns, least, most;
	int tries = 0;

	do {
		for (int i = 0; i < 2; i++) {
			before[i] = thread_ns();
			ticks[i] = own_counts(p).tsc;
			behind[i] = thread_ns();
			sleep_us(200000);
			burn(200000000);
		}
		ns = ns_of_ticks(ticks[1] - ticks[0]);
		least = (double)(before[1] - behind[0]) * 0.999;
		most = (double)(behind[1] - before[0]) * 1.001;
	} while ((ns <= least || ns >= most) && ++tries < TRIES);
	ck_assert_double_gt(ns, least);
	ck_assert_double_lt(ns, most);
	perfctr_close(p);
}
END_TEST

/* Only general counters count these codes. */
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
	/* Four of the events are accepted. */
	control.n_events = 4;
	ck_assert_int_eq(perfctr_set_control(p, &control), 0);
	perfctr_close(p);
}
END_TEST

SUITE(contexts, perf_events_is_chosen_and_the_patch_tells_why_it_is_not,
      counters_of_one_control_are_read_at_one_moment,
      five_events_of_four_counters_are_refused_at_once,
      counts_that_others_have_cut_short_are_refused_after_the_exit, BY_THE_CLOCK,
      virtual_time_is_within_a_thousandth_of_the_thread_s_cpu_time)
