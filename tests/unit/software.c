// SPDX-License-Identifier: GPL-2.0-or-later
/* Events of the operating system together with those of the processor. */
#include "unit.h"
#include "machines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The numbers are from perfctr.h, the names from perf-list(1). */
static const struct {
	const char *spec;
	uint32_t number;
	uint32_t modes;
	uint64_t evntsel;
} names[] = {
	{ "task-clock", PERFCTR_TASK_CLOCK, PERFCTR_MODE_BOTH, 0 },
	{ "page-faults", PERFCTR_PAGE_FAULTS, PERFCTR_MODE_BOTH, 0 },
	{ "faults", PERFCTR_PAGE_FAULTS, PERFCTR_MODE_BOTH, 0 },
	{ "faults:uk", PERFCTR_PAGE_FAULTS, PERFCTR_MODE_BOTH, 0 },
	{ "cpu-clock", PERFCTR_TASK_CLOCK, PERFCTR_MODE_BOTH, 0 },
	{ "page-faults:u", PERFCTR_PAGE_FAULTS, PERFCTR_MODE_USER, PERFCTR_SOFTWARE_USER },
	{ "minor-faults", PERFCTR_MINOR_FAULTS, PERFCTR_MODE_BOTH, 0 },
	{ "major-faults:u", PERFCTR_MAJOR_FAULTS, PERFCTR_MODE_USER, PERFCTR_SOFTWARE_USER },
	{ "context-switches", PERFCTR_CONTEXT_SWITCHES, PERFCTR_MODE_BOTH, 0 },
	{ "cs", PERFCTR_CONTEXT_SWITCHES, PERFCTR_MODE_BOTH, 0 },
	{ "cpu-migrations", PERFCTR_MIGRATIONS, PERFCTR_MODE_BOTH, 0 },
	{ "migrations", PERFCTR_MIGRATIONS, PERFCTR_MODE_BOTH, 0 },
};

/* Returns the machine with a backend that counts events of the operating system. */
static struct perfctr_pmu_info with_software(enum machine machine)
{
	struct perfctr_pmu_info info = *be_machine(machine);

	info.features |= PERFCTR_FEATURE_SOFTWARE;
	return info;
}

static struct perfctr_request parse(const struct perfctr_pmu_info *info, const char *spec)
{
	struct perfctr_request request;
	char error[256];

	ck_assert_msg(perfctr_events_parse_once(info, spec, PERFCTR_MODE_USER, &request, error,
						sizeof(error)) == 0,
		      "%s: %s", spec, error);
	return request;
}

START_TEST(names_of_perf_are_known)
{
	struct perfctr_pmu_info info = with_software(NEHALEM);
	struct perfctr_request request = parse(&info, names[_i].spec);

	ck_assert_uint_eq(request.counter, PERFCTR_SOFTWARE + names[_i].number);
	ck_assert_uint_eq(request.modes, names[_i].modes);
	ck_assert_uint_eq(request.evntsel, names[_i].evntsel);
	ck_assert_str_eq(request.name, names[_i].spec);
}
END_TEST

static const struct {
	const char *spec;
	uint32_t features;
	int error;
	const char *words;
} refused[] = {
	{ "cs", 0, ENOTSUP,
	  "this backend does not count what the operating system does; 'perfctr_backends()' shows "
	  "which one does" },
	{ "cs:u", PERFCTR_FEATURE_SOFTWARE, EINVAL,
	  "it is a software event, which counts user and kernel mode together, on no counter; leave "
	  "out ':u'" },
	{ "faults:k", PERFCTR_FEATURE_SOFTWARE, EINVAL,
	  "it is a software event, which counts user and kernel mode together or, with ':u', user "
	  "mode, on no counter; leave out ':k'" },
	{ "faults@1", PERFCTR_FEATURE_SOFTWARE, EINVAL,
	  "it is a software event, which counts user and kernel mode together or, with ':u', user "
	  "mode, on no counter; leave out '@1'" },
};

