// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfex validate on an exact PMU: emulator/README.md has its events. An event that counts
 * something else than it should is found out.
 */
#include "perfex_shell.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The fewest runs, with enough time on a busy host. */
#define VALIDATE "perfex validate -r 2 --time=1000 "
/* The two lines of an exact event that counts, in addition, only what reading itself takes. */
#define EXACT "1.000000         0\n"
#define BY_READING "which reading counts,"

static const char *behind_event(const char *text, const char *event)
{
	char line[128];
	const char *at;

	snprintf(line, sizeof(line), "\n%s ", event);
	at = strstr(text, line);
	ck_assert_msg(at, "no %s in:\n%s", event, text);
	return at + strlen(line);
}

/* The two lines of the event contain both. */
static void expect_lines(const char *text, const char *event, const char *class,
			 const char *verdict)
{
	const char *at = behind_event(text, event), *end = strchr(strchr(at, '\n') + 1, '\n');
	char lines[256];

	snprintf(lines, sizeof(lines), "%.*s", (int)(end - at), at);
	ck_assert_msg(strstr(lines, class) && strstr(lines, verdict), "%s: no '%s', '%s' in:\n%s",
		      event, class, verdict, text);
}

/* The event is exact, or has an overhead: b is 1, within the error of the benchmark. */
static void expect_trusted(const char *text, const char *event, const char *meaning)
{
	const char *at = behind_event(text, event), *verdict = strchr(at, '\n') + 1;
	size_t blanks = strspn(verdict, " "), length = strlen(meaning);

	ck_assert_msg((strncmp(at + strspn(at, " "), "exact", 5) == 0 ||
		       strncmp(at + strspn(at, " "), "overhead", 8) == 0) &&
			      strncmp(verdict + blanks, meaning, length) == 0 &&
			      verdict[blanks + length] == ':',
		      "%s, %s:\n%s", event, meaning, text);
}

struct judged {
	const char *event, *meaning; /* as the verdict begins */
};

/* a is the count of the empty benchmark in all benchmarks, b is 1, and nothing is left over. */
static void expect_exact(const struct judged *judged, size_t n, const char *options, int status)
{
	char command[1024] = VALIDATE, verdict[128];
	struct run r;

	strcat(command, options);
	for (size_t i = 0; i < n; i++) {
		strcat(command, " -e ");
		strcat(command, judged[i].event);
	}
	enter_directory();
	expect(&r, command, status);
	for (size_t i = 0; i < n; i++) {
		snprintf(verdict, sizeof(verdict), "    %s: subtract ", judged[i].meaning);
		expect_lines(r.out, judged[i].event, EXACT, verdict);
		expect_lines(r.out, judged[i].event, "overhead", verdict);
		ck_assert_msg(strstr(behind_event(r.out, judged[i].event), BY_READING), "%s", r.out);
	}
}

static const struct judged nehalem[] = {
	{ "instructions", "instructions" },
	{ "branches", "branches" },
	{ "MEM_INST_RETIRED:LOADS", "loads" },
	{ "MEM_INST_RETIRED:STORES", "stores" },
	{ "INST_RETIRED:ANY", "instructions" },
	{ "r00c0", "instructions" },
};

START_TEST(events_of_nehalem_count_what_they_should)
{
	expect_exact(nehalem, ARRAY_SIZE(nehalem), "", 0);
}
END_TEST

/* Events of caches, TLBs and a predictor, of the shape that CPUID reports, or another. */
static void expect_all_trusted(const struct judged *judged, size_t n)
{
	char command[1024] = VALIDATE;
	struct run r;

	for (size_t i = 0; i < n; i++) {
		strcat(command, " -e ");
		strcat(command, judged[i].event);
	}
	enter_directory();
	expect(&r, command, 0);
	for (size_t i = 0; i < n; i++)
		expect_trusted(r.out, judged[i].event, judged[i].meaning);
}

static const struct judged misses_of_nehalem[] = {
	{ "branch-misses", "mispredicted-branches" },
	{ "L1-dcache-load-misses", "l1d-misses" },
	{ "L1-icache-load-misses", "l1i-misses" },
	{ "dTLB-load-misses", "dtlb-misses" },
	{ "iTLB-load-misses", "itlb-misses" },
	{ "cache-misses", "llc-misses" },
	{ "MEM_LOAD_RETIRED:L3_MISS", "llc-misses" },
	{ "MEM_LOAD_RETIRED:DTLB_MISS", "dtlb-misses" },
};

