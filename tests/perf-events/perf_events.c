// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The perf_events backend on this machine. The expected values come from the work itself, which
 * touches so many new pages, from the kernel's own accounts (getrusage(2), clocks), or from the
 * kernel's answers.
 */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../backend/handles.h"
#include "../bpf/work.h"
#include "../guest/guest.h"
#include "perfex.h"

#define BACKEND "perf_events"
#define PAGES 100

static struct perfctr_control faults_of_user(uint32_t flags)
{
	struct perfctr_control c;

	perfctr_control_init(&c);
	perfctr_control_add(&c, PERFCTR_SOFTWARE + PERFCTR_PAGE_FAULTS, PERFCTR_SOFTWARE_USER, 0);
	c.flags = flags;
	return c;
}

static struct perfctr *open_counting(pid_t tid, uint32_t flags)
{
	struct perfctr_control c = faults_of_user(flags);
	struct perfctr *p = open_context(tid);

	ck_assert_str_eq(perfctr_backend_name(p), BACKEND);
	set_control(p, &c);
	return p;
}

START_TEST(each_new_page_is_a_fault)
{
	struct perfctr *p = open_counting(0, 0);
	struct perfctr_counts before, after;

	touch(PAGES);
	before = own_counts(p);
	before = own_counts(p);
	touch(PAGES);
	after = own_counts(p);
	ck_assert_uint_eq(after.counter[0] - before.counter[0], PAGES);
	ck_assert_uint_eq(perfctr_read_counter(p, 0), after.counter[0]);
	ck_assert_uint_eq(after.n_counters, 1);
	ck_assert_uint_eq(after.members, 1);
	ck_assert_uint_eq(after.flags, PERFCTR_COUNTS_STARTED | PERFCTR_COUNTS_CONSISTENT);
	perfctr_close(p);
}
END_TEST

START_TEST(what_is_stopped_does_not_count)
{
	struct perfctr *p = open_counting(0, PERFCTR_CONTROL_STOPPED);
	struct perfctr_counts counts;

	touch(PAGES);
	counts = own_counts(p);
	ck_assert_uint_eq(counts.tsc, 0);
	ck_assert_uint_eq(counts.counter[0], 0);
	ck_assert_int_eq(perfctr_start(p), 0);
	touch(PAGES);
	ck_assert_int_eq(perfctr_stop(p), 0);
	touch(PAGES);
	counts = own_counts(p);
	ck_assert_uint_ge(counts.counter[0], PAGES);
	ck_assert_uint_lt(counts.counter[0], PAGES + 20);
	perfctr_close(p);
}
END_TEST

/* Events also count the time that interrupts and hypervisors take: the least of five. */
START_TEST(virtual_time_is_the_threads_cpu_time)
{
	struct perfctr *p = open_counting(0, 0);
	double ratio, least = 2;

	for (int i = 0; i < 5; i++) {
		uint64_t ticks = own_counts(p).tsc, ns = thread_ns();

		burn(100000000);
		ns = thread_ns() - ns;
		ticks = own_counts(p).tsc - ticks;
		ratio = ns_of_ticks(ticks) / (double)ns;
		least = ratio < least ? ratio : least;
	}
	ck_assert_double_eq_tol(least, 1, 0.01);
	ck_assert_ptr_null(perfctr_get_page(p));
	ck_assert_ptr_null(perfctr_tsc_page(p));
	perfctr_close(p);
}
END_TEST

/* Makes n processes, one after the other. */
static void make_processes(unsigned int n)
{
	while (n--) {
		pid_t pid = fork();

		if (pid == 0) {
			touch(PAGES);
			burn(1000000);
			_exit(0);
		}
		while (waitpid(pid, NULL, 0) < 0)
			;
	}
}

