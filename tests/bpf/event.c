// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of the processor: instructions (and branches, r00c4) in user mode, which are the same in
 * every run.  Expected counts are those worked out in tests/guest/asm.
 */
#include "bpf.h"
#include "../guest/guest.h"
#include "../guest/loop.h"
#include "../guest/tree.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM(name) "build/tests/guest/" name
#define ITERATIONS 1000000u

static void control_both(struct perfctr_control *c, uint32_t flags)
{
	perfctr_control_init(c);
	c->flags = flags;
	perfctr_control_add(c, PERFCTR_ANY, USER(INSTRUCTIONS), 0);
	perfctr_control_add(c, PERFCTR_ANY, USER(BRANCHES), 0);
}

static struct perfctr *counted_thread(pid_t tid, uint32_t flags)
{
	struct perfctr *p = perfctr_open_tid(tid, PERFCTR_OPEN_CREATE);
	struct perfctr_control control;

	ck_assert_msg(p, "perfctr_open_tid: %s", strerror(errno));
	control_both(&control, flags);
	ck_assert_msg(perfctr_set_control(p, &control) == 0, "perfctr_set_control: %s",
		      strerror(errno));
	return p;
}

/* Stands before its first instruction. */
static pid_t stopped(char *const command[])
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(command[0], command);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFSTOPPED(status), "%s did not start", command[0]);
	return pid;
}

#define STOPPED(...) stopped((char *[]){ __VA_ARGS__, NULL })

