// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events by name.  The register values are put together by hand from the manuals: event select and
 * unit mask of the event, and the bits for rings and enabling: USR 0x10000, OS 0x20000,
 * EN 0x400000.
 */
#include "machines.h"
#include "mutate.h"
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define USER PERFCTR_RING_USER
#define KERNEL PERFCTR_RING_KERNEL
#define BOTH PERFCTR_RING_BOTH

static const struct {
	enum machine machine;
	const char *spec;
	unsigned int rings;
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
	/* With a counter mask it is not what the fixed counter counts. */
	{ NEHALEM, "instructions:c=2", USER, 0x24100c0, 0, 0xf, 0 },
	{ NEHALEM, "instructions:c=2:i:e", USER, 0x2c500c0, 0, 0xf, 0 },
	{ NEHALEM, "r00c0", USER, 0x4100c0, 0, 0xf, 1 },
	{ NEHALEM, "r4f2e:k", USER, 0x424f2e, 0, 0xf, 0 },
	{ NEHALEM, "r10000c4:u", USER, 0x14100c4, 0, 0xf, 0 },
	{ NEHALEM, "cpu/event=0xc0,umask=0/", USER, 0x4100c0, 0, 0xf, 1 },
	{ NEHALEM, "cpu/event=0x2e,umask=0x41/k", USER, 0x42412e, 0, 0xf, 0 },
	{ NEHALEM, "cpu/event=196,cmask=1,inv,edge/u", USER, 0x1c500c4, 0, 0xf, 0 },
	{ NEHALEM, "cpu/config=0x412e/:uk", USER, 0x43412e, 0, 0xf, 0 },
	/* SDM volume 3, events of Nehalem: 0BH with 01H and 02H; 40H in counters 0 and 1 alone. */
	{ NEHALEM, "MEM_INST_RETIRED:LOADS", USER, 0x41010b, 0, 0xf, 0 },
	{ NEHALEM, "mem_inst_retired.stores:k", USER, 0x42020b, 0, 0xf, 0 },
	{ NEHALEM, "nhm::INST_RETIRED:ANY_P", USER, 0x4100c0, 0, 0xf, 1 },
	{ NEHALEM, "L1D_CACHE_LD:MESI", USER, 0x410f40, 0, 3, 0 },
	{ NEHALEM, "INST_RETIRED.ANY", USER, 0x410000, 0, 0, 1 },
	{ SKYLAKE, "skl::INST_RETIRED.ANY:u:k", USER, 0x430000, 0, 0, 1 },
	{ SKYLAKE, "instructions@1", USER, 0x4100c0, 0, 2, 0 },
	{ SKYLAKE, "instructions@0x40000000", USER, 0x410000, 0, 0, 1 },
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
	/* EN, bit 22, belongs to counter 0 and is missing in counter 1. */
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
	 * NetBurst: the examples that are with the original perfctr, and SDM's table: event in bits
	 * 25 to 30 of the ESCR, mask from bit 9 on, USR bit 2, OS bit 3; in the CCCR the ESCR
	 * select from bit 13 on, both threads 0x30000, enable 0x1000.
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

	ck_assert_msg(perfctr_request_parse(info, names[_i].spec, names[_i].rings, &request, error,
					    sizeof(error)) == 0,
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

/* SDM, "Metrics Available for Replay Tagging". */
START_TEST(replays_are_tagged)
{
	const struct perfctr_pmu_info *info = be_machine(P4);
	struct perfctr_request request;
	char error[512] = "";

	ck_assert_msg(perfctr_request_parse(info, "replay_event:NBOGUS:L1_LD_MISS", USER, &request,
					    error, sizeof(error)) == 0,
		      "%s", error);
	ck_assert_uint_eq(request.evntsel, 0x3b000);
	ck_assert_uint_eq(request.evntsel2, 0x12000204);
	ck_assert_uint_eq(request.p4_pebs_enable, 0x01000001);
	ck_assert_uint_eq(request.p4_pebs_matrix_vert, 1);
	ck_assert_msg(perfctr_request_parse(info, "replay_event:NBOGUS:DTLB_ALL_MISS", USER,
					    &request, error, sizeof(error)) == 0,
		      "%s", error);
	ck_assert_uint_eq(request.p4_pebs_enable, 0x01000004);
	ck_assert_uint_eq(request.p4_pebs_matrix_vert, 3);
}
END_TEST

START_TEST(rings_are_said)
{
	struct perfctr_request request;
	char error[512];

	ck_assert_int_eq(perfctr_request_parse(be_machine(NEHALEM), "instructions:k", USER,
					       &request, error, sizeof(error)),
			 0);
	ck_assert_uint_eq(request.rings, KERNEL);
	ck_assert_int_eq(perfctr_request_parse(be_machine(NEHALEM), "0x4300c0", USER, &request,
					       error, sizeof(error)),
			 0);
	ck_assert_uint_eq(request.rings, BOTH);
	/* The counters of a WinChip cannot but count everything. */
	ck_assert_int_eq(perfctr_request_parse(be_machine(WINCHIP_C6), "instructions", USER,
					       &request, error, sizeof(error)),
			 0);
	ck_assert_uint_eq(request.rings, BOTH);
}
END_TEST

static const struct {
	enum machine machine;
	const char *spec;
	unsigned int rings;
	int error;
	const char *line;
} refusals[] = {
	{ NEHALEM, "instrctions", USER, ENOENT,
	  "this machine has no such event; near it: instructions, INST_RETIRED; perfex list shows "
	  "all" },
	{ NEHALEM, "xyzzyxyzzy", USER, ENOENT,
	  "this machine has no such event; perfex list shows all" },
	{ NEHALEM, "zen::instructions", USER, EINVAL,
	  "this machine has no PMU 'zen'; it has: arch, nhm" },
	{ NEHALEM, "instructions:p", USER, EINVAL,
	  "no unit mask or modifier 'p'; its unit masks: none; its modifiers: u, k, c=0..255, i, "
	  "e" },
	{ NEHALEM, "instructions:c=256", USER, EINVAL,
	  "no unit mask or modifier 'c=256'; its unit masks: none; its modifiers: u, k, c=0..255, "
	  "i, "
	  "e" },
	{ NEHALEM, "instructions::u", USER, EINVAL,
	  "this machine has no PMU 'instructions'; it has: arch, nhm" },
	{ NEHALEM, "instructions:", USER, EINVAL, "there is nothing between two ':'" },
	{ NEHALEM, "MEM_INST_RETIRED", USER, EINVAL,
	  "a unit mask is missing, or they do not combine; its unit masks: "
	  "LATENCY_ABOVE_THRESHOLD, "
	  "LOADS, STORES; its modifiers: k, u, e, i, c, t, ldlat" },
	{ NEHALEM, "MEM_INST_RETIRED:LOAD", USER, EINVAL,
	  "a unit mask or modifier is unknown, or lacks another (e lacks c); its unit masks: "
	  "LATENCY_ABOVE_THRESHOLD, LOADS, STORES; its modifiers: k, u, e, i, c, t, ldlat" },
	{ NEHALEM, "MEM_INST_RETIRED:LOADS:t", USER, ENOTSUP,
	  "it sets the bits 0x200000 of evntsel, which this machine's kernel does not allow; "
	  "allowed "
	  "are 0xffc7ffff" },
	{ NEHALEM, "OFFCORE_RESPONSE_0:DMND_DATA_RD:LOCAL_DRAM", USER, ENOTSUP,
	  "it sets the bits 0x4001 of evntsel2, which this machine's kernel does not allow; "
	  "allowed "
	  "are 0x0" },
	{ NEHALEM, "", USER, EINVAL, "evntsel is empty; give it as 0x..." },
	{ NEHALEM, "0x\n", USER, EINVAL,
	  "evntsel '0x?' is not a hexadecimal number like 0x4100c0" },
	{ NEHALEM, "@0", USER, EINVAL, "evntsel is empty; give it as 0x..." },
	{ NEHALEM, "4100c0", USER, EINVAL,
	  "evntsel '4100c0' could be hexadecimal or decimal; write 0x4100c0 for hexadecimal" },
	{ NEHALEM, "instructions@10", USER, EINVAL,
	  "counter number '10' could be hexadecimal or decimal; write 0x10 for hexadecimal" },
	{ NEHALEM, "instructions@4", USER, ENOTSUP,
	  "there is no counter 0x4; this machine has 4 general ones from 0 on, and 3 fixed ones "
	  "from "
	  "0x40000000 on" },
	{ NEHALEM, "instructions@0x40000001", USER, ENOTSUP,
	  "counter 0x40000001 cannot count it; leave out the '@' and what follows" },
	{ NEHALEM, "r00c0:p", USER, EINVAL, "no modifier 'p'; there are: u, k, c=0..255, i, e" },
	{ NEHALEM, "r00000000000000000c0ffffffffffffffff", USER, EINVAL,
	  "the code does not fit in 64 bits" },
	{ NEHALEM, "cpu/event=0xc0", USER, EINVAL,
	  "the '/' at the end is missing, as in cpu/event=0xc0/" },
	{ NEHALEM, "cpu/event=c0/", USER, EINVAL, "'c0' is not a number" },
	{ NEHALEM, "cpu/event=-1/", USER, EINVAL, "'-1' is not a number" },
	{ NEHALEM, "cpu/umask=0x100/", USER, EINVAL, "umask is at most 0xff" },
	{ NEHALEM, "cpu/evnt=0xc0/", USER, EINVAL,
	  "no term 'evnt'; there are: event, umask, edge, inv, cmask, config" },
	{ NEHALEM, "instructions", 0, EINVAL, "no ring to count in; give u, k or both" },
	{ P5, "instructions:c=1", USER, EINVAL,
	  "no unit mask or modifier 'c=1'; its unit masks: none; its modifiers: u, k" },
	{ P5, "FLOP", USER, ENOENT,
	  "this machine has no such event; near it: FLOPS; perfex list "
	  "shows all" },
	{ WINCHIP_C6, "instructions:u", USER, ENOTSUP,
	  "this machine's counters do not tell the rings apart; leave out u and k" },
	{ P4, "replay_event:NBOGUS", USER, ENOTSUP,
	  "replay_event counts nothing without what it tags: give one of L1_LD_MISS, L2_LD_MISS, "
	  "DTLB_LD_MISS, DTLB_ST_MISS, DTLB_ALL_MISS, MOB_LD_REPLAY, SP_LD_RET, SP_ST_RET" },
	{ P4, "r00c0", USER, EINVAL,
	  "an event of NetBurst needs two registers; write a name, or 0xCCCR/0xESCR@0xPMC" },
	{ P4, "0x39000/0x4000204", USER, EINVAL,
	  "register values are those of several units; give the counter too, as in "
	  "0x39000/0x4000204@0xc" },
};

START_TEST(mistakes_are_refused_with_one_line)
{
	const struct perfctr_pmu_info *info = be_machine(refusals[_i].machine);
	struct perfctr_request request = { .name = "before" };
	char error[512] = "";

	errno = 0;
	ck_assert_int_eq(perfctr_request_parse(info, refusals[_i].spec, refusals[_i].rings,
					       &request, error, sizeof(error)),
			 -1);
	ck_assert_str_eq(error, refusals[_i].line);
	ck_assert_int_eq(errno, refusals[_i].error);
	ck_assert_str_eq(request.name, "before");
}
END_TEST

START_TEST(a_short_buffer_is_respected)
{
	struct perfctr_request request;
	char error[8] = "-------";

	ck_assert_int_eq(perfctr_request_parse(be_machine(NEHALEM), "nonsense", USER, &request,
					       error, 5),
			 -1);
	ck_assert_str_eq(error, "this");
	ck_assert_mem_eq(error + 5, "--", 2);
	ck_assert_int_eq(perfctr_request_parse(be_machine(NEHALEM), "nonsense", USER, &request,
					       NULL, 0),
			 -1);
}
END_TEST

START_TEST(a_machine_without_a_pmu_has_no_events)
{
	struct perfctr_pmu_info info = { .family = "F", .pmu = PERFCTR_PMU_NONE };
	struct perfctr_request request;
	char error[512];

	errno = 0;
	ck_assert_int_eq(perfctr_request_parse(&info, "instructions", USER, &request, error,
					       sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, ENODEV);
	ck_assert_str_eq(error,
			 "this machine's event counters cannot be used: F; only the time stamp "
			 "can be counted");
}
END_TEST

static int count_events(const struct perfctr_event_entry *entry, void *arg)
{
	int *n = arg;

	/* Aliases have no code of their own. */
	if (!entry->umask && strncmp(entry->description, "Stands for ", 11))
		++*n;
	return 0;
}

/* The sizes of the original perfctr's tables; where there is a CESR, its clocks besides. */
static const struct {
	enum machine machine;
	int events;
} tables[] = {
	{ P5, 38 + 1 },	     { P5_MMX, 73 + 1 }, { MII, 64 + 1 },
	{ P6, 68 + 4 + 10 }, /* and those of Pentium III and II */
	{ WINCHIP_C6, 6 },   { WINCHIP_2, 24 },	 { VIA_C3, 3 },
};

START_TEST(tables_are_complete)
{
	int n = 0;

	ck_assert_int_eq(perfctr_events_visit(be_machine(tables[_i].machine), NULL, count_events,
					      &n),
			 0);
	ck_assert_int_eq(n, tables[_i].events);
}
END_TEST

/* Every event that is listed, alone or with each of its unit masks, is understood. */
struct understood {
	const struct perfctr_pmu_info *info;
	char event[PERFCTR_REQUEST_NAME];
	char spec[2 * PERFCTR_REQUEST_NAME];
	bool needs_umask;
	int n, n_umasks;
};

static int understand(const struct perfctr_event_entry *entry, void *arg)
{
	struct understood *understood = arg;
	struct perfctr_request request;
	char error[512] = "";
	int status;

	if (!entry->umask) {
		ck_assert_msg(!understood->needs_umask || understood->n_umasks, "%s",
			      understood->event);
		snprintf(understood->event, sizeof(understood->event), "%s", entry->name);
		understood->n_umasks = 0;
	}
	snprintf(understood->spec, sizeof(understood->spec), "%s%s%s", entry->name,
		 entry->umask ? ":" : "", entry->umask ? entry->umask : "");
	status = perfctr_request_parse(understood->info, understood->spec, USER, &request, error,
				       sizeof(error));
	if (!entry->umask)
		understood->needs_umask = status < 0 && strstr(error, "unit mask is missing");
	else if (status == 0 || errno == ENOTSUP)
		understood->n_umasks++;
	ck_assert_msg(status == 0 || strcmp(entry->source, "libpfm4") >= 0, "%s: %s",
		      understood->spec, error);
	if (status == 0 && strncmp(entry->source, "built in", 8) == 0 && !entry->umask &&
	    strncmp(entry->description, "Stands for ", 11)) {
		/* A code for fixed counters alone is not in the register. */
		if (entry->general)
			ck_assert_msg((request.evntsel & entry->code) == entry->code, "%s",
				      understood->spec);
		ck_assert_uint_ne(request.general | request.fixed, 0);
	}
	understood->n++;
	return 0;
}

START_TEST(listed_events_are_understood)
{
	struct understood understood = { .info = be_machine((enum machine)_i) };

	ck_assert_int_eq(perfctr_events_visit(understood.info, NULL, understand, &understood), 0);
	ck_assert_int_gt(understood.n, 2);
}
END_TEST

static int collect(const struct perfctr_event_entry *entry, void *arg)
{
	char *text = arg;

	strcat(text, entry->name);
	if (entry->umask)
		strcat(strcat(text, ":"), entry->umask);
	strcat(text, " ");
	return 0;
}

START_TEST(a_pattern_selects_names)
{
	char text[1024] = "";

	ck_assert_int_eq(perfctr_events_visit(be_machine(P6), "fp_*", collect, text), 0);
	ck_assert_str_eq(text, "FP_COMP_OPS_EXE FP_ASSIST FP_MMX_TRANS FP_MMX_TRANS:TO_FP "
			       "FP_MMX_TRANS:TO_MMX ");
	text[0] = '\0';
	ck_assert_int_eq(perfctr_events_visit(be_machine(P6), "l2_rq", collect, text), 0);
	ck_assert_str_eq(text, "L2_RQSTS L2_RQSTS:M L2_RQSTS:E L2_RQSTS:S L2_RQSTS:I ");
	text[0] = '\0';
	ck_assert_int_eq(perfctr_events_visit(be_machine(P6), "nothing like it", collect, text), 0);
	ck_assert_str_eq(text, "");
}
END_TEST

struct counters {
	const char *name;
	uint64_t general, fixed, code;
};

static int look(const struct perfctr_event_entry *entry, void *arg)
{
	struct counters *counters = arg;

	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", entry->name, entry->umask ? ":" : "",
		 entry->umask ? entry->umask : "");
	if (strcasecmp(name, counters->name))
		return 0;
	counters->code = entry->code;
	counters->general = entry->general;
	counters->fixed = entry->fixed;
	return 1;
}

static const struct {
	enum machine machine;
	struct counters counters;
} listed[] = {
	{ NEHALEM, { "instructions", 0xf, 1, 0xc0 } },
	{ NEHALEM, { "ref-cycles", 0, 4, 0x300 } },
	{ NEHALEM, { "UNHALTED_REFERENCE_CYCLES", 0, 4, 0x300 } },
	{ NEHALEM, { "L1D_CACHE_LD", 3, 0, 0x40 } },
	{ NEHALEM, { "INST_RETIRED", 0xf, 1, 0xc0 } },
	{ NEHALEM, { "MEM_INST_RETIRED:LOADS", 0xf, 0, 0x100 } },
	{ P6, { "L2_RQSTS:M", 3, 0, 0x800 } },
	{ P6, { "DIV", 2, 0, 0x13 } },
	{ P4, { "memory_cancel", 0xf00, 0, 0 } },
	{ P4, { "BSQ_active_entries", 0xc, 0, 0 } },
};

START_TEST(counters_are_listed)
{
	struct counters counters = { .name = listed[_i].counters.name };

	ck_assert_int_eq(perfctr_events_visit(be_machine(listed[_i].machine), NULL, look,
					      &counters),
			 1);
	ck_assert_uint_eq(counters.general, listed[_i].counters.general);
	ck_assert_uint_eq(counters.fixed, listed[_i].counters.fixed);
	ck_assert_uint_eq(counters.code, listed[_i].counters.code);
}
END_TEST

static int stop(const struct perfctr_event_entry *entry, void *arg)
{
	(void)entry;
	++*(int *)arg;
	return 42;
}

START_TEST(a_visitor_can_stop)
{
	int n = 0;

	ck_assert_int_eq(perfctr_events_visit(be_machine(NEHALEM), NULL, stop, &n), 42);
	ck_assert_int_eq(n, 1);
}
END_TEST

/* A directory with one table, which is the first in the search path. */
static void write_table(char directory[], const char *text)
{
	char path[128];
	FILE *file;

	strcpy(directory, "/tmp/perfctr-events-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/mine.tbl", directory);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	setenv("PERFCTR_EVENTS", directory, 1);
}

static void remove_table(const char *directory)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/mine.tbl", directory);
	unlink(path);
	rmdir(directory);
}

START_TEST(users_tables_come_first)
{
	const struct perfctr_pmu_info *info = be_machine(NEHALEM);
	struct perfctr_request request;
	char directory[64], error[512] = "";

	write_table(directory, "# Mine\n"
			       "pmu p5\n"
			       "loads\t0x01\tany\toccurrence\tOf another machine\n"
			       "pmu nhm\n"
			       "loads\t0x0b\t1-2\toccurrence\tLoads and stores\n"
			       "\tLOADS*\t0x01\tLoads\n"
			       "\tSTORES\t0x02\tStores\n"
			       "branches = loads:STORES\n"
			       "counters 0x412e/0xffff 3\n");
	ck_assert_msg(perfctr_request_parse(info, "loads", USER, &request, error, sizeof(error)) ==
			      0,
		      "%s", error);
	ck_assert_uint_eq(request.evntsel, 0x41010b);
	ck_assert_uint_eq(request.general, 6);
	ck_assert_int_eq(perfctr_request_parse(info, "branches:k", USER, &request, error,
					       sizeof(error)),
			 0);
	ck_assert_uint_eq(request.evntsel, 0x42020b);
	ck_assert_int_eq(perfctr_request_parse(info, "cache-misses", USER, &request, error,
					       sizeof(error)),
			 0);
	ck_assert_uint_eq(request.general, 8);
	remove_table(directory);
}
END_TEST

static const struct {
	const char *text;
	const char *line; /* behind the path */
} malformed[] = {
	{ "pmu arch\nloads 0b any occurrence x\n", ":2: '0b' is not a code like 0xc0" },
	{ "pmu arch\n\nloads 0x0b 0-99 occurrence x\n",
	  ":3: '0-99' is not a set of counters like 0-1 or any" },
	{ "pmu arch\nloads 0x0b 1-0 occurrence x\n",
	  ":2: '1-0' is not a set of counters like 0-1 or any" },
	{ "pmu arch\n\tLOADS 0x01 x\n", ":2: the unit mask 'LOADS' is not below an event" },
	{ "pmu arch\na 0x01 any occurrence x\npmu arch p6\n\tLOADS 0x01 x\n",
	  ":4: the unit mask 'LOADS' is not below an event" },
	{ "pmu arch\na 0x01 any occurrence x\nb = a\n\tLOADS 0x01 x\n",
	  ":4: the unit mask 'LOADS' is not below an event" },
	{ "pmu arch\na 0x01 any occurrence x\n * 0x01 x\n",
	  ":3: '*' needs a unit mask in front" },
	{ "pmu arch\nloads 0x0b any often x\n",
	  ":2: 'often' is neither 'occurrence' nor 'duration'" },
	{ "pmu arch\nloads 0x0b any occurrence x\n\tMASK 0x100 x\n",
	  ":3: '0x100' is not a unit mask like 0x0f" },
	{ "pmu arch\nloads =\n", ":2: 'loads =' needs a name" },
	{ "pmu arch\nloads\n", ":2: '' is not a code like 0xc0" },
	{ "pmu\n", ":1: 'pmu' needs a name" },
	{ "pmu arch\ncounters c0 0\n", ":2: 'c0' is not a code like 0xc0 or 0x01c0/0xffff" },
	{ "pmu arch\ncounters 0xc0 x\n", ":2: 'x' is not a set of counters like 0-1 or any,f0" },
	{ "pmu arch\nreplay A 1\n", ":2: replay 'A' needs two numbers like 0x1" },
	{ "pmu arch\nescr A B\n", ":2: escr 'A' needs names like CRU_ESCR2,CRU_ESCR3" },
};

START_TEST(malformed_tables_are_refused_with_their_place)
{
	const struct perfctr_pmu_info *info = be_machine(NEHALEM);
	struct perfctr_request request;
	char directory[64], line[512], error[512] = "";

	write_table(directory, malformed[_i].text);
	snprintf(line, sizeof(line), "%s/mine.tbl%s", directory, malformed[_i].line);
	errno = 0;
	ck_assert_int_eq(perfctr_request_parse(info, "instructions", USER, &request, error,
					       sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_str_eq(error, line);
	remove_table(directory);
}
END_TEST

START_TEST(an_alias_of_itself_ends)
{
	const struct perfctr_pmu_info *info = be_machine(NEHALEM);
	struct perfctr_request request;
	char directory[64], error[512] = "";

	write_table(directory, "pmu arch\none = two\ntwo = one\n");
	ck_assert_int_eq(perfctr_request_parse(info, "one", USER, &request, error, sizeof(error)),
			 -1);
	ck_assert_str_eq(error, "by the tables it stands for itself");
	remove_table(directory);
}
END_TEST

/* Each thread takes every fourth name of Nehalem, again and again, beside the others. */
static void *parse_again(void *arg)
{
	const struct perfctr_pmu_info *info = machine_info(NEHALEM);
	size_t first = (size_t)arg;
	struct perfctr_request request;
	char error[512];

	for (int round = 0; round < 50; round++)
		for (size_t i = first; i < ARRAY_SIZE(names); i += 4)
			if (names[i].machine == NEHALEM &&
			    (perfctr_request_parse(info, names[i].spec, names[i].rings, &request,
						   error, sizeof(error)) < 0 ||
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

/* Whatever the input: it is understood, or refused with one line. */
static void expect_answer(const struct perfctr_pmu_info *info, const char *spec)
{
	struct perfctr_request request;
	char error[512] = "";

	errno = 0;
	if (perfctr_request_parse(info, spec, USER, &request, error, sizeof(error)) == 0)
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

START_TEST(damaged_tables_get_an_answer)
{
	static const char table[] = "# A comment\n"
				    "pmu arch nhm amd64_*\n"
				    "loads 0x0b 1-2 occurrence Loads and stores\n"
				    "\tLOADS* 0x01 Loads\n"
				    "\tSTORES 0x02 Stores\n"
				    "branches = loads:STORES:u\n"
				    "counters 0x412e/0xffff any,f1\n"
				    "replay A 0x1000001 0x1\n"
				    "escr loads CRU_ESCR0,CRU_ESCR1\n";
	const struct perfctr_pmu_info *info = be_machine(NEHALEM);
	char directory[64], path[128];
	uint64_t seed = 1;

	write_table(directory, table);
	snprintf(path, sizeof(path), "%s/mine.tbl", directory);
	for (int round = 0; round < 500; round++) {
		size_t length;
		char *mutant = mutate(&seed, table, &length);
		FILE *file = fopen(path, "w");

		ck_assert_ptr_nonnull(file);
		ck_assert_uint_eq(fwrite(mutant, 1, length, file), length);
		ck_assert_int_eq(fclose(file), 0);
		free(mutant);
		expect_answer(info, "loads:STORES");
		expect_answer(info, "branches");
	}
	remove_table(directory);
}
END_TEST

TCase *names_tests(void)
{
	TCase *tests = tcase_create("names");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, names_become_register_values, 0, ARRAY_SIZE(names));
	tcase_add_test(tests, replays_are_tagged);
	tcase_add_test(tests, rings_are_said);
	tcase_add_loop_test(tests, mistakes_are_refused_with_one_line, 0, ARRAY_SIZE(refusals));
	tcase_add_test(tests, a_short_buffer_is_respected);
	tcase_add_test(tests, a_machine_without_a_pmu_has_no_events);
	tcase_add_loop_test(tests, tables_are_complete, 0, ARRAY_SIZE(tables));
	tcase_add_loop_test(tests, listed_events_are_understood, NEHALEM, VIA_C3 + 1);
	tcase_add_test(tests, a_pattern_selects_names);
	tcase_add_loop_test(tests, counters_are_listed, 0, ARRAY_SIZE(listed));
	tcase_add_test(tests, a_visitor_can_stop);
	tcase_add_test(tests, users_tables_come_first);
	tcase_add_loop_test(tests, malformed_tables_are_refused_with_their_place, 0,
			    ARRAY_SIZE(malformed));
	tcase_add_test(tests, an_alias_of_itself_ends);
	tcase_add_test(tests, threads_take_names_side_by_side);
	tcase_add_loop_test(tests, damaged_specifications_get_an_answer, 0, ARRAY_SIZE(names));
	tcase_add_test(tests, damaged_tables_get_an_answer);
	return tests;
}
