// SPDX-License-Identifier: GPL-2.0-or-later
/* A thread that counts itself, and the page that it reads. */
#include "bpf.h"
#include "../../bpf/layout.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Time that interrupts and the hypervisor take: the page's clock goes on, the kernel's sum leaves
 * it out.
 */
#define STOLEN_NS 10e6

START_TEST(the_backend_says_what_it_is)
{
	struct perfctr *self = counted_software(0, 0);
	struct perfctr_pmu_info info;

	ck_assert_str_eq(perfctr_backend_name(self), "bpf");
	ck_assert_uint_eq(perfctr_capabilities(self) &
				  (PERFCTR_CAN_SOFTWARE | PERFCTR_CAN_HARDWARE |
				   PERFCTR_CAN_EXIT_RECORDS | PERFCTR_CAN_ISOLATE |
				   PERFCTR_CAN_MARK),
			  PERFCTR_CAN_SOFTWARE | PERFCTR_CAN_MARK);
	ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
	ck_assert_uint_eq(info.n_general, 0);
	ck_assert_uint_gt(info.tsc_khz, 0);
	perfctr_close(self);
}
END_TEST

/* The kernel's own sum is read before and after each read. */
START_TEST(time_is_what_the_kernel_says)
{
	struct perfctr *self = counted_software(0, 0);
	struct perfctr_counts first, second;
	double least, most, ticks, clock;
	uint64_t ns[4];

	ns[0] = thread_ns();
	first = own_counts(self);
	ns[1] = thread_ns();
	for (int i = 0; i < 20; i++) {
		burn(5000000);
		nap(3);
	}
	ns[2] = thread_ns();
	second = own_counts(self);
	ns[3] = thread_ns();
	least = (double)(ns[2] - ns[1]) * 0.999 - CLOCKS_OFF_NS;
	most = (double)(ns[3] - ns[0]) * 1.001 + CLOCKS_OFF_NS;
	clock = (double)(second.counter[PERFCTR_TASK_CLOCK] - first.counter[PERFCTR_TASK_CLOCK]);
	ticks = ns_of_ticks(second.tsc - first.tsc);
	ck_assert_double_ge(clock, least);
	ck_assert_double_le(clock, most);
	ck_assert_double_le(ticks, clock * 1.0001 + 1e3);
	ck_assert_double_ge(ticks, clock * 0.9999 - 1e3);
	perfctr_close(self);
}
END_TEST

/* Switches that the kernel did not report to the programs. Not all kernels report all. */
static uint64_t missed(const struct perfctr_page *page)
{
	return *(const volatile __u64 *)&((const struct perfctr_bpf_slot *)page)->missed;
}

START_TEST(the_page_is_live_and_agrees_with_a_read)
{
	struct perfctr *self = counted_software(0, 0);
	const struct perfctr_page *page = perfctr_tsc_page(self);
	uint64_t last = 0, ticks;
	uint64_t missed_before = 0;
	bool told_all;
	struct perfctr_counts counts;

	if (!(perfctr_capabilities(self) & PERFCTR_CAN_LIVE_READ)) {
		ck_assert_ptr_null(page);
		perfctr_close(self);
		return;
	}
	ck_assert_ptr_nonnull(page);
	ck_assert_ptr_null(perfctr_get_page(self));
	for (int i = 0; i < 200; i++) {
		burn(100000);
		ticks = perfctr_read_tsc(page);
		counts = own_counts(self);
		/*
		 * The page takes back what it counted while its thread, or the hypervisor, was
		 * away.
		 */
		told_all = missed(page) == missed_before;
		missed_before = missed(page);
		if (ticks <= last && told_all)
			ck_assert_double_le(ns_of_ticks(last - ticks), STOLEN_NS);
		/* The read comes later. The page may be behind the kernel's sum by microseconds. */
		if (told_all)
			ck_assert_double_ge(ns_of_ticks(counts.tsc),
					    ns_of_ticks(ticks) - CLOCKS_OFF_NS);
		last = ticks;
		if (i % 8 == 0)
			nap(1);
	}
	perfctr_close(self);
}
END_TEST

/* Uses the CPU without asking the scheduler for the time: the scheduler looks only at ticks. */
static void spin_unseen(uint64_t ns)
{
	struct timespec begun, now;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((uint64_t)(now.tv_sec - begun.tv_sec) * 1000000000 + (uint64_t)now.tv_nsec <
	       (uint64_t)begun.tv_nsec + ns);
}

