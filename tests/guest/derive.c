// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rules over real counts. loop-tiny retires 2,004 instructions and 1,001 branches, and has no
 * loads.
 */
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_BOTH "-e", "0x004100c0", "-e", "0x004100c4@1"
#define PER_BRANCH "per_branch = '0x4100c0' / '0x004100c4@1'"

/* The output has this text after the name of the rule. */
static void expect_value(const struct run *r, const char *name, const char *value)
{
	size_t length = strlen(name);
	const char *line = r->err;
	char found[64];

	ck_assert_msg(r->status == 0, "wait status %#x: %s", r->status, r->err);
	while (line && (strncmp(line, name, length) != 0 || line[length] != ' ')) {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	ck_assert_msg(line, "no %s in:\n%s", name, r->err);
	ck_assert_int_eq(sscanf(line + length, " %63[^\n]", found), 1);
	ck_assert_str_eq(found, value);
}

START_TEST(a_rule_has_the_value_that_is_computed_by_hand)
{
	struct run r;

	RUN(&r, "perfex", COUNT_BOTH, "--derive", PER_BRANCH,
	    "--derive=difference = '0x004100c0@0' - 2 * '0x004100c4'",
	    "--derive=more = per_branch * 1001 + difference", program("loop-tiny"));
	expect_value(&r, "per_branch", "2.002  derived");
	expect_value(&r, "difference", "2  derived");
	expect_value(&r, "more", "2006  derived");
}
END_TEST

START_TEST(what_is_no_value_has_its_mark)
{
	struct run r;

	RUN(&r, "perfex", "-e", "0x004181d0", "--derive=none = '0x004181d0' / '0x004181d0'",
	    "--derive=unknown = 1 / '0x004100c5'", "--derive=over = 2 * unknown",
	    "--derive=time = tsc / tsc", program("loop-tiny"));
	expect_value(&r, "none", "-  derived");
	expect_value(&r, "unknown", "?  derived");
	expect_value(&r, "over", "?  derived");
	expect_value(&r, "time", "1  derived");
}
END_TEST

START_TEST(repetitions_give_an_interval)
{
	struct run r;

	RUN(&r, "perfex", COUNT_BOTH, "-r", "3", "--derive", PER_BRANCH, "--derive=time = tsc",
	    program("loop-tiny"));
	expect_value(&r, "per_branch", "2.002            0  derived");
	RUN(&r, "perfex", COUNT_BOTH, "-r", "3", "--csv", "--derive", PER_BRANCH,
	    program("loop-tiny"));
	ck_assert_ptr_nonnull(strstr(r.err,
				     "\r\nderived,,0,,,,,per_branch,,,,3,2.0019980019980022,,"
				     "2.0019980019980022,2.0019980019980022,,\r\n"));
}
END_TEST

#define FOUR_EVENTS                                                                                \
	"-e", "0x004100c0@0", "-e", "0x004100c4@0", "-e", "0x004100c0@1", "-e", "0x004100c4@1"

/* The events are counted in different runs of the program: the passes. */
START_TEST(rules_combine_passes)
{
	struct run r;

	RUN(&r, "perfex", "--passes=2", "-e", "0x004100c0@0", "-e", "0x004100c4@0", "-r", "2",
	    "--derive=per_branch = '0x004100c0@0' / '0x004100c4@0'", program("loop-tiny"));
	expect_value(&r, "per_branch", "2.002            0  derived across passes");
}
END_TEST

/* There are two ways to divide these events into passes: each pair of rules needs another one. */
START_TEST(passes_keep_the_events_of_a_rule_together)
{
	struct run r;

	RUN(&r, "perfex", "--passes=auto", FOUR_EVENTS,
	    "--derive=x = '0x004100c0@0' / '0x004100c4@1'",
	    "--derive=y = '0x004100c0@1' / '0x004100c4@0'", program("loop-tiny"));
	expect_value(&r, "x", "2.002  derived");
	expect_value(&r, "y", "2.002  derived");
	RUN(&r, "perfex", "--passes=auto", FOUR_EVENTS,
	    "--derive=x = '0x004100c0@0' / '0x004100c0@1'",
	    "--derive=y = '0x004100c4@0' / '0x004100c4@1'", program("loop-tiny"));
	expect_value(&r, "x", "1  derived");
	expect_value(&r, "y", "1  derived");
}
END_TEST

START_TEST(json_has_the_definition_and_diff_uses_it)
{
	char command[512];
	struct run r;

	RUN(&r, "perfex", COUNT_BOTH, "--json", "--derive", PER_BRANCH, program("loop-tiny"));
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.err, "\"derived\":[{\"name\":\"per_branch\",\"definition\":"
					    "\"'0x4100c0' / '0x004100c4@1'\","
					    "\"pass\":0,\"mean\":2.0019980019980022,\"low\":null,"
					    "\"high\":null}]"));
	snprintf(command, sizeof(command),
		 "cd /tmp; for n in '' -tiny; do perfex -e 0x004100c0 -e 0x004100c4@1 -r 2 --json "
		 "-o loop$n.json --derive \"" PER_BRANCH "\" %s$n; done; "
		 "perfex diff --csv loop-tiny.json loop.json",
		 program("loop"));
	RUN(&r, "sh", "-c", command);
	ck_assert_msg(strstr(r.out, "per_branch,,2.0019980019980022,2.0000019999980001,"), "%s%s",
		      r.out, r.err);
}
END_TEST

