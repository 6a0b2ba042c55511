// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of events, and their register values.  The values are put together by hand from the manuals: event select and
 * unit mask of the event, and the bits for modes and enabling, USR 0x10000, OS 0x20000, EN 0x400000.
 */
#include "mutate.h"
#include "names.h"
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	enum machine machine;
	const char *spec;
	unsigned int modes;
	uint64_t evntsel, evntsel2, general, fixed;
} names[] = {
	/* SDM volume 3, architectural events; fixed counter 0 counts instructions, 1 clocks. */
	{ NEHALEM, "instructions", USER, 0x4100c0, 0, 0xf, 1 },
	{ NEHALEM, "instructions", BOTH, 0x4300c0, 0, 0xf, 1 },
	{ NEHALEM, "instructions:u", KERNEL, 0x4100c0, 0, 0xf, 1 },
	{ NEHALEM, "instructions:k", USER, 0x4200c0, 0, 0xf, 1 },
	{ NEHALEM, "instructions:uk", USER, 0x4300c0, 0, 0xf, 1 },
	{ NEHALEM, "Instructions:U:K", USER, 0x4300c0, 0, 0xf, 1 },
	{ NEHALEM, "perf::instructions", USER, 0x4100c0, 0, 0xf, 1 },
	{ NEHALEM, "cycles", USER, 0x41003c, 0, 0xf, 2 },
	{ NEHALEM, "cpu-cycles", USER, 0x41003c, 0, 0xf, 2 },
	{ NEHALEM, "bus-cycles", USER, 0x41013c, 0, 0xf, 0 },
	{ NEHALEM, "ref-cycles", USER, 0x410000, 0, 0, 4 },
	{ NEHALEM, "branches", USER, 0x4100c4, 0, 0xf, 0 },
	{ NEHALEM, "branch-instructions", USER, 0x4100c4, 0, 0xf, 0 },
	{ NEHALEM, "branch-misses", USER, 0x4100c5, 0, 0xf, 0 },
	{ NEHALEM, "cache-references", USER, 0x414f2e, 0, 0xf, 0 },
	{ NEHALEM, "cache-misses", USER, 0x41412e, 0, 0xf, 0 },
	/* With a counter mask the event differs from that of the fixed counter. */
	{ NEHALEM, "instructions:c=2", USER, 0x24100c0, 0, 0xf, 0 },
	{ NEHALEM, "instructions:c=2:i:e", USER, 0x2c500c0, 0, 0xf, 0 },
	{ NEHALEM, "r00c0", USER, 0x4100c0, 0, 0xf, 1 },
	{ NEHALEM, "r4f2e:k", USER, 0x424f2e, 0, 0xf, 0 },
	{ NEHALEM, "r10000c4:u", USER, 0x14100c4, 0, 0xf, 0 },
	{ NEHALEM, "cpu/event=0xc0,umask=0/", USER, 0x4100c0, 0, 0xf, 1 },
	{ NEHALEM, "cpu/event=0x2e,umask=0x41/k", USER, 0x42412e, 0, 0xf, 0 },
	{ NEHALEM, "cpu/event=196,cmask=1,inv,edge/u", USER, 0x1c500c4, 0, 0xf, 0 },
	{ NEHALEM, "cpu/config=0x412e/:uk", USER, 0x43412e, 0, 0xf, 0 },
	/* SDM volume 3, events of Nehalem: 0BH with 01H and 02H; 40H only in counters 0 and 1. */
	{ NEHALEM, "MEM_INST_RETIRED:LOADS", USER, 0x41010b, 0, 0xf, 0 },
	{ NEHALEM, "mem_inst_retired.stores:k", USER, 0x42020b, 0, 0xf, 0 },
	{ NEHALEM, "nhm::INST_RETIRED:ANY_P", USER, 0x4100c0, 0, 0xf, 1 },
	{ NEHALEM, "L1D_CACHE_LD:MESI", USER, 0x410f40, 0, 3, 0 },
	{ NEHALEM, "INST_RETIRED.ANY", USER, 0x410000, 0, 0, 1 },
	{ SKYLAKE, "skl::INST_RETIRED.ANY:u:k", USER, 0x430000, 0, 0, 1 },
	{ SKYLAKE, "instructions@1", USER, 0x4100c0, 0, 2, 0 },
	{ SKYLAKE, "instructions@0x40000000", USER, 0x410000, 0, 0, 1 },
	/* Linux, arch/x86/events/intel/core.c, intel_icl_event_constraints and intel_glc_event_constraints. */
	{ ICELAKE, "instructions", USER, 0x4100c0, 0, 0xff, 1 },
	{ ICELAKE, "L1-dcache-loads", USER, 0x4181d0, 0, 0xf, 0 },
	{ ICELAKE, "L1D:REPLACEMENT", USER, 0x410151, 0, 0xf, 0 },
	{ ICELAKE, "r0108", USER, 0x410108, 0, 0xf, 0 },
	{ ICELAKE, "r0160", USER, 0x410160, 0, 0xf, 0 },
	{ ICELAKE, "r018b", USER, 0x41018b, 0, 0xf, 0 },
	{ ICELAKE, "r018c", USER, 0x41018c, 0, 0xff, 0 },
	{ ICELAKE, "r04a3", USER, 0x4104a3, 0, 0xff, 0 },
	{ ICELAKE, "r01a3", USER, 0x4101a3, 0, 0xf, 0 },
	{ ICELAKE, "r01e6", USER, 0x4101e6, 0, 0xf, 0 },
	{ ICELAKE, "r01e7", USER, 0x4101e7, 0, 0xff, 0 },
	{ ICELAKE, "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE", USER, 0x4101c7, 0, 0xff, 0 },
	{ SAPPHIRE_RAPIDS, "cycles", USER, 0x41003c, 0, 0xff, 2 },
	{ SAPPHIRE_RAPIDS, "cache-misses", USER, 0x41412e, 0, 0xff, 0 },
	{ SAPPHIRE_RAPIDS, "L1-dcache-load-misses", USER, 0x41e124, 0, 0xf, 0 },
	{ SAPPHIRE_RAPIDS, "r018f", USER, 0x41018f, 0, 0xf, 0 },
	{ SAPPHIRE_RAPIDS, "r0190", USER, 0x410190, 0, 0xff, 0 },
	{ SAPPHIRE_RAPIDS, "r04a4", USER, 0x4104a4, 0, 1, 0 },
	{ SAPPHIRE_RAPIDS, "r01a4", USER, 0x4101a4, 0, 0xff, 0 },
	{ SAPPHIRE_RAPIDS, "r81d0", USER, 0x4181d0, 0, 0xf, 0 },
	/* Register values are taken as they are. */
	{ NEHALEM, "0x4100c0", KERNEL, 0x4100c0, 0, 0xf, 0 },
	{ NEHALEM, "0xc0@2", KERNEL, 0xc0, 0, 4, 0 },
	/* Halves of a CESR: event in bits 0 to 5, clocks in bit 8. */
	{ P5, "instructions", USER, 0x96, 0, 3, 0 },
	{ P5, "DATA_READ:k", USER, 0x40, 0, 3, 0 },
	{ P5, "data_read_or_write", BOTH, 0xe8, 0, 3, 0 },
	{ P5, "branches", USER, 0x92, 0, 3, 0 },
	{ P5, "cycles:uk", USER, 0x1c0, 0, 3, 0 },
	{ P5, "p5::FLOPS", USER, 0xa2, 0, 3, 0 },
	{ P5_MMX, "instructions", USER, 0x96, 0, 3, 0 },
	{ P5_MMX, "MMX_INSTRUCTIONS_EXECUTED_V_PIPE", USER, 0xab, 0, 2, 0 },
	{ P5_MMX, "branch-misses", USER, 0xb5, 0, 1, 0 },
	{ MII, "INSTRUCTIONS_DECODED", USER, 0x488, 0, 3, 0 },
	{ MII, "instructions", KERNEL, 0x56, 0, 3, 0 },
	{ WINCHIP_C6, "instructions", USER, 0x02, 0, 3, 0 },
	{ WINCHIP_2, "instructions", USER, 0x16, 0, 3, 0 },
	{ VIA_C3, "instructions", USER, 0xc0, 0, 2, 0 },
	{ VIA_C3, "0x79", USER, 0x79, 0, 2, 0 },
	{ P5_MMX, "0xb9", USER, 0xb9, 0, 1, 0 },
	{ P5_MMX, "0xab", USER, 0xab, 0, 3, 0 },
	/* SDM volume 3, events of the P6 family; FLOPS in counter 0, DIV in counter 1. */
	{ P6, "instructions", USER, 0x100c0, 0, 3, 0 },
	{ P6, "cycles", USER, 0x10079, 0, 3, 0 },
	{ P6, "FLOPS", USER, 0x100c1, 0, 1, 0 },
	{ P6, "DIV:k", USER, 0x20013, 0, 2, 0 },
	{ P6, "L2_RQSTS", USER, 0x10f2e, 0, 3, 0 },
	{ P6, "L2_RQSTS:M:E", USER, 0x10c2e, 0, 3, 0 },
	{ P6, "cache-misses", USER, 0x1012e, 0, 3, 0 },
	{ P6, "BUS_TRAN_ANY:ANY", USER, 0x12070, 0, 3, 0 },
	{ P6, "BUS_TRAN_ANY", USER, 0x10070, 0, 3, 0 },
	{ P6, "0x410010", USER, 0x410010, 0, 1, 0 },
	/* EN, bit 22, belongs to counter 0; the register of counter 1 does not have it. */
	{ P6, "0x4100c0", USER, 0x4100c0, 0, 1, 0 },
	{ P6, "0x100c0", USER, 0x100c0, 0, 2, 0 },
	{ P6, "0x4100c0@1", USER, 0x4100c0, 0, 2, 0 },
	{ P6, "instructions@0", USER, 0x4100c0, 0, 1, 0 },
	{ P6, "instructions@1", USER, 0x0100c0, 0, 2, 0 },
	/* AMD: 42H of K7 with all five states of a line; 76H, clocks. */
	{ K7, "RETIRED_INSTRUCTIONS", USER, 0x4100c0, 0, 0xf, 0 },
	{ K7, "DATA_CACHE_REFILLS_FROM_L2", USER, 0x411f42, 0, 0xf, 0 },
	{ K7, "cycles:k", USER, 0x420076, 0, 0xf, 0 },
	{ K8, "RETIRED_INSTRUCTIONS:u", KERNEL, 0x4100c0, 0, 0xf, 0 },
	{ K8, "branch-misses", USER, 0x4100c3, 0, 0xf, 0 },
	{ FAM10H, "cache-misses", USER, 0x41077e, 0, 0xf, 0 },
	{ ZEN, "instructions", USER, 0x4100c0, 0, 0x3f, 0 },
	{ ZEN, "cache-misses", USER, 0x410964, 0, 0x3f, 0 },
	{ ZEN, "cpu/event=0x1c7/", USER, 0x1004100c7, 0, 0x3f, 0 },
	/*
	 * NetBurst, by the examples of the original perfctr and the SDM's table.  In the ESCR: event in bits 25 to 30,
	 * mask from bit 9 on, USR bit 2, OS bit 3.  In the CCCR: ESCR select from bit 13 on, both threads 0x30000,
	 * enable 0x1000.
	 */
	{ P4, "instr_retired:NBOGUSNTAG", USER, 0x39000, 0x4000204, 0x3f000, 0 },
	{ P4, "instructions:k", USER, 0x39000, 0x4000208, 0x3f000, 0 },
	{ P4, "branches", USER, 0x3b000, 0x0c001e04, 0x3f000, 0 },
	{ P4, "cycles", USER, 0x3d000, 0x26000204, 0xf, 0 },
	{ P4, "branch_retired:MMTP", USER, 0x3b000, 0x0c000804, 0x3f000, 0 },
	{ P4, "BSQ_allocation:REQ_TYPE0", USER, 0x3f000, 0x0a000204, 0x3, 0 },
	{ P4, "BSQ_active_entries:REQ_TYPE0", USER, 0x3f000, 0x0c000204, 0xc, 0 },
	/* Both are event 2 of select 5: one in the FLAME block, one in the IQ block. */
	{ P4, "memory_cancel:ST_RB_FULL", USER, 0x3b000, 0x04000804, 0xf00, 0 },
	{ P4, "machine_clear:CLEAR", USER, 0x3b000, 0x04000204, 0x3f000, 0 },
	{ P4, "0x39000/0x4000204@0x8000000c", USER, 0x39000, 0x4000204, 0x1000, 0 },
};

