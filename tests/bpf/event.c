// SPDX-License-Identifier: GPL-2.0-or-later
/* Properties of the bpf backend with events of the processor. The contract counts them. */
#include "bpf.h"
#include "raw.h"
#include "../guest/guest.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(hardware_is_a_capability_then)
{
	struct perfctr_backend_info info;

	ck_assert_int_eq(perfctr_backend("bpf", &info), 0);
	ck_assert_uint_ne(info.capabilities & PERFCTR_CAN_HARDWARE, 0);
	ck_assert_msg(strstr(info.why, "experimental"), "%s", info.why);
	ck_assert_msg(strstr(info.why, "instructions:u, r00c4:u"), "%s", info.why);
}
END_TEST

START_TEST(another_event_is_refused_and_those_there_are_are_told)
{
	struct perfctr *p = counted(0, 2, 0);
	struct perfctr_control control;
	struct perfctr_pmu_info info;
	char text[512] = "";

	ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
	/* Kernel mode is not counted, either. */
	for (int i = 0; i < 2; i++) {
		perfctr_control_init(&control);
		perfctr_control_add(&control, PERFCTR_ANY, i ? 0x4300c0 : 0x4100c5, 0);
		ck_assert_int_eq(perfctr_set_control(p, &control), -1);
		ck_assert_int_eq(errno, EINVAL);
		perfctr_control_error(EINVAL, &control, &info, text, sizeof(text));
		ck_assert_msg(strstr(text, "instructions:u, r00c4:u"), "%s", text);
	}
	perfctr_close(p);
}
END_TEST

#define UNCOUNTED 1000000 /* iterations */
#define MOST 10		  /* instructions of an iteration, which has at least 3 */

static void spin_by(unsigned int n)
{
	for (volatile unsigned int i = 0; i < n; i++)
		;
}

/* A thread is counted again, on any CPU. Nothing of the time between is in the counts. */
START_TEST(what_is_executed_between_two_contexts_is_in_neither)
{
	struct perfctr_counts counts;
	struct perfctr *p;

	for (int i = 0; i < 6; i++) {
		p = counted(0, 2, 0);
		counts = own_counts(p);
		ck_assert_uint_lt(counts.counter[0], UNCOUNTED / 2);
		spin_by(UNCOUNTED);
		counts = own_counts(p);
		ck_assert_uint_gt(counts.counter[0], UNCOUNTED);
		ck_assert_uint_lt(counts.counter[0], MOST * UNCOUNTED);
		perfctr_close(p);
		pin(0, i % 2);
		spin_by(MOST * UNCOUNTED);
	}
}
END_TEST

/* Shared with the process that executes the iterations. nap: it must sleep. */
struct work {
	_Atomic uint64_t iterations;
	_Atomic bool nap;
};

#define STEP 10000

static void go_on(struct work *work)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(0, 1);
	for (;; work->iterations += STEP) {
		spin_by(STEP);
		if (work->nap) {
			nap(1);
			work->nap = false;
		}
	}
}

static uint64_t count_until_it_naps(struct work *work, pid_t pid)
{
	struct perfctr *p = counted(pid, 2, 0);
	struct perfctr_counts counts;

	work->nap = true;
	while (work->nap)
		nap(1);
	ck_assert_int_eq(perfctr_read(p, &counts), 0);
	perfctr_close(p);
	return counts.counter[0];
}

/* The process runs when it is counted again. Only root can look at the events of its CPU then. */
START_TEST(what_another_executes_between_two_contexts_is_in_neither)
{
	struct work *work = mmap(NULL, sizeof(*work), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t before;
	pid_t pid;

	if (getuid() == 0)
		become_user(NOBODY);
	pid = fork();
	if (pid == 0)
		go_on(work);
	for (int i = 0; i < 3; i++) {
		before = work->iterations;
		ck_assert_uint_le(count_until_it_naps(work, pid),
				  (work->iterations - before + STEP) * MOST);
		before = work->iterations;
		while (work->iterations - before < 20 * UNCOUNTED)
			nap(1);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

TCase *event_tests(void)
{
	TCase *tests = tcase_create("event");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, hardware_is_a_capability_then);
	tcase_add_test(tests, another_event_is_refused_and_those_there_are_are_told);
	tcase_add_test(tests, what_is_executed_between_two_contexts_is_in_neither);
	tcase_add_test(tests, what_another_executes_between_two_contexts_is_in_neither);
	return tests;
}

#define CPU1_ONLINE "/sys/devices/system/cpu/cpu1/online"

/* After a CPU was offline, it has no events of the service any more. */
START_TEST(counts_that_lack_something_are_not_given)
{
	struct perfctr_counts counts;
	struct perfctr *p;
	pid_t pid;

	write_file(CPU1_ONLINE, "0");
	write_file(CPU1_ONLINE, "1");
	pid = stopped_start(1, COMMAND("build/tests/guest/loop"));
	p = counted(pid, 2, 0);
	run_to_end(pid);
	ck_assert_int_eq(perfctr_read(p, &counts), -1);
	ck_assert_int_eq(errno, EBUSY);
	perfctr_close(p);
}
END_TEST

TCase *lost_event_tests(void)
{
	TCase *tests = tcase_create("lost event");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, counts_that_lack_something_are_not_given);
	return tests;
}
