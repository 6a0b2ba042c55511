// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex with perf_events: the counts are the same as with the patch, and the backend is named. */
#include "stock.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INSTRUCTIONS_0 "0x004100c0@0"
#define BRANCHES_1 "0x004100c4@1"

static void expect_success(const struct run *r)
{
	ck_assert_msg(r->status == 0, "wait status %#x: %s", r->status, r->err);
}

static void expect_words(const char *text, const char *const words[])
{
	for (; *words; words++)
		ck_assert_msg(strstr(text, *words), "no \"%s\" in: %s", *words, text);
}

#define EXPECT_WORDS(text, ...) expect_words(text, (const char *const[]){ __VA_ARGS__, NULL })

START_TEST(a_program_is_counted_exactly)
{
	struct run r;

	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, "-e", BRANCHES_1, program("loop"));
	expect_success(&r);
	ck_assert_uint_eq(printed_count(r.err, INSTRUCTIONS_0), LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(printed_count(r.err, BRANCHES_1), LOOP_BRANCHES(SHORT_LOOP));
	EXPECT_WORDS(r.err, "perf_events");
}
END_TEST

START_TEST(a_tree_is_counted_exactly_by_run_and_by_mark)
{
	struct run r;

	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, program("tree"), program("loop"));
	expect_success(&r);
	ck_assert_uint_eq(printed_count(r.err, INSTRUCTIONS_0), TREE_INSTRUCTIONS);
	RUN(&r, "perfex", "mark", "-e", INSTRUCTIONS_0, program("tree"), program("loop"));
	expect_success(&r);
	ck_assert_uint_eq(printed_count(r.err, INSTRUCTIONS_0), TREE_INSTRUCTIONS);
}
END_TEST

/* Before Linux 6.2, events of the processor and others are in lists of their own. */
START_TEST(a_tree_of_many_processes_at_once_is_counted_whole)
{
	char script[256];
	struct run r;

	snprintf(script, sizeof(script),
		 "i=0; while [ $i -lt 100 ]; do %s & i=$((i + 1)); done; wait", program("loop"));
	for (unsigned int round = 0; round < 3; round++) {
		RUN(&r, "perfex", "-e", "instructions:u,cycles:u", "sh", "-c", script);
		expect_success(&r);
		ck_assert_uint_gt(printed_count(r.err, "instructions:u"),
				  100 * LOOP_INSTRUCTIONS(SHORT_LOOP));
	}
}
END_TEST

START_TEST(info_tells_what_counts_and_why_the_patch_does_not)
{
	struct run r;

	RUN(&r, "perfex", "-i");
	expect_success(&r);
	EXPECT_WORDS(r.out, "backend patch: not available", "backend perf_events: used",
		     "general counters: 4\n", "isolation: off");
}
END_TEST

START_TEST(json_has_the_count_and_the_backend)
{
	json_object *document, *backend, *events, *event, *counts;
	struct run r;

	RUN(&r, "perfex", "--json", "-e", INSTRUCTIONS_0, program("loop"));
	expect_success(&r);
	document = json_tokener_parse(r.err);
	ck_assert_msg(document, "no JSON: %s", r.err);
	ck_assert_msg(json_object_object_get_ex(document, "backend", &backend), "%s", r.err);
	ck_assert_str_eq(json_object_get_string(backend), "perf_events");
	ck_assert_msg(json_object_object_get_ex(document, "events", &events), "%s", r.err);
	event = json_object_array_get_idx(events, 0);
	ck_assert_msg(json_object_object_get_ex(event, "counts", &counts), "%s", r.err);
	ck_assert_uint_eq(json_object_get_uint64(json_object_array_get_idx(counts, 0)),
			  LOOP_INSTRUCTIONS(SHORT_LOOP));
	json_object_put(document);
}
END_TEST

START_TEST(csv_has_the_count_and_the_backend)
{
	char expected[64];
	struct run r;

	snprintf(expected, sizeof(expected), ",%llu", 2000004ull);
	RUN(&r, "perfex", "--csv", "-e", INSTRUCTIONS_0, program("loop"));
	expect_success(&r);
	EXPECT_WORDS(r.err, INSTRUCTIONS_0, expected, "perf_events");
}
END_TEST

START_TEST(events_that_do_not_fit_are_refused_before_the_command_starts)
{
	char directory[] = "/tmp/stock-XXXXXX";
	struct stat status;
	struct run r;

	ck_assert(mkdtemp(directory) && chdir(directory) == 0);
	RUN(&r, "perfex", "--passes=1", "-e0x004181d0", "-e0x004182d0", "-e0x004100c4",
	    "-e0x004120c4", "-e0x0041010b", "touch", "started");
	ck_assert_msg(r.status == 125 << 8, "wait status %#x: %s", r.status, r.err);
	ck_assert_msg(strchr(r.err, '\n') == r.err + strlen(r.err) - 1, "%s", r.err);
	EXPECT_WORDS(r.err, "4", "--passes");
	ck_assert_int_eq(stat("started", &status), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

SUITE(command, a_program_is_counted_exactly, a_tree_is_counted_exactly_by_run_and_by_mark,
      a_tree_of_many_processes_at_once_is_counted_whole,
      info_tells_what_counts_and_why_the_patch_does_not, json_has_the_count_and_the_backend,
      csv_has_the_count_and_the_backend,
      events_that_do_not_fit_are_refused_before_the_command_starts)
