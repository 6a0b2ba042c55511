// SPDX-License-Identifier: GPL-2.0-or-later
/* Command lines of perf users: perfex understands them, or says what to write instead. */
#include "command.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void be_alone(void)
{
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("PERFCTR_EVENTS");
}

/* A list in one -e, and the same events in several -e. */
static const struct {
	const char *list, *event[3];
} lists[] = {
	{ "instructions,branches", { "instructions", "branches" } },
	{ "instructions:u,cycles:k,branches", { "instructions:u", "cycles:k", "branches" } },
	{ "cpu/event=0xc0,umask=0/,cycles", { "cpu/event=0xc0,umask=0/", "cycles" } },
	{ "cycles,cpu/event=0xc0,umask=0/k", { "cycles", "cpu/event=0xc0,umask=0/k" } },
	{ "0x4100c0@0,0x4100c4/0x0@1,cycles", { "0x4100c0@0", "0x4100c4/0x0@1", "cycles" } },
	{ "{instructions,branches}", { "instructions", "branches" } },
	{ "{instructions,branches@1}:k,cycles", { "instructions:k", "branches:k@1", "cycles" } },
	{ "cycles,{cpu/event=0xc0,umask=0/}:u", { "cycles", "cpu/event=0xc0,umask=0/:u" } },
};

START_TEST(a_list_is_its_events)
{
	struct command_result list, each;
	const char *arguments[12] = { "encode", "--pmu=nhm" };
	int n = 2;

	for (int i = 0; i < 3 && lists[_i].event[i]; i++) {
		arguments[n++] = "-e";
		arguments[n++] = lists[_i].event[i];
	}
	each = run_perfex(arguments);
	list = PERFEX("encode", "--pmu=nhm", "-e", lists[_i].list);
	ck_assert_str_eq(each.err, "");
	ck_assert_str_eq(list.err, "");
	ck_assert_int_eq(list.status, 0);
	ck_assert_str_eq(list.out, each.out);
}
END_TEST

#define WRITE "; write it like instructions,branches or {instructions,branches}\n"

#define SAMPLES                                                                                    \
	"perfex: perfex record takes samples, perfex samples shows where they are; to count a "    \
	"program of the name "

#define DETAILED                                                                                   \
	"name the events: -e L1-dcache-loads,L1-dcache-load-misses; perfex list cache shows this " \
	"machine's\n"

