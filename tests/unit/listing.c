// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex list, check and encode, for processors that this machine need not have. */
#include "../../perfex/perfex.h"
#include "command.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void be_alone(void)
{
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("PERFCTR_EVENTS");
}

static const struct {
	const char *arguments[12];
	int status;
	const char *out, *err;
} runs[] = {
	{ { "list", "--pmu=p6", "div" },
	  0,
	  "DIV                              Divisions, integer and floating-point\n"
	  "CYCLES_DIV_BUSY                  Clocks the divider is busy\n",
	  "" },
	{ { "list", "--pmu", "p6", "-l", "fp_m*" },
	  0,
	  "FP_MMX_TRANS\n"
	  "    Changes between MMX and floating-point (Pentium II, III)\n"
	  "    code 0xcc, counters 0-1, occurrence, built in p6\n"
	  "    :TO_FP                    0x0000  From MMX to floating-point\n"
	  "    :TO_MMX                   0x0100  From floating-point to MMX\n",
	  "" },
	{ { "list", "--pmu=nhm", "--long", "ref-*" },
	  0,
	  "ref-cycles\n"
	  "    Time stamp clocks in which the processor is not halted\n"
	  "    code 0x300, counters f2, duration, built in arch\n",
	  "" },
	{ { "list", "--pmu=netburst", "-l", "bsq_act" }, 0, NULL, "" },
	{ { "list", "--pmu=p6", "-l", "cache-misses" },
	  0,
	  "cache-misses\n"
	  "    Stands for L2_RQSTS:I\n"
	  "    built in p6\n",
	  "" },
	/* Events with the word in their descriptions alone come last, and none comes twice. */
	{ { "list", "--pmu=p6", "Retired" },
	  0,
	  "INST_RETIRED                     Instructions retired\n"
	  "UOPS_RETIRED                     Micro-operations retired\n"
	  "BR_INST_RETIRED                  Branches retired\n"
	  "BR_MISS_PRED_RETIRED             Mispredicted branches retired\n"
	  "BR_TAKEN_RETIRED                 Taken branches retired\n"
	  "EMON_KNI_INST_RETIRED            SSE instructions retired (Pentium III)\n"
	  "FLOPS                            Floating-point operations retired\n"
	  "BR_MISS_PRED_TAKEN_RET           Mispredicted taken branches retired\n"
	  "RET_SEG_RENAMES                  Renamed segment registers retired (Pentium II, III)\n"
	  "MMX_INSTR_RET                    MMX instructions retired (Pentium II only)\n"
	  "EMON_KNI_COMP_INST_RET           SSE computations retired (Pentium III)\n"
	  "instructions                     Stands for INST_RETIRED\n"
	  "branches                         Stands for BR_INST_RETIRED\n"
	  "branch-instructions              Stands for BR_INST_RETIRED\n"
	  "branch-misses                    Stands for BR_MISS_PRED_RETIRED\n"
	  "branch-loads                     Branches retired\n",
	  "" },
	{ { "list", "--pmu=p6", "-l", "changes bet" },
	  0,
	  "FP_MMX_TRANS\n"
	  "    Changes between MMX and floating-point (Pentium II, III)\n"
	  "    code 0xcc, counters 0-1, occurrence, built in p6\n"
	  "    :TO_FP                    0x0000  From MMX to floating-point\n"
	  "    :TO_MMX                   0x0100  From floating-point to MMX\n",
	  "" },
	{ { "list", "--pmu=p6", "clocks the d*" },
	  0,
	  "L2_DBUS_BUSY                     Clocks the data bus of the L2 cache is busy\n"
	  "CYCLES_DIV_BUSY                  Clocks the divider is busy\n",
	  "" },
	/* Names of unit masks and modifiers are in no event's name. */
	{ { "list", "--pmu=p6", "to_mmx" },
	  0,
	  "FP_MMX_TRANS:TO_MMX              From floating-point to MMX\n",
	  "" },
	{ { "list", "--pmu=p6", "FP_MMX_TRANS:TO_?MX" },
	  0,
	  "FP_MMX_TRANS:TO_MMX              From floating-point to MMX\n",
	  "" },
	{ { "list", "--pmu=p6", "-l", "fp_mmx_trans:to_m" },
	  0,
	  "FP_MMX_TRANS:TO_MMX\n"
	  "    From floating-point to MMX\n"
	  "    code 0x1cc, counters 0-1, occurrence, built in p6\n",
	  "" },
	{ { "list", "--pmu=skl", "MEM_LOAD_RETIRED:L3_MISS" },
	  0,
	  "MEM_LOAD_RETIRED:L3_MISS         Retired load uops which missed the L3\n",
	  "" },
	{ { "list", "--pmu=p6", "div:u" },
	  0,
	  "DIV                              Divisions, integer and floating-point\n",
	  "" },
	{ { "list", "--pmu=p6", "fp_mmx_trans:to_mmx:k" },
	  0,
	  "FP_MMX_TRANS:TO_MMX              From floating-point to MMX\n",
	  "" },
	{ { "list", "--pmu=p6", "div:x" },
	  1,
	  "",
	  "perfex: no event has 'div:x' in its name or description; perfex list shows all\n" },
	{ { "list", "--pmu=p5", "nothing" },
	  1,
	  "",
	  "perfex: no event has 'nothing' in its name or description; perfex list shows all\n" },
	{ { "list", "--pmu=p7" },
	  125,
	  "",
	  "perfex: there is no PMU 'p7'; perfex list --processors shows all\n" },
	{ { "list", "--pmu=Skylake" },
	  125,
	  "",
	  "perfex: there is no PMU 'Skylake'; near it: skl (Intel Skylake), skx (Intel Skylake X); "
	  "perfex list --processors shows all\n" },
	{ { "list", "--pmu=amd64_fam19h" },
	  125,
	  "",
	  "perfex: there is no PMU 'amd64_fam19h'; near it: amd64_fam19h_zen3 (AMD64 Fam19h Zen3), "
	  "amd64_fam19h_zen4 (AMD64 Fam19h Zen4); perfex list --processors shows all\n" },
	{ { "check", "--pmu=sk", "-e", "cycles" },
	  125,
	  "",
	  "perfex: there is no PMU 'sk'; near it: skl (Intel Skylake), skx (Intel Skylake X); "
	  "perfex list --processors shows all\n" },
	{ { "list", "--pmu=amd64" },
	  125,
	  "",
	  "perfex: there is no PMU 'amd64'; perfex list --processors shows all\n" },
	{ { "list", "--pmu=" },
	  125,
	  "",
	  "perfex: there is no PMU ''; perfex list --processors shows all\n" },
	{ { "list", "--pmu=intel" },
	  125,
	  "",
	  "perfex: there is no PMU 'intel'; perfex list --processors shows all\n" },
	{ { "list", "--processors" }, 0, NULL, "" },
	{ { "list", "--processors", "NHM" },
	  0,
	  "nhm                      Intel Nehalem\n"
	  "nhm_ex                   Intel Nehalem EX\n",
	  "" },
	{ { "list", "--processors", "sk?" },
	  0,
	  "skl                      Intel Skylake\n"
	  "skx                      Intel Skylake X\n",
	  "" },
	{ { "list", "--processors", "p5*" },
	  0,
	  "p5                       family of processors\n"
	  "p5_mmx                   family of processors\n",
	  "" },
	{ { "list", "--processors", "skylake x" },
	  0,
	  "skx                      Intel Skylake X\n",
	  "" },
	{ { "list", "--processors", "p7" },
	  1,
	  "",
	  "perfex: no processor has 'p7' in its name or description; perfex list --processors shows all\n" },
	{ { "list", "--processors", "--groups" },
	  125,
	  "",
	  "perfex: --processors and --groups exclude each other; give one\n" },
	{ { "list", "-g", "--processors" },
	  125,
	  "",
	  "perfex: --groups and --processors exclude each other; give one\n" },
	{ { "list", "-l", "--processors" },
	  125,
	  "",
	  "perfex: --long is for events, not for --processors; leave it out\n" },
	{ { "list", "--groups", "-l" },
	  125,
	  "",
	  "perfex: --long is for events, not for --groups; leave it out\n" },
	{ { "list", "--processors", "--pmu=nope" },
	  125,
	  "",
	  "perfex: --processors shows what --pmu takes; leave --pmu out\n" },
	{ { "list", "a", "b" },
	  125,
	  "",
	  "perfex: perfex list takes one pattern, 'b' is "
	  "another\n" },
	{ { "-l", "true" },
	  125,
	  "",
	  "perfex: --list takes neither a command nor another option; see perfex list --help\n" },
	{ { "check", "--pmu=nhm", "-e", "instructions", "-e", "cycles:k", "-eref-cycles:uk" },
	  0,
	  "instructions                     counter 0           user\n"
	  "cycles:k                         counter 1           kernel\n"
	  "ref-cycles:uk                    counter 0x40000002  user+kernel\n",
	  "" },
	{ { "check", "--pmu=p6", "-e", "instructions,L2_LINES_IN,L2_LINES_OUT", "-g", "TLB" },
	  1,
	  "They do not fit in one pass: events 'L2_LINES_IN', 'L2_LINES_OUT' and "
	  "'iTLB-load-misses' conflict: only counters 0, 1 can count them; 2 passes are enough "
	  "for all\n"
	  "pass 1:\n"
	  "  instructions                     counter 0           user\n"
	  "  iTLB-load-misses                 counter 1           user\n"
	  "pass 2:\n"
	  "  L2_LINES_IN                      counter 0           user\n"
	  "  L2_LINES_OUT                     counter 1           user\n",
	  "" },
	{ { "check", "--pmu=p6", "--both", "-eFLOPS", "-eFP_COMP_OPS_EXE", "-eMUL:u" },
	  1,
	  "They do not fit in one pass: events 'FLOPS' and 'FP_COMP_OPS_EXE' conflict: only "
	  "counter 0 can count them; 2 passes are enough for all\n"
	  "pass 1:\n"
	  "  FLOPS                            counter 0           user+kernel\n"
	  "  MUL:u                            counter 1           user\n"
	  "pass 2:\n"
	  "  FP_COMP_OPS_EXE                  counter 0           user+kernel\n",
	  "" },
	{ { "check", "--pmu=p4", "-e", "0x39000/0x4000204@4" },
	  125,
	  "",
	  "perfex: event '0x39000/0x4000204@4': no ESCR with its ESCR select leads to this "
	  "counter; "
	  "those that have one: 0 1 2 3 12 13 14 15 16 17\n" },
	/* An event as perfex writes it. */
	{ { "check", "--pmu=netburst", "-e", "branch_retired:MMTP@12" },
	  0,
	  "branch_retired:MMTP@12           counter 12          user\n",
	  "" },
	/* The events of a group follow the others, and each event is there once. */
	{ { "check", "--pmu=nhm", "-g", "IPC", "-e", "branches", "-e", "cycles" },
	  0,
	  "branches                         counter 0           user\n"
	  "cycles                           counter 1           user\n"
	  "instructions                     counter 2           user\n",
	  "" },
	{ { "check", "--pmu=nhm", "-g", "IPC,IPC", "-gIPC" },
	  0,
	  "instructions                     counter 0           user\n"
	  "cycles                           counter 1           user\n",
	  "" },
	{ { "check", "--pmu=nhm", "-g", "FLOPS" },
	  125,
	  "",
	  "perfex: group 'FLOPS' has no rules for this processor; perfex list --groups shows those "
	  "that have\n" },
	{ { "check", "--pmu=p5", "-e", "FLOP" },
	  125,
	  "",
	  "perfex: event 'FLOP': this machine has no such event; near it: FLOPS; perfex list shows "
	  "all\n" },
	{ { "check", "--pmu=nhm", "-e", "duration_time" },
	  125,
	  "",
	  "perfex: event 'duration_time': the time that passes is counted anyway: rules have it as "
	  "elapsed_ns, as in --derive 's = elapsed_ns / 1e9'\n" },
	{ { "check", "--pmu=nhm", "-e", "dTLB-prefetches" },
	  125,
	  "",
	  "perfex: event 'dTLB-prefetches': this processor has no event for it, or counts it by a "
	  "further register, which perfctr does not set; 'perfex list TLB' shows what it has\n" },
	{ { "check" }, 125, "", "perfex: no event given; give some with -e\n" },
	{ { "check", "-e", "cycles", "true" },
	  125,
	  "",
	  "perfex: perfex check takes no argument, 'true' is one; give events with -e\n" },
	{ { "check", "--user", "--kernel", "-e", "cycles" },
	  125,
	  "",
	  "perfex: --user and --kernel exclude each other; give one\n" },
	{ { "encode", "--pmu=p5", "-e", "cycles" },
	  0,
	  "cycles = 0x00000180\n"
	  "  event: CLOCKS:u\n"
	  "  counters: 0 1\n"
	  "  CESR, half 0x00000180\n"
	  "    0-5    ES                 0x0     event select: what is counted\n"
	  "    6      CC low             0x0     count in kernel mode: CPL 0 to 2\n"
	  "    7      CC middle          0x1     count in user mode: CPL 3\n"
	  "    8      CC high            0x1     count clocks instead of the event\n"
	  "    9      PC                 0x0     pin signals overflows, not events\n",
	  "" },
	{ { "encode", "--pmu=nhm", "--kernel", "-e", "instructions" },
	  0,
	  "instructions = 0x004200c0\n"
	  "  counters: 0 1 2 3 0x40000000\n"
	  "  IA32_PERFEVTSELx 0x004200c0\n"
	  "    0-7    event select       0xc0    what is counted\n"
	  "    8-15   unit mask          0x0     which kinds of it\n"
	  "    16     USR                0x0     count in user mode: CPL 1 to 3\n"
	  "    17     OS                 0x1     count in kernel mode: CPL 0\n"
	  "    18     E                  0x0     edge: count when the condition becomes true\n"
	  "    19     PC                 0x0     toggle a pin\n"
	  "    20     INT                0x0     interrupt on overflow\n"
	  "    21     ANY                0x0     count for both logical processors of a core\n"
	  "    22     EN                 0x1     enable the counter\n"
	  "    23     INV                0x0     invert the comparison with CMASK\n"
	  "    24-31  CMASK              0x0     count cycles with at least so many; 0: count "
	  "events\n"
	  "  IA32_FIXED_CTR_CTRL, as 0x00420000\n"
	  "    16     USR                0x0     count in user mode: CPL 1 to 3\n"
	  "    17     OS                 0x1     count in kernel mode: CPL 0\n"
	  "    22     EN                 0x1     enable the counter\n",
	  "" },
	{ { "encode", "--pmu=p4", "-e", "0x3b000/0x12000204@0x8000000c" },
	  0,
	  "0x3b000/0x12000204@0x8000000c = 0x0003b000/0x12000204@0x8000000c\n"
	  "  counters: 12\n"
	  "  ESCR: CRU_ESCR2 (12)\n"
	  "  CCCR 0x0003b000\n"
	  "    12     ENABLE             0x1     enable the counter\n"
	  "    13-15  ESCR select        0x5     which ESCR of the counter's block feeds it\n"
	  "    16-17  active thread      0x3     3: count whichever logical processor is active\n"
	  "    18     compare            0x0     compare with the threshold\n"
	  "    19     complement         0x0     at most the threshold, instead of more\n"
	  "    20-23  threshold          0x0     of the comparison\n"
	  "    24     edge               0x0     count when the comparison becomes true\n"
	  "    25     FORCE_OVF          0x0     overflow at each count\n"
	  "    26     OVF_PMI_T0         0x0     interrupt on overflow, thread 0\n"
	  "    27     OVF_PMI_T1         0x0     likewise, thread 1\n"
	  "    30     cascade            0x0     start when the counter of the pair overflows\n"
	  "    31     OVF                0x0     has overflowed\n"
	  "  ESCR 0x12000204\n"
	  "    0      T1_USR             0x0     detect in user mode, thread 1\n"
	  "    1      T1_OS              0x0     detect in kernel mode, thread 1\n"
	  "    2      T0_USR             0x1     detect in user mode, thread 0: CPL 1 to 3\n"
	  "    3      T0_OS              0x0     detect in kernel mode, thread 0: CPL 0\n"
	  "    4      tag enable         0x0     tag micro-operations, for counting at retirement\n"
	  "    5-8    tag value          0x0     the tag\n"
	  "    9-24   event mask         0x1     which kinds of the event\n"
	  "    25-30  event select       0x9     what is detected\n",
	  "" },
};