static void run_to_end(pid_t pid)
{
	int status;

	ck_assert_int_eq(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

static uint64_t instructions(const struct perfctr *p, unsigned int scope)
{
	struct perfctr_counts counts;

	ck_assert_msg(perfctr_read_scope(p, scope, &counts) == 0, "%s", strerror(errno));
	return counts.counter[0];
}

START_TEST(hardware_is_a_capability_then)
{
	struct perfctr_backend_info info;

	ck_assert_int_eq(perfctr_backend("bpf", &info), 0);
	ck_assert_uint_ne(info.capabilities & PERFCTR_CAN_HARDWARE, 0);
	ck_assert_msg(strstr(info.why, "experimental"), "%s", info.why);
	ck_assert_msg(strstr(info.why, "instructions:u, r00c4:u"), "%s", info.why);
}
END_TEST

/* With switches inside; what stands around the loops goes out of the difference. */
START_TEST(a_thread_counts_itself_exactly)
{
	static const uint32_t iterations[] = { 1, ITERATIONS, 3 * ITERATIONS };
	struct perfctr *p = counted_thread(0, 0);
	uint64_t n[3];

	for (int i = 0; i < 3; i++) {
		uint64_t before = instructions(p, PERFCTR_SCOPE_SELF);

		loop(iterations[i]);
		nap(3);
		loop(iterations[i]);
		n[i] = instructions(p, PERFCTR_SCOPE_SELF) - before;
	}
	ck_assert_uint_eq(n[2] - n[1], 8ull * ITERATIONS);
	perfctr_close(p);
}
END_TEST

START_TEST(a_program_is_counted_exactly)
{
	pid_t pid = STOPPED(PROGRAM("loop"));
	struct perfctr *p = counted_thread(pid, 0);
	struct perfctr_counts counts;

	run_to_end(pid);
	ck_assert_int_eq(perfctr_read(p, &counts), 0);
	ck_assert_uint_eq(counts.counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(counts.counter[1], LOOP_BRANCHES(SHORT_LOOP));
	perfctr_close(p);
}
END_TEST

START_TEST(programs_that_share_a_cpu_have_each_their_own)
{
	pid_t pid[2];
	struct perfctr *p[2];
	cpu_set_t first, all;
	int status;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(first), &first), 0);
	for (int i = 0; i < 2; i++) {
		pid[i] = STOPPED(PROGRAM("loop-long"));
		p[i] = counted_thread(pid[i], 0);
	}
	for (int i = 0; i < 2; i++)
		ptrace(PTRACE_DETACH, pid[i], NULL, NULL);
	sched_setaffinity(0, sizeof(all), &all);
	for (int i = 0; i < 2; i++) {
		struct perfctr_counts counts;

		ck_assert_int_eq(waitpid(pid[i], &status, 0), pid[i]);
		ck_assert_int_eq(perfctr_read(p[i], &counts), 0);
		ck_assert_uint_eq(counts.counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
		/* They took turns. */
		ck_assert_uint_gt(counts.switches, 2);
		perfctr_close(p[i]);
	}
}
END_TEST

START_TEST(a_tree_is_counted_exactly)
{
	pid_t pid = STOPPED(PROGRAM("tree"), PROGRAM("loop"));
	struct perfctr *p = counted_thread(pid, PERFCTR_CONTROL_INHERIT);

	run_to_end(pid);
	ck_assert_uint_eq(instructions(p, PERFCTR_SCOPE_TREE), TREE_INSTRUCTIONS);
	ck_assert_uint_eq(instructions(p, PERFCTR_SCOPE_SELF), TREE_ROOT);
	ck_assert_uint_eq(instructions(p, PERFCTR_SCOPE_CHILDREN), TREE_BELOW_ROOT);
	perfctr_close(p);
}
END_TEST

START_TEST(a_group_is_counted_exactly)
{
	struct perfctr_group *group = perfctr_group_open(NULL);
	struct perfctr_session_options options = {
		.size = sizeof(options),
		.group = group,
		.policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED,
	};
	struct perfctr_session *session = perfctr_session_open(&options);
	pid_t pid[2] = { STOPPED(PROGRAM("loop")), STOPPED(PROGRAM("tree"), PROGRAM("loop")) };
	struct perfctr_control control;
	struct perfctr_counts counts;

	ck_assert_ptr_nonnull(session);
	control_both(&control, 0);
	ck_assert_int_eq(perfctr_session_control(session, &control), 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(perfctr_mark(group, pid[i], PERFCTR_MARK_PROCESS), 1);
	for (int i = 0; i < 2; i++)
		run_to_end(pid[i]);
	ck_assert_int_eq(perfctr_session_read(session, &counts), 0);
	ck_assert_uint_eq(counts.counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP) + TREE_INSTRUCTIONS);
	perfctr_session_close(session);
	perfctr_group_close(group);
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

/* On another CPU, and while it is not switched away: by root, who may interrupt that CPU. */
START_TEST(who_runs_is_counted_until_now)
{
	struct child child = make_child(turn);
	struct perfctr *p = counted_thread(child.pid, 0);
	struct perfctr_counts before, now;
	unsigned int grown = getuid() ? 20 : 0;

	let_go(&child);
	ck_assert_int_eq(perfctr_read(p, &before), 0);
	while (grown < 20) {
		nap(1);
		ck_assert_int_eq(perfctr_read(p, &now), 0);
		ck_assert_uint_ge(now.counter[0], before.counter[0]);
		grown += now.switches == before.switches && now.counter[0] > before.counter[0];
		before = now;
	}
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	perfctr_close(p);
}
END_TEST

START_TEST(a_thread_that_runs_can_be_opened_stopped_and_started)
{
	struct child child = make_child(getuid() ? turn_and_nap : turn);
	struct perfctr *p;
	uint64_t count;

	let_go(&child);
	nap(100);
	p = counted_thread(child.pid, 0);
	while (instructions(p, PERFCTR_SCOPE_SELF) < ITERATIONS)
		nap(1);
	ck_assert_int_eq(perfctr_stop(p), 0);
	count = instructions(p, PERFCTR_SCOPE_SELF);
	nap(100);
	ck_assert_uint_eq(instructions(p, PERFCTR_SCOPE_SELF), count);
	ck_assert_int_eq(perfctr_start(p), 0);
	while (instructions(p, PERFCTR_SCOPE_SELF) < count + ITERATIONS)
		nap(1);
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	perfctr_close(p);
}
END_TEST

START_TEST(another_event_is_refused_and_those_there_are_are_told)
{
	struct perfctr *p = counted_thread(0, 0);
	struct perfctr_control control;
	struct perfctr_pmu_info info;
	char text[512] = "";

	ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
	/* In kernel mode nothing is counted either. */
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

TCase *event_tests(void)
{
	TCase *tests = tcase_create("event");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, hardware_is_a_capability_then);
	tcase_add_test(tests, a_thread_counts_itself_exactly);
	tcase_add_test(tests, a_program_is_counted_exactly);
	tcase_add_test(tests, programs_that_share_a_cpu_have_each_their_own);
	tcase_add_test(tests, a_tree_is_counted_exactly);
	tcase_add_test(tests, a_group_is_counted_exactly);
	tcase_add_test(tests, who_runs_is_counted_until_now);
	tcase_add_test(tests, a_thread_that_runs_can_be_opened_stopped_and_started);
	tcase_add_test(tests, another_event_is_refused_and_those_there_are_are_told);
	return tests;
}

static void write_online(const char *value)
{
	FILE *file = fopen("/sys/devices/system/cpu/cpu1/online", "we");

	ck_assert_ptr_nonnull(file);
	fputs(value, file);
	ck_assert_int_eq(fclose(file), 0);
}

/* A CPU that was offline has no events of the service any more. */
START_TEST(counts_that_lack_something_are_not_given)
{
	pid_t pid;
	struct perfctr *p;
	struct perfctr_counts counts;
	cpu_set_t second;

	write_online("0");
	write_online("1");
	CPU_ZERO(&second);
	CPU_SET(1, &second);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(second), &second), 0);
	pid = STOPPED(PROGRAM("loop"));
	p = counted_thread(pid, 0);
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