START_TEST(rules_come_from_files_too)
{
	struct run r;

	write_file("/tmp/test.rules", "# a comment\n\nx = min(y, 7)\ny = 2 * '0x004100c0'\n");
	RUN(&r, "perfex", "-e", "0x004100c0", "--rules=/tmp/test.rules", "--derive=z = x + y",
	    program("loop-tiny"));
	expect_value(&r, "x", "7  derived");
	expect_value(&r, "y", "4008  derived");
	expect_value(&r, "z", "4015  derived");
}
END_TEST

START_TEST(a_rule_with_the_name_of_an_event_is_refused)
{
	struct run r;

	unlink("/tmp/derive-started");
	RUN(&r, "perfex", "-e", "0x004100c0", "--derive='0x004100c0' = 1", "touch",
	    "/tmp/derive-started");
	ck_assert_int_eq(r.status, EXITED(125));
	ck_assert_str_eq(r.err, "perfex: rule '0x004100c0' has the name of an event; give it "
				"another\n");
	ck_assert_int_ne(access("/tmp/derive-started", F_OK), 0);
}
END_TEST

START_TEST(a_group_counts_its_events_and_shows_its_values)
{
	struct run r;

	RUN(&r, "perfex", "-g", "BRANCH,IPC", program("loop-tiny"));
	expect_value(&r, "instructions_per_branch", "2.002  derived");
	expect_value(&r, "branch_share", "49.9501  derived");
	RUN(&r, "perfex", "-g", "FLOPS", program("loop-tiny"));
	ck_assert_int_eq(WEXITSTATUS(r.status), 125);
	ck_assert_str_eq(r.err,
			 "perfex: group 'FLOPS' has no rules for this processor; perfex list "
			 "--groups shows those that have\n");
}
END_TEST

/*
 * Sets value[] to the counts, or values of a rule, in the rows of CSV that have this begin and the
 * name.  Returns the number of rows.
 */
static unsigned int find_rows(const char *csv, const char *begin, const char *event, double value[],
			      unsigned int most)
{
	char name[64];
	unsigned int n = 0;

	snprintf(name, sizeof(name), ",%s,", event);
	for (const char *line = csv; line && *line; line = strstr(line, "\r\n")) {
		const char *found;
		char row[256];

		line += line[0] == '\r' ? 2 : 0;
		snprintf(row, sizeof(row), "%.*s", (int)strcspn(line, "\r"), line);
		found = strstr(row, name);
		if (strncmp(row, begin, strlen(begin)) != 0 || !found)
			continue;
		ck_assert_uint_lt(n, most);
		/* counter, modes and count; or four empty fields, runs and mean */
		ck_assert_msg(sscanf(found + strlen(name), "%*[^,],%*[^,],%lf", &value[n]) == 1 ||
				      sscanf(found + strlen(name), ",,,1,%lf", &value[n]) == 1,
			      "%s", row);
		n++;
	}
	return n;
}

enum { MOST_INTERVALS = 1000 };

START_TEST(each_interval_has_values_of_its_own)
{
	static double instructions[MOST_INTERVALS], branches[MOST_INTERVALS],
		value[MOST_INTERVALS];
	unsigned int n;
	struct run r;

	RUN(&r, "perfex", COUNT_BOTH, "-I", "20", "--csv",
	    "--derive=sum = '0x004100c0@0' + 3 * '0x004100c4@1'", program("loop-long"));
	ck_assert_int_eq(r.status, 0);
	n = find_rows(r.err, "interval,0,0,", "0x004100c0@0", instructions, MOST_INTERVALS);
	ck_assert_uint_gt(n, 1);
	ck_assert_uint_eq(find_rows(r.err, "interval,0,0,", "0x004100c4@1", branches,
				    MOST_INTERVALS), n);
	ck_assert_uint_eq(find_rows(r.err, "derived,0,0,", "sum", value, MOST_INTERVALS), n);
	for (unsigned int i = 0; i < n; i++)
		ck_assert_double_eq(value[i], instructions[i] + 3 * branches[i]);
}
END_TEST

