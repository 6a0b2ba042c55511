// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of the user, which add names. */
#include "mutate.h"
#include "names.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Creates a directory with one table, and puts it first in the search path. */
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
	ck_assert_msg(perfctr_events_parse_once(info, "loads", USER, &request, error,
						sizeof(error)) == 0,
		      "%s", error);
	ck_assert_uint_eq(request.evntsel, 0x41010b);
	ck_assert_uint_eq(request.general, 6);
	ck_assert_int_eq(perfctr_events_parse_once(info, "branches:k", USER, &request, error,
						   sizeof(error)),
			 0);
	ck_assert_uint_eq(request.evntsel, 0x42020b);
	ck_assert_int_eq(perfctr_events_parse_once(info, "cache-misses", USER, &request, error,
						   sizeof(error)),
			 0);
	ck_assert_uint_eq(request.general, 8);
	remove_table(directory);
}
END_TEST

/* An event that needs a register that perfctr does not set is refused with that register's name. */
START_TEST(a_further_register_is_refused_in_words)
{
	const struct perfctr_pmu_info *info = be_machine(NEHALEM);
	struct perfctr_request request;
	char directory[64], error[512] = "";

	write_table(directory, "pmu nhm\n"
			       "far 0x01b7,0x1a6|0x1a7=0x11 any unknown Of memory\n");
	ck_assert_int_eq(perfctr_events_parse_once(info, "far", USER, &request, error,
						   sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, ENOTSUP);
	ck_assert_str_eq(error, "it needs the value 0x11 in a further register, 0x1a6 or 0x1a7, "
				"which perfctr does not set; perf stat counts it");
	remove_table(directory);
}
END_TEST

static const struct {
	const char *text;
	const char *line; /* after the path */
} malformed[] = {
	{ "pmu arch\nloads 0b any occurrence x\n", ":2: '0b' is not a code like 0xc0" },
	{ "pmu arch\n\nloads 0x0b 0-99 occurrence x\n",
	  ":3: '0-99' is not a set of counters like 0-1 or any" },
	{ "pmu arch\nloads 0x0b 1-0 occurrence x\n",
	  ":2: '1-0' is not a set of counters like 0-1 or any" },
	{ "pmu arch\nfar 0xb7,0x1a6 any occurrence x\n",
	  ":2: '0x1a6' is not a further register like 0x1a6=0x11" },
	{ "pmu arch\nfar 0xb7,0x1a6=0x11|0x1a7 any occurrence x\n",
	  ":2: '0x1a6=0x11|0x1a7' is not a further register like 0x1a6=0x11" },
	{ "pmu arch\n\tLOADS 0x01 x\n", ":2: the unit mask 'LOADS' is not below an event" },
	{ "pmu arch\na 0x01 any occurrence x\npmu arch p6\n\tLOADS 0x01 x\n",
	  ":4: the unit mask 'LOADS' is not below an event" },
	{ "pmu arch\na 0x01 any occurrence x\nb = a\n\tLOADS 0x01 x\n",
	  ":4: the unit mask 'LOADS' is not below an event" },
	{ "pmu arch\na 0x01 any occurrence x\n * 0x01 x\n", ":3: '*' needs a unit mask in front" },
	{ "pmu arch\nloads 0x0b any often x\n",
	  ":2: 'often' is none of 'occurrence', 'duration', 'unknown'" },
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
	ck_assert_int_eq(perfctr_events_parse_once(info, "instructions", USER, &request, error,
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
	ck_assert_int_eq(perfctr_events_parse_once(info, "one", USER, &request, error,
						   sizeof(error)),
			 -1);
	ck_assert_str_eq(error, "by the tables it stands for itself");
	remove_table(directory);
}
END_TEST

/* A name that is typed has at most 127 characters, but an alias may be longer. */
START_TEST(libpfm_gets_all_of_a_long_alias)
{
	const struct perfctr_pmu_info *info = be_machine(NEHALEM);
	struct perfctr_request request;
	char directory[64], error[512] = "", table[600] = "pmu arch\nlong = UNHALTED_CORE_CYCLES:c=";

	memset(table + strlen(table), '0', 300);
	strcat(table, "2\n");
	write_table(directory, table);
	ck_assert_msg(perfctr_events_parse_once(info, "long", USER, &request, error, sizeof(error)) == 0,
		      "%s", error);
	ck_assert_uint_eq(request.evntsel, 0x241003c);
	remove_table(directory);
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

/* Table 3.2 of K. D. Safford, "A framework for using the Pentium's performance monitoring hardware", 1997. */
static const char *const thesis[] = {
	[0x00] = "data_read",
	[0x01] = "data_write",
	[0x02] = "data_tlb_miss",
	[0x03] = "data_read_miss",
	[0x04] = "data_write_miss",
	[0x05] = "write_to_M_or_E_lines",
	[0x06] = "data_cache_lines_written_back",
	[0x07] = "external_snoops",
	[0x08] = "data_cache_snooping_hits",
	[0x09] = "memory_accesses_in_both_pipes",
	[0x0a] = "bank_conflicts",
	[0x0b] = "misaligned_data_memory_or_IO_references",
	[0x0c] = "code_read",
	[0x0d] = "code_tlb_miss",
	[0x0e] = "code_cache_miss",
	[0x0f] = "segment_register_loaded",
	[0x12] = "branches",
	[0x13] = "btb_hits",
	[0x14] = "taken_branch_or_btb_hit",
	[0x15] = "pipeline_flushes",
	[0x16] = "instructions_executed",
	[0x17] = "instructions_executed_in_v_pipe",
	[0x18] = "clocks_while_bus_cycle_in_progress",
	[0x19] = "clocks_stalled_full_write_buffers",
	[0x1a] = "clocks_stalled_waiting_data_read",
	[0x1b] = "clocks_stalled_write_to_M_or_E_line",
	[0x1c] = "locked_bus_cycle",
	[0x1d] = "IO_read_or_write_cycle",
	[0x1e] = "non_cacheable_memory_reads",
	[0x1f] = "pipeline_stalled_address_generation_interlock",
	[0x22] = "flops",
	[0x23] = "breakpoint_match_DR0",
	[0x24] = "breakpoint_match_DR1",
	[0x25] = "breakpoint_match_DR2",
	[0x26] = "breakpoint_match_DR3",
	[0x27] = "hardware_interrupts",
	[0x28] = "data_read_or_write",
	[0x29] = "data_read_or_write_miss",
};

START_TEST(the_pentiums_events_have_the_names_of_the_thesis)
{
	const struct perfctr_pmu_info *info = be_machine(P5);
	struct perfctr_request request;
	char error[512] = "";
	int n = 0;

	for (uint64_t code = 0; code < ARRAY_SIZE(thesis); code++) {
		if (!thesis[code])
			continue;
		n++;
		ck_assert_msg(perfctr_events_parse_once(info, thesis[code], USER, &request, error,
							sizeof(error)) == 0,
			      "%s: %s", thesis[code], error);
		ck_assert_uint_eq(request.evntsel, 0x80 | code);
	}
	ck_assert_int_eq(n, 38);
}
END_TEST

TCase *names_tables_tests(void)
{
	TCase *tests = tcase_create("names-tables");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, users_tables_come_first);
	tcase_add_test(tests, a_further_register_is_refused_in_words);
	tcase_add_loop_test(tests, malformed_tables_are_refused_with_their_place, 0,
			    ARRAY_SIZE(malformed));
	tcase_add_test(tests, an_alias_of_itself_ends);
	tcase_add_test(tests, libpfm_gets_all_of_a_long_alias);
	tcase_add_test(tests, damaged_tables_get_an_answer);
	tcase_add_test(tests, the_pentiums_events_have_the_names_of_the_thesis);
	return tests;
}