/* These are refused before perfex looks for a PMU. */
static const struct {
	const char *arguments[8];
	const char *err;
} refused[] = {
	{ { "-e", "instructions,,cycles", "true" },
	  "perfex: event list 'instructions,,cycles': an event is missing in front of ',cycles'" WRITE },
	{ { "-e", "instructions,", "true" },
	  "perfex: event list 'instructions,': an event is missing at the end" WRITE },
	{ { "encode", "--pmu=nhm", "-e", "," },
	  "perfex: event list ',': an event is missing in front of ','" WRITE },
	{ { "-e", "{instructions,cycles", "true" },
	  "perfex: event list '{instructions,cycles': a group ends with '}'; write it like "
	  "{instructions,branches}\n" },
	{ { "-e", "{instructions,{cycles}}", "true" },
	  "perfex: event list '{instructions,{cycles}}': an event is missing in front of "
	  "'{cycles}}'" WRITE },
	{ { "-e", "{instructions}{cycles}", "true" },
	  "perfex: event list '{instructions}{cycles}': a ',' is missing in front of "
	  "'{cycles}'\n" },
	{ { "-e", "instructions}", "true" },
	  "perfex: event list 'instructions}': a ',' is missing in front of '}'\n" },
	{ { "system", "-r", "2", "true" },
	  "perfex: perfex system has no option -r, --repeat as perf has: CPUs are counted once; "
	  "perfex -r N repeats COMMAND\n" },
	{ { "system", "-p", "1" },
	  "perfex: perfex system has no option -p, --pid as perf has: perfex -p PID counts a "
	  "process, on whichever CPU\n" },
	{ { "system", "-I", "1000", "--interval-count=2" },
	  "perfex: perfex system has no option --interval-count as perf has: --count=N\n" },
	{ { "system", "--timeout=2000" },
	  "perfex: perfex system has no option --timeout as perf has: give sleep(1) as COMMAND, or "
	  "--interval=MS --count=1\n" },
	{ { "stat", "-M", "IPC", "true" },
	  "perfex: perfex has no option -M, --metrics as perf has: -g GROUP counts a group and "
	  "derives its values, perfex list --groups shows them; or --derive 'ipc = instructions / "
	  "cycles'\n" },
	{ { "system", "-j", "-x,", "true" },
	  "perfex: --json and --field-separator exclude each other; give one\n" },
	{ { "mark", "-x,", "-j", "true" },
	  "perfex: --field-separator and --json exclude each other; give one\n" },
	{ { "mark", "-r", "2", "true" },
	  "perfex: perfex mark has no option -r, --repeat as perf has: marked processes are "
	  "counted once; perfex -r N repeats COMMAND\n" },
	{ { "mark", "-I", "9", "true" },
	  "perfex: perfex mark has no option -I, --interval as perf has: it counts until nobody "
	  "bears the mark; perfex -I MS COMMAND writes intervals\n" },
	{ { "stat", "record", "true" },
	  "perfex: perfex -j -o FILE COMMAND keeps the counts, perfex diff compares them; to count a "
	  "program of the name 'record', type perfex run record\n" },
	{ { "annotate" },
	  "perfex: perfex record takes samples, perfex samples --annotate=FUNCTION shows them by "
	  "instruction; to count a program of the name 'annotate', type perfex run annotate\n" },
	{ { "script" },
	  "perfex: perfex report shows what perfex trace has recorded, perfex samples what perfex "
	  "record has; to count a program of the name 'script', type perfex run script\n" },
	{ { "top", "-e", "cycles" }, SAMPLES "'top', type perfex run top\n" },
	{ { "record", "-p", "1" },
	  "perfex: perfex record has no option -p, --pid as perf has: COMMAND and what it starts are "
	  "sampled; perfex -p PID counts a process\n" },
	{ { "record", "--call-graph", "dwarf", "true" },
	  "perfex: perfex record has no option --call-graph as perf has: -g, --callers records "
	  "callers, by frame pointers\n" },
	{ { "record", "-a", "sleep", "1" },
	  "perfex: perfex record has no option -a, --all-cpus as perf has: COMMAND and what it starts "
	  "are sampled; perfex system counts CPUs\n" },
	{ { "samples", "--stdio" },
	  "perfex: perfex samples has no option --stdio as perf has: it prints; leave it out\n" },
	{ { "samples", "-g" },
	  "perfex: perfex samples has no option -g, --call-graph as perf has: --folded and --flame "
	  "show callers\n" },
	{ { "samples", "-i", "perf.data" },
	  "perfex: perfex samples has no option -i, --input as perf has: give FILE alone\n" },
	{ { "report" },
	  "perfex: give one file of perfex trace; see perfex report --help; perfex samples shows what "
	  "perfex record has written\n" },
	{ { "probe", "--add", "tcp_sendmsg" },
	  "perfex: perfex counts what processors count, and places no probes; to count a program "
	  "of the name 'probe', type perfex run probe\n" },
	{ { "help", "frob" }, "perfex: there is no subcommand 'frob'; perfex help shows all\n" },
	{ { "help", "run", "list" },
	  "perfex: perfex help takes one subcommand, 'list' is another\n" },
	{ { "stat" }, "perfex: no command given; see perfex --help\n" },
	{ { "-a", "-r", "2", "true" },
	  "perfex: perfex system has no option -r, --repeat as perf has: CPUs are counted once; perfex -r N "
	  "repeats COMMAND\n" },
	{ { "stat", "-C", "0,x", "true" }, "perfex: --cpu=0,x: give numbers of CPUs from 0 to 1023, like 0,2-3\n" },
	{ { "-A", "--passes=2", "true" }, "perfex: unknown option '--passes=2'; see perfex system --help\n" },
	{ { "stat", "--per-core", "true" },
	  "perfex: perfex has no option --per-core as perf has: perfex system counts all that "
	  "runs on CPUs: perfex system --per-cpu; rules of perfex-rules(5) add\n" },
	{ { "-t", "1", "true" },
	  "perfex: perfex has no option -t, --tid as perf has: -p PID --per-thread counts all "
	  "threads of a process, each by itself\n" },
	{ { "--detailed", "true" },
	  "perfex: perfex has no option --detailed as perf has: " DETAILED },
	{ { "-d", "-e", "cycles", "true" },
	  "perfex: -d, --decimal is for events that are numbers, and none follows; what perf's -d "
	  "counts: " DETAILED },
	{ { "-x", "-e", "cycles", "true" },
	  "perfex: --hex (-x) is for events that are numbers, and none follows; write them like -e "
	  "4100c0@0, or separate columns by -x,\n" },
	{ { "--hex", "true" },
	  "perfex: --hex is for events that are numbers, and none follows; write them like -e "
	  "4100c0@0, or separate columns by -x,\n" },
	{ { "-d", "-e", "4100c0", "true" },
	  "perfex: event '4100c0': evntsel '4100c0' could be hexadecimal or decimal; write "
	  "0x4100c0 for hexadecimal\n" },
	{ { "--backend=", "true" },
	  "perfex: --backend= needs a name; perfex info shows those that there are\n" },
	{ { "--nhlm_offcore_rsp_1=2", "true" },
	  "perfex: --nhlm_offcore_rsp_1=2: perfctr does not set the registers of offcore responses; "
	  "leave it out, and the events that need it\n" },
	{ { "--format=2.7", "true" },
	  "perfex: --format=2.7: there are text, csv, json and 2.6\n" },
	{ { "--format=2.6", "--csv", "true" },
	  "perfex: --format and --csv exclude each other; give one\n" },
	{ { "--format=2.6", "-r", "2", "true" },
	  "perfex: --format=2.6 has no place for more than one run; leave out --repeat and "
	  "--passes\n" },
	{ { "--format=2.6", "--per-thread", "true" },
	  "perfex: --format=2.6 has the sums of the run and no more; leave out --interval, "
	  "--per-process, --per-thread, --derive, --rules and --group\n" },
	{ { "-x;", "true" },
	  "perfex: --field-separator=;: columns are separated by ','; give --csv or --json\n" },
	{ { "-x,", "-j", "true" },
	  "perfex: --field-separator and --json exclude each other; give one\n" },
	{ { "--all-user", "--kernel", "true" },
	  "perfex: --all-user and --kernel exclude each other; give one\n" },
	{ { "-p", "1,2" },
	  "perfex: --pid=1,2: give one process; several are counted by perfex mark -p PID -p "
	  "PID\n" },
	{ { "--backend=perf_events", "-e", "instructions:pp", "true" },
	  "perfex: event 'instructions:pp': 'p' asks for precise samples, and a count takes none; "
	  "leave it out\n" },
	{ { "-e", "cycles,4100c0", "true" },
	  "perfex: event '4100c0': evntsel '4100c0' could be hexadecimal or decimal; write "
	  "0x4100c0 for hexadecimal\n" },
};

