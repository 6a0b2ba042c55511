// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who may count what.  As root the suite becomes an ordinary user in child processes; started as an
 * ordinary user (scripts/vm --user) it shows that nothing needs root in the first place.
 */
#include "guest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
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

/* argument: whether kernel mode is allowed. */
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

SUITE(permission,
      a_user_counts_itself_in_user_mode,
      a_user_cannot_open_another_user_s_thread,
      perfex_counts_exactly_for_a_user,
      kernel_mode_needs_perf_event_paranoid_1)
