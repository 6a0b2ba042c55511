// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex system, as a user runs it. The expected counts are those of asm/loop.S. */
#include "marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT "0x004300c0"

static void expect_run(const struct run *r, int status)
{
	ck_assert_msg(r->status == status, "wait status %#x\n%s%s", r->status, r->out, r->err);
}

/*
 * The sum of the event's counts in CSV, and the number of its rows. cpu -1: the rows of all CPUs.
 */
struct sum {
	uint64_t count;
	unsigned int rows;
};

static struct sum sum_rows(const char *text, int cpu, const char *event)
{
	struct sum sum = { 0, 0 };
	char place[16] = "";

	if (cpu >= 0)
		snprintf(place, sizeof(place), "%d", cpu);
	for (const char *line = strstr(text, "\r\n"); line && line[2]; line = strstr(line + 2, "\r\n")) {
		char row[256], *field[7], *rest = row;

		snprintf(row, sizeof(row), "%.*s", (int)strcspn(line + 2, "\r"), line + 2);
		for (size_t i = 0; i < ARRAY_SIZE(field); i++)
			field[i] = strsep(&rest, ",");
		ck_assert_msg(field[6] && !rest, "not a row: %s", line + 2);
		if (strcmp(field[1], place) || strcmp(field[2], event))
			continue;
		sum.count += strtoull(field[5], NULL, 10);
		sum.rows++;
	}
	return sum;
}

