// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One PMU, two subsystems: the one that comes second is refused and told why, and nothing else
 * happens.
 */
#include "guest.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A hardware event of perf_events on the calling thread, or -1 with errno. */
static int try_perf_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int perf_open(void)
{
	int fd = try_perf_open();

	ck_assert_msg(fd >= 0, "perf_event_open: %s", strerror(errno));
	return fd;
}

START_TEST(e6_control_is_refused_while_perf_events_has_the_counters)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	int perf = perf_open();

	expect_holder(PERFCTR_HOLDER_OTHER);
	errno = 0;
	ck_assert_int_eq(try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })), -1);
	ck_assert_int_eq(errno, EBUSY);
	/* The virtual time stamp needs no counter. */
	context_control(fd, NULL, 0);
	close(perf);

	expect_holder(PERFCTR_HOLDER_NONE);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	spin(1000);
	ck_assert_uint_gt(context_read(fd).counter[0], 1000);
}
END_TEST

START_TEST(perf_events_is_refused_while_a_context_has_the_counters)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	uint64_t before;

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_PERFCTR);
	before = context_read(fd).counter[0];
	errno = 0;
	ck_assert_int_eq(try_perf_open(), -1);
	ck_assert_int_eq(errno, EBUSY);
	spin(1000);
	ck_assert_uint_gt(context_read(fd).counter[0], before + 1000);

	close(fd);
	close(perf_open());
}
END_TEST

START_TEST(perf_events_counts_right_after_perfctr)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	uint64_t first, second;
	int perf;

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(BRANCHES) },
				   { PERFCTR_FIXED, USER(FIXED) }));
	spin(1000000);
	close(fd);

	perf = perf_open();
	ck_assert_int_eq(read(perf, &first, sizeof(first)), sizeof(first));
	spin(1000000);
	ck_assert_int_eq(read(perf, &second, sizeof(second)), sizeof(second));
	/*
	 * spin() takes 2 instructions a round, or a few more. perf_events must not include the
	 * instructions that perfctr counted.
	 */
	ck_assert_uint_lt(first, 1000000);
	ck_assert_uint_gt(second - first, 2000000);
	ck_assert_uint_lt(second - first, 10000000);
}
END_TEST

START_TEST(perfex_names_perf_events_as_the_holder)
{
	int perf = perf_open();
	struct run r;

	RUN(&r, "perfex", "--backend=patch", "-e", "0x004100c0@0", program("loop"));
	close(perf);
	ck_assert_msg(r.status == 125 << 8, "wait status %#x", r.status);
	ck_assert_msg(strstr(r.err, "perf_events"), "%s", r.err);
	ck_assert_msg(strchr(r.err, '\n') == r.err + strlen(r.err) - 1, "%s", r.err);

	RUN(&r, "perfex", "-e", "0x004100c0@0", program("loop"));
	ck_assert_int_eq(r.status, 0);
	ck_assert_uint_eq(printed_count(r.err, "0x004100c0@0"), 2000004);
}
END_TEST

START_TEST(perfex_names_the_nmi_watchdog_as_the_holder)
{
	struct run r;

	ck_assert_uint_eq(read_number(NMI_WATCHDOG), 0);
	write_file(NMI_WATCHDOG, "1");
	ck_assert_uint_eq(read_number(NMI_WATCHDOG), 1);
	RUN(&r, "perfex", "--backend=patch", "-e", "0x004100c0@0", program("loop"));
	write_file(NMI_WATCHDOG, "0");
	ck_assert_msg(r.status == 125 << 8, "wait status %#x", r.status);
	ck_assert_msg(strstr(r.err, "NMI watchdog"), "%s", r.err);
	ck_assert_msg(strchr(r.err, '\n') == r.err + strlen(r.err) - 1, "%s", r.err);

	RUN(&r, "perfex", "-e", "0x004100c0@0", program("loop"));
	ck_assert_int_eq(r.status, 0);
	ck_assert_uint_eq(printed_count(r.err, "0x004100c0@0"), 2000004);
}
END_TEST

SUITE(busy, e6_control_is_refused_while_perf_events_has_the_counters,
      perf_events_is_refused_while_a_context_has_the_counters,
      perf_events_counts_right_after_perfctr, perfex_names_perf_events_as_the_holder,
      perfex_names_the_nmi_watchdog_as_the_holder)
