// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts that are no names of events are refused, with one line that says why. */
#include "names.h"
#include "unit.h"

#include <errno.h>

static const struct {
	enum machine machine;
	const char *spec;
	unsigned int modes;
	int error;
	const char *line;
} refusals[] = {
	{ NEHALEM, "instrctions", USER, ENOENT,
	  "this machine has no such event; near it: instructions, INST_RETIRED; "
	  "perfctr_events_list() shows all" },
	{ NEHALEM, "xyzzyxyzzy", USER, ENOENT,
	  "this machine has no such event; perfctr_events_list() shows all" },
	{ NEHALEM, "zen::instructions", USER, EINVAL,
	  "this machine has no PMU 'zen'; it has: arch, nhm" },
	{ NEHALEM, "instructions:p", USER, EINVAL,
	  "'p' asks for precise samples, and a count takes none; leave it out" },
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
	  "no unit mask or modifier 'LOAD'; its unit masks: "
	  "LATENCY_ABOVE_THRESHOLD, LOADS, STORES; its modifiers: k, u, e, i, c, t, ldlat" },
	{ NEHALEM, "MEM_INST_RETIRED:LOADS:e", USER, EINVAL,
	  "a modifier lacks another, as e lacks c; its unit masks: "
	  "LATENCY_ABOVE_THRESHOLD, LOADS, STORES; its modifiers: k, u, e, i, c, t, ldlat" },
	{ P4, "uops_retired", USER, EINVAL,
	  "a unit mask is missing; its unit masks: NBOGUS, BOGUS; its modifiers: u, k, cmpl, e, "
	  "thr" },
	{ P4, "uops_retired:NBOGU:k", USER, EINVAL,
	  "no unit mask or modifier 'NBOGU'; its unit masks: NBOGUS, BOGUS; its modifiers: u, k, "
	  "cmpl, e, thr" },
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
	{ NEHALEM, "instructions,cycles", USER, EINVAL,
	  "an event has no ','; give each event separately, like instructions and branches" },
	{ NEHALEM, "0x4100c0,0x4100c4", USER, EINVAL,
	  "an event has no ','; give each event separately, like instructions and branches" },
	{ NEHALEM, "{instructions", USER, EINVAL,
	  "an event has no '{'; give each event separately, like instructions and branches" },
	{ NEHALEM, "cpu/event=0xc0,umask=0/,cycles", USER, EINVAL,
	  "an event has no ','; give each event separately, like instructions and branches" },
	{ NEHALEM, "instructions@10", USER, ENOTSUP,
	  "there is no counter 10; this machine has 4 general ones from 0 on, and 3 fixed ones from "
	  "0x40000000 on" },
	{ NEHALEM, "instructions@4", USER, ENOTSUP,
	  "there is no counter 4; this machine has 4 general ones from 0 on, and 3 fixed ones "
	  "from "
	  "0x40000000 on" },
	{ NEHALEM, "instructions@0x40000001", USER, ENOTSUP,
	  "counter 0x40000001 cannot count it; leave out the '@' and what follows" },
	{ NEHALEM, "r00c0:p", USER, EINVAL, 
	  "'p' asks for precise samples, and a count takes none; leave it out" },
	{ NEHALEM, "cpu/event=0xc0,umask=0/upp", USER, EINVAL,
	  "'p' asks for precise samples, and a count takes none; leave it out" },
	{ NEHALEM, "cpu/instructions/ppp", USER, EINVAL,
	  "'p' asks for precise samples, and a count takes none; leave it out" },
	{ NEHALEM, "cpu/instrctions/", USER, ENOENT,
	  "this machine has no such event; near it: instructions, INST_RETIRED; "
	  "perfctr_events_list() shows all" },
	{ NEHALEM, "cpu/instructions,edge=1/", USER, EINVAL,
	  "no term 'instructions'; there are: event, umask, edge, inv, cmask, config" },
	{ NEHALEM, "instructions:uh", USER, EINVAL,
	  "perfctr tells user (u) and kernel mode (k) apart, and no hosts, guests and hypervisors; "
	  "leave 'uh' out" },
	{ NEHALEM, "LLC-loads", USER, ENOENT,
	  "this processor has no event for it, or counts it by a further register, which perfctr "
	  "does not set; cache-references and cache-misses are near it" },
	{ NEHALEM, "duration_time", USER, ENOENT, "the time that passes is counted anyway" },
	{ NEHALEM, "sched:sched_switch", USER, ENOENT,
	  "it is a tracepoint of the kernel, which perf itself counts, and perfctr does not" },
	{ NEHALEM, "power/energy-pkg/", USER, ENOENT,
	  "it is of a PMU beside the processors' cores, which perf itself counts, and perfctr does "
	  "not" },
	{ NEHALEM, "r00000000000000000c0ffffffffffffffff", USER, EINVAL,
	  "the code does not fit in 64 bits" },
	{ NEHALEM, "cpu/event=0xc0", USER, EINVAL,
	  "the '/' at the end is missing, as in cpu/event=0xc0/" },
	{ NEHALEM, "cpu/event=c0/", USER, EINVAL, "'c0' is not a number" },
	{ NEHALEM, "cpu/event=-1/", USER, EINVAL, "'-1' is not a number" },
	{ NEHALEM, "cpu/event=0x3c,event=0xc0/", USER, EINVAL,
	  "another term has set bits of 'event'; give each field once" },
	{ NEHALEM, "cpu/event=0xc0,cmask=1,cmask=2/", USER, EINVAL,
	  "another term has set bits of 'cmask'; give each field once" },
	{ NEHALEM, "cpu/event=0xc0,config=0x1003c/", USER, EINVAL,
	  "another term has set bits of 'config'; give each field once" },
	{ NEHALEM, "cpu/config=0x100c0,umask=1,event=0x3c/", USER, EINVAL,
	  "another term has set bits of 'event'; give each field once" },
	{ NEHALEM, "cpu/umask=0x100/", USER, EINVAL, "umask is at most 0xff" },
	{ NEHALEM, "cpu/evnt=0xc0/", USER, EINVAL,
	  "no term 'evnt'; there are: event, umask, edge, inv, cmask, config" },
	{ NEHALEM, "instructions", 0, EINVAL, "no mode to count in; give u, k or both" },
	{ P5, "instructions:c=1", USER, EINVAL,
	  "no unit mask or modifier 'c=1'; its unit masks: none; its modifiers: u, k" },
	{ P5, "FLOP", USER, ENOENT,
	  "this machine has no such event; near it: FLOPS; "
	  "perfctr_events_list() shows all" },
	{ WINCHIP_C6, "instructions:u", USER, ENOTSUP,
	  "this machine's counters do not tell user and kernel mode apart; leave out u and k" },
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
	ck_assert_int_eq(perfctr_events_parse_once(info, refusals[_i].spec, refusals[_i].modes,
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

	ck_assert_int_eq(perfctr_events_parse_once(be_machine(NEHALEM), "nonsense", USER, &request,
						   error, 5),
			 -1);
	ck_assert_str_eq(error, "this");
	ck_assert_mem_eq(error + 5, "--", 2);
	ck_assert_int_eq(perfctr_events_parse_once(be_machine(NEHALEM), "nonsense", USER, &request,
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
	ck_assert_int_eq(perfctr_events_parse_once(&info, "instructions", USER, &request, error,
						   sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, ENODEV);
	ck_assert_str_eq(error,
			 "this machine's event counters cannot be used: F; only the time stamp "
			 "can be counted");
}
END_TEST

TCase *names_refused_tests(void)
{
	TCase *tests = tcase_create("names-refused");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, mistakes_are_refused_with_one_line, 0, ARRAY_SIZE(refusals));
	tcase_add_test(tests, a_short_buffer_is_respected);
	tcase_add_test(tests, a_machine_without_a_pmu_has_no_events);
	return tests;
}