START_TEST(a_tree_is_counted_whole)
{
	struct perfctr *p = open_counting(0, PERFCTR_CONTROL_INHERIT);
	struct perfctr_counts self, children, tree;

	make_processes(10);
	self = own_counts(p);
	children = counts_of(p, PERFCTR_SCOPE_CHILDREN);
	ck_assert_int_eq(perfctr_stop(p), 0);
	tree = counts_of(p, PERFCTR_SCOPE_TREE);
	ck_assert_uint_ge(children.counter[0], 10 * PAGES);
	ck_assert_uint_lt(self.counter[0], 10 * PAGES);
	ck_assert_uint_ge(tree.counter[0], self.counter[0] + 10 * PAGES);
	perfctr_close(p);
}
END_TEST

static void one_process(void)
{
	make_processes(1);
}

START_TEST(the_sums_of_who_has_exited_stay)
{
	struct child child = make_child(one_process);
	struct perfctr *p = open_counting(child.pid, PERFCTR_CONTROL_INHERIT);
	struct perfctr_counts counts;

	release_child(&child);
	end_child(&child);
	counts = counts_of(p, PERFCTR_SCOPE_TREE);
	ck_assert_uint_ge(counts.counter[0], PAGES);
	ck_assert_uint_eq(counts.members, 0);
	ck_assert_uint_ne(counts.flags & PERFCTR_COUNTS_EXITED, 0);
	ck_assert_uint_ne(counts.flags & PERFCTR_COUNTS_CONSISTENT, 0);
	perfctr_close(p);
}
END_TEST

static struct perfctr_session *open_mark_session(struct perfctr_mark *mark, bool all_faults)
{
	struct perfctr_session *s = open_session(mark);
	struct perfctr_control c = faults_of_user(0);

	if (all_faults)
		perfctr_control_add(&c, PERFCTR_SOFTWARE + PERFCTR_PAGE_FAULTS, 0, 0);
	control_session(s, &c);
	return s;
}

static void two_processes(void)
{
	make_processes(2);
}

START_TEST(a_mark_ends_with_its_last_member)
{
	struct perfctr_mark *mark = make_mark();
	struct perfctr_session *s = open_mark_session(mark, false);
	struct child first = make_child(one_process), second = make_child(two_processes);
	struct pollfd fd = { .fd = perfctr_mark_fd(mark), .events = POLLIN };
	struct perfctr_counts counts;

	ck_assert_int_eq(perfctr_mark_set(mark, first.pid, PERFCTR_MARK_PROCESS), 1);
	ck_assert_int_eq(perfctr_mark_set(mark, second.pid, PERFCTR_MARK_TREE), 1);
	ck_assert_int_eq(perfctr_mark_set(mark, second.pid, PERFCTR_MARK_THREAD), 0);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 2);
	ck_assert_int_eq(poll(&fd, 1, 0), 0);
	release_child(&first);
	end_child(&first);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 1);
	counts = session_counts(s);
	ck_assert_uint_eq(counts.members, 1);
	ck_assert_uint_eq(counts.flags & PERFCTR_COUNTS_CONSISTENT, 0);
	release_child(&second);
	end_child(&second);
	ck_assert_int_eq(poll(&fd, 1, 50000), 1);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 0);
	counts = session_counts(s);
	ck_assert_uint_eq(counts.members, 0);
	ck_assert_uint_ne(counts.flags & PERFCTR_COUNTS_CONSISTENT, 0);
	ck_assert_uint_ge(counts.counter[0], 3 * PAGES);
	perfctr_mark_close(mark);
	counts = session_counts(s);
	perfctr_session_close(s);
}
END_TEST

static bool may_count_kernel(void)
{
	struct perfctr_backend_info info;

	return perfctr_backend(BACKEND, &info) == 0 && info.capabilities & PERFCTR_CAN_KERNEL;
}

#define PROCESSES 100

static void all_but_one(void)
{
	make_processes(PROCESSES - 1);
}