START_TEST(what_is_not_counted_so_is_answered)
{
	struct command_result result = run_perfex(refused[_i].arguments);

	ck_assert_str_eq(result.err, refused[_i].err);
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(result.status, 125);
}
END_TEST

static const struct {
	const char *help[3], *option[3];
} helps[] = {
	{ { "help" }, { "--help" } },
	{ { "help", "run" }, { "run", "--help" } },
	{ { "help", "stat" }, { "run", "--help" } },
	{ { "help", "list" }, { "list", "--help" } },
};

START_TEST(help_of_a_subcommand_is_its_option)
{
	struct command_result help = run_perfex(helps[_i].help);
	struct command_result option = run_perfex(helps[_i].option);

	ck_assert_str_eq(help.out, option.out);
	ck_assert_str_eq(help.err, "");
	ck_assert_int_eq(help.status, 0);
}
END_TEST

/* Returns the longest line, in columns. */
static size_t longest_line(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t length = strcspn(text, "\n");

		longest = length > longest ? length : longest;
		text += length + (text[length] == '\n');
	}
	return longest;
}

/* The help of perfex ends with a row for each subcommand. */
START_TEST(help_fits_into_80_columns)
{
	struct command_result help = PERFEX("--help");
	const char *row = strstr(help.out, "Subcommands");
	char name[32];
	int n = 0;

	ck_assert_uint_le(longest_line(help.out), 80);
	ck_assert_ptr_nonnull(row);
	while ((row = strchr(row, '\n')) && sscanf(++row, " %31s", name) == 1) {
		struct command_result subcommand = PERFEX(name, "--help");

		ck_assert_int_eq(subcommand.status, 0);
		ck_assert_msg(longest_line(subcommand.out) <= 80, "%s", subcommand.out);
		n++;
	}
	ck_assert_int_eq(n, 22);
}
END_TEST

START_TEST(a_program_is_run_though_perf_has_a_command_of_its_name)
{
	enter_directory();
	write_text("annotate", "#!/bin/sh\nexit 7\n");
	ck_assert_int_eq(chmod("annotate", 0755), 0);
	write_text("record", "#!/bin/sh\nexit 7\n");
	ck_assert_int_eq(chmod("record", 0755), 0);
	ck_assert_int_eq(PERFEX("./annotate").status, 7);
	setenv("PATH", ".:/usr/bin:/bin", 1);
	ck_assert_int_eq(PERFEX("annotate").status, 7);
	ck_assert_int_eq(PERFEX("stat", "record").status, 7);
	leave_directory();
}
END_TEST

