// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events by name. The sources of the programs have the counts, worked out by hand;
 * emulator/README.md has the machine's events. libpfm4 takes the machine for a Nehalem, which it
 * is.
 */
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t count_by_name(const char *name, const char *program_name)
{
	const char *path = program(program_name);
	struct run r;

	RUN(&r, "perfex", "-e", name, path);
	ck_assert_msg(r.status == 0, "%s: %s", name, r.err);
	return printed_count(r.err, name);
}

static const struct {
	const char *name, *program;
	uint64_t count;
} counts[] = {
	{ "instructions", "loop", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	{ "instructions:u", "loop", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	{ "cycles", "loop", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	{ "ref-cycles", "loop", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	{ "branches", "loop", LOOP_BRANCHES(SHORT_LOOP) },
	{ "r00c4", "loop", LOOP_BRANCHES(SHORT_LOOP) },
	{ "cpu/event=0xc4,umask=0/", "loop", LOOP_BRANCHES(SHORT_LOOP) },
	{ "nhm::INST_RETIRED:ANY_P:u", "loop", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	{ "INST_RETIRED.ANY", "loop", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	{ "BR_INST_RETIRED:ALL_BRANCHES", "loop", LOOP_BRANCHES(SHORT_LOOP) },
	{ "instructions@0x40000000", "loop", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	{ "instructions", "memory", 17004 },
	{ "MEM_INST_RETIRED:LOADS", "memory", 16000 },
	{ "MEM_INST_RETIRED:STORES", "memory", 16000 },
	/* Names of perf, from the kernel's source, which make run and make check have read. */
	{ "inst_retired.any", "loop", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	{ "inst_retired.any_p", "loop", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	{ "mem_inst_retired.loads", "memory", 16000 },
	{ "mem_inst_retired.stores", "memory", 16000 },
	{ "cpu/mem_inst_retired.loads/u", "memory", 16000 },
	/* Each instruction takes one cycle, so that a threshold of one changes nothing. */
	{ "instructions:c=1", "loop", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	/* Inverted: the cycles without a branch. */
	{ "branches:c=1:i", "loop", LOOP_INSTRUCTIONS(SHORT_LOOP) - LOOP_BRANCHES(SHORT_LOOP) },
};

START_TEST(names_count_what_they_say)
{
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		ck_assert_msg(count_by_name(counts[i].name, counts[i].program) == counts[i].count,
			      "%s of %s", counts[i].name, counts[i].program);
}
END_TEST

/* On a machine of another maker: the generic names, and those of libpfm4 for Zen. */
static const struct {
	const char *name;
	uint64_t count;
} amd_counts[] = {
	{ "instructions", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	{ "cycles", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	{ "branches", LOOP_BRANCHES(SHORT_LOOP) },
	{ "RETIRED_INSTRUCTIONS:u", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	/* Names that only the kernel's source has. */
	{ "ex_ret_instr", LOOP_INSTRUCTIONS(SHORT_LOOP) },
	{ "ex_ret_brn:u", LOOP_BRANCHES(SHORT_LOOP) },
	{ "r00c2", LOOP_BRANCHES(SHORT_LOOP) },
};

START_TEST(names_count_on_zen)
{
	for (size_t i = 0; i < ARRAY_SIZE(amd_counts); i++)
		ck_assert_msg(count_by_name(amd_counts[i].name, "loop") == amd_counts[i].count,
			      "%s", amd_counts[i].name);
}
END_TEST

START_TEST(names_that_do_not_exist_start_nothing)
{
	struct run r;

	unlink("/tmp/names-started");
	RUN(&r, "perfex", "-e", "instrctions", "touch", "/tmp/names-started");
	ck_assert_int_eq(WEXITSTATUS(r.status), 125);
	ck_assert_str_eq(r.err, "perfex: event 'instrctions': this machine has no such event; near "
				"it: "
				"instructions, migrations, INST_RETIRED; perfex list shows all\n");
	ck_assert_int_ne(access("/tmp/names-started", F_OK), 0);
}
END_TEST

/*
 * The machine also counts near taken branches, as Sandy Bridge does: all branches of the loop but
 * the last.
 */
START_TEST(users_tables_add_names)
{
	char directory[] = "/tmp/names-XXXXXX", path[64];

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/mine.tbl", directory);
	write_file(path, "pmu arch\n"
			 "near-taken 0x20c4 any occurrence Near branches that were taken\n");
	setenv("PERFCTR_EVENTS", directory, 1);
	ck_assert_uint_eq(count_by_name("near-taken", "loop"), SHORT_LOOP - 1);
	unlink(path);
	rmdir(directory);
}
END_TEST

static unsigned int occurrences(const char *text, const char *what)
{
	unsigned int n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

#define N_EVENTS 40

/*
 * Branches have no fixed counter: 40 events need ten passes on four counters. All of them are
 * exact.
 */
START_TEST(forty_events_take_ten_passes)
{
	const char *command[2 * N_EVENTS + 4] = { "perfex", "--passes=auto" };
	char count[32];
	struct run r;

	for (unsigned int i = 0; i < N_EVENTS; i++) {
		command[2 + 2 * i] = "-e";
		command[3 + 2 * i] = "branches";
	}
	command[2 + 2 * N_EVENTS] = program("loop-tiny");
	run(&r, command);
	ck_assert_int_eq(r.status, 0);
	snprintf(count, sizeof(count), " %u  user", TINY_LOOP + 1);
	ck_assert_uint_eq(occurrences(r.err, count), N_EVENTS);
	ck_assert_uint_eq(occurrences(r.err, "pass "), 10);
}
END_TEST

START_TEST(check_says_where_events_go_and_runs_nothing)
{
	struct run r;

	RUN(&r, "perfex", "check", "-e", "instructions", "-e", "branches:k", "-e", "ref-cycles");
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.out, "instructions                     counter 0           user\n"
				"branches:k                       counter 1           kernel\n"
				"ref-cycles                       counter 0x40000002  user\n");
}
END_TEST

START_TEST(list_has_the_machines_events)
{
	struct run r;

	RUN(&r, "perfex", "list", "instr*");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out, "instructions                     Instructions "
					    "retired\n"));
	RUN(&r, "perfex", "list", "mem_inst");
	ck_assert_ptr_nonnull(strstr(r.out, "MEM_INST_RETIRED "));
}
END_TEST

/* The machine also counts this event of Haswell: all branches of the loop but the last. */
START_TEST(names_of_perf_are_those_of_the_processor)
{
	struct run r;

	RUN(&r, "perfex", "-e", "br_inst_retired.near_taken", program("loop"));
	ck_assert_int_eq(WEXITSTATUS(r.status), 125);
	setenv("PERFCTR_CPUID", "GenuineIntel-6-3C-3", 1);
	ck_assert_uint_eq(count_by_name("br_inst_retired.near_taken", "loop"), SHORT_LOOP - 1);
	ck_assert_uint_eq(count_by_name("br_inst_retired.all_branches", "loop"),
			  LOOP_BRANCHES(SHORT_LOOP));
}
END_TEST

START_TEST(list_has_the_names_of_perf)
{
	struct run r;

	RUN(&r, "perfex", "list", "-l", "mem_inst_retired.l*");
	ck_assert_int_eq(r.status, 0);
	ck_assert_msg(strstr(r.out, "code 0x10b, counters 0-3, unknown, Linux nehalemep\n"), "%s%s",
		      r.out, r.err);
	ck_assert_str_eq(r.err, "");
	setenv("PERFCTR_LINUX_EVENTS", "/nonexistent", 1);
	RUN(&r, "perfex", "list", "mem_inst");
	unsetenv("PERFCTR_LINUX_EVENTS");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out, "MEM_INST_RETIRED "));
	ck_assert_str_eq(r.err, "perfex: the kernel's names of this processor's events are not "
				"here; where its source has them, 'make linux-events' makes a "
				"table\n");
}
END_TEST

/* The event needs a further register, which perf stat sets and the driver does not. */
START_TEST(what_needs_another_register_is_refused_in_words)
{
	struct run r;

	RUN(&r, "perfex", "-e", "offcore_response.any_data.any_dram", "true");
	ck_assert_int_eq(WEXITSTATUS(r.status), 125);
	ck_assert_str_eq(r.err, "perfex: event 'offcore_response.any_data.any_dram': it needs the "
				"value 0x6011 in a further register, 0x1a6, which perfctr does not "
				"set; perf stat counts it\n");
}
END_TEST

SUITE(names, names_count_what_they_say, names_that_do_not_exist_start_nothing,
      users_tables_add_names, forty_events_take_ten_passes,
      check_says_where_events_go_and_runs_nothing, list_has_the_machines_events,
      names_of_perf_are_those_of_the_processor, list_has_the_names_of_perf,
      what_needs_another_register_is_refused_in_words)

SUITE(zen, names_count_on_zen)