/* The events end a moment before their thread: perfctr_backends(3) states the difference. */
static double cpu_against_rusage(void)
{
	struct perfctr_mark *mark = make_mark();
	struct perfctr_session *s = open_mark_session(mark, true);
	struct child child = make_child(all_but_one);
	struct perfctr_counts counts;
	struct rusage usage;
	double cpu, faults;
	long switches;

	ck_assert_int_eq(perfctr_mark_set(mark, child.pid, PERFCTR_MARK_PROCESS), 1);
	release_child(&child);
	usage = end_child(&child);
	counts = session_counts(s);
	cpu = ns_of_ticks(counts.tsc) /
	      ((double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3);
	faults = (double)counts.counter[1] / (double)(usage.ru_minflt + usage.ru_majflt);
	switches = usage.ru_nvcsw + usage.ru_nivcsw;
	printf("%d processes against rusage: CPU time %+.2f %%, faults %+.2f %%, switches %llu of %ld\n",
	       PROCESSES, (cpu - 1) * 100, (faults - 1) * 100, (unsigned long long)counts.switches,
	       switches);
	ck_assert_double_gt(faults, 0.95);
	ck_assert_double_le(faults, 1);
	ck_assert_int_le((long)counts.switches, switches);
	ck_assert_int_ge((long)counts.switches, switches - 3 * PROCESSES);
	perfctr_session_close(s);
	perfctr_mark_close(mark);
	return cpu;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median: events contain the time that a hypervisor takes meanwhile, and rusage does not. */
START_TEST(the_error_against_rusage_is_as_stated)
{
	double cpu[5];

	for (size_t i = 0; i < ARRAY_SIZE(cpu); i++)
		cpu[i] = cpu_against_rusage();
	qsort(cpu, ARRAY_SIZE(cpu), sizeof(cpu[0]), compare_doubles);
	ck_assert_double_gt(cpu[2], 0.80);
	ck_assert_double_lt(cpu[2], 1.01);
}
END_TEST

static void check_words(int error, const struct perfctr_control *c, const char *words)
{
	struct perfctr_pmu_info info;
	char text[256];

	ck_assert_int_eq(perfctr_get_pmu_info_with(BACKEND, &info), 0);
	perfctr_control_error(error, c, &info, text, sizeof(text));
	ck_assert_str_eq(text, words);
}

START_TEST(records_cannot_be_had)
{
	struct perfctr_control c =
		faults_of_user(PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_EXIT_RECORDS);
	struct perfctr *p = open_counting(0, 0);
	struct perfctr_counts before, after;
	struct perfctr_exit_record record;

	before = own_counts(p);
	ck_assert_int_eq(perfctr_set_control(p, &c), -1);
	ck_assert_int_eq(errno, ENOTSUP);
	check_words(ENOTSUP, &c,
		    "this backend keeps no counts of single processes or threads that have exited; "
		    "count their sum, or use another of 'perfctr_backends()'");
	after = own_counts(p);
	ck_assert_uint_ge(after.tsc, before.tsc);
	ck_assert_uint_eq(after.n_counters, 1);
	ck_assert_int_eq(perfctr_next_exit_record(p, &record), -1);
	ck_assert_int_eq(errno, ENOTSUP);
	perfctr_close(p);
}
END_TEST

START_TEST(one_event_more_than_counters_is_refused)
{
	struct perfctr *p = open_counting(0, 0);
	struct perfctr_pmu_info info;
	struct perfctr_control c;

	ck_assert_int_eq(perfctr_get_pmu_info_with(BACKEND, &info), 0);
	perfctr_control_init(&c);
	for (uint32_t i = 0; i <= info.n_general; i++)
		perfctr_control_add(&c, PERFCTR_ANY, 0x4100c0, 0);
	ck_assert_int_eq(perfctr_set_control(p, &c), -1);
	ck_assert_int_eq(errno, info.n_general ? ENOSPC : ENODEV);
	ck_assert_uint_eq(c.bad_event, info.n_general);
	perfctr_close(p);
}
END_TEST

START_TEST(periods_and_signals_are_refused_for_want_of_interrupts)
{
	struct perfctr *p = open_context(0);
	struct perfctr_pmu_info info;
	char words[512];

	ck_assert_int_eq(perfctr_get_pmu_info_with(BACKEND, &info), 0);
	for (int with_signal = 0; with_signal < 2; with_signal++) {
		struct perfctr_control c = faults_of_user(0);

		c.event[0].period = 1000;
		c.event[0].signal = with_signal ? SIGUSR1 : 0;
		c.event[0].flags = with_signal ? PERFCTR_EVENT_STOP : 0;
		ck_assert_int_eq(perfctr_set_control(p, &c), -1);
		ck_assert_int_eq(errno, EINVAL);
		perfctr_control_error(EINVAL, &c, &info, words, sizeof(words));
		ck_assert_ptr_nonnull(strstr(words, "no counter interrupts here"));
	}
	perfctr_close(p);
}
END_TEST

START_TEST(the_environment_chooses)
{
	struct perfctr_backend_info info;
	char text[256];

	ck_assert_int_eq(setenv("PERFCTR_BACKEND", BACKEND, 1), 0);
	ck_assert_int_eq(perfctr_backend(NULL, &info), 0);
	ck_assert_str_eq(info.name, BACKEND);
	ck_assert_int_eq(setenv("PERFCTR_BACKEND", "none", 1), 0);
	ck_assert_ptr_null(perfctr_open());
	ck_assert_int_eq(errno, EINVAL);
	perfctr_open_error(EINVAL, text, sizeof(text));
	ck_assert_str_eq(text, "there is no backend 'none'; there are: patch, bpf, perf_events");
}
END_TEST

START_TEST(nobody_learns_what_is_missing)
{
	const int paranoia = (int)read_number("/proc/sys/kernel/perf_event_paranoid");
	struct perfctr_backend_info info;
	struct perfctr_control c;
	struct perfctr *p;
	char words[256];

	become_nobody();
	p = perfctr_open_with(BACKEND, 0, PERFCTR_OPEN_CREATE);
	if (paranoia > 2) {
		ck_assert_ptr_null(p);
		ck_assert_int_eq(errno, EACCES);
		perfctr_open_error_with(BACKEND, EACCES, words, sizeof(words));
		ck_assert_ptr_nonnull(strstr(words, "sysctl kernel.perf_event_paranoid=2"));
		return;
	}
	ck_assert_ptr_nonnull(p);
	perfctr_control_init(&c);
	perfctr_control_add(&c, PERFCTR_SOFTWARE + PERFCTR_CONTEXT_SWITCHES, 0, 0);
	if (paranoia < 2) {
		ck_assert_int_eq(perfctr_set_control(p, &c), 0);
		return;
	}
	ck_assert_int_eq(perfctr_set_control(p, &c), -1);
	ck_assert_int_eq(errno, EACCES);
	check_words(
		EACCES, &c,
		"event context-switches: what the kernel does needs CAP_PERFMON or sysctl "
		"kernel.perf_event_paranoid=1; without them page-faults:u and task-clock can be "
		"counted");
	ck_assert_int_eq(perfctr_backend(BACKEND, &info), 0);
	ck_assert_ptr_nonnull(
		strstr(info.why, "user mode alone (kernel.perf_event_paranoid is 2)"));
	ck_assert_ptr_null(perfctr_open_with(BACKEND, 1, PERFCTR_OPEN_CREATE));
	perfctr_open_error_with(BACKEND, errno, words, sizeof(words));
	ck_assert_str_eq(words,
			 "no permission to count this thread; it must belong to you, and its "
			 "program must be readable, or get CAP_PERFMON");
	perfctr_close(p);
}
END_TEST

static const struct {
	int error;
	const char *words;
} filters[] = {
	{ EPERM,
	  "perf_event_open(2) is forbidden here (EPERM), as containers do by a seccomp filter: "
	  "allow it there, with podman or docker by --cap-add=PERFMON or a profile of your own" },
	{ ENOSYS,
	  "there is no perf_event_open(2) here (ENOSYS): the kernel lacks CONFIG_PERF_EVENTS, "
	  "or the seccomp filter of a container hides it; allow it there" },
};

START_TEST(a_container_that_forbids_it_is_named)
{
	struct perfctr_backend_info info;

	forbid_perf_events(filters[_i].error);
	ck_assert_ptr_null(perfctr_open_with(BACKEND, 0, PERFCTR_OPEN_CREATE));
	ck_assert_int_eq(errno, filters[_i].error);
	ck_assert_int_eq(perfctr_backend(BACKEND, &info), -1);
	ck_assert_str_eq(info.why, filters[_i].words);
	ck_assert_uint_eq(info.available, 0);
}
END_TEST

START_TEST(cpus_are_counted_whoever_runs)
{
	const struct perfctr_session_options options = {
		.size = sizeof(options),
		.backend = BACKEND,
	};
	struct perfctr_session *s = perfctr_session_open(&options);
	struct perfctr_counts counts, sum;
	struct perfctr_control c;

	ck_assert_ptr_nonnull(s);
	perfctr_control_init(&c);
	perfctr_control_add(&c, PERFCTR_SOFTWARE + PERFCTR_PAGE_FAULTS, 0, 0);
	control_session(s, &c);
	make_processes(3);
	ck_assert_int_eq(perfctr_session_stop(s), 0);
	counts = session_counts(s);
	ck_assert_uint_ge(counts.counter[0], 3 * PAGES);
	perfctr_session_sum(s, &sum);
	ck_assert_uint_eq(sum.counter[0], counts.counter[0]);
	ck_assert_uint_eq(perfctr_session_cpus(s), (unsigned int)sysconf(_SC_NPROCESSORS_CONF));
	perfctr_session_close(s);
}
END_TEST

static Suite *suite(bool privileged)
{
	Suite *all = suite_create("perf-events");
	TCase *tests = tcase_create("perf-events"), *clock = tcase_create("perf-events");

	tcase_set_timeout(tests, 60);
	/* Tests that compare clocks. */
	tcase_set_timeout(clock, 60);
	tcase_set_tags(clock, "clock");
	tcase_add_test(clock, virtual_time_is_the_threads_cpu_time);
	tcase_add_test(tests, each_new_page_is_a_fault);
	tcase_add_test(tests, what_is_stopped_does_not_count);
	tcase_add_test(tests, a_tree_is_counted_whole);
	tcase_add_test(tests, the_sums_of_who_has_exited_stay);
	tcase_add_test(tests, a_mark_ends_with_its_last_member);
	tcase_add_test(tests, records_cannot_be_had);
	tcase_add_test(tests, one_event_more_than_counters_is_refused);
	tcase_add_test(tests, periods_and_signals_are_refused_for_want_of_interrupts);
	tcase_add_test(tests, the_environment_chooses);
	tcase_add_test(tests, nobody_learns_what_is_missing);
	tcase_add_loop_test(tests, a_container_that_forbids_it_is_named, 0, 2);
	if (privileged) {
		tcase_add_test(clock, the_error_against_rusage_is_as_stated);
		tcase_add_test(tests, cpus_are_counted_whoever_runs);
	}
	suite_add_tcase(all, tests);
	suite_add_tcase(all, clock);
	suite_add_tcase(all, perfex_tests());
	suite_add_tcase(all, perfex_clock_tests());
	return all;
}

int main(void)
{
	struct perfctr_backend_info info;
	int failed, skipped;
	SRunner *runner;

	setenv("PERFCTR_BACKEND", BACKEND, 1);
	if (perfctr_backend(BACKEND, &info) < 0) {
		printf("skipped: %s\nperf-events: 0 passed, 0 failed, 1 skipped\n", info.why);
		return 0;
	}
	skipped = may_count_kernel() ? 0 : 2;
	if (skipped)
		printf("skipped: counting the kernel's events and CPUs: %s\n", info.why);
	runner = srunner_create(suite(!skipped));
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	printf("perf-events: %d passed, %d failed, %d skipped\n",
	       srunner_ntests_run(runner) - failed, failed, skipped);
	srunner_free(runner);
	return failed != 0;
}
