// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables about families of processors, tested without any of these processors. */
#include "machines.h"
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From perfctr_events(5). */
static const struct {
	const char *name;
	uint32_t pmu;
} families[] = {
	{ "arch", PERFCTR_PMU_ARCH },
	{ "p5", PERFCTR_PMU_P5 },
	{ "p5_mmx", PERFCTR_PMU_P5_MMX },
	{ "p6", PERFCTR_PMU_P6 },
	{ "p4", PERFCTR_PMU_P4 },
	{ "k7", PERFCTR_PMU_K7 },
	{ "k8", PERFCTR_PMU_K8 },
	{ "amd", PERFCTR_PMU_AMD },
	{ "mii", PERFCTR_PMU_MII },
	{ "winchip_c6", PERFCTR_PMU_WINCHIP_C6 },
	{ "winchip_2", PERFCTR_PMU_WINCHIP_2 },
	{ "via_c3", PERFCTR_PMU_VIA_C3 },
};

START_TEST(each_family_has_its_name)
{
	const struct perfctr_pmu_info *info = perfctr_family_info(families[_i].name);

	ck_assert_ptr_nonnull(info);
	ck_assert_uint_eq(info->pmu, families[_i].pmu);
	ck_assert_uint_gt(info->n_general, 0);
}

START_TEST(names_end_after_the_last)
{
	const char *name;
	bool found[ARRAY_SIZE(families)] = { false };

	for (unsigned int i = 0; i < ARRAY_SIZE(families); i++) {
		name = perfctr_family_name(i);
		ck_assert_ptr_nonnull(name);
		for (unsigned int k = 0; k < ARRAY_SIZE(families); k++)
			if (strcmp(name, families[k].name) == 0) {
				ck_assert_msg(!found[k], "%s comes twice", name);
				found[k] = true;
			}
	}
	for (unsigned int k = 0; k < ARRAY_SIZE(families); k++)
		ck_assert_msg(found[k], "no %s", families[k].name);
	ck_assert_ptr_null(perfctr_family_name(ARRAY_SIZE(families)));
	ck_assert_ptr_null(perfctr_family_name(UINT32_MAX));
}

/* libpfm4's names of processors, and the families of these processors. */
static const struct {
	const char *processor;
	uint32_t pmu;
} processors[] = {
	{ "nhm", PERFCTR_PMU_ARCH },
	{ "skl", PERFCTR_PMU_ARCH },
	{ "netburst_p", PERFCTR_PMU_P4 },
	{ "pm", PERFCTR_PMU_P6 },
	{ "amd64_k7", PERFCTR_PMU_K7 },
	{ "amd64_k8_revb", PERFCTR_PMU_K8 },
	{ "amd64_fam10h_barcelona", PERFCTR_PMU_AMD },
	{ "amd64_fam17h_zen2", PERFCTR_PMU_AMD },
};

START_TEST(processors_of_libpfm4_have_a_family)
{
	const struct perfctr_pmu_info *info = perfctr_family_info(processors[_i].processor);

	ck_assert_ptr_nonnull(info);
	ck_assert_uint_eq(info->pmu, processors[_i].pmu);
}

START_TEST(processors_end_after_the_last)
{
	const char *name, *description = NULL, *described = NULL;
	unsigned int n;

	for (n = 0; (name = perfctr_processor_name(n, &description)); n++) {
		ck_assert_ptr_nonnull(perfctr_family_info(name));
		ck_assert_str_eq(perfctr_processor_name(n, NULL), name);
		if (strcmp(name, "nhm") == 0)
			described = description;
	}
	ck_assert_ptr_nonnull(described);
	ck_assert_str_eq(described, "Intel Nehalem");
	ck_assert_ptr_null(perfctr_processor_name(n + 1, NULL));
	ck_assert_ptr_null(perfctr_processor_name(UINT32_MAX, NULL));
}