START_TEST(names_become_register_values)
{
	const struct perfctr_pmu_info *info = be_machine(names[_i].machine);
	struct perfctr_request request;
	char error[512] = "";

	ck_assert_msg(perfctr_events_parse_once(info, names[_i].spec, names[_i].modes, &request,
						error, sizeof(error)) == 0,
		      "%s: %s", names[_i].spec, error);
	ck_assert_str_eq(request.name, names[_i].spec);
	ck_assert_msg(request.evntsel == names[_i].evntsel &&
			      request.evntsel2 == names[_i].evntsel2,
		      "%s: 0x%llx/0x%llx", names[_i].spec, (unsigned long long)request.evntsel,
		      (unsigned long long)request.evntsel2);
	ck_assert_msg(request.general == names[_i].general && request.fixed == names[_i].fixed,
		      "%s: general 0x%llx, fixed 0x%llx", names[_i].spec,
		      (unsigned long long)request.general, (unsigned long long)request.fixed);
}
END_TEST

/* The register values of a name have a name that has the same register values. */
START_TEST(register_values_become_names)
{
	const struct perfctr_pmu_info *info = be_machine(names[_i].machine);
	/* On the P6 this bit enables both counters, and is in the register of the first. */
	uint64_t enable = names[_i].machine == P6 ? 0x400000 : 0;
	struct perfctr_events *events = perfctr_events_open(info);
	struct perfctr_event_control event = {
		.counter = PERFCTR_FIXED,
		.evntsel = names[_i].evntsel,
		.evntsel2 = names[_i].evntsel2,
	};
	char name[PERFCTR_REQUEST_NAME], error[512];
	struct perfctr_request again;
	int status;

	if (names[_i].general)
		event.counter = (uint32_t)__builtin_ctzll(names[_i].general);
	status = perfctr_events_name(events, &event, name, sizeof(name));
	if (status == 0) {
		ck_assert_msg(perfctr_events_parse(events, name, USER, &again, error,
						   sizeof(error)) == 0,
			      "%s: %s", name, error);
		ck_assert_msg(!((again.evntsel ^ event.evntsel) & ~enable) &&
				      again.evntsel2 == event.evntsel2 &&
				      again.general >> event.counter & 1,
			      "%s: %s", names[_i].spec, name);
	} else if (names[_i].general) {
		/* A raw code may be no event. */
		ck_assert_msg(strchr("r0c", names[_i].spec[0]), "%s: %s", names[_i].spec, name);
	}
	perfctr_events_close(events);
}
END_TEST