START_TEST(misses_of_nehalem_are_those_of_the_model)
{
	expect_all_trusted(misses_of_nehalem, ARRAY_SIZE(misses_of_nehalem));
}
END_TEST

/* Misses of the last cache are not those of the first one, and code is not data. */
START_TEST(misses_of_other_caches_are_found_out)
{
	struct run r;

	enter_directory();
	expect(&r, VALIDATE "--as=l1d-misses -e cache-misses -e L1-icache-load-misses", EXITED(1));
	expect_lines(r.out, "cache-misses", "unknown", "l1d-misses: ");
	expect_lines(r.out, "L1-icache-load-misses", "unknown", "l1d-misses: ");
}
END_TEST

/* No table says that a Nehalem has this event. */
static const struct judged unnamed[] = { { "r20c4", "its counts are those of taken-branches" } };

START_TEST(what_an_event_without_a_name_counts_is_found)
{
	expect_exact(unnamed, ARRAY_SIZE(unnamed), "", EXITED(1));
}
END_TEST

/* For each 1000 the chain has two more instructions, which take a cycle each. */
START_TEST(other_events_have_other_classes)
{
	struct run r;

	enter_directory();
	expect(&r,
	       VALIDATE "-e cycles -e BR_INST_RETIRED:CONDITIONAL -e page-faults -e 0x41ffc4",
	       EXITED(1));
	expect_lines(r.out, "cycles", "overhead", " 1.00");
	expect_lines(r.out, "BR_INST_RETIRED:CONDITIONAL", "unknown",
		     "conditional-branches: counts nothing");
	expect_lines(r.out, "page-faults", "exact", "page-faults: trust it");
	expect_lines(r.out, "0x41ffc4", "unknown", "its meaning is not known");
}
END_TEST

/* The table calls taken branches "branches", and branches "instructions". */
START_TEST(tables_that_lie_are_found_out)
{
	struct run r;

	enter_directory();
	write_file("lie.tbl", "pmu arch\nbranches 0x20c4 any occurrence Branches\n"
			      "instructions 0xc4 any occurrence Instructions\n");
	expect(&r, "PERFCTR_EVENTS=$PWD " VALIDATE "-e branches -e instructions", EXITED(1));
	expect_lines(r.out, "branches", "unknown", "branches: means something else: 0.5 to 1 of");
	expect_lines(r.out, "instructions", "unknown", "instructions: means something else: ");
}
END_TEST

START_TEST(groups_are_looked_at)
{
	struct run r;

	enter_directory();
	expect(&r, VALIDATE "-g BRANCH", 0);
	expect_lines(r.out, "branches", "overhead", "branches: subtract");
	expect_trusted(r.out, "branch-misses", "mispredicted-branches");
}
END_TEST

START_TEST(another_backend_is_judged_likewise)
{
	struct run r;

	enter_directory();
	expect(&r, VALIDATE "--backend=perf_events -e instructions -e branches", 0);
	expect_lines(r.out, "instructions", EXACT, "instructions: subtract");
	expect_lines(r.out, "branches", EXACT, "branches: subtract");
}
END_TEST

/* However long the program is, it executes nothing in kernel mode. */
START_TEST(kernel_mode_has_nothing_of_user_mode)
{
	struct run r;

	enter_directory();
	expect(&r, VALIDATE "-j -e branches:k; true", 0);
	ck_assert_msg(strstr(r.out, "\"modes\":\"kernel\""), "%s", r.out);
	ck_assert_msg(!strstr(r.out, "\"expected\":10"), "%s", r.out);
	ck_assert_msg(!strstr(r.out, "means something else"), "%s", r.out);
}
END_TEST

START_TEST(all_events_of_the_machine_can_be_asked_for_in_limited_time)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex validate --all --time=1 --picture=all.svg >out", EXITED(1));
	expect(&r, "grep '^UOPS_RETIRED:MACRO_FUSED  *none' out && tail -n 1 out", 0);
	ck_assert_msg(strstr(r.out, "\ncut short: not all of it was measured\n"), "%s", r.out);
	expect(&r, "[ $(grep -c 'not measured$' out) -gt 100 ]", 0);
	expect(&r, "grep '>UOPS_RETIRED:MACRO_FUSED<' all.svg", 0);
}
END_TEST