/* libpfm4 is told to take this machine for a Nehalem, and looks for it before it looks for all. */
START_TEST(processors_are_known_after_one_was_forced)
{
	struct perfctr_request request;
	char error[256];
	const char *name;
	bool found = false;

	setenv("LIBPFM_FORCE_PMU", "nhm", 1);
	ck_assert_int_eq(perfctr_events_parse_once(perfctr_family_info("nhm"), "nhm::INST_RETIRED",
						   PERFCTR_MODE_USER, &request, error,
						   sizeof(error)),
			 0);
	unsetenv("LIBPFM_FORCE_PMU");
	for (unsigned int i = 0; (name = perfctr_processor_name(i, NULL)); i++)
		found |= strcmp(name, "spr") == 0;
	ck_assert(found);
	ck_assert_int_eq(perfctr_events_parse_once(perfctr_family_info("nhm"), "nhm::INST_RETIRED",
						   PERFCTR_MODE_USER, &request, error,
						   sizeof(error)),
			 0);
}

/* As in the lists of events of Intel's perfmon, which the kernel has in tools/perf/pmu-events. */
static const struct {
	const char *processor, *event;
	uint64_t evntsel;
} codes[] = {
	{ "icl", "TOPDOWN:SLOTS_P", 0x4101a4 },
	{ "icl", "TOPDOWN:SLOTS", 0x4101a4 },
	{ "icl", "topdown:backend_bound_slots", 0x4102a4 },
	{ "icx", "TOPDOWN:BR_MISPREDICT_SLOTS", 0x4108a4 },
	{ "spr", "TOPDOWN:BACKEND_BOUND_SLOTS:c=1", 0x14102a4 },
	{ "spr", "TOPDOWN:BAD_SPEC_SLOTS", 0x4104a4 },
	{ "spr", "TOPDOWN:BR_MISPREDICT_SLOTS", 0x4108a4 },
	{ "spr", "TOPDOWN:MEMORY_BOUND_SLOTS", 0x4110a4 },
	{ "glm", "CPU_CLK_UNHALTED:CORE_P", 0x41003c },
	{ "tmt", "CPU_CLK_UNHALTED:CORE_P", 0x41003c },
};

START_TEST(events_have_the_codes_of_intel_s_lists)
{
	const struct perfctr_pmu_info *info = be_processor(codes[_i].processor);
	struct perfctr_request request;
	char error[256] = "";

	ck_assert_ptr_nonnull(info);
	ck_assert_msg(perfctr_events_parse_once(info, codes[_i].event, PERFCTR_MODE_USER, &request,
						error, sizeof(error)) == 0,
		      "%s", error);
	ck_assert_msg(request.evntsel == codes[_i].evntsel, "%s on %s is %#llx", codes[_i].event,
		      codes[_i].processor, (unsigned long long)request.evntsel);
	ck_assert_uint_ne(request.general, 0);
}
END_TEST

static const char *const of_intel[] = { "core", "nhm", "wsm", "snb", "ivb", "hsw", "bdw",
					"skl",  "skx", "icl", "icx", "spr", "knl", "atom",
					"slm",  "glm", "tmt" };

struct scan {
	struct perfctr_events *events;
	unsigned int n;
};

/* The event select 0 is that of fixed counters, with the unit masks 1 to 3: see arch.tbl. */
static int expect_select(const struct perfctr_event_entry *entry, void *arg)
{
	struct scan *scan = arg;
	struct perfctr_request request;
	char spec[256], error[256];

	snprintf(spec, sizeof(spec), "%s%s%s", entry->name, entry->umask ? ":" : "",
		 entry->umask ? entry->umask : "");
	if (perfctr_events_parse(scan->events, spec, PERFCTR_MODE_USER, &request, error,
				 sizeof(error)) < 0)
		return 0;
	scan->n++;
	ck_assert_msg(request.evntsel & 0xff || !request.general, "%s is %#llx", spec,
		      (unsigned long long)request.evntsel);
	return 0;
}

