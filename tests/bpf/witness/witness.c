// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel patch and the bpf backend count the same run, in a kernel that has both. They share no
 * code in the kernel: the patch reads counters at each switch, the BPF programs read the
 * scheduler's sums of each task.
 */
#include "../bpf.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 40

enum { PATCH, BPF, BACKENDS };
static const char *const names[BACKENDS] = { "patch", "bpf" };

static void forty_processes(void)
{
	for (unsigned int i = 0; i < PROCESSES; i++) {
		if (fork_child() == 0) {
			touch(5);
			nap(i % 9);
			burn(1000000 + i * 50000);
			_exit(0);
		}
		if (i % 5 == 4)
			reap();
	}
	reap();
}

/* Nobody preempts these processes: they only leave the processor to wait or exit. */
static void forty_that_are_not_preempted(void)
{
	const struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &param) < 0)
		_exit(1);
	forty_processes();
}

/*
 * The patch lets an exiting thread go in exit_thread(), bpf at its last switch. In between the
 * kernel can switch it away in perf_event_exit_task(), which may sleep. That is one more switch,
 * and some microseconds, for bpf and rusage.
 */
static void compare(const struct perfctr_counts *counts, unsigned int preempted)
{
	const struct perfctr_counts *patch = &counts[PATCH], *bpf = &counts[BPF];
	int64_t off = (int64_t)(bpf->tsc - patch->tsc);

	printf("patch: %llu switches, %llu migrations, %llu ticks; bpf: %llu, %llu, %+.3f %%\n",
	       (unsigned long long)patch->switches, (unsigned long long)patch->migrations,
	       (unsigned long long)patch->tsc, (unsigned long long)bpf->switches,
	       (unsigned long long)bpf->migrations, 100.0 * (double)off / (double)patch->tsc);
	ck_assert_uint_ge(patch->switches, PROCESSES);
	ck_assert_uint_ge(bpf->switches, patch->switches);
	ck_assert_uint_le(bpf->switches - patch->switches, preempted);
	ck_assert_uint_eq(patch->members, bpf->members);
	ck_assert_int_le(llabs(off), (int64_t)patch->tsc / 100);
}

static void count_tree(void (*run)(void), unsigned int preempted)
{
	struct child child = make_child(run);
	struct perfctr *p[BACKENDS];
	struct perfctr_counts counts[BACKENDS];
	struct perfctr_control control;

	for (int i = 0; i < BACKENDS; i++) {
		p[i] = perfctr_open_with(names[i], child.pid, PERFCTR_OPEN_CREATE);
		ck_assert_msg(p[i], "%s: errno %d", names[i], errno);
		ck_assert_str_eq(perfctr_backend_name(p[i]), names[i]);
		perfctr_control_init(&control);
		control.flags = PERFCTR_CONTROL_INHERIT;
		ck_assert_int_eq(perfctr_set_control(p[i], &control), 0);
		ck_assert_int_eq(perfctr_read_scope(p[i], PERFCTR_SCOPE_TREE, &counts[i]), 0);
		ck_assert_uint_eq(counts[i].tsc, 0);
		ck_assert_uint_eq(counts[i].members, 1);
	}
	release_child(&child);
	end_child(&child);
	for (int i = 0; i < BACKENDS; i++)
		ck_assert_int_eq(perfctr_read_scope(p[i], PERFCTR_SCOPE_TREE, &counts[i]), 0);
	compare(counts, preempted);
	ck_assert_uint_eq(counts[PATCH].migrations, counts[BPF].migrations);
	for (int i = 0; i < BACKENDS; i++) {
		ck_assert_int_eq(perfctr_read_scope(p[i], PERFCTR_SCOPE_CHILDREN, &counts[i]), 0);
		perfctr_close(p[i]);
	}
	compare(counts, preempted);
}

START_TEST(both_count_the_same_tree)
{
	count_tree(forty_that_are_not_preempted, 0);
}
END_TEST

START_TEST(both_count_the_same_tree_but_for_the_last_moments_of_its_threads)
{
	count_tree(forty_processes, PROCESSES + 1);
}
END_TEST

static void three_that_stay(void)
{
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			pause();
			_exit(0);
		}
	pause();
}

START_TEST(both_know_the_same_members)
{
	struct child child = make_child(three_that_stay);
	struct perfctr_mark *mark[BACKENDS];
	pid_t tids[BACKENDS][8];

	release_child(&child);
	nap(300);
	for (int i = 0; i < BACKENDS; i++) {
		mark[i] = perfctr_mark_open_with(names[i], NULL);
		ck_assert_ptr_nonnull(mark[i]);
		ck_assert_int_eq(perfctr_mark_set(mark[i], child.pid, PERFCTR_MARK_TREE), 4);
		ck_assert_int_eq(perfctr_members(mark[i], tids[i], 8), 4);
	}
	for (int i = 0; i < 4; i++) {
		int found = 0;

		for (int k = 0; k < 4; k++)
			found += tids[BPF][k] == tids[PATCH][i];
		ck_assert_int_eq(found, 1);
	}
	for (int i = 0; i < 4; i++)
		kill(tids[PATCH][i], SIGKILL);
	waitpid(child.pid, NULL, 0);
	nap(300);
	for (int i = 0; i < BACKENDS; i++) {
		ck_assert_int_eq(perfctr_members(mark[i], NULL, 0), 0);
		perfctr_mark_close(mark[i]);
	}
}
END_TEST

START_TEST(both_tell_a_thread_the_same_time)
{
	struct perfctr *p[BACKENDS];
	struct perfctr_counts first[BACKENDS], second[BACKENDS], counts[BACKENDS];
	struct perfctr_control control;

	for (int i = 0; i < BACKENDS; i++) {
		p[i] = perfctr_open_with(names[i], 0, PERFCTR_OPEN_CREATE);
		ck_assert_ptr_nonnull(p[i]);
		perfctr_control_init(&control);
		ck_assert_int_eq(perfctr_set_control(p[i], &control), 0);
	}
	for (int i = 0; i < BACKENDS; i++)
		ck_assert_int_eq(perfctr_read(p[i], &first[i]), 0);
	for (int i = 0; i < 50; i++) {
		burn(5000000);
		nap(2);
	}
	for (int i = 0; i < BACKENDS; i++)
		ck_assert_int_eq(perfctr_read(p[i], &second[i]), 0);
	for (int i = 0; i < BACKENDS; i++) {
		counts[i] = second[i];
		counts[i].tsc -= first[i].tsc;
		counts[i].switches -= first[i].switches;
		perfctr_close(p[i]);
	}
	/* The test may be switched away between the two reads, once at either end. */
	ck_assert_int_le(llabs((long long)(counts[BPF].switches - counts[PATCH].switches)), 2);
	counts[BPF].switches = counts[PATCH].switches;
	compare(counts, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("witness");
	TCase *tests = tcase_create("witness");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, both_count_the_same_tree);
	tcase_add_test(tests, both_count_the_same_tree_but_for_the_last_moments_of_its_threads);
	tcase_add_test(tests, both_know_the_same_members);
	tcase_add_test(tests, both_tell_a_thread_the_same_time);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
