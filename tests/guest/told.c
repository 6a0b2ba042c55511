// SPDX-License-Identifier: GPL-2.0-or-later
/* GET_CONTROL returns what a context counts. */
#include "guest.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TREE_FLAGS (PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_EXIT_RECORDS)
#define EVENT_LIST                                                                        \
	EVENTS({ 2, BOTH(BRANCHES) }, { PERFCTR_FIXED, USER(FIXED) }, { 0, USER(INSTRUCTIONS) })

static struct perfctr_control told(int fd)
{
	struct perfctr_control control = { .size = sizeof(control) };

	ck_assert_msg(ioctl(fd, PERFCTR_IOC_GET_CONTROL, &control) == 0, "%s", strerror(errno));
	return control;
}

static void expect_told(int fd, const struct perfctr_control *set, uint32_t flags)
{
	struct perfctr_control control = told(fd), expected = *set;

	expected.flags = flags;
	ck_assert_mem_eq(&control, &expected, sizeof(control));
}

static struct perfctr_control set(int fd, uint32_t flags)
{
	struct perfctr_control control = control_of(EVENT_LIST);

	control.flags = flags;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	return control;
}

START_TEST(a_control_is_told_as_it_was_set)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE), other = context_open(0, 0);
	struct perfctr_control control = set(fd, 0);

	expect_told(fd, &control, 0);
	expect_told(other, &control, 0);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	expect_told(fd, &control, PERFCTR_CONTROL_STOPPED);
	control = set(fd, TREE_FLAGS | PERFCTR_CONTROL_STOPPED);
	expect_told(fd, &control, TREE_FLAGS | PERFCTR_CONTROL_STOPPED);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
	expect_told(other, &control, TREE_FLAGS);
}
END_TEST

START_TEST(a_control_that_was_refused_is_not_told)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct perfctr_control control = set(fd, 0), bad = control_of(EVENTS({ 1, 0 }));

	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &bad), -1);
	expect_told(fd, &control, 0);
}
END_TEST

START_TEST(before_the_first_control_there_is_none)
{
	struct perfctr_control control = { .size = sizeof(control), .n_events = 0x5a };
	struct perfctr_control empty = { .size = sizeof(empty) };
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_GET_CONTROL, &control), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_uint_eq(control.n_events, 0x5a);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &empty), 0);
	expect_told(fd, &empty, 0);
}
END_TEST

START_TEST(a_control_outlives_its_thread)
{
	struct counted c = counted_start(ANY_CPU, COMMAND("build/tests/guest/loop-tiny"), EVENT_LIST);
	struct perfctr_control control = control_of(EVENT_LIST);
	int fd = dup(c.fd), status;

	counted_finish(&c, &status);
	ck_assert_int_eq(status, 0);
	expect_told(fd, &control, PERFCTR_CONTROL_STOPPED);
}
END_TEST

/* A caller that may look at a member may open it. */
START_TEST(a_member_is_told_what_it_inherited)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE), member;
	struct perfctr_control control = set(fd, PERFCTR_CONTROL_INHERIT);
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	ck_assert_int_gt(pid, 0);
	member = context_open(pid, 0);
	expect_told(member, &control, PERFCTR_CONTROL_INHERIT);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	expect_told(member, &control, PERFCTR_CONTROL_STOPPED | PERFCTR_CONTROL_INHERIT);
}
END_TEST

START_TEST(events_without_room_are_left_out)
{
	struct perfctr_control control = { .size = offsetof(struct perfctr_control, event[1]) };
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct perfctr_control whole = set(fd, 0), rest = { .event = { [1] = { .counter = 0x5a } } };

	control.event[1].counter = 0x5a;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_GET_CONTROL, &control), 0);
	ck_assert_uint_eq(control.n_events, 3);
	ck_assert_mem_eq(&control.event[0], &whole.event[0], sizeof(control.event[0]));
	ck_assert_mem_eq(&control.event[1], &rest.event[1], sizeof(control.event[1]));
}
END_TEST

START_TEST(a_wrong_question_is_refused_and_nothing_is_written)
{
	char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct perfctr_control *half = (struct perfctr_control *)(two + 4096 - 64);
	char zeros[60] = { 0 };
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	set(fd, 0);
	ck_assert(two != MAP_FAILED);
	munmap(two + 4096, 4096);
	half->size = 4;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_GET_CONTROL, half), -1);
	ck_assert_int_eq(errno, EINVAL);
	half->size = sizeof(*half);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_GET_CONTROL, half), -1);
	ck_assert_int_eq(errno, EFAULT);
	ck_assert_mem_eq(&half->flags, zeros, sizeof(zeros));
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_GET_CONTROL, NULL), -1);
	ck_assert_int_eq(errno, EFAULT);
}
END_TEST

static void expect_line(const char *text, const char *line)
{
	ck_assert_msg(strstr(text, line), "no '%s' in:\n%s", line, text);
}

START_TEST(perfex_info_tells_what_a_process_is_counted_by)
{
	static struct run r;
	char number[16], line[128];
	pid_t pid = fork();
	int fd;

	if (pid == 0) {
		pause();
		_exit(0);
	}
	snprintf(number, sizeof(number), "%d", pid);
	RUN(&r, "perfex", "info", number);
	ck_assert_int_eq(r.status, 0);
	snprintf(line, sizeof(line), "thread %d (guest-tests): not counted\n", pid);
	ck_assert_str_eq(r.out, line);
	fd = context_open(pid, PERFCTR_OPEN_CREATE);
	set(fd, TREE_FLAGS);
	RUN(&r, "perfex", "info", number);
	ck_assert_int_eq(r.status, 0);
	snprintf(line, sizeof(line),
		 "thread %d (guest-tests): counted, with what it creates, each recorded\n", pid);
	expect_line(r.out, line);
	expect_line(r.out, "\n  0x004300c4@2 ");
	expect_line(r.out, "\n  0x00410000@0x40000000 ");
	expect_line(r.out, "\n  0x004100c0@0 ");
	expect_line(r.out, "instructions");
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	RUN(&r, "perfex", "info", number);
	ck_assert_int_eq(r.status, EXITED(125));
	snprintf(line, sizeof(line), "perfex: there is no process %d\n", pid);
	ck_assert_str_eq(r.err, line);
}
END_TEST

SUITE(told,
      a_control_is_told_as_it_was_set,
      a_control_that_was_refused_is_not_told,
      before_the_first_control_there_is_none,
      a_control_outlives_its_thread,
      a_member_is_told_what_it_inherited,
      events_without_room_are_left_out,
      a_wrong_question_is_refused_and_nothing_is_written,
      perfex_info_tells_what_a_process_is_counted_by)