static void *count_a_new_thread(void *stood)
{
	struct perfctr *self;
	uint64_t last, now;

	spin_unseen(2000000);
	self = counted_software(0, 0);
	thread_ns(); /* makes the scheduler look */
	last = own_counts(self).tsc;
	for (int i = 0; i < 10; i++, last = now) {
		spin_unseen(20000);
		now = own_counts(self).tsc;
		*(unsigned int *)stood += now <= last;
	}
	perfctr_close(self);
	return NULL;
}

/* When a running thread begins to be counted, the scheduler's time of it is up to a tick old. */
START_TEST(the_time_of_a_new_context_does_not_stand_still)
{
	unsigned int stood = 0;
	pthread_t thread;

	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, count_a_new_thread, &stood), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
	}
	ck_assert_uint_eq(stood, 0);
}
END_TEST

START_TEST(a_stopped_context_stands_still)
{
	struct perfctr *self = counted_software(0, 0);
	const struct perfctr_page *page = perfctr_tsc_page(self);
	struct perfctr_counts stopped, later;
	uint64_t ticks = 0;

	burn(3000000);
	ck_assert_int_eq(perfctr_stop(self), 0);
	stopped = own_counts(self);
	if (page)
		ticks = perfctr_read_tsc(page);
	touch(50);
	burn(20000000);
	nap(3);
	later = own_counts(self);
	ck_assert_uint_eq(stopped.tsc, later.tsc);
	ck_assert_uint_eq(stopped.flags & PERFCTR_COUNTS_STARTED, 0);
	for (uint32_t i = 0; i < stopped.n_counters; i++)
		ck_assert_uint_eq(stopped.counter[i], later.counter[i]);
	if (page) {
		ck_assert_uint_eq(perfctr_read_tsc(page), ticks);
		ck_assert_uint_eq(ticks, stopped.tsc);
	}
	ck_assert_int_eq(perfctr_start(self), 0);
	burn(5000000);
	later = own_counts(self);
	ck_assert_uint_ne(later.flags & PERFCTR_COUNTS_STARTED, 0);
	ck_assert_uint_gt(later.tsc, stopped.tsc);
	perfctr_close(self);
}
END_TEST

START_TEST(a_context_goes_on_from_where_it_was_stopped)
{
	struct perfctr *self = counted_software(0, 0);
	struct perfctr_counts stopped, later;
	uint64_t ns;

	burn(3000000);
	ck_assert_int_eq(perfctr_stop(self), 0);
	stopped = own_counts(self);
	burn(20000000);
	ns = thread_ns();
	ck_assert_int_eq(perfctr_start(self), 0);
	burn(5000000);
	later = own_counts(self);
	ns = thread_ns() - ns;
	ck_assert_double_ge(ns_of_ticks(later.tsc - stopped.tsc), 4.5e6);
	ck_assert_double_le(ns_of_ticks(later.tsc - stopped.tsc), (double)ns + CLOCKS_OFF_NS);
	perfctr_close(self);
}
END_TEST