START_TEST(a_directory_is_no_program)
{
	struct command_result annotate, record;

	enter_directory();
	ck_assert_int_eq(mkdir("annotate", 0755), 0);
	ck_assert_int_eq(mkdir("record", 0755), 0);
	setenv("PATH", ".:/usr/bin:/bin", 1);
	annotate = PERFEX("annotate");
	record = PERFEX("stat", "record", "true");
	leave_directory();
	ck_assert_str_eq(annotate.err,
			 "perfex: perfex record takes samples, perfex samples --annotate=FUNCTION shows them "
			 "by instruction; to count a program of the name 'annotate', type perfex run "
			 "annotate\n");
	ck_assert_int_eq(annotate.status, 125);
	ck_assert_str_eq(record.err,
			 "perfex: perfex -j -o FILE COMMAND keeps the counts, perfex diff compares them; to "
			 "count a program of the name 'record', type perfex run record\n");
	ck_assert_int_eq(record.status, 125);
}
END_TEST

/*
 * Options of perf, and the same options of perfex.  Two runs have different counts, so only the first lines of the
 * outputs are compared.
 */
static const struct {
	const char *perf[6], *perfex[6];
} options[] = {
	{ { "-x,", "true" }, { "--csv", "true" } },
	{ { "--format=csv", "true" }, { "--csv", "true" } },
	{ { "-x", ",", "-D", "1", "true" }, { "--csv", "--delay=1", "true" } },
};

START_TEST(an_option_of_perf_is_perfex_own)
{
	struct command_result perf = run_perfex(options[_i].perf);
	struct command_result perfex = run_perfex(options[_i].perfex);
	size_t n = strcspn(perfex.err, "\r\n");

	ck_assert_int_eq(perf.status, 0);
	ck_assert_uint_gt(n, 0);
	ck_assert_int_eq(strncmp(perf.err, perfex.err, n + 1), 0);
	ck_assert_int_eq(PERFEX("-j", "true").err[0], '{');
	ck_assert_int_eq(PERFEX("--json-output", "true").err[0], '{');
}
END_TEST

/* Codes as in Linux, arch/x86/events, and libpfm4's name for the same code if it has one. */
static const struct {
	const char *pmu, *name, *code, *libpfm;
} caches[] = {
	{ "--pmu=core", "LLC-load-misses", " 0x00414129\n", NULL },
	{ "--pmu=nhm", "L1-dcache-loads", " 0x0041010b\n", "MEM_INST_RETIRED:LOADS" },
	{ "--pmu=nhm", "L1-dcache-load-misses", " 0x00410151\n", "L1D:REPL" },
	{ "--pmu=nhm", "dTLB-load-misses", " 0x00410108\n", "DTLB_LOAD_MISSES:ANY" },
	{ "--pmu=nhm", "stalled-cycles-frontend", " 0x01c1010e\n", "UOPS_ISSUED:ANY:c=1:i" },
	{ "--pmu=snb", "iTLB-load-misses", " 0x00410185\n", "ITLB_MISSES:CAUSES_A_WALK" },
	{ "--pmu=hsw", "dTLB-store-misses", " 0x00410149\n",
	  "DTLB_STORE_MISSES:MISS_CAUSES_A_WALK" },
	{ "--pmu=skl", "L1-dcache-stores", " 0x004182d0\n", "MEM_INST_RETIRED:ALL_STORES" },
	{ "--pmu=icl", "L1-dcache-loads", " 0x004181d0\n", "MEM_INST_RETIRED:ALL_LOADS" },
	{ "--pmu=icl", "L1-dcache-load-misses", " 0x00410151\n", "L1D:REPLACEMENT" },
	{ "--pmu=icx", "dTLB-load-misses", " 0x00410e08\n", "DTLB_LOAD_MISSES:WALK_COMPLETED" },
	{ "--pmu=icx", "iTLB-load-misses", " 0x00410e85\n", "ITLB_MISSES:WALK_COMPLETED" },
	{ "--pmu=spr", "L1-dcache-stores", " 0x004182d0\n", "MEM_INST_RETIRED:ALL_STORES" },
	{ "--pmu=spr", "L1-dcache-load-misses", " 0x0041e124\n", "L2_RQSTS:ALL_DEMAND_DATA_RD" },
	{ "--pmu=spr", "L1-icache-load-misses", " 0x0041e424\n", "L2_RQSTS:ALL_CODE_RD" },
	{ "--pmu=spr", "dTLB-load-misses", " 0x00410e12\n", "DTLB_LOAD_MISSES:WALK_COMPLETED" },
	{ "--pmu=spr", "dTLB-store-misses", " 0x00410e13\n", "DTLB_STORE_MISSES:WALK_COMPLETED" },
	{ "--pmu=spr", "iTLB-load-misses", " 0x00410e11\n", "ITLB_MISSES:WALK_COMPLETED" },
	{ "--pmu=ivb", "dTLB-load-misses", " 0x00418108\n",
	  "DTLB_LOAD_MISSES:DEMAND_LD_MISS_CAUSES_A_WALK" },
	{ "--pmu=atom", "L1-dcache-loads", " 0x00412140\n", "L1D_CACHE:LD" },
	{ "--pmu=atom", "dTLB-load-misses", " 0x00410508\n", "DATA_TLB_MISSES:DTLB_MISS_LD" },
	{ "--pmu=slm", "iTLB-load-misses", " 0x00450205\n", NULL },
	{ "--pmu=knl", "iTLB-load-misses", " 0x00450205\n", NULL },
	{ "--pmu=glm", "iTLB-load-misses", " 0x00410481\n", "ITLB:MISS" },
	{ "--pmu=tmt", "dTLB-store-misses", " 0x00410e49\n", NULL },
	{ "--pmu=p6", "L1-dcache-loads:k", " 0x00020043\n", NULL },
	{ "--pmu=amd64_fam10h_barcelona", "LLC-loads", " 0x0041037d\n", NULL },
	{ "--pmu=amd64_fam17h_zen1", "L1-icache-load-misses", " 0x00410081\n", NULL },
	{ "--pmu=k7", "branch-loads", " 0x004100c2\n", NULL },
};