START_TEST(no_event_of_intel_s_processors_has_the_event_select_0)
{
	const struct perfctr_pmu_info *info = be_processor(of_intel[_i]);
	struct scan scan = { .events = perfctr_events_open(info) };

	ck_assert_ptr_nonnull(info);
	ck_assert_ptr_nonnull(scan.events);
	perfctr_events_list(scan.events, NULL, expect_select, &scan);
	perfctr_events_close(scan.events);
	ck_assert_msg(scan.n > 50, "%s has %u events", of_intel[_i], scan.n);
}
END_TEST

/* Returns all bits that are in a field.  No bit is in two fields. */
static uint64_t bits_explained(const struct perfctr_register *layout)
{
	uint64_t all = 0;

	for (const struct perfctr_field *field = layout->field; field->name; field++) {
		uint64_t mask = (UINT64_C(2) << (field->last - field->first)) - 1;

		ck_assert_uint_le(field->first, field->last);
		ck_assert_uint_lt(field->last, 64);
		ck_assert_uint_gt(strlen(field->meaning), 0);
		mask <<= field->first;
		ck_assert_msg(!(all & mask), "%s: bits of '%s' are in two fields", layout->name,
			      field->name);
		all |= mask;
	}
	return all;
}

START_TEST(each_bit_that_may_be_set_is_explained)
{
	const struct perfctr_pmu_info *info = perfctr_family_info(families[_i].name);
	const struct {
		unsigned int which;
		uint64_t allowed;
	} registers[] = {
		{ PERFCTR_REGISTER_EVNTSEL, info->evntsel_allowed | info->evntsel_required },
		{ PERFCTR_REGISTER_EVNTSEL2, info->evntsel2_allowed },
		{ PERFCTR_REGISTER_FIXED, info->fixed_allowed },
	};

	for (size_t i = 0; i < ARRAY_SIZE(registers); i++) {
		const struct perfctr_register *layout =
			perfctr_family_register(info, registers[i].which);

		ck_assert_msg(!layout == !registers[i].allowed, "%s, register %zu",
			      families[_i].name, i);
		if (layout)
			ck_assert_uint_eq(registers[i].allowed & ~bits_explained(layout), 0);
	}
	ck_assert_ptr_null(perfctr_family_register(info, PERFCTR_REGISTER_FIXED + 1));
}

START_TEST(a_machine_of_no_family_has_no_registers)
{
	const struct perfctr_pmu_info none = { .pmu = PERFCTR_PMU_NONE }, later = { .pmu = 1000 };

	ck_assert_ptr_null(perfctr_family_register(&none, PERFCTR_REGISTER_EVNTSEL));
	ck_assert_ptr_null(perfctr_family_register(&later, PERFCTR_REGISTER_EVNTSEL));
}

TCase *family_tests(void)
{
	TCase *tests = tcase_create("family");

	tcase_add_loop_test(tests, each_family_has_its_name, 0, ARRAY_SIZE(families));
	tcase_add_test(tests, names_end_after_the_last);
	tcase_add_loop_test(tests, processors_of_libpfm4_have_a_family, 0, ARRAY_SIZE(processors));
	tcase_add_test(tests, processors_end_after_the_last);
	tcase_add_test(tests, processors_are_known_after_one_was_forced);
	tcase_add_loop_test(tests, events_have_the_codes_of_intel_s_lists, 0, ARRAY_SIZE(codes));
	tcase_add_loop_test(tests, no_event_of_intel_s_processors_has_the_event_select_0, 0,
			    ARRAY_SIZE(of_intel));
	tcase_add_loop_test(tests, each_bit_that_may_be_set_is_explained, 0, ARRAY_SIZE(families));
	tcase_add_test(tests, a_machine_of_no_family_has_no_registers);
	return tests;
}
