// SPDX-License-Identifier: GPL-2.0-or-later
/* Permissions: root's processes are for root, kernel mode and CPUs for privileged callers. */
#include "backend.h"

#include <unistd.h>

static void open_and_mark_root(void *argument)
{
	pid_t root = *(pid_t *)argument;
	struct perfctr_mark *mark;

	become_nobody();
	mark = perfctr_mark_open(NULL);
	EXPECT(mark);
	EXPECT(!perfctr_open_tid(root, PERFCTR_OPEN_CREATE) && errno == EACCES);
	EXPECT(perfctr_mark_set(mark, root, PERFCTR_MARK_PROCESS) == -1 && errno == EACCES);
	EXPECT(perfctr_members(mark, NULL, 0) == 0);
	perfctr_mark_close(mark);
}

START_TEST(another_users_process_is_refused)
{
	pid_t root = getpid();

	in_child(open_and_mark_root, &root);
}
END_TEST

static void find_root(void *argument)
{
	pid_t root = *(pid_t *)argument;
	uint64_t id;

	become_nobody();
	EXPECT(!perfctr_open_tid(root, 0) && errno == EACCES);
	EXPECT(perfctr_mark_get(root, &id) == -1 && errno == EACCES);
}

START_TEST(another_users_context_and_mark_are_not_found)
{
	pid_t root = getpid();
	struct perfctr *self = counted(0, 1, 0);

	in_child(find_root, &root);
	perfctr_close(self);
}
END_TEST

static void count_own(void *unused)
{
	struct perfctr_control control = user_control(1, 0);
	struct perfctr_counts counts;
	struct perfctr *self;

	(void)unused;
	become_nobody();
	self = perfctr_open();
	EXPECT(self);
	EXPECT(perfctr_set_control(self, &control) == 0);
	loop(ITERATIONS);
	EXPECT(perfctr_read(self, &counts) == 0);
	EXPECT(counts.counter[0] >= 2 * ITERATIONS);
	perfctr_close(self);
}

START_TEST(an_ordinary_user_counts_user_mode)
{
	in_child(count_own, NULL);
}
END_TEST

static void count_kernel_mode(void *unused)
{
	struct perfctr_control control;
	struct perfctr *self;

	(void)unused;
	become_nobody();
	self = perfctr_open();
	EXPECT(self);
	perfctr_control_init(&control);
	perfctr_control_add(&control, PERFCTR_ANY, KERNEL(INSTRUCTIONS), 0);
	EXPECT(perfctr_set_control(self, &control) == -1);
	EXPECT(control.bad_event == 0 && control.bad_reason != 0);
	EXPECT(errno == (control.bad_reason == PERFCTR_BAD_UNLOADED ? EINVAL : EACCES));
	perfctr_close(self);
}

START_TEST(kernel_mode_is_for_the_privileged)
{
	in_child(count_kernel_mode, NULL);
}
END_TEST

static void count_cpus(void *unused)
{
	const struct perfctr_session_options options = { .size = sizeof(options) };

	(void)unused;
	become_nobody();
	EXPECT(!perfctr_session_open(&options) && errno == EACCES);
}

START_TEST(sessions_on_cpus_are_for_the_privileged)
{
	in_child(count_cpus, NULL);
}
END_TEST

#define H PERFCTR_CAN_HARDWARE

const struct contract permission_contract[] = {
	{ BY_ROOT | PERFCTR_CAN_REMOTE | PERFCTR_CAN_MARK, &another_users_process_is_refused },
	{ BY_ROOT | H | KEEPS_CONTEXTS | KEEPS_MARKS,
	  &another_users_context_and_mark_are_not_found },
	{ H, &an_ordinary_user_counts_user_mode },
	{ H, &kernel_mode_is_for_the_privileged },
	{ PERFCTR_CAN_SESSION, &sessions_on_cpus_are_for_the_privileged },
	{ 0, NULL },
};