/* When the time is over, only a run that has begun goes on. */
START_TEST(its_time_is_kept)
{
	const time_t begin = time(NULL);
	time_t seconds;
	struct run r;

	enter_directory();
	expect(&r, "perfex validate -r 1000 --time=3", EXITED(1));
	seconds = time(NULL) - begin;
	ck_assert_msg(seconds >= 2 && seconds < 30, "%ld", (long)seconds);
	ck_assert_msg(strstr(r.out, "\ncut short: "), "%s", r.out);
}
END_TEST

#define ONE_EVENT "perfex validate -r 2 --time=1000 -e page-faults"

START_TEST(a_terminal_sees_how_far_it_is)
{
	struct run r;

	enter_directory();
	expect(&r, "script -qec '" ONE_EVENT "' /dev/null </dev/null", 0);
	ck_assert_msg(strstr(r.out, "\rpass 1 of 1: new-pages"), "%s", r.out);
	expect(&r, ONE_EVENT, 0);
	ck_assert_str_eq(r.err, "");
}
END_TEST

START_TEST(a_signal_ends_it_with_what_was_measured)
{
	int status;
	pid_t pid;

	enter_directory();
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (freopen("out", "w", stdout))
			execlp("perfex", "perfex", "validate", "--time=1000", "--picture=begun", "-e",
			       "page-faults", "-e", "instructions", NULL);
		_exit(127);
	}
	while (access("begun", F_OK) < 0)
		sleep_us(10000);
	kill(pid, SIGINT);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT, "%#x", status);
	ck_assert(strstr(contents("out"), "\ncut short: "));
}
END_TEST

/* Findings on such a processor, for events by their registers in user mode. */
#define FOUND(registers, class, verdict)                                                           \
	"{\"name\":\"n\",\"modes\":\"user\",\"registers\":\"" registers                              \
	"\",\"meaning\":\"branches\",\"found\":false,\"class\":\"" class "\",\"verdict\":\"" verdict \
	"\",\"a\":0,\"b\":1}"
#define FILE_OF_PROCESSOR "validation-emulated-GenuineIntel-6-26-3.json"
#define WARNING(event)                                                                             \
	"perfex: event '" event "' is not to be trusted on this processor: of branches it counts half "      \
	"(./" FILE_OF_PROCESSOR ")\n"

static void expect_warning(const char *events, const char *warning)
{
	char command[256];
	struct run r;

	snprintf(command, sizeof(command), "PERFCTR_PROCESSORS=. perfex -o counts %s true", events);
	expect(&r, command, 0);
	ck_assert_str_eq(r.err, warning);
	ck_assert_uint_gt(lines(contents("counts"), "/sec"), 0);
}

START_TEST(events_that_are_known_to_be_wrong_here_are_warned_of)
{
	enter_directory();
	expect_warning("-e branches", "");
	write_file(FILE_OF_PROCESSOR,
		   "{\"schema\":\"perfex-validation\",\"version\":1,\"complete\":true,\"events\":["
		   FOUND("0x004100c4", "multiplicative", "counts half") ","
		   FOUND("0x004100c0", "overhead", "subtract 5") ","
		   FOUND("0x00410000@0x40000001", "multiplicative", "counts half") "]}");
	expect_warning("-e branches -e instructions", WARNING("branches"));
	expect_warning("-e r00c4 -e BR_INST_RETIRED:ALL_BRANCHES",
		       WARNING("r00c4") WARNING("BR_INST_RETIRED:ALL_BRANCHES"));
	expect_warning("-e branches:k -e MEM_INST_RETIRED:LOADS", "");
	expect_warning("-e CPU_CLK_UNHALTED:CORE", WARNING("CPU_CLK_UNHALTED:CORE"));
	write_file(FILE_OF_PROCESSOR, "nothing");
	expect_warning("-e branches", "perfex: './" FILE_OF_PROCESSOR "', which says what events to trust: "
				      "it is no JSON; give a file that perfex validate --json wrote\n");
}
END_TEST