static int name_of(const struct perfctr_pmu_info *info, uint32_t counter, uint64_t evntsel)
{
	const struct perfctr_event_control event = { .counter = counter, .evntsel = evntsel };
	struct perfctr_events *events = perfctr_events_open(info);
	char text[256] = "";
	int status;

	errno = 0;
	status = perfctr_events_name(events, &event, text, sizeof(text));
	ck_assert_str_ne(text, "");
	perfctr_events_close(events);
	return status < 0 ? errno : 0;
}

START_TEST(registers_without_a_name_are_refused)
{
	const struct perfctr_pmu_info none = { 0 };

	ck_assert_int_eq(name_of(be_machine(NEHALEM), PERFCTR_ANY, 0x4100c0), 0);
	ck_assert_int_eq(name_of(be_machine(NEHALEM), PERFCTR_ANY, 0x41ffff), ENOENT);
	ck_assert_int_eq(name_of(be_machine(NEHALEM), PERFCTR_FIXED, 0x410000), ENOENT);
	ck_assert_int_eq(name_of(&none, 0, 0x4100c0), ENODEV);
	/* libpfm4 looks for its processor only once, and has taken another one. */
	ck_assert_int_eq(name_of(be_machine(P4), 12, 0x3b000), ENOTSUP);
}
END_TEST