START_TEST(what_cannot_be_counted_is_refused)
{
	struct perfctr *self = perfctr_open();
	struct perfctr_control control;

	perfctr_control_init(&control);
	perfctr_control_add(&control, PERFCTR_SOFTWARE + PERFCTR_TASK_CLOCK, 0, 0);
	perfctr_control_add(&control, PERFCTR_SOFTWARE + PERFCTR_N_SOFTWARE, 0, 0);
	ck_assert_int_eq(perfctr_set_control(self, &control), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(control.bad_event, 1);
	ck_assert_uint_eq(control.bad_reason, PERFCTR_BAD_COUNTER);
	perfctr_control_init(&control);
	perfctr_control_add(&control, PERFCTR_SOFTWARE + PERFCTR_PAGE_FAULTS, PERFCTR_SOFTWARE_USER,
			    0);
	ck_assert_int_eq(perfctr_set_control(self, &control), -1);
	ck_assert_uint_eq(control.bad_reason, PERFCTR_BAD_EVNTSEL);
	perfctr_control_init(&control);
	perfctr_control_add(&control, PERFCTR_ANY, 0x4100c0, 0);
	ck_assert_int_eq(perfctr_set_control(self, &control), -1);
	perfctr_control_init(&control);
	control.flags = PERFCTR_CONTROL_EXIT_RECORDS;
	ck_assert_int_eq(perfctr_set_control(self, &control), -1);
	ck_assert_int_eq(errno, ENOTSUP);
	perfctr_close(self);
}
END_TEST

/* While nobody counts, nothing is remembered of a thread that was counted before. */
START_TEST(a_thread_that_is_counted_again_counts_from_there)
{
	struct usage before, from, to, after;
	const struct perfctr_bpf_slot *slot;
	struct perfctr_counts counts;
	struct perfctr *self;

	for (int i = 0; i < 10; i++) {
		thread_ns(); /* makes the scheduler look */
		before = usage_of(getpid());
		self = counted_software(0, 0);
		slot = (const struct perfctr_bpf_slot *)perfctr_tsc_page(self);
		from = usage_of(getpid());
		burn(2000000);
		nap(5);
		to = usage_of(getpid());
		counts = own_counts(self);
		thread_ns();
		after = usage_of(getpid());
		ck_assert_uint_ge(counts.switches, to.switches - from.switches);
		ck_assert_uint_le(counts.switches, after.switches - before.switches);
		ck_assert_uint_eq(counts.switches, counts.counter[PERFCTR_CONTEXT_SWITCHES]);
		ck_assert_uint_ge(counts.counter[PERFCTR_TASK_CLOCK], 2000000);
		ck_assert_double_le((double)counts.counter[PERFCTR_TASK_CLOCK],
				    (double)(after.ns - before.ns) + CLOCKS_OFF_NS);
		/* Not all kernels report all switches of that time. */
		if (slot)
			ck_assert_uint_le(slot->missed, counts.switches);
		perfctr_close(self);
		nap(50);
	}
}
END_TEST

/* Each child holds a context until it is killed. A user has no more than a share. */
START_TEST(when_all_slots_are_taken_the_next_is_told)
{
	int wanted = getuid() ? USER_SLOTS : SLOTS, pipes[2], opened = 0;
	int full = getuid() ? EDQUOT : ENOSPC;
	pid_t pids[SLOTS + 1];
	char answer, text[200];

	ck_assert_int_eq(pipe(pipes), 0);
	for (int i = 0; i <= wanted; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			answer = perfctr_open() ? 'y' : errno == full ? 'n' : '?';
			if (write(pipes[1], &answer, 1) != 1)
				_exit(1);
			pause();
		}
		ck_assert_int_eq(read(pipes[0], &answer, 1), 1);
		ck_assert_int_eq(answer, i < wanted ? 'y' : 'n');
		opened += answer == 'y';
	}
	ck_assert_int_eq(opened, wanted);
	perfctr_open_error(full, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, getuid() ? "--user-slots" : "--slots"));
	for (int i = 0; i <= wanted; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	/* Processes that died have given their slots back. */
	for (int i = 0; i < 3 * SLOTS; i++) {
		struct perfctr *self = perfctr_open();

		ck_assert_ptr_nonnull(self);
		perfctr_close(self);
	}
}
END_TEST

START_TEST(a_forked_child_has_no_hold_of_its_parents_context)
{
	struct perfctr *self = counted_software(0, 0);
	struct perfctr_counts counts;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		bool good = !perfctr_tsc_page(self) && perfctr_stop(self) < 0 && errno == EPERM;

		perfctr_close(self);
		_exit(good ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	burn(1000000);
	counts = own_counts(self);
	ck_assert_uint_ne(counts.flags & PERFCTR_COUNTS_STARTED, 0);
	ck_assert_uint_ge(counts.counter[PERFCTR_TASK_CLOCK], 1000000);
	perfctr_close(self);
}
END_TEST

TCase *self_tests(void)
{
	TCase *tests = tcase_create("self");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, the_backend_says_what_it_is);
	tcase_add_test(tests, a_stopped_context_stands_still);
	tcase_add_test(tests, what_cannot_be_counted_is_refused);
	tcase_add_test(tests, when_all_slots_are_taken_the_next_is_told);
	tcase_add_test(tests, a_forked_child_has_no_hold_of_its_parents_context);
	return tests;
}

TCase *self_clock_tests(void)
{
	TCase *tests = clock_case("self");

	tcase_add_test(tests, time_is_what_the_kernel_says);
	tcase_add_test(tests, the_page_is_live_and_agrees_with_a_read);
	tcase_add_test(tests, the_time_of_a_new_context_does_not_stand_still);
	tcase_add_test(tests, a_context_goes_on_from_where_it_was_stopped);
	tcase_add_test(tests, a_thread_that_is_counted_again_counts_from_there);
	return tests;
}
