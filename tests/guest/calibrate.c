// SPDX-License-Identifier: GPL-2.0-or-later
/* Counting adds instructions to a program's counts: how many, and how they are subtracted. */
#include "guest.h"
#include "synthetic.h"

#include <errno.h>
#include <perfctr.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/*
 * Starts, executes the program and stops. Returns the least of several runs, because the kernel's
 * part varies.
 */
static struct perfctr_counts least_corrected(struct perfctr *p, struct perfctr_control *control,
					     const struct perfctr_overhead *overhead,
					     void (*program)(void))
{
	struct perfctr_counts least, counts;

	memset(&least, 0xff, sizeof(least));
	control->flags = PERFCTR_CONTROL_STOPPED;
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(perfctr_set_control(p, control), 0);
		perfctr_start(p);
		program();
		perfctr_stop(p);
		ck_assert_int_eq(perfctr_read(p, &counts), 0);
		perfctr_correct(&counts, overhead, 1);
		ck_assert(counts.flags & PERFCTR_COUNTS_CORRECTED);
		for (uint32_t k = 0; k < counts.n_counters; k++)
			if (counts.counter[k] < least.counter[k])
				least.counter[k] = counts.counter[k];
	}
	return least;
}

static void nothing(void)
{
}

START_TEST(a_whole_program_is_counted_to_within_2_instructions_after_calibration)
{
	struct perfctr_control control =
		control_of(EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, BOTH(INSTRUCTIONS) }));
	struct perfctr *p = perfctr_open();
	struct perfctr_overhead overhead;
	struct perfctr_counts counts;

	ck_assert(p);
	ck_assert_int_eq(perfctr_calibrate(p, &control, &overhead), 0);
	ck_assert_uint_eq(overhead.n_counters, 2);
	printf("start + stop: user %llu, user and kernel %llu; first %llu, %llu instructions\n",
	       (unsigned long long)overhead.repeated.counter[0],
	       (unsigned long long)overhead.repeated.counter[1],
	       (unsigned long long)overhead.first.counter[0],
	       (unsigned long long)overhead.first.counter[1]);
	/* Between two calls lie the way out of one system call and the way into the next. */
	ck_assert_uint_gt(overhead.repeated.counter[0], 2);
	ck_assert_uint_lt(overhead.repeated.counter[0], 100);
	ck_assert_uint_gt(overhead.repeated.counter[1], overhead.repeated.counter[0]);

	counts = least_corrected(p, &control, &overhead, synthetic_1);
	ck_assert_uint_le(counts.counter[0], SYNTHETIC_1_INSTRUCTIONS + 2);
	ck_assert_uint_ge(counts.counter[0], SYNTHETIC_1_INSTRUCTIONS);
	ck_assert_uint_le(counts.counter[1], SYNTHETIC_1_INSTRUCTIONS + 2);
	ck_assert_uint_ge(counts.counter[1], SYNTHETIC_1_INSTRUCTIONS);
	counts = least_corrected(p, &control, &overhead, synthetic_2);
	ck_assert_uint_le(counts.counter[0], SYNTHETIC_2_INSTRUCTIONS + 2);
	ck_assert_uint_ge(counts.counter[0], SYNTHETIC_2_INSTRUCTIONS);
	ck_assert_uint_le(counts.counter[1], SYNTHETIC_2_INSTRUCTIONS + 2);
	ck_assert_uint_ge(counts.counter[1], SYNTHETIC_2_INSTRUCTIONS);
	counts = least_corrected(p, &control, &overhead, nothing);
	ck_assert_uint_le(counts.counter[0], 4);
	perfctr_close(p);
}
END_TEST

static void *calibrate_foreign(void *argument)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	struct perfctr_overhead overhead;

	EXPECT(perfctr_calibrate(argument, &control, &overhead) < 0 && errno == EPERM);
	return NULL;
}

START_TEST(a_refused_calibration_changes_nothing)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	struct perfctr_control wrong = control_of(EVENTS({ 77, USER(INSTRUCTIONS) }));
	struct perfctr_overhead overhead = { .n_counters = 99 };
	struct perfctr *p = perfctr_open();
	pthread_t thread;

	ck_assert(p);
	ck_assert_int_eq(perfctr_set_control(p, &control), 0);
	spin(1000);
	ck_assert_int_eq(perfctr_calibrate(p, &wrong, &overhead), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(wrong.bad_reason, PERFCTR_BAD_COUNTER);
	ck_assert_uint_eq(wrong.flags, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, calibrate_foreign, p), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(overhead.n_counters, 99);
	ck_assert_uint_gt(perfctr_read_counter(p, 0), 1000);
	perfctr_close(p);
}
END_TEST

START_TEST(after_calibration_the_control_is_as_it_was_asked_for)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	struct perfctr_overhead overhead;
	struct perfctr *p = perfctr_open();
	struct perfctr_counts counts;
	int calibrated, read;

	ck_assert(p);
	calibrated = perfctr_calibrate(p, &control, &overhead);
	read = perfctr_read(p, &counts);
	ck_assert_int_eq(calibrated, 0);
	ck_assert_int_eq(read, 0);
	ck_assert_uint_eq(control.flags, 0);
	ck_assert(counts.flags & PERFCTR_COUNTS_STARTED);
	ck_assert_uint_lt(counts.counter[0], 200); /* counted from 0 again */
	control.flags = PERFCTR_CONTROL_STOPPED;
	ck_assert_int_eq(perfctr_calibrate(p, &control, &overhead), 0);
	ck_assert_uint_eq(control.flags, PERFCTR_CONTROL_STOPPED);
	ck_assert_int_eq(perfctr_read(p, &counts), 0);
	ck_assert(!(counts.flags & PERFCTR_COUNTS_STARTED));
	ck_assert_uint_eq(counts.counter[0], 0);

	/*
	 * No count becomes negative. Three runs have the overhead "first" once and "repeated"
	 * twice.
	 */
	overhead.first.counter[0] = 100;
	overhead.repeated.counter[0] = 10;
	counts.counter[0] = 50;
	perfctr_correct(&counts, &overhead, 1);
	ck_assert_uint_eq(counts.counter[0], 0);
	counts.counter[0] = 1000;
	perfctr_correct(&counts, &overhead, 3);
	ck_assert_uint_eq(counts.counter[0], 880);
	perfctr_close(p);
}
END_TEST

SUITE(calibrate, a_whole_program_is_counted_to_within_2_instructions_after_calibration,
      a_refused_calibration_changes_nothing, after_calibration_the_control_is_as_it_was_asked_for)