START_TEST(what_is_asked_for_in_vain_is_refused)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex validate -e instrctions", EXITED(125));
	ck_assert(strstr(r.err, "perfex: event 'instrctions': this machine has no such event"));
	expect(&r, "perfex validate -e branches --as=nonsense", EXITED(125));
	ck_assert(strstr(r.err, "there is no meaning 'nonsense'; there are: instructions "));
	expect(&r, "perfex validate --as=branches", EXITED(125));
	expect(&r, "perfex validate --picture=/nowhere/file -e branches", EXITED(125));
	expect(&r, "perfex validate branches", EXITED(125));
}
END_TEST

SUITE(validity,
      events_of_nehalem_count_what_they_should,
      misses_of_nehalem_are_those_of_the_model,
      misses_of_other_caches_are_found_out,
      what_an_event_without_a_name_counts_is_found,
      other_events_have_other_classes,
      tables_that_lie_are_found_out,
      groups_are_looked_at,
      another_backend_is_judged_likewise,
      kernel_mode_has_nothing_of_user_mode,
      all_events_of_the_machine_can_be_asked_for_in_limited_time,
      a_terminal_sees_how_far_it_is,
      a_signal_ends_it_with_what_was_measured,
      events_that_are_known_to_be_wrong_here_are_warned_of,
      what_is_asked_for_in_vain_is_refused,
      BY_THE_CLOCK,
      its_time_is_kept)

static const struct judged zen[] = {
	{ "instructions", "instructions" },
	{ "branches", "branches" },
	{ "RETIRED_TAKEN_BRANCH_INSTRUCTIONS", "taken-branches" },
	{ "LS_DISPATCH:LD_DISPATCH", "loads" },
	{ "LS_DISPATCH:STORE_DISPATCH", "stores" },
};

START_TEST(events_of_zen_count_what_they_should)
{
	expect_exact(zen, ARRAY_SIZE(zen), "", 0);
}
END_TEST

static const struct judged misses_of_zen[] = {
	{ "branch-misses", "mispredicted-branches" }, { "L1-dcache-load-misses", "l1d-misses" },
	{ "L1-icache-load-misses", "l1i-misses" },    { "dTLB-load-misses", "dtlb-misses" },
	{ "iTLB-load-misses", "itlb-misses" },
};

START_TEST(misses_of_zen_are_those_of_the_model)
{
	expect_all_trusted(misses_of_zen, ARRAY_SIZE(misses_of_zen));
}
END_TEST

/*
 * Intel's code for branches is AMD's for taken ones: three of four, where every second jump is
 * taken.
 */
START_TEST(a_code_of_another_maker_is_found_out)
{
	struct run r;
	const char *at;

	enter_directory();
	expect(&r, VALIDATE "-j -e r00c4 --as=branches", EXITED(1));
	ck_assert_msg(strstr(r.out, "\"meaning\":\"branches\",\"found\":false,\"class\":\"unknown\""), "%s",
		      r.out);
	ck_assert_msg(strstr(r.out, "\"verdict\":\"means something else: 0.5 to 1 of each\""), "%s", r.out);
	at = strstr(r.out, "{\"name\":\"alternating\",\"class\":\"multiplicative\",");
	ck_assert_msg(at && strncmp(strstr(at, "\"b\":"), "\"b\":0.75,", 9) == 0, "%s", r.out);
	at = strstr(r.out, "{\"name\":\"loop\",\"class\":\"overhead\",");
	ck_assert_msg(at && strncmp(strstr(at, "\"b\":"), "\"b\":1,", 6) == 0, "%s", r.out);
}
END_TEST

SUITE(validity_zen,
      events_of_zen_count_what_they_should,
      misses_of_zen_are_those_of_the_model,
      a_code_of_another_maker_is_found_out)

static const struct judged amd[] = {
	{ "instructions", "instructions" },
	{ "RETIRED_BRANCH_INSTRUCTIONS", "branches" },
	{ "r00c4", "taken-branches" },
};

START_TEST(events_of_amd_count_what_they_should)
{
	expect_exact(amd, ARRAY_SIZE(amd), "", 0);
}
END_TEST