/* By the SDM's table of counters, CCCRs and ESCRs of NetBurst. */
START_TEST(a_route_depends_on_the_counter)
{
	const struct perfctr_pmu_info *info = be_machine(P4);
	struct perfctr_event_control event = { .counter = PERFCTR_FAST | 12, .evntsel = 0x3b000 };

	ck_assert_str_eq(perfctr_family_route(info, &event), "CRU_ESCR2");
	event.counter = 17;
	ck_assert_str_eq(perfctr_family_route(info, &event), "CRU_ESCR3");
	event.counter = 8;
	ck_assert_str_eq(perfctr_family_route(info, &event), "DAC_ESCR0");
	event.counter = 4;
	ck_assert_ptr_null(perfctr_family_route(info, &event));
	event.counter = PERFCTR_ANY;
	ck_assert_ptr_null(perfctr_family_route(info, &event));
	ck_assert_ptr_null(perfctr_family_route(be_machine(NEHALEM), &event));
}
END_TEST

/* By the SDM, "Metrics Available for Replay Tagging". */
START_TEST(replays_are_tagged)
{
	const struct perfctr_pmu_info *info = be_machine(P4);
	struct perfctr_request request;
	char error[512] = "";

	ck_assert_msg(perfctr_events_parse_once(info, "replay_event:NBOGUS:L1_LD_MISS", USER,
						&request, error, sizeof(error)) == 0,
		      "%s", error);
	ck_assert_uint_eq(request.evntsel, 0x3b000);
	ck_assert_uint_eq(request.evntsel2, 0x12000204);
	ck_assert_uint_eq(request.p4_pebs_enable, 0x01000001);
	ck_assert_uint_eq(request.p4_pebs_matrix_vert, 1);
	ck_assert_msg(perfctr_events_parse_once(info, "replay_event:NBOGUS:DTLB_ALL_MISS", USER,
						&request, error, sizeof(error)) == 0,
		      "%s", error);
	ck_assert_uint_eq(request.p4_pebs_enable, 0x01000004);
	ck_assert_uint_eq(request.p4_pebs_matrix_vert, 3);
}
END_TEST