START_TEST(names_of_caches_are_what_linux_counts)
{
	struct command_result result = PERFEX("encode", caches[_i].pmu, "-e", caches[_i].name);

	ck_assert_str_eq(result.err, "");
	ck_assert_msg(strstr(result.out, caches[_i].code), "%s", result.out);
	if (!caches[_i].libpfm)
		return;
	result = PERFEX("encode", caches[_i].pmu, "-e", caches[_i].libpfm);
	ck_assert_msg(strstr(result.out, caches[_i].code), "%s%s", result.err, result.out);
}
END_TEST

START_TEST(a_name_in_the_slashes_of_cpu_is_a_name)
{
	struct command_result result =
		PERFEX("encode", "--pmu=nhm", "-e", "cpu/instructions/k,cpu/branch-misses/");

	ck_assert_str_eq(result.err, "");
	ck_assert_msg(strstr(result.out, " 0x004200c0\n"), "%s", result.out);
	ck_assert_msg(strstr(result.out, " 0x004100c5\n"), "%s", result.out);
}
END_TEST

START_TEST(what_a_pentium_4_misses_is_replayed)
{
	struct command_result perf =
		PERFEX("encode", "--pmu=netburst", "-e", "L1-dcache-load-misses");

	ck_assert_msg(strstr(perf.out, "IA32_PEBS_ENABLE 0x1000001, MSR_PEBS_MATRIX_VERT 0x1:"),
		      "%s%s", perf.err, perf.out);
}
END_TEST

TCase *habits_tests(void)
{
	TCase *tests = tcase_create("habits");

	tcase_add_checked_fixture(tests, be_alone, NULL);
	tcase_add_loop_test(tests, a_list_is_its_events, 0, ARRAY_SIZE(lists));
	tcase_add_loop_test(tests, what_is_not_counted_so_is_answered, 0, ARRAY_SIZE(refused));
	tcase_add_loop_test(tests, help_of_a_subcommand_is_its_option, 0, ARRAY_SIZE(helps));
	tcase_add_test(tests, help_fits_into_80_columns);
	tcase_add_test(tests, a_program_is_run_though_perf_has_a_command_of_its_name);
	tcase_add_test(tests, a_directory_is_no_program);
	tcase_add_loop_test(tests, an_option_of_perf_is_perfex_own, 0, ARRAY_SIZE(options));
	tcase_add_loop_test(tests, names_of_caches_are_what_linux_counts, 0, ARRAY_SIZE(caches));
	tcase_add_test(tests, what_a_pentium_4_misses_is_replayed);
	tcase_add_test(tests, a_name_in_the_slashes_of_cpu_is_a_name);
	return tests;
}
