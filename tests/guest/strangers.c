// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processor Trace uses the counters' interrupt, and reserves no counter. The driver recognises it
 * by its events. The emulator only claims to have Processor Trace: no event is started.
 */
#include "guest.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int try_trace_open(void)
{
	struct perf_event_attr attr = {
		.type = read_number("/sys/bus/event_source/devices/intel_pt/type"),
		.size = sizeof(attr),
		.disabled = 1,
		.exclude_kernel = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int trace_open(void)
{
	int fd = try_trace_open();

	ck_assert_msg(fd >= 0, "perf_event_open: %s", strerror(errno));
	return fd;
}

START_TEST(control_is_refused_while_processor_trace_is_open)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE), trace = trace_open();
	struct run r;

	ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_OTHER);
	errno = 0;
	ck_assert_int_eq(try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })), -1);
	ck_assert_int_eq(errno, EBUSY);
	RUN(&r, "perfex", "--backend=patch", "-e", "0x004100c0@0", program("loop"));
	ck_assert_int_eq(r.status, 125 << 8);
	ck_assert_msg(strstr(r.err, "Processor Trace"), "%s", r.err);
	close(trace);
	ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_NONE);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	spin(1000);
	ck_assert_uint_gt(context_read(fd).counter[0], 1000);
}
END_TEST

START_TEST(processor_trace_is_refused_while_a_context_has_the_counters)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	/* Asking for the holder keeps nobody out. */
	ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_NONE);
	close(trace_open());
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	errno = 0;
	ck_assert_int_eq(try_trace_open(), -1);
	ck_assert_int_eq(errno, EBUSY);
	/* The virtual time stamp needs no counter. */
	context_control(fd, NULL, 0);
	close(trace_open());
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	ck_assert_int_eq(try_trace_open(), -1);
	close(fd);
	close(trace_open());
}
END_TEST

SUITE(strangers, control_is_refused_while_processor_trace_is_open,
      processor_trace_is_refused_while_a_context_has_the_counters)