START_TEST(modes_are_said)
{
	struct perfctr_request request;
	char error[512];

	ck_assert_int_eq(perfctr_events_parse_once(be_machine(NEHALEM), "instructions:k", USER,
						   &request, error, sizeof(error)),
			 0);
	ck_assert_uint_eq(request.modes, KERNEL);
	ck_assert_int_eq(perfctr_events_parse_once(be_machine(NEHALEM), "0x4300c0", USER, &request,
						   error, sizeof(error)),
			 0);
	ck_assert_uint_eq(request.modes, BOTH);
	/* The counters of a WinChip always count in both modes. */
	ck_assert_int_eq(perfctr_events_parse_once(be_machine(WINCHIP_C6), "instructions", USER,
						   &request, error, sizeof(error)),
			 0);
	ck_assert_uint_eq(request.modes, BOTH);
}
END_TEST

/* Each of four threads parses every fourth name, if it is of Nehalem, again and again. */
static void *parse_again(void *arg)
{
	const struct perfctr_pmu_info *info = machine_info(NEHALEM);
	size_t first = (size_t)arg;
	struct perfctr_request request;
	char error[512];

	for (int round = 0; round < 50; round++)
		for (size_t i = first; i < ARRAY_SIZE(names); i += 4)
			if (names[i].machine == NEHALEM &&
			    (perfctr_events_parse_once(info, names[i].spec, names[i].modes,
						       &request, error, sizeof(error)) < 0 ||
			     request.evntsel != names[i].evntsel ||
			     request.general != names[i].general))
				return (void *)names[i].spec;
	return NULL;
}

START_TEST(threads_take_names_side_by_side)
{
	pthread_t threads[4];

	be_machine(NEHALEM);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, parse_again, (void *)i), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		void *wrong;

		ck_assert_int_eq(pthread_join(threads[i], &wrong), 0);
		ck_assert_msg(!wrong, "%s", (const char *)wrong);
	}
}
END_TEST

void expect_answer(const struct perfctr_pmu_info *info, const char *spec)
{
	struct perfctr_request request;
	char error[512] = "";

	errno = 0;
	if (perfctr_events_parse_once(info, spec, USER, &request, error, sizeof(error)) == 0)
		return;
	ck_assert_int_ne(errno, 0);
	ck_assert_str_ne(error, "");
	for (const char *c = error; *c; c++)
		ck_assert_msg((unsigned char)*c >= ' ' && *c != 0x7f, "%s", error);
}

#define N_MUTANTS 40

START_TEST(damaged_specifications_get_an_answer)
{
	const struct perfctr_pmu_info *info = be_machine(names[_i].machine);
	uint64_t seed = 1 + (uint64_t)_i;

	for (int round = 0; round < N_MUTANTS; round++) {
		char spec[256] = "";
		size_t length;
		char *mutant = mutate(&seed, names[_i].spec, &length);

		memcpy(spec, mutant, length);
		free(mutant);
		expect_answer(info, spec);
	}
}
END_TEST

TCase *names_tests(void)
{
	TCase *tests = tcase_create("names");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, names_become_register_values, 0, ARRAY_SIZE(names));
	tcase_add_loop_test(tests, register_values_become_names, 0, ARRAY_SIZE(names));
	tcase_add_test(tests, registers_without_a_name_are_refused);
	tcase_add_test(tests, a_route_depends_on_the_counter);
	tcase_add_test(tests, replays_are_tagged);
	tcase_add_test(tests, modes_are_said);
	tcase_add_test(tests, threads_take_names_side_by_side);
	tcase_add_loop_test(tests, damaged_specifications_get_an_answer, 0, ARRAY_SIZE(names));
	return tests;
}