START_TEST(a_marked_command_is_exact_on_each_cpu_and_competitors_add_nothing)
{
	struct run r;

	competitors_start(2);
	RUN(&r, "perfex", "system", "--csv", "--policy", "marked,not-privileged", "-e", EVENT "@1",
	    program("loop"));
	expect_run(&r, 0);
	ck_assert_uint_eq(sum_rows(r.out, -1, EVENT "@1").count, LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(sum_rows(r.out, -1, EVENT "@1").rows, 1);
	ck_assert_msg(strstr(r.out, ",0x1,user,"), "%s", r.out);

	RUN(&r, "perfex", "system", "--csv", "--policy", "dp=1,dmr=1,du=0", "--per-cpu", "-I", "200",
	    "-e", EVENT "@1", program("loop-long"));
	expect_run(&r, 0);
	ck_assert_uint_eq(sum_rows(r.out, -1, EVENT "@1").rows, 0);
	ck_assert_uint_gt(sum_rows(r.out, 0, EVENT "@1").rows, 1);
	ck_assert_uint_eq(sum_rows(r.out, 0, EVENT "@1").count +
				  sum_rows(r.out, 1, EVENT "@1").count,
			  LOOP_INSTRUCTIONS(LONG_LOOP));
	ck_assert_uint_eq(pmu_info().session_counters, 0);
}
END_TEST

START_TEST(everything_counts_whoever_runs_in_both_modes)
{
	struct run r;

	RUN(&r, "perfex", "system", "--csv", "-e", EVENT, program("loop"));
	expect_run(&r, 0);
	ck_assert_uint_gt(sum_rows(r.out, -1, EVENT "@0").count, LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_msg(strstr(r.out, ",0x0,user+kernel,"), "%s", r.out);
	/* The command is marked, and only others are counted: much less than the command. */
	RUN(&r, "perfex", "system", "--csv", "--policy", "unmarked,not-privileged", "-e", EVENT,
	    program("loop-long"));
	expect_run(&r, 0);
	ck_assert_uint_lt(sum_rows(r.out, -1, EVENT "@0").count, LOOP_INSTRUCTIONS(LONG_LOOP) / 2);
}
END_TEST

START_TEST(cpus_can_be_chosen)
{
	struct run r;

	pin(0, 1);
	RUN(&r, "perfex", "system", "--csv", "--cpus=1", "--per-cpu", "--policy",
	    "marked,not-privileged", "-e", EVENT, program("loop"));
	expect_run(&r, 0);
	ck_assert_uint_eq(sum_rows(r.out, 0, EVENT "@0").rows, 0);
	ck_assert_uint_eq(sum_rows(r.out, 1, EVENT "@0").count, LOOP_INSTRUCTIONS(SHORT_LOOP));
	RUN(&r, "perfex", "system", "--csv", "--cpus=0", "--policy", "marked,not-privileged", "-e",
	    EVENT, program("loop"));
	expect_run(&r, 0);
	ck_assert_uint_eq(sum_rows(r.out, -1, EVENT "@0").count, 0);
}
END_TEST

/* As perf does: all CPUs, some CPUs, each CPU. */
START_TEST(options_of_perf_choose_cpus)
{
	struct run r;

	pin(0, 1);
	RUN(&r, "perfex", "-a", "--csv", "--user", "-e", EVENT, program("loop"));
	expect_run(&r, 0);
	ck_assert_uint_ge(sum_rows(r.out, -1, EVENT "@0").count, LOOP_INSTRUCTIONS(SHORT_LOOP));
	RUN(&r, "perfex", "stat", "-C", "1", "-A", "--csv", "-e", EVENT, program("loop"));
	expect_run(&r, 0);
	ck_assert_uint_eq(sum_rows(r.out, 0, EVENT "@0").rows, 0);
	ck_assert_uint_ge(sum_rows(r.out, 1, EVENT "@0").count, LOOP_INSTRUCTIONS(SHORT_LOOP));
	RUN(&r, "perfex", "-C", "0", "--csv", "-e", EVENT, program("loop"));
	expect_run(&r, 0);
	ck_assert_uint_lt(sum_rows(r.out, -1, EVENT "@0").count, LOOP_INSTRUCTIONS(SHORT_LOOP));
}
END_TEST

START_TEST(a_line_for_each_event_and_interval_with_count_and_rate)
{
	unsigned long long tsc, count, per_second;
	double seconds, of_tsc, last = 0;
	const char *line;
	struct run r;
	int n = 0;

	RUN(&r, "perfex", "system", "-I", "100", "--count", "3", "-e", EVENT);
	expect_run(&r, 0);
	ck_assert_str_eq(r.err, "");
	ck_assert_msg(strstr(r.out, " count  event "), "%s", r.out);
	for (line = strchr(r.out, '\n') + 1; *line; line = strchr(line, '\n') + 1, n++) {
		ck_assert_int_eq(sscanf(line, "%lf %llu tsc %*u", &of_tsc, &tsc), 2);
		line = strchr(line, '\n') + 1;
		ck_assert_int_eq(sscanf(line, "%lf %llu " EVENT "@0 user+kernel %llu", &seconds,
					&count, &per_second), 3);
		ck_assert(strcspn(line, "\n") <= 80);
		ck_assert_double_eq(seconds, of_tsc);
		ck_assert_double_gt(seconds, last);
		ck_assert_uint_gt(tsc, 0);
		ck_assert_uint_gt(count, 0);
		/* The time is printed in microseconds, which limits the precision. */
		ck_assert_double_eq_tol((double)per_second * (seconds - last), (double)count,
					(double)count * 1e-3);
		last = seconds;
	}
	ck_assert_int_eq(n, 3);
	ck_assert_double_ge(last, 0.3);
}
END_TEST

/* Nothing else on the machine does much in user mode. */
START_TEST(perfex_itself_can_be_left_out)
{
	uint64_t with, without;
	struct run r;

	RUN(&r, "perfex", "system", "--csv", "-I", "200", "--count", "2", "--policy",
	    "not-privileged", "-e", EVENT);
	expect_run(&r, 0);
	with = sum_rows(r.out, -1, EVENT "@0").count;
	RUN(&r, "perfex", "system", "--csv", "-I", "200", "--count", "2", "--policy",
	    "not-privileged", "--exclude-self", "-e", EVENT);
	expect_run(&r, 0);
	without = sum_rows(r.out, -1, EVENT "@0").count;
	ck_assert_uint_lt(without, with / 2);
	/* The command is not part of perfex. */
	RUN(&r, "perfex", "system", "--csv", "--policy", "not-privileged", "--exclude-self", "-e",
	    EVENT, program("loop"));
	expect_run(&r, 0);
	ck_assert_uint_ge(sum_rows(r.out, -1, EVENT "@0").count, LOOP_INSTRUCTIONS(SHORT_LOOP));
}
END_TEST

START_TEST(json_is_a_document_a_line)
{
	char expected[64];
	struct run r;

	RUN(&r, "perfex", "system", "--json", "--policy", "marked,not-privileged", "-e", EVENT,
	    program("loop"));
	expect_run(&r, 0);
	snprintf(expected, sizeof(expected), "\"modes\":\"user\",\"count\":%llu,",
		 (unsigned long long)LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_msg(strstr(r.out, "{\"schema\":\"perfex-system\",\"version\":2,") == r.out &&
			      strstr(r.out, expected),
		      "%s", r.out);
}
END_TEST

static void as_nobody(void *unused)
{
	struct run r;

	(void)unused;
	become_nobody();
	RUN(&r, "perfex", "system", "-e", EVENT, "echo", "started");
	EXPECT(r.status == EXITED(125) && !*r.out);
	EXPECT(strstr(r.err, "perfex: counting on CPUs needs CAP_PERFMON"));
}

START_TEST(an_ordinary_user_is_told_what_to_do)
{
	in_child(as_nobody, NULL);
}
END_TEST

START_TEST(bad_command_lines_are_one_line)
{
	static const struct {
		const char *arguments, *message;
	} bad[] = {
		{ "--policy marked", "nobody would bear the mark" },
		{ "--policy all echo started", "--policy: there is no policy 'all'" },
		{ "--policy marked, echo started", "--policy: there is no policy ''" },
		{ "--policy marked --exclude-self echo started", "--exclude-self is a policy" },
		{ "--cpus 1-0 echo started", "--cpus=1-0: give numbers of CPUs" },
		{ "--cpus 0,x echo started", "--cpus=0,x: give numbers of CPUs" },
		{ "--cpus 500 echo started", "--cpus=500: this machine does not have all" },
		{ "--interval 0", "--interval=0: give a number of milliseconds" },
		{ "--count 0", "--count=0: give a number of intervals, 1 or more" },
		{ "--count 3 echo started", "--count and a command exclude each other" },
		{ "-e no-such-event echo started", "event 'no-such-event'" },
		{ "-o /no/where echo started", "cannot write '/no/where'" },
	};
	char script[256];
	struct run r;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(script, sizeof(script), "perfex system %s", bad[i].arguments);
		RUN(&r, "sh", "-c", script);
		expect_run(&r, EXITED(125));
		ck_assert_msg(strstr(r.err, bad[i].message) &&
				      strchr(r.err, '\n') == r.err + strlen(r.err) - 1,
			      "%s: %s", bad[i].arguments, r.err);
		ck_assert_str_eq(r.out, "");
	}
}
END_TEST

START_TEST(a_policy_that_counts_nothing_is_warned_of)
{
	static const char *const nothing[] = { "nothing", "dis=1", "privileged,not-privileged",
					       "dmr=1,unmarked" };
	struct run r;

	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++) {
		RUN(&r, "perfex", "system", "--csv", "--policy", nothing[i], program("loop"));
		expect_run(&r, 0);
		ck_assert_str_eq(r.err, "perfex: this policy lets nothing be counted\n");
		ck_assert_uint_eq(sum_rows(r.out, -1, "tsc").count, 0);
	}
}
END_TEST

START_TEST(what_is_appended_has_no_second_head)
{
	struct run r;

	RUN(&r, "sh", "-c",
	    "cd $(mktemp -d) && for run in 1 2; do perfex system --csv --append -o out true; done; "
	    "cat out");
	expect_run(&r, 0);
	ck_assert_msg(strstr(r.out, "time_ns,") == r.out && !strstr(r.out + 1, "time_ns,"), "%s",
		      r.out);
	ck_assert_uint_eq(sum_rows(r.out, -1, "tsc").rows, 2);
}
END_TEST

START_TEST(the_exit_status_is_the_command_s)
{
	struct run r;

	RUN(&r, "perfex", "system", "sh", "-c", "exit 7");
	expect_run(&r, EXITED(7));
	RUN(&r, "perfex", "system", "no-such-command");
	expect_run(&r, EXITED(127));
	ck_assert_str_eq(r.out, "");
}
END_TEST

START_TEST(an_interrupt_ends_it_with_what_was_counted)
{
	struct run r;

	RUN(&r, "timeout", "-s", "INT", "1", "perfex", "system", "--csv", "-I", "60000");
	expect_run(&r, EXITED(124));
	ck_assert_uint_eq(sum_rows(r.out, -1, "tsc").rows, 1);
}
END_TEST

SUITE(system,
      a_marked_command_is_exact_on_each_cpu_and_competitors_add_nothing,
      everything_counts_whoever_runs_in_both_modes,
      cpus_can_be_chosen, options_of_perf_choose_cpus,
      a_line_for_each_event_and_interval_with_count_and_rate,
      perfex_itself_can_be_left_out,
      json_is_a_document_a_line,
      an_ordinary_user_is_told_what_to_do,
      bad_command_lines_are_one_line,
      a_policy_that_counts_nothing_is_warned_of,
      what_is_appended_has_no_second_head,
      the_exit_status_is_the_command_s,
      BY_THE_CLOCK,
      an_interrupt_ends_it_with_what_was_counted)