START_TEST(answers_are_as_expected)
{
	struct command_result result;

	be_alone();
	result = run_perfex(runs[_i].arguments);
	ck_assert_str_eq(result.err, runs[_i].err);
	if (runs[_i].out)
		ck_assert_str_eq(result.out, runs[_i].out);
	else
		ck_assert_str_ne(result.out, "");
	ck_assert_int_eq(result.status, runs[_i].status);
}
END_TEST

/* libpfm4 that is told to take this machine for a Nehalem knows no further processors. */
START_TEST(all_processors_are_listed_on_a_machine_that_is_forced)
{
	struct command_result forced, own;

	setenv("LIBPFM_FORCE_PMU", "nhm", 1);
	forced = PERFEX("list", "--processors");
	unsetenv("LIBPFM_FORCE_PMU");
	own = PERFEX("list", "--processors");
	ck_assert_ptr_nonnull(strstr(forced.out, "\nspr "));
	ck_assert_str_eq(forced.out, own.out);
}
END_TEST

/* Some names begin with the name of another processor. */
START_TEST(each_processor_of_the_list_is_a_pmu)
{
	struct command_result list = PERFEX("list", "--processors"), result;
	char *rest = NULL, option[64];
	int n = 0;

	be_alone();
	for (char *line = strtok_r(list.out, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		snprintf(option, sizeof(option), "--pmu=%.*s", (int)strcspn(line, " "), line);
		result = PERFEX("list", option, "no such event");
		ck_assert_msg(result.status == 1, "%s: %s", option, result.err);
		n++;
	}
	ck_assert_int_gt(n, 50);
}
END_TEST

/* Register values with a bit that is in no field. */
START_TEST(reserved_bits_are_shown)
{
	struct command_result result;

	be_alone();
	result = PERFEX("encode", "--pmu=k7", "-e", "0x1004100c0");
	ck_assert_int_eq(result.status, 0);
	ck_assert_ptr_nonnull(strstr(result.out, "\n  PERF_CTLx 0x1004100c0\n"));
	ck_assert_ptr_nonnull(strstr(result.out, "\n    32-35  event select 11-8  0x1 "));
	result = PERFEX("encode", "--pmu=p5", "-e", "0x10096");
	ck_assert_ptr_nonnull(strstr(result.out, "\n    reserved bits: 0x10000\n"));
}
END_TEST

/* On the Pentium 4 the counter is a part of the event; a fixed counter has its event built in. */
static const struct {
	const char *pmu, *event, *value;
} values[] = {
	{ "--pmu=nhm", "instructions", "0x004100c0" },
	{ "--pmu=nhm", "ref-cycles", "0x00410000@0x40000002" },
	{ "--pmu=netburst", "branch_retired:MMTP", "0x0003b000/0x0c000804@0xc" },
	{ "--pmu=p6", "FLOPS", "0x004100c1@0" },
	{ "--pmu=k7", "cycles:k", "0x00420076" },
	{ "--pmu=p5", "cycles", "0x00000180" },
};

START_TEST(a_value_replaces_its_name)
{
	struct command_result result;
	char line[128];

	be_alone();
	result = PERFEX("encode", values[_i].pmu, "-e", values[_i].event);
	snprintf(line, sizeof(line), "%s = %s\n", values[_i].event, values[_i].value);
	ck_assert_msg(strncmp(result.out, line, strlen(line)) == 0, "%s", result.out);
	result = PERFEX("check", values[_i].pmu, "-e", values[_i].value);
	ck_assert_str_eq(result.err, "");
	ck_assert_int_eq(result.status, 0);
}
END_TEST

/*
 * Register values have the names that are in the SDM's table of NetBurst's events and its figures of CCCR and ESCR, or
 * in that of Nehalem's events.  Names have register values.  perfex warns of values without a name.  CRU_ESCR2 feeds
 * the counters 12, 13 and 16, CRU_ESCR3 feeds 14, 15 and 17.
 */
static const struct {
	const char *pmu, *event, *out, *err;
} meanings[] = {
	{ "--pmu=netburst", "0x0003b000/0x0c001804@14",
	  "  event: branch_retired:MMTP:MMTM:u\n  counters: 14\n  ESCR: CRU_ESCR3 (14)\n", "" },
	{ "--pmu=netburst", "0x0027b000/0x0c001808@14",
	  "  event: branch_retired:MMTP:MMTM:thr=2:k\n", "" },
	{ "--pmu=netburst", "0x0003b000/0x10000204@15", "  event: front_end_event:NBOGUS:u\n", "" },
	{ "--pmu=netburst", "0x00033000/0x09000034@8", "  event: x87_FP_uop:TAG0:ALL:u\n", "" },
	{ "--pmu=netburst", "0x0003b000/0x04000804@8", "  event: memory_cancel:ST_RB_FULL:u\n",
	  "" },
	{ "--pmu=netburst", "0x0003b000/0x04000204@12", "  event: machine_clear:CLEAR:u\n", "" },
	/* The tags are in other registers, and T1_USR is in no name. */
	{ "--pmu=netburst", "0x0003b000/0x12000204@12",
	  "  event: replay_event:NBOGUS:u, with further fields\n", "" },
	{ "--pmu=netburst", "0x00035000/0x04000405@14",
	  "  event: uops_type:TAGLOADS:u, with further fields\n", "" },
	{ "--pmu=netburst", "branch_retired:MMTP",
	  "  counters: 12 13 14 15 16 17\n  ESCR: CRU_ESCR2 (12 13 16), CRU_ESCR3 (14 15 17)\n",
	  "" },
	{ "--pmu=netburst", "instructions", "  event: instr_retired:NBOGUSNTAG:u\n", "" },
	{ "--pmu=netburst", "0x0003b000/0x0c000804@0", "  ESCR: IX_ESCR0 (0)\n",
	  "perfex: warning: event '0x0003b000/0x0c000804@0': IX_ESCR0, which feeds counter 0, detects "
	  "no event 0x6; that is" },
	{ "--pmu=netburst", "0x0003b000/0x0c000804@0", "",
	  ", or branch_retired of CRU_ESCR2 and CRU_ESCR3\n" },
	{ "--pmu=netburst", "0x0003b000/0x0c002004@12", "",
	  "perfex: warning: event '0x0003b000/0x0c002004@12': branch_retired has no unit masks for the "
	  "bits 0x2000 of the ESCR; perfex list -l branch_retired shows them\n" },
	{ "--pmu=netburst", "0x0003b000/0x0c000004@12", "",
	  "branch_retired counts nothing without a unit mask" },
	{ "--pmu=nhm", "0x4101c2", "  event: UOPS_RETIRED:u\n", "" },
	{ "--pmu=nhm", "0x2c602c3", "  event: MACHINE_CLEARS:MEM_ORDER:c=2:i:e:k\n", "" },
	{ "--pmu=p5", "0xd6", "  event: INSTRUCTIONS_EXECUTED:uk\n", "" },
	{ "--pmu=p5", "0x180", "  event: CLOCKS:u\n", "" },
	{ "--pmu=k7", "0x411f42", "  event: DATA_CACHE_REFILLS_FROM_L2:u\n", "" },
	{ "--pmu=k7", "0x411142", "  event: DATA_CACHE_REFILLS_FROM_L2:MODIFIED:INVALID:u\n", "" },
	{ "--pmu=via_c3", "0xc0", "  event: INSTRUCTIONS_EXECUTED\n", "" },
};

START_TEST(register_values_are_named)
{
	struct command_result result;

	be_alone();
	result = PERFEX("encode", meanings[_i].pmu, "-e", meanings[_i].event);
	ck_assert_int_eq(result.status, 0);
	ck_assert_msg(strstr(result.out, meanings[_i].out), "%s", result.out);
	ck_assert_msg(*meanings[_i].err ? strstr(result.err, meanings[_i].err) != NULL
					: !*result.err,
		      "%s", result.err);
}
END_TEST

/* The end of a sentence is missing if the buffer was too small. */
static const struct {
	const char *library, *perfex;
} sentences[] = {
	{ "use another of 'perfctr_backends()'", "use another of 'perfex info'" },
	{ "see: perfctr_get_pmu_info()", "see: perfex info" },
	{ "see 'perfctr_events_parse()' for those that can",
	  "see 'perfex check' for those that can" },
	{ "perfctr_events_list() and perfctr_events_list(TLB) show",
	  "perfex list and perfex list TLB show" },
	{ "perfctr_events_list_once(a_b) shows them", "perfex list -l a_b shows them" },
	{ "see perfctr_events_list(", "see perfctr_events_list(" },
	{ "perfctr_region_begin() counts there", "perfex --regions counts there" },
};

START_TEST(sentences_of_the_library_name_commands)
{
	char text[128];

	strcpy(text, sentences[_i].library);
	name_commands(text);
	ck_assert_str_eq(text, sentences[_i].perfex);
}
END_TEST

/* The driver refuses these in a context, see tests/families/refusals.c. */
static const struct {
	const char *pmu, *event, *err;
} never[] = {
	{ "--pmu=arch", "0xc0",
	  "perfex: event 0x000000c0@0: evntsel bits 0x400000 (enable) must be set, and a "
	  "mode; write 0x004100c0@0 for user mode\n" },
	{ "--pmu=arch", "0x4000c0",
	  "perfex: event 0x004000c0@0: it would never count: it selects neither user nor kernel "
	  "mode; write 0x004100c0@0 for user mode\n" },
	{ "--pmu=arch", "0x5300c0",
	  "perfex: event 0x005300c0@0: evntsel bits 0x100000 (INT) cannot be set for this counter; "
	  "write 0x004300c0@0, or other bits of 0xffc7ffff\n" },
	{ "--pmu=arch", "0x7900c0",
	  "perfex: event 0x007900c0@0: evntsel bits 0x380000 (PC, INT, ANY) cannot be set for this "
	  "counter; write 0x004100c0@0, or other bits of 0xffc7ffff\n" },
	{ "--pmu=arch", "0xf004100c0",
	  "perfex: event 0xf004100c0@0: evntsel bits 0xf00000000 cannot be set for this counter; "
	  "write 0x004100c0@0, or other bits of 0xffc7ffff\n" },
	{ "--pmu=arch", "0x4100c0/0x4@1",
	  "perfex: event 0x004100c0/0x00000004@1: this machine has no second event select word; "
	  "leave out /0x4\n" },
	{ "--pmu=arch", "0x4100c0@0x40000000",
	  "perfex: event 0x004100c0@0x40000000: evntsel bits 0xc0 cannot be set for this "
	  "counter; write 0x00410000@0x40000000, or other bits of 0x430000\n" },
	{ "--pmu=p5", "0x16",
	  "perfex: event 0x00000016@0: it would never count: it selects neither user nor kernel "
	  "mode; write 0x00000096@0 for user mode\n" },
};

START_TEST(what_would_be_refused_is_no_event_that_fits)
{
	struct command_result result;

	be_alone();
	result = PERFEX("check", never[_i].pmu, "-e", never[_i].event);
	ck_assert_str_eq(result.err, never[_i].err);
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(result.status, 125);
}
END_TEST

/* All backends count these events on all processors. */
START_TEST(the_operating_systems_events_take_no_counter)
{
	struct command_result result;

	be_alone();
	result = PERFEX("check", "--pmu=nhm", "-e", "instructions,page-faults:u,cs");
	ck_assert_str_eq(result.err, "");
	ck_assert_str_eq(result.out, "instructions                     counter 0           user\n"
				     "page-faults:u                    no counter          user\n"
				     "cs                               no counter          "
				     "user+kernel\n");
	result = PERFEX("encode", "--pmu=k8", "-e", "page-faults");
	ck_assert_str_eq(result.err, "");
	ck_assert_str_eq(result.out, "page-faults: the operating system counts it, by no "
				     "register\n");
	ck_assert_int_eq(result.status, 0);
}
END_TEST

TCase *listing_tests(void)
{
	TCase *tests = tcase_create("listing");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, answers_are_as_expected, 0, ARRAY_SIZE(runs));
	tcase_add_test(tests, all_processors_are_listed_on_a_machine_that_is_forced);
	tcase_add_test(tests, each_processor_of_the_list_is_a_pmu);
	tcase_add_test(tests, reserved_bits_are_shown);
	tcase_add_loop_test(tests, a_value_replaces_its_name, 0, ARRAY_SIZE(values));
	tcase_add_loop_test(tests, register_values_are_named, 0, ARRAY_SIZE(meanings));
	tcase_add_loop_test(tests, what_would_be_refused_is_no_event_that_fits, 0,
			    ARRAY_SIZE(never));
	tcase_add_loop_test(tests, sentences_of_the_library_name_commands, 0,
			    ARRAY_SIZE(sentences));
	tcase_add_test(tests, the_operating_systems_events_take_no_counter);
	return tests;
}