static const struct judged misses_of_amd[] = {
	{ "branch-misses", "mispredicted-branches" }, { "L1-dcache-load-misses", "l1d-misses" },
	{ "L1-icache-load-misses", "l1i-misses" },    { "dTLB-load-misses", "dtlb-misses" },
	{ "iTLB-load-misses", "itlb-misses" },
};

START_TEST(misses_of_amd_are_those_of_the_model)
{
	expect_all_trusted(misses_of_amd, ARRAY_SIZE(misses_of_amd));
}
END_TEST

SUITE(validity_amd, events_of_amd_count_what_they_should, misses_of_amd_are_those_of_the_model)

static const struct judged netburst[] = {
	{ "instr_retired:NBOGUSNTAG", "instructions" },
	{ "branches", "branches" },
	{ "branch_retired:MMTP:MMTM", "taken-branches" },
};

/* Reading takes no x87 instruction. */
START_TEST(events_of_netburst_count_what_they_should)
{
	struct run r;

	expect_exact(netburst, ARRAY_SIZE(netburst), "", 0);
	expect(&r, VALIDATE "-e x87_FP_uop:ALL", 0);
	expect_lines(r.out, "x87_FP_uop:ALL", "exact", "x87-instructions: trust it");
}
END_TEST

static const struct judged misses_of_netburst[] = {
	{ "branch-misses", "mispredicted-branches" },
	{ "replay_event:NBOGUS:L1_LD_MISS", "l1d-misses" },
	{ "replay_event:NBOGUS:L2_LD_MISS", "l2-misses" },
	{ "replay_event:NBOGUS:DTLB_LD_MISS", "dtlb-misses" },
	{ "BSQ_cache_reference:RD_2ndL_MISS", "l2-misses" },
	{ "cache-misses", "llc-misses" },
	{ "BPU_fetch_request:TCMISS", "l1i-misses" },
	{ "page_walk_type:DTMISS", "dtlb-misses" },
	{ "ITLB_reference:MISS", "itlb-misses" },
};

START_TEST(misses_of_netburst_are_those_of_the_model)
{
	expect_all_trusted(misses_of_netburst, ARRAY_SIZE(misses_of_netburst));
}
END_TEST

/* Each load of the walk misses, in its first runs as in its last ones. */
START_TEST(first_runs_of_a_walk_count_as_its_last_ones)
{
	struct run r;
	const char *walk;

	enter_directory();
	expect(&r, VALIDATE "-j -e replay_event:NBOGUS:L2_LD_MISS", 0);
	walk = strstr(r.out, "{\"name\":\"l2-walk\",\"class\":\"exact\",");
	ck_assert_msg(walk, "%s", r.out);
	for (unsigned int size = 10; size <= 10000; size *= 10) {
		char runs[128];

		snprintf(runs, sizeof(runs),
			 "{\"size\":%u,\"expected\":%u,\"runs\":2,\"mean\":%u,\"min\":%u,\"max\":%u,", size,
			 size, size, size, size);
		ck_assert_msg(strstr(walk, runs), "no %s in:\n%s", runs, walk);
	}
}
END_TEST

SUITE(validity_p4,
      events_of_netburst_count_what_they_should,
      misses_of_netburst_are_those_of_the_model,
      first_runs_of_a_walk_count_as_its_last_ones)

static const struct judged hybrid[] = {
	{ "instructions", "instructions" },
	{ "branches", "branches" },
	{ "core::r20c4", "its counts are those of taken-branches" },
	{ "atom::r80c4", "its counts are those of taken-branches" },
};

/* Each kind of core has codes of its own, and is tried on one of its CPUs. */
START_TEST(events_of_each_kind_of_core_count_what_they_should)
{
	struct run r;

	expect_exact(hybrid, ARRAY_SIZE(hybrid), "", EXITED(1));
	expect(&r, VALIDATE "--as=loads -e core::r81d0 -e atom::r82d0 -e atom::r81d0", EXITED(1));
	expect_lines(r.out, "core::r81d0", "overhead", "loads: subtract");
	expect_lines(r.out, "atom::r82d0", "overhead", "loads: subtract");
	expect_lines(r.out, "atom::r81d0", "unknown", "loads: means something else: 0 to 1 of each");
}
END_TEST

SUITE(validity_hybrid, events_of_each_kind_of_core_count_what_they_should)
