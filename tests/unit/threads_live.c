// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The library in several threads, compiled with ThreadSanitizer: a program of its own, to be run in the virtual
 * machine.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <perfctr_regions.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define PASSES 2000
#define ROUNDS 200

static const char *const specs[] = { "instructions:u", "branches:u" };
enum { N_EVENTS = ARRAY_SIZE(specs) };

static void request_events(const struct perfctr_pmu_info *info, struct perfctr_request *requests,
			   struct perfctr_control *control)
{
	char error[256] = "";

	for (size_t i = 0; i < N_EVENTS; i++)
		ck_assert_msg(perfctr_events_parse_once(info, specs[i], PERFCTR_MODE_USER,
							&requests[i], error, sizeof(error)) == 0,
			      "%s", error);
	ck_assert_msg(perfctr_requests_assign(info, requests, N_EVENTS, control, error,
					      sizeof(error)) == 0,
		      "%s", error);
}

/* Opens a context of the calling thread, which counts the events. */
static struct perfctr *counted(void)
{
	struct perfctr_request requests[N_EVENTS];
	struct perfctr_control control;
	struct perfctr_pmu_info info;
	struct perfctr *self;

	ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
	request_events(&info, requests, &control);
	self = perfctr_open();
	ck_assert_ptr_nonnull(self);
	ck_assert_int_eq(perfctr_set_control(self, &control), 0);
	return self;
}

static void in_threads(void *(*start)(void *), void *argument)
{
	pthread_t thread[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, start, argument), 0);
	for (size_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
}

static void *take_names(void *argument)
{
	const struct perfctr_request *expected = argument;
	struct perfctr_request requests[N_EVENTS];
	struct perfctr_control control;
	struct perfctr_pmu_info info;

	ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
	for (int round = 0; round < ROUNDS / 10; round++) {
		request_events(&info, requests, &control);
		for (size_t i = 0; i < N_EVENTS; i++)
			ck_assert_uint_eq(requests[i].evntsel, expected[i].evntsel);
	}
	return NULL;
}

/* Both events are architectural: their codes are from the SDM, volume 3, section "Architectural ..". */
START_TEST(names_mean_the_same_in_all_threads)
{
	struct perfctr_request expected[] = { { .evntsel = 0x4100c0 }, { .evntsel = 0x4100c4 } };

	in_threads(take_names, expected);
}
END_TEST

static void *read_foreign(void *argument)
{
	const struct perfctr *p = argument;
	struct perfctr_counts counts;
	uint64_t last = 0;

	ck_assert_ptr_null(perfctr_get_page(p));
	for (int round = 0; round < ROUNDS; round++) {
		ck_assert_int_eq(perfctr_read(p, &counts), 0);
		ck_assert_uint_ge(counts.counter[0], last);
		last = counts.counter[0];
	}
	return NULL;
}

static bool ended; /* atomic: the owner of the handle waits for it */

static void *read_in_threads(void *argument)
{
	in_threads(read_foreign, argument);
	__atomic_store_n(&ended, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The owner reads in user mode, and stops and starts, while other threads read by system calls. */
START_TEST(a_handle_is_read_by_many)
{
	struct perfctr *self = counted();
	pthread_t readers;

	__atomic_store_n(&ended, false, __ATOMIC_RELAXED);
	ck_assert_int_eq(pthread_create(&readers, NULL, read_in_threads, self), 0);
	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) {
		struct perfctr_counts counts;

		ck_assert_ptr_nonnull(perfctr_get_page(self));
		ck_assert_int_eq(perfctr_stop(self), 0);
		ck_assert_int_eq(perfctr_start(self), 0);
		ck_assert_int_eq(perfctr_read(self, &counts), 0);
	}
	ck_assert_int_eq(pthread_join(readers, NULL), 0);
	perfctr_close(self);
}
END_TEST

static void *pass_through(void *argument)
{
	struct perfctr_regions *regions = argument;
	struct perfctr *self = counted();
	struct perfctr_region *region = perfctr_regions_thread(regions, self);

	ck_assert_ptr_nonnull(region);
	ck_assert_int_eq(perfctr_regions_calibrate(region, N_EVENTS), 0);
	for (int pass = 0; pass < PASSES; pass++) {
		perfctr_region_enter(region, N_EVENTS);
		perfctr_region_exit(region, N_EVENTS);
	}
	/* Other threads are still in their regions. */
	ck_assert_ptr_eq(perfctr_regions_thread(regions, self), region);
	perfctr_close(self);
	return NULL;
}

static void *write_regions(void *argument)
{
	static const enum perfctr_regions_format formats[] = { PERFCTR_REGIONS_TEXT,
							       PERFCTR_REGIONS_CSV,
							       PERFCTR_REGIONS_JSON };

	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
		for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
			FILE *file = fopen("/dev/null", "w");

			ck_assert_ptr_nonnull(file);
			ck_assert_int_eq(perfctr_regions_write(argument, file, formats[i],
							       PERFCTR_REGIONS_CORRECTED),
					 0);
			fclose(file);
		}
	return NULL;
}

START_TEST(regions_are_written_while_threads_come_and_pass)
{
	static const char *const names[] = { "region" };
	struct perfctr_region_result result;
	struct perfctr_control control;
	struct perfctr_regions *regions;
	pthread_t writer;

	perfctr_control_init(&control);
	for (size_t i = 0; i < N_EVENTS; i++)
		perfctr_control_add(&control, PERFCTR_ANY, i ? 0x4100c4 : 0x4100c0, 0);
	regions = perfctr_regions_open(&control, NULL, names, ARRAY_SIZE(names));
	ck_assert_ptr_nonnull(regions);
	__atomic_store_n(&ended, false, __ATOMIC_RELAXED);
	ck_assert_int_eq(pthread_create(&writer, NULL, write_regions, regions), 0);
	in_threads(pass_through, regions);
	__atomic_store_n(&ended, true, __ATOMIC_RELEASE);
	ck_assert_int_eq(pthread_join(writer, NULL), 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		ck_assert_int_eq(perfctr_regions_read(regions, i, 0, 0, &result), 0);
		ck_assert_uint_eq(result.passes, PASSES);
	}
	perfctr_regions_close(regions);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("threads");
	TCase *tests = tcase_create("threads");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tests, 60);
	suite_add_tcase(suite, tests);
	tcase_add_test(tests, names_mean_the_same_in_all_threads);
	tcase_add_test(tests, a_handle_is_read_by_many);
	tcase_add_test(tests, regions_are_written_while_threads_come_and_pass);
	srunner_run_all(runner, CK_VERBOSE);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
