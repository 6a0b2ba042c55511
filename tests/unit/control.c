// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds controls, and assigns counters to their events. */
#include "unit.h"

#include <errno.h>
#include <perfctr.h>
#include <stdio.h>
#include <string.h>

static const struct perfctr_pmu_info four_and_three = { .n_general = 4, .n_fixed = 3 };

START_TEST(the_versions_of_header_and_library_agree)
{
	char version[32];

	snprintf(version, sizeof(version), "%u.%u.%u", PERFCTR_VERSION_NUMBER >> 16,
		 PERFCTR_VERSION_NUMBER >> 8 & 0xff, PERFCTR_VERSION_NUMBER & 0xff);
	ck_assert_str_eq(version, PERFCTR_VERSION);
	ck_assert_str_eq(version, perfctr_version());
}
END_TEST

START_TEST(a_new_control_is_empty)
{
	struct perfctr_control control, expected = { .size = 1320 };

	memset(&control, 0x5a, sizeof(control));
	perfctr_control_init(&control);
	ck_assert_mem_eq(&control, &expected, sizeof(control));
}
END_TEST

START_TEST(events_get_indices_in_order_until_it_is_full)
{
	struct perfctr_control control;

	perfctr_control_init(&control);
	for (int i = 0; i < PERFCTR_MAX_COUNTERS; i++)
		ck_assert_int_eq(perfctr_control_add(&control, (uint32_t)i, 0x4100c0, 0), i);
	errno = 0;
	ck_assert_int_eq(perfctr_control_add(&control, 0, 0x4100c0, 0), -1);
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_uint_eq(control.n_events, PERFCTR_MAX_COUNTERS);
}
END_TEST

START_TEST(an_event_carries_what_was_given)
{
	struct perfctr_control control;

	perfctr_control_init(&control);
	memset(&control.event[0], 0x5a, sizeof(control.event[0]));
	perfctr_control_add(&control, 0x8000000c, 0x39000, 0x4000204);
	ck_assert_uint_eq(control.event[0].counter, 0x8000000c);
	ck_assert_uint_eq(control.event[0].evntsel, 0x39000);
	ck_assert_uint_eq(control.event[0].evntsel2, 0x4000204);
	ck_assert_uint_eq(control.event[0].flags, 0);
	ck_assert_uint_eq(control.event[0].period, 0);
	ck_assert_uint_eq(control.event[0].signal, 0);
	ck_assert_uint_eq(control.event[0].kinds, 0);
}
END_TEST

#define ANY PERFCTR_ANY
#define F PERFCTR_FIXED

/*
 * n events with these counters, on a machine with four general counters.  left: the event that gets no counter, or -1.
 */
static const struct {
	int n;
	uint32_t before[6], after[6];
	int left;
} assignments[] = {
	{ 0, { 0 }, { 0 }, -1 },
	{ 1, { ANY }, { 0 }, -1 },
	{ 4, { ANY, ANY, ANY, ANY }, { 0, 1, 2, 3 }, -1 },
	{ 3, { ANY, 0, ANY }, { 1, 0, 2 }, -1 },
	{ 3, { ANY, 1, 0 }, { 2, 1, 0 }, -1 },
	{ 4, { 3, ANY, F, ANY }, { 3, 0, F, 1 }, -1 },
	{ 2, { 7, ANY }, { 7, 0 }, -1 },
	{ 2, { 2, 2 }, { 2, 2 }, -1 },
	{ 5, { ANY, ANY, ANY, ANY, ANY }, { ANY, ANY, ANY, ANY, ANY }, 4 },
	{ 5, { 0, 1, 2, ANY, ANY }, { 0, 1, 2, ANY, ANY }, 4 },
	{ 6, { F, F + 1, ANY, ANY, ANY, ANY }, { F, F + 1, 0, 1, 2, 3 }, -1 },
};

START_TEST(any_becomes_the_lowest_counter_that_is_free)
{
	struct perfctr_control control;
	int result;

	perfctr_control_init(&control);
	for (int i = 0; i < assignments[_i].n; i++)
		perfctr_control_add(&control, assignments[_i].before[i], 0x4100c0, 0);
	errno = 0;
	result = perfctr_control_assign(&control, &four_and_three);
	if (assignments[_i].left < 0) {
		ck_assert_int_eq(result, 0);
	} else {
		ck_assert_int_eq(result, -1);
		ck_assert_int_eq(errno, ENOSPC);
		ck_assert_int_eq((int)control.bad_event, assignments[_i].left);
	}
	for (int i = 0; i < assignments[_i].n; i++)
		ck_assert_uint_eq(control.event[i].counter, assignments[_i].after[i]);
}
END_TEST

START_TEST(a_machine_without_counters_has_none_to_give)
{
	static const struct perfctr_pmu_info none;
	struct perfctr_control control;

	perfctr_control_init(&control);
	ck_assert_int_eq(perfctr_control_assign(&control, &none), 0);
	perfctr_control_add(&control, PERFCTR_ANY, 0x4100c0, 0);
	ck_assert_int_eq(perfctr_control_assign(&control, &none), -1);
	ck_assert_int_eq(errno, ENODEV);
}
END_TEST

TCase *control_tests(void)
{
	TCase *tests = tcase_create("control");

	tcase_add_test(tests, the_versions_of_header_and_library_agree);
	tcase_add_test(tests, a_new_control_is_empty);
	tcase_add_test(tests, events_get_indices_in_order_until_it_is_full);
	tcase_add_test(tests, an_event_carries_what_was_given);
	tcase_add_loop_test(tests, any_becomes_the_lowest_counter_that_is_free, 0,
			    ARRAY_SIZE(assignments));
	tcase_add_test(tests, a_machine_without_counters_has_none_to_give);
	return tests;
}
