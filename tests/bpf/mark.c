// SPDX-License-Identifier: GPL-2.0-or-later
/* Software events of marked threads, beside the kernel's own sums. */
#include "bpf.h"

#include <stdlib.h>
#include <unistd.h>

static void ten_processes(void)
{
	for (unsigned int i = 0; i < 10; i++)
		if (fork_child() == 0) {
			touch(100);
			nap(5);
			burn(3000000);
			_exit(0);
		}
	reap();
}

/* Returns the counts of ten processes. *ns: the time that rusage has. */
static struct usage count_ten_processes(uint64_t *ns)
{
	struct perfctr_mark *mark = make_mark();
	struct perfctr_session *session = counted_mark_software(mark);
	struct child child = make_child(ten_processes);
	struct perfctr_counts counts;
	struct usage before, after, counted;
	struct rusage rusage;

	ck_assert_int_eq(perfctr_mark_set(mark, child.pid, PERFCTR_MARK_PROCESS), 1);
	before = usage_of(child.pid);
	release_child(&child);
	rusage = end_child(&child);
	after = usage_waited(&rusage);
	counts = session_counts(session);
	counted = usage_of_counts(&counts);
	ck_assert_uint_eq(counted.minor, after.minor - before.minor);
	/* As in trees: rusage may lack last switches. */
	ck_assert_uint_ge(counted.switches, after.switches - before.switches);
	ck_assert_uint_le(counted.switches, after.switches - before.switches + 2);
	ck_assert_uint_eq(counts.members, 0);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 0);
	perfctr_session_close(session);
	perfctr_mark_close(mark);
	*ns = after.ns - before.ns;
	return counted;
}

START_TEST(a_marked_process_and_all_that_it_starts_are_what_rusage_says)
{
	uint64_t ns;

	count_ten_processes(&ns);
}
END_TEST

START_TEST(the_time_of_a_marked_process_and_all_that_it_starts_is_what_rusage_says)
{
	uint64_t ns;
	struct usage counted = count_ten_processes(&ns);

	ck_assert_uint_le((uint64_t)llabs((long long)(counted.ns - ns)), counted.ns / 1000 + 30000);
}
END_TEST

struct cpu_time {
	uint64_t counted, least, most;
};

/* Returns the count of a segment, and the thread's time in it. */
static struct cpu_time count_segment(void)
{
	struct perfctr_mark *mark = make_mark();
	struct perfctr_session *session = counted_mark_software(mark);
	struct perfctr_counts counts;
	uint64_t most, least;

	touch(30);
	burn(5000000);
	most = thread_ns();
	ck_assert_int_eq(perfctr_segment_begin(mark), 0);
	least = thread_ns();
	touch(500);
	least = thread_ns() - least;
	ck_assert_int_eq(perfctr_segment_end(mark), 0);
	most = thread_ns() - most;
	touch(300);
	burn(30000000);
	counts = session_counts(session);
	ck_assert_uint_ge(counts.counter[PERFCTR_MINOR_FAULTS], 500);
	ck_assert_uint_le(counts.counter[PERFCTR_MINOR_FAULTS], 505);
	ck_assert_uint_eq(counts.members, 0);
	perfctr_session_close(session);
	perfctr_mark_close(mark);
	return (struct cpu_time){ counts.counter[PERFCTR_TASK_CLOCK], least, most };
}

START_TEST(a_segment_has_the_faults_between_its_ends)
{
	count_segment();
}
END_TEST

START_TEST(a_segment_has_the_time_between_its_ends)
{
	struct cpu_time ns = count_segment();

	ck_assert_double_le((double)ns.counted, (double)ns.most + CLOCKS_OFF_NS);
	ck_assert_double_ge((double)ns.counted, (double)ns.least - CLOCKS_OFF_NS);
}
END_TEST

TCase *mark_tests(void)
{
	TCase *tests = tcase_create("mark");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_marked_process_and_all_that_it_starts_are_what_rusage_says);
	tcase_add_test(tests, a_segment_has_the_faults_between_its_ends);
	return tests;
}

TCase *mark_clock_tests(void)
{
	TCase *tests = clock_case("mark");

	tcase_add_test(tests,
		       the_time_of_a_marked_process_and_all_that_it_starts_is_what_rusage_says);
	tcase_add_test(tests, a_segment_has_the_time_between_its_ends);
	return tests;
}
