// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A machine without a PMU, like most virtual ones: software events can be counted, others cannot.
 */
#include "stock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <perfctr.h>
#include <stdio.h>
#include <string.h>

START_TEST(linux_has_no_hardware_event_here)
{
	ck_assert_int_eq(perf_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 0, -1), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(the_backend_says_what_is_missing_and_who_can_give_it)
{
	struct perfctr_backend_info info;

	ck_assert_int_eq(perfctr_backend("perf_events", &info), 0);
	ck_assert_uint_eq(info.available, 1);
	ck_assert_uint_eq(info.n_counters, 0);
	ck_assert(!(info.capabilities & PERFCTR_CAN_HARDWARE));
	ck_assert_msg(strstr(info.why, "PMU") && strstr(info.why, "virtual machine"), "%s",
		      info.why);
}
END_TEST

START_TEST(perfex_counts_time_faults_and_switches)
{
	struct run r;

	RUN(&r, "perfex", "-e", "page-faults", "-e", "context-switches", program("loop"));
	ck_assert_msg(r.status == 0, "wait status %#x: %s", r.status, r.err);
	ck_assert_uint_gt(printed_count(r.err, "tsc"), 0);
	ck_assert_uint_gt(printed_count(r.err, "page-faults"), 0);
	printed_count(r.err, "context-switches");
}
END_TEST

START_TEST(an_event_of_the_processor_is_refused_in_one_line)
{
	struct run r;

	RUN(&r, "perfex", "-e", "instructions:u", program("loop"));
	ck_assert_msg(r.status == 125 << 8, "wait status %#x: %s", r.status, r.err);
	ck_assert_msg(strchr(r.err, '\n') == r.err + strlen(r.err) - 1, "%s", r.err);
	ck_assert_msg(strstr(r.err, "PMU") || strstr(r.err, "counters"), "%s", r.err);
}
END_TEST

START_TEST(a_usual_event_of_the_processor_has_a_row_with_the_reason)
{
	static const char *const events[] = { "instructions", "cycles", "branches",
					      "branch-misses" };
	char row[80];
	struct run r;

	RUN(&r, "perfex", program("loop"));
	ck_assert_msg(r.status == 0, "wait status %#x: %s", r.status, r.err);
	ck_assert_uint_gt(printed_count(r.err, "task-clock"), 0);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		snprintf(row, sizeof(row),
			 "\n%-24s not counted: there are no counters for perf_events\n", events[i]);
		ck_assert_msg(strstr(r.err, row), "no \"%s\" in: %s", row, r.err);
	}
}
END_TEST

#define SAMPLES "/tmp/no-pmu.samples"

START_TEST(perfex_record_samples_the_time_on_cpus)
{
	struct run r;

	RUN(&r, "perfex", "record", "-o", SAMPLES, program("loop-long"));
	ck_assert_msg(r.status == 0, "wait status %#x: %s", r.status, r.err);
	ck_assert_msg(strstr(r.err, "no counter can be sampled here"), "%s", r.err);
	RUN(&r, "perfex", "samples", "--csv", SAMPLES);
	ck_assert_msg(r.status == 0, "wait status %#x: %s", r.status, r.err);
	ck_assert_msg(strstr(r.out, "/loop-long,_start\r\n"), "%s", r.out);
}
END_TEST

SUITE(no_pmu, perfex_record_samples_the_time_on_cpus, linux_has_no_hardware_event_here,
      the_backend_says_what_is_missing_and_who_can_give_it, perfex_counts_time_faults_and_switches,
      a_usual_event_of_the_processor_has_a_row_with_the_reason,
      an_event_of_the_processor_is_refused_in_one_line)
