// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Permissions. As root, the suite becomes an ordinary user in child processes. Started as an
 * ordinary user (scripts/vm --user), it shows that nothing needs root.
 */
#include "marks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

static void user_counts_itself(void *unused)
{
	int fd;

	(void)unused;
	become_nobody();
	fd = try_context_open(0, PERFCTR_OPEN_CREATE);
	EXPECT(fd >= 0);
	EXPECT(try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })) == 0);
	spin(1000);
	EXPECT(context_read(fd).counter[0] > 1000);
}

START_TEST(a_user_counts_itself_in_user_mode)
{
	in_child(user_counts_itself, NULL);
}
END_TEST

static void user_meets_init(void *unused)
{
	(void)unused;
	become_nobody();
	errno = 0;
	EXPECT(try_context_open(1, 0) == -1 && errno == EACCES);
	errno = 0;
	EXPECT(try_context_open(1, PERFCTR_OPEN_CREATE) == -1 && errno == EACCES);
}

START_TEST(a_user_cannot_open_another_user_s_thread)
{
	in_child(user_meets_init, NULL);
}
END_TEST

START_TEST(perfex_counts_exactly_for_a_user)
{
	struct run r;

	if (geteuid() == 0)
		RUN(&r, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "perfex", "-e",
		    "0x004100c0@0", program("loop"));
	else
		RUN(&r, "perfex", "-e", "0x004100c0@0", program("loop"));
	ck_assert_msg(r.status == 0, "wait status %#x: %s", r.status, r.err);
	ck_assert_uint_eq(printed_count(r.err, "0x004100c0@0"), 2000004);
}
END_TEST

/* argument: is kernel mode allowed? */
static void user_counts_kernel(void *argument)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) },
							   { 1, BOTH(INSTRUCTIONS) }));
	const bool *allowed = argument;
	int fd;

	become_nobody();
	fd = try_context_open(0, PERFCTR_OPEN_CREATE);
	EXPECT(fd >= 0);
	errno = 0;
	if (*allowed) {
		EXPECT(ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0);
		return;
	}
	EXPECT(ioctl(fd, PERFCTR_IOC_CONTROL, &control) == -1 && errno == EACCES);
	EXPECT(control.bad_event == 1 && control.bad_reason == PERFCTR_BAD_PRIVILEGE);
}

START_TEST(kernel_mode_needs_perf_event_paranoid_1)
{
	char before[8];
	bool allowed;

	snprintf(before, sizeof(before), "%d", (int)read_number(PARANOID));
	if (geteuid() != 0) {
		allowed = strcmp(before, "2") < 0;
		in_child(user_counts_kernel, &allowed);
		return;
	}
	for (int paranoid = 1; paranoid <= 2; paranoid++) {
		write_file(PARANOID, paranoid == 1 ? "1" : "2");
		allowed = paranoid == 1;
		in_child(user_counts_kernel, &allowed);
	}
	write_file(PARANOID, before);
}
END_TEST

/*
 * A process of a user executes a copy of "loop-huge". It has a context, and the user's mark. If
 * the user may read that file, both stay; otherwise both are gone at once.
 */
static void user_executes(const char *path, bool readable)
{
	int mark_fd = mark_open(), go[2], executed[2], fd;
	struct perfctr_counts counts;
	char byte;
	pid_t pid;

	EXPECT(pipe(go) == 0 && pipe2(executed, O_CLOEXEC) == 0);
	/* After a change of ids nobody may trace the process until it says so. */
	prctl(PR_SET_DUMPABLE, 1);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		EXPECT(read(go[0], &byte, 1) == 1);
		execl(path, path, NULL);
		_exit(127);
	}
	mark(pid, mark_fd);
	fd = try_context_open(pid, PERFCTR_OPEN_CREATE);
	EXPECT(fd >= 0);
	EXPECT(try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })) == 0);
	close(executed[1]);
	EXPECT(write(go[1], "", 1) == 1);
	EXPECT(read(executed[0], &byte, 1) == 0);
	EXPECT(mark_members(mark_fd) == readable);
	sleep_us(200000);
	if (readable)
		wait_for_count(fd, LOOP_INSTRUCTIONS(SHORT_LOOP) + 1);
	EXPECT(kill(pid, SIGKILL) == 0 && wait_for(pid, NULL) == pid);
	counts = context_read(fd);
	EXPECT((counts.counter[0] > LOOP_INSTRUCTIONS(SHORT_LOOP)) == readable);
}

static void user_executes_both(void *directory)
{
	become_nobody();
	EXPECT(chdir(directory) == 0);
	user_executes("./readable", true);
	user_executes("./unreadable", false);
}

START_TEST(exec_of_a_file_that_may_not_be_read_drops_context_and_mark)
{
	char directory[] = "/tmp/unreadable-XXXXXX", path[64];

	ck_assert(mkdtemp(directory));
	ck_assert_int_eq(chmod(directory, 0755), 0);
	snprintf(path, sizeof(path), "%s/readable", directory);
	copy_file(program("loop-huge"), path, 0555);
	snprintf(path, sizeof(path), "%s/unreadable", directory);
	copy_file(program("loop-huge"), path, 0111);
	in_child(user_executes_both, directory);
}
END_TEST

static void user_looks_at_debugfs(void *unused)
{
	(void)unused;
	become_nobody();
	errno = 0;
	EXPECT(access("/sys/kernel/debug/perfctr", F_OK) == -1 && errno == EACCES);
	errno = 0;
	EXPECT(open("/sys/module/perfctr/parameters/user_session_counters", O_WRONLY) == -1 &&
	       errno == EACCES);
}

START_TEST(what_is_for_debugging_is_root_s_and_so_are_limits)
{
	in_child(user_looks_at_debugfs, NULL);
}
END_TEST

SUITE(permission,
      a_user_counts_itself_in_user_mode,
      a_user_cannot_open_another_user_s_thread,
      perfex_counts_exactly_for_a_user,
      kernel_mode_needs_perf_event_paranoid_1,
      exec_of_a_file_that_may_not_be_read_drops_context_and_mark,
      what_is_for_debugging_is_root_s_and_so_are_limits)