#define ELAPSED "\"definition\":\"elapsed_ns\",\"pass\":0,\"mean\":"

START_TEST(an_interval_knows_its_length_and_not_the_times_of_processes)
{
	const char *length, *all;
	struct run r;

	RUN(&r, "perfex", COUNT_BOTH, "-I", "10000", "--json", "--derive=length = elapsed_ns",
	    "--derive=user = user_ns", program("loop-tiny"));
	ck_assert_int_eq(r.status, 0);
	/* There is one interval, and so it is as long as all. */
	length = strstr(r.err, ELAPSED);
	ck_assert_msg(length && strtod(length + strlen(ELAPSED), NULL) > 0, "%s", r.err);
	all = strstr(length + 1, ELAPSED);
	ck_assert_msg(all && strtod(length + strlen(ELAPSED), NULL) ==
				     strtod(all + strlen(ELAPSED), NULL),
		      "%s", r.err);
	ck_assert_msg(strstr(r.err, "{\"name\":\"user\",\"definition\":\"user_ns\",\"pass\":0,"
				    "\"mean\":null,\"low\":null,\"high\":null,"
				    "\"why\":\"unreadable\"}]}\n{"), "%s", r.err);
}
END_TEST

START_TEST(a_mark_has_values_too)
{
	struct run r;

	RUN(&r, "perfex", "mark", COUNT_BOTH, "--derive", PER_BRANCH, program("loop-tiny"));
	expect_value(&r, "per_branch", "2.002  derived");
	RUN(&r, "perfex", "mark", "-g", "BRANCH", program("loop-tiny"));
	expect_value(&r, "instructions_per_branch", "2.002  derived");
	RUN(&r, "perfex", "mark", "-g", "BRANCH", "--list");
	ck_assert_int_eq(r.status, EXITED(125));
	ck_assert_msg(strstr(r.err, "--list counts nothing"), "%s", r.err);
}
END_TEST

#define MARKED "--policy", "marked,not-privileged"

START_TEST(cpus_have_values_too)
{
	static const char rule[] = "--derive=per_branch = '0x004300c0' / '0x004300c4'";
	struct run r;

	RUN(&r, "perfex", "system", MARKED, "-e", "0x004300c0", "-e", "0x004300c4", rule,
	    program("loop-tiny"));
	ck_assert_int_eq(r.status, 0);
	ck_assert_msg(strstr(r.out, "           2.002  per_branch            derived\n"), "%s", r.out);
	RUN(&r, "perfex", "system", MARKED, "--csv", "-e", "0x004300c0", "-e", "0x004300c4", rule,
	    "--derive=none = '0x004300c0' / 0", program("loop-tiny"));
	ck_assert_msg(strstr(r.out, ",,per_branch,,,2.0019980019980022,\r\n"), "%s", r.out);
	ck_assert_msg(strstr(r.out, ",,none,,,,\r\n"), "%s", r.out);
	RUN(&r, "perfex", "system", MARKED, "--json", "-g", "BRANCH", program("loop-tiny"));
	ck_assert_msg(strstr(r.out, "\"instructions / branches\",\"pass\":0,"
				    "\"mean\":2.0019980019980022,"), "%s", r.out);
	/* Each CPU has its own; the loop runs on one of two. */
	pin(0, 1);
	RUN(&r, "perfex", "system", MARKED, "--per-cpu", "-e", "0x004300c0", "-e", "0x004300c4",
	    rule, program("loop-tiny"));
	ck_assert_msg(strstr(r.out, "    1           2.002  per_branch "), "%s", r.out);
	ck_assert_msg(strstr(r.out, "    0               -  per_branch "), "%s", r.out);
	RUN(&r, "perfex", "system", "--openmetrics=/tmp/derived.prom", "-g", "BRANCH", "true");
	ck_assert_int_eq(r.status, EXITED(125));
	ck_assert_msg(strstr(r.err, "leave out --derive, --rules and --group\n"), "%s", r.err);
	ck_assert_int_ne(access("/tmp/derived.prom", F_OK), 0);
}
END_TEST

SUITE(derive, each_interval_has_values_of_its_own,
      an_interval_knows_its_length_and_not_the_times_of_processes, a_mark_has_values_too,
      cpus_have_values_too, a_group_counts_its_events_and_shows_its_values,
      a_rule_has_the_value_that_is_computed_by_hand, what_is_no_value_has_its_mark,
      repetitions_give_an_interval, rules_combine_passes, passes_keep_the_events_of_a_rule_together,
      json_has_the_definition_and_diff_uses_it, rules_come_from_files_too,
      a_rule_with_the_name_of_an_event_is_refused)