START_TEST(what_cannot_be_is_refused)
{
	struct perfctr_pmu_info info = *be_machine(NEHALEM);
	struct perfctr_request request;
	char error[256];

	info.features |= refused[_i].features;
	ck_assert_int_eq(perfctr_events_parse_once(&info, refused[_i].spec, PERFCTR_MODE_USER,
						   &request, error, sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, refused[_i].error);
	ck_assert_str_eq(error, refused[_i].words);
}
END_TEST

#define LIST                                                                                       \
	" (but task-clock, page-faults, minor-faults, major-faults, context-switches, "            \
	"cpu-migrations), and "

/*
 * If the processor counts nothing, the message lists the events of the operating system, or names those that a typing
 * error has spoiled.  Other processors have an uops_retired and branch-load-misses: they are no typing errors.
 */
static const struct {
	const char *spec, *follows;
} uncounted[] = {
	{ "L1-dcache-load-misses", LIST },
	{ "branch-load-misses", LIST },
	{ "instructions", LIST },
	{ "Instructions:k", LIST },
	{ "uops_retired", LIST },
	{ "page-fault", "; near it: page-faults; " },
	{ "page-fualts:u", "; near it: page-faults; " },
	{ "instrutions", "; near it: instructions; " },
	{ "instuctions:uk", "; near it: instructions; " },
	{ "cycels", "; near it: cycles; " },
};

START_TEST(no_processor_is_blamed_for_a_machine_without_a_pmu)
{
	const struct perfctr_pmu_info info = { .features = PERFCTR_FEATURE_SOFTWARE,
					       .family = "no PMU" };
	struct perfctr_request request;
	char error[256], expected[256];

	snprintf(expected, sizeof(expected),
		 "the operating system counts no '%s'%sthe event counters of this machine cannot "
		 "be used: no PMU",
		 uncounted[_i].spec, uncounted[_i].follows);
	ck_assert_int_eq(perfctr_events_parse_once(&info, uncounted[_i].spec, PERFCTR_MODE_USER,
						   &request, error, sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, ENODEV);
	ck_assert_str_eq(error, expected);
}
END_TEST

START_TEST(no_pmu_is_needed)
{
	const struct perfctr_pmu_info info = { .features = PERFCTR_FEATURE_SOFTWARE };
	struct perfctr_request requests[] = { parse(&info, "faults"), parse(&info, "cs") };
	struct perfctr_control control;
	unsigned int pass[2], n_passes;
	char error[256];

	ck_assert_int_eq(perfctr_requests_plan(&info, requests, 2, pass, &n_passes, error,
					       sizeof(error)),
			 0);
	ck_assert_uint_eq(n_passes, 1);
	ck_assert_int_eq(perfctr_requests_assign(&info, requests, 2, &control, error,
						 sizeof(error)),
			 0);
	ck_assert_uint_eq(control.n_events, 2);
	ck_assert_uint_eq(control.event[0].counter, PERFCTR_SOFTWARE + PERFCTR_PAGE_FAULTS);
	ck_assert_uint_eq(control.event[1].counter, PERFCTR_SOFTWARE + PERFCTR_CONTEXT_SWITCHES);
}
END_TEST

/* With four general counters, the fifth event of the processor needs another run, and page faults need no counter. */
START_TEST(they_take_no_counter)
{
	struct perfctr_pmu_info info = with_software(NEHALEM);
	struct perfctr_request requests[7];
	unsigned int pass[7], n_passes;
	struct perfctr_control control;
	char error[512];

	for (int i = 0; i < 7; i++)
		requests[i] = parse(&info, i % 3 ? "r412e" : "faults");
	ck_assert_int_eq(perfctr_requests_plan(&info, requests, 7, pass, &n_passes, error,
					       sizeof(error)),
			 0);
	ck_assert_uint_eq(n_passes, 1);
	ck_assert_int_eq(perfctr_requests_assign(&info, requests, 7, &control, error,
						 sizeof(error)),
			 0);
	for (uint32_t i = 0; i < 7; i++)
		if (i % 3)
			ck_assert_uint_lt(control.event[i].counter, 4);
		else
			ck_assert_uint_eq(control.event[i].counter,
					  PERFCTR_SOFTWARE + PERFCTR_PAGE_FAULTS);
	requests[6] = requests[1];
	ck_assert_int_eq(perfctr_requests_plan(&info, requests, 7, pass, &n_passes, error,
					       sizeof(error)),
			 0);
	ck_assert_uint_eq(n_passes, 2);
	ck_assert_uint_eq(pass[0], 0);
	ck_assert_uint_eq(pass[3], 0);
	ck_assert_int_eq(perfctr_requests_assign(&info, requests, 7, &control, error,
						 sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, ENOSPC);
}
END_TEST

/* One control has room for 32 events. */
START_TEST(as_many_as_a_control_has_room_for_are_in_a_run)
{
	const struct perfctr_pmu_info info = { .features = PERFCTR_FEATURE_SOFTWARE };
	struct perfctr_request requests[33];
	unsigned int pass[33], n_passes;
	char error[256];

	for (int i = 0; i < 33; i++)
		requests[i] = parse(&info, "minor-faults");
	ck_assert_int_eq(perfctr_requests_plan(&info, requests, 33, pass, &n_passes, error,
					       sizeof(error)),
			 0);
	ck_assert_uint_eq(n_passes, 2);
	ck_assert_uint_eq(pass[31], 0);
	ck_assert_uint_eq(pass[32], 1);
}
END_TEST

static int count(const struct perfctr_event_entry *entry, void *n)
{
	ck_assert_ptr_null(entry->umask);
	++*(int *)n;
	return 0;
}

START_TEST(they_are_listed)
{
	const struct perfctr_pmu_info info = { .features = PERFCTR_FEATURE_SOFTWARE };
	int n = 0;

	ck_assert_int_eq(perfctr_events_list_once(&info, NULL, count, &n), 0);
	ck_assert_int_eq(n, 10);
	n = 0;
	ck_assert_int_eq(perfctr_events_list_once(&info, "faults", count, &n), 0);
	ck_assert_int_eq(n, 4);
}
END_TEST

TCase *software_tests(void)
{
	TCase *tests = tcase_create("software");

	tcase_add_loop_test(tests, names_of_perf_are_known, 0, ARRAY_SIZE(names));
	tcase_add_loop_test(tests, what_cannot_be_is_refused, 0, ARRAY_SIZE(refused));
	tcase_add_loop_test(tests, no_processor_is_blamed_for_a_machine_without_a_pmu, 0,
			    ARRAY_SIZE(uncounted));
	tcase_add_test(tests, no_pmu_is_needed);
	tcase_add_test(tests, they_take_no_counter);
	tcase_add_test(tests, as_many_as_a_control_has_room_for_are_in_a_run);
	tcase_add_test(tests, they_are_listed);
	return tests;
}
