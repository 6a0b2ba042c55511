// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events on a machine with two kinds of cores.  P-cores have 8 general and 4 fixed counters, E-cores have 6 and 3.
 * Masks and register values are put together by hand.
 */
#include "names.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

#define P 1u
#define E 2u
#define UMASK2 (1ull << 40)

static struct perfctr_pmu_info hybrid(void)
{
	struct perfctr_pmu_info info = *be_machine(SKYLAKE);

	info.n_general = 6;
	info.n_kinds = 2;
	info.kind[0] = (struct perfctr_kind){
		.name = "core",
		.counters = 0xf000000ff,
		.evntsel_allowed = info.evntsel_allowed | UMASK2,
	};
	info.kind[1] = (struct perfctr_kind){
		.name = "atom",
		.counters = 0x70000003f,
		.evntsel_allowed = info.evntsel_allowed,
	};
	return info;
}

static const struct {
	const char *spec;
	uint64_t evntsel, general, fixed;
	uint32_t kinds, counter;
} taken[] = {
	{ "instructions", 0x4100c0, 0x3f, 1, 0, 0 },
	{ "branches", 0x4100c4, 0x3f, 0, 0, 0 },
	{ "r00c4:u", 0x4100c4, 0x3f, 0, 0, 0 },
	/* Only fixed counter 2 counts it, and it has no code that could mean another event. */
	{ "ref-cycles", 0x410000, 0, 4, 0, PERFCTR_FIXED + 2 },
	{ "core::instructions", 0x4100c0, 0xff, 1, P, 0 },
	{ "atom::instructions", 0x4100c0, 0x3f, 1, E, 0 },
	{ "core::r20c4", 0x4120c4, 0xff, 0, P, 0 },
	{ "atom::r80c4:u", 0x4180c4, 0x3f, 0, E, 0 },
	{ "cpu_core/event=0xc4,umask=0x20/", 0x4120c4, 0xff, 0, P, 0 },
	{ "cpu_atom/event=0xc4,umask=0x80/u", 0x4180c4, 0x3f, 0, E, 0 },
	{ "core::instructions@7", 0x4100c0, 0x80, 0, P, 7 },
	{ "core::0x4120c4@6", 0x4120c4, 0x40, 0, P, 6 },
	{ "core::cpu/config=0x100000000c0/", 0x4100c0 | UMASK2, 0xff, 0, P, 0 },
	/* The kernel, not the library, refuses wrong register values. */
	{ "0x4120c4@0", 0x4120c4, 1, 0, 0, 0 },
};

START_TEST(kinds_become_part_of_the_control)
{
	const struct perfctr_pmu_info info = hybrid();
	struct perfctr_control control;
	struct perfctr_request request;
	char error[256] = "";

	ck_assert_msg(perfctr_events_parse_once(&info, taken[_i].spec, USER, &request, error,
						sizeof(error)) == 0,
		      "%s: %s", taken[_i].spec, error);
	ck_assert_str_eq(request.name, taken[_i].spec);
	ck_assert_uint_eq(request.evntsel, taken[_i].evntsel);
	ck_assert_uint_eq(request.general, taken[_i].general);
	ck_assert_uint_eq(request.fixed, taken[_i].fixed);
	ck_assert_uint_eq(request.kinds, taken[_i].kinds);
	ck_assert_int_eq(perfctr_requests_assign(&info, &request, 1, &control, error,
						 sizeof(error)),
			 0);
	ck_assert_uint_eq(control.event[0].kinds, taken[_i].kinds);
	ck_assert_uint_eq(control.event[0].counter, taken[_i].counter);
}
END_TEST

static const struct {
	const char *spec;
	int error;
	const char *says;
} refused[] = {
	{ "r20c4", EINVAL, "core::EVENT or atom::EVENT" },
	{ "cpu/event=0xd0,umask=0x81/", EINVAL, "core::EVENT or atom::EVENT" },
	{ "instructions@6", ENOTSUP, "6 general" },
	{ "atom::instructions@6", ENOTSUP, "6 general" },
	{ "core::instructions@8", ENOTSUP, "8 general" },
	{ "atom::cpu/config=0x100000000c0/", ENOTSUP, "allow" },
	{ "little::instructions", EINVAL, "no PMU 'little'" },
};

START_TEST(what_would_be_a_mixture_is_refused)
{
	const struct perfctr_pmu_info info = hybrid();
	struct perfctr_request request;
	char error[256] = "";

	errno = 0;
	ck_assert_int_eq(perfctr_events_parse_once(&info, refused[_i].spec, USER, &request, error,
						   sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, refused[_i].error);
	ck_assert_msg(strstr(error, refused[_i].says), "%s: %s", refused[_i].spec, error);
}
END_TEST

/*
 * Six events of both kinds and two of P-cores fit, but a third of P-cores does not.  Nor does a seventh of both kinds,
 * because E-cores have six counters.
 */
START_TEST(counters_of_one_kind_are_for_its_events)
{
	const struct perfctr_pmu_info info = hybrid();
	struct perfctr_request requests[9];
	struct perfctr_control control;
	char error[256];

	for (unsigned int i = 0; i < 9; i++)
		ck_assert_int_eq(perfctr_events_parse_once(&info,
							   i < 6 ? "branches" : "core::r20c4", USER,
							   &requests[i], error, sizeof(error)),
				 0);
	ck_assert_int_eq(perfctr_requests_assign(&info, requests, 8, &control, error,
						 sizeof(error)),
			 0);
	for (uint32_t i = 0; i < 8; i++)
		ck_assert_uint_eq(control.event[i].counter, i);
	ck_assert_int_eq(perfctr_requests_assign(&info, requests, 9, &control, error,
						 sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, ENOSPC);
	requests[6] = requests[0];
	ck_assert_int_eq(perfctr_requests_assign(&info, requests, 7, &control, error,
						 sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, ENOSPC);
}
END_TEST

TCase *hybrid_tests(void)
{
	TCase *tests = tcase_create("hybrid");

	tcase_add_loop_test(tests, kinds_become_part_of_the_control, 0, ARRAY_SIZE(taken));
	tcase_add_loop_test(tests, what_would_be_a_mixture_is_refused, 0, ARRAY_SIZE(refused));
	tcase_add_test(tests, counters_of_one_kind_are_for_its_events);
	return tests;
}
