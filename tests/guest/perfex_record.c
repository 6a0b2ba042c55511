// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex record and perfex samples, with asm/hot.S: its instructions are counted by hand. */
#include "perfex_shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOT_PASSES 20000
#define HOT_INSTRUCTIONS (94 * (uint64_t)HOT_PASSES + 4)
/*
 * A prime that shares no factor with a pass: samples go around all of its 94 instructions. The
 * number of interrupts depends on the speed of the host: late periods belong to no function.
 */
#define PERIOD 10007

/* The number in the column of the first row of CSV that has all of the words, or 0. */
static uint64_t cell(const char *csv, int column, const char *words[])
{
	const char *text = csv_cell(csv, column, words);

	return text ? strtoull(text, NULL, 10) : 0;
}

#define CELL(csv, column, ...) cell(csv, column, (const char *[]){ __VA_ARGS__, NULL })
enum { SAMPLES = 1, EVENTS_OF = 2 };

/* The hits of a part of the 94 instructions, of n samples, are within 4 standard deviations. */
static void expect_part(uint64_t hits, uint64_t n, double part)
{
	double share = part / 94, deviation = sqrt((double)n * share * (1 - share));

	ck_assert_msg(fabs((double)hits - (double)n * share) <= 4 * deviation + 1,
		      "%llu of %llu samples, not %g of 94", (unsigned long long)hits,
		      (unsigned long long)n, part);
}

START_TEST(totals_are_exact_and_all_periods_are_accounted_for)
{
	struct run r;
	uint64_t placed, late, lost;

	enter_directory();
	expect(&r, "perfex record -e instructions -c 10007 --seed=3 $HOT", 0);
	ck_assert_str_eq(r.out, "");
	ck_assert_uint_eq(lines(r.err, "samples in 'perfex.samples'"), 1);
	expect(&r, "perfex samples --csv", 0);
	ck_assert_str_eq(r.err, "");
	ck_assert_uint_eq(CELL(r.out, EVENTS_OF, "(counted)"), HOT_INSTRUCTIONS);
	placed = CELL(r.out, EVENTS_OF, ",hot\r") + CELL(r.out, EVENTS_OF, ",warm") +
		 CELL(r.out, EVENTS_OF, ",_start") + CELL(r.out, EVENTS_OF, "[unknown]");
	late = CELL(r.out, EVENTS_OF, "(late)");
	lost = CELL(r.out, EVENTS_OF, "(lost)");
	ck_assert_uint_eq(lost, 0);
	/*
	 * The end of the first period, and the sample in each period, are random: there may be one
	 * more.
	 */
	ck_assert_uint_ge((placed + late) / PERIOD + 1, HOT_INSTRUCTIONS / PERIOD);
	ck_assert_uint_le((placed + late) / PERIOD, HOT_INSTRUCTIONS / PERIOD + 1);
	ck_assert_uint_eq((placed + late) % PERIOD, 0);
}
END_TEST

START_TEST(events_are_those_of_the_functions_and_lines_that_have_them)
{
	struct run r;
	uint64_t n;

	enter_directory();
	expect(&r, "perfex record -e instructions -c 10007 -o file $HOT", 0);
	expect(&r, "perfex samples --csv file", 0);
	n = CELL(r.out, SAMPLES, ",hot\r") + CELL(r.out, SAMPLES, ",warm") +
	    CELL(r.out, SAMPLES, ",_start") + CELL(r.out, SAMPLES, "[unknown]");
	ck_assert_uint_gt(n, 10);
	expect_part(CELL(r.out, SAMPLES, ",hot\r"), n, 65);
	expect_part(CELL(r.out, SAMPLES, ",warm"), n, 25);
	expect_part(CELL(r.out, SAMPLES, ",_start"), n, 4);
	/* The dec and the jnz of each loop. */
	expect(&r, "perfex samples --csv --by=function,line file", 0);
	expect_part(CELL(r.out, SAMPLES, ",hot,", "hot.S:17"), n, 30);
	expect_part(CELL(r.out, SAMPLES, ",hot,", "hot.S:18"), n, 30);
	expect_part(CELL(r.out, SAMPLES, ",warm,", "hot.S:28"), n, 10);
	expect_part(CELL(r.out, SAMPLES, ",warm,", "hot.S:29"), n, 10);
}
END_TEST

static uint64_t stack_events(const char *folded, const char *stack)
{
	const char *line = strstr(folded, stack);

	return line ? strtoull(line + strlen(stack), NULL, 10) : 0;
}

START_TEST(callers_are_those_of_the_frames)
{
	struct run r;
	uint64_t with, without;

	enter_directory();
	expect(&r, "perfex record -g -c 10007 $HOT", 0);
	expect(&r, "perfex samples --folded", 0);
	with = stack_events(r.out, "hot;_start;hot ");
	without = stack_events(r.out, "hot;hot ");
	/* Of the 65 instructions of hot, all but push, mov and ret have a frame: 95 %. */
	ck_assert_msg(with > 4 * without, "%s", r.out);
	expect(&r, "perfex samples --flame -o flame.html && head -c 15 flame.html", 0);
	ck_assert_str_eq(r.out, "<!DOCTYPE html>");
	ck_assert_uint_ge(lines(contents("flame.html"), "<title>_start: "), 1);
}
END_TEST

START_TEST(each_program_of_a_tree_has_its_events)
{
	struct run r;
	uint64_t loop, hot;

	enter_directory();
	expect(&r, "perfex record -c 10007 sh -c '$HOT; $LOOP; :'", 0);
	expect(&r, "perfex samples --csv --by=process,object", 0);
	hot = CELL(r.out, EVENTS_OF, ",hot,", "/hot\r");
	loop = CELL(r.out, EVENTS_OF, ",loop,", "/loop\r");
	ck_assert_msg(hot <= HOT_INSTRUCTIONS + PERIOD && hot > 0, "%s", r.out);
	ck_assert_msg(loop <= 2000004 + PERIOD && loop > 0, "%s", r.out);
	/* One process executes both programs: an address belongs to the program of that moment. */
	expect(&r, "perfex record -c 10007 $EXEC $HOT", 0);
	expect(&r, "perfex samples --csv --by=object,function", 0);
	ck_assert_uint_gt(CELL(r.out, EVENTS_OF, "/hot,hot\r"), 0);
	ck_assert_ptr_null(strstr(r.out, "/exec,hot"));
}
END_TEST

/*
 * The functions in the file are the kernel's. Each sample belongs to the last one that begins
 * before it.
 */
START_TEST(functions_of_the_kernel_are_those_of_kallsyms)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex record -e instructions:k -c 1009 ls -lR /usr/bin >/dev/null", 0);
	expect(&r,
	       "grep ^kernel perfex.samples | cut -d' ' -f2- | sort >named; "
	       "grep ' [tTwW] ' /proc/kallsyms | sed 's/ . / /; s/\t.*//' | sort >all; "
	       "join -v1 -t% named all; wc -l <named",
	       0);
	/* join prints the names that kallsyms does not have. */
	ck_assert_uint_gt(strtoull(r.out, NULL, 10), 20);
	/* Sorted by address, with samples after names of the same address. */
	expect(&r,
	       "awk '$1 == \"sample\" && $7 % 2 { print $12, \"~\" }' perfex.samples | sort - all | "
	       "awk '$2 == \"~\" { print start } { start = $2 == \"~\" ? start : $1 }' | sort -u >wanted; "
	       "cut -d' ' -f1 named | diff - wanted",
	       0);
	expect(&r, "perfex samples --by=function --csv", 0);
	ck_assert_uint_gt(CELL(r.out, EVENTS_OF, "[kernel],do_syscall_64\r"), 0);
	ck_assert_ptr_null(strstr(r.out, "[kernel],[unknown]"));
}
END_TEST

START_TEST(a_file_that_is_gone_or_another_gives_no_names)
{
	struct run r;

	enter_directory();
	expect(&r, "cp $HOT h && perfex record -c 10007 ./h && rm h && perfex samples", 0);
	ck_assert_uint_eq(lines(r.err, "has no names of functions: No such file"), 1);
	ck_assert_uint_ge(lines(r.out, "[unknown]"), 1);
	expect(&r, "cp $HOT h && perfex record -c 10007 ./h && cp $LOOP h && perfex samples", 0);
	ck_assert_uint_eq(lines(r.err, "it is not the file that was recorded"), 1);
	ck_assert_ptr_null(strstr(r.out, "_start"));
}
END_TEST

START_TEST(a_frequency_is_a_run_before_and_then_a_period)
{
	struct run r;
	const char *period;
	uint64_t p;

	enter_directory();
	expect(&r, "perfex record -F 100 $HOT", 0);
	period = strstr(r.err, "a period of ");
	ck_assert_msg(period != NULL, "%s", r.err);
	ck_assert_uint_eq(lines(r.err, "instructions: 1880004 in "), 1);
	p = strtoull(period + strlen("a period of "), NULL, 10);
	expect(&r,
	       "grep -c '^event .* instructions$' perfex.samples && cut -d' ' -f2 "
	       "perfex.samples | sed -n 4p",
	       0);
	ck_assert_uint_eq(strtoull(r.out + 2, NULL, 10), p);
	expect(&r, "perfex record -F 100 -c 5 $HOT", EXITED(125));
}
END_TEST

START_TEST(what_cannot_be_is_refused_before_the_command_runs)
{
	struct run r;

	enter_directory();
	expect(&r, "echo mine >perfex.samples; perfex record touch started", EXITED(125));
	ck_assert_uint_eq(lines(r.err, "perfex record has not written it"), 1);
	ck_assert_str_eq(contents("perfex.samples"), "mine\n");
	expect(&r, "perfex record --backend=perf_events -e instructions -o x touch started",
	       EXITED(125));
	ck_assert_uint_eq(lines(r.err, "perfex: "), 1);
	expect(&r, "perfex record -e page-faults -c 2 -o x touch started", EXITED(125));
	ck_assert_uint_eq(lines(r.err, "perfex: "), 1);
	ck_assert_int_lt(access("started", F_OK), 0);
	expect(&r,
	       "mkfifo go && { perfex record -o y sh -c 'echo >go; read x <go' & } && read x <go && "
	       "{ perfex record -o y touch started; test $? = 125; echo >go; wait; }",
	       0);
	ck_assert_uint_eq(lines(r.err, "another perfex is writing 'y'"), 1);
	ck_assert_int_lt(access("started", F_OK), 0);
	/* perfex overwrites a file of its own. */
	expect(&r, "perfex record -o x true && perfex record -o x true", 0);
	expect(&r, "perfex record -o x ./missing", EXITED(127));
	expect(&r, "perfex samples x", 0);
}
END_TEST

#define CLOCK_PERIOD 100003
#define TWENTY_TIMES "sh -c 'for i in $(seq 20); do $HOT; done'"

/* hot has 30 rounds of the same two instructions in each pass, and warm has 10. */
START_TEST(a_clock_tells_where_the_time_is)
{
	uint64_t hot, warm, all, counted;
	struct run r;

	enter_directory();
	expect(&r, "perfex record -e task-clock -c 100003 " TWENTY_TIMES, 0);
	ck_assert_uint_eq(lines(r.err, "samples in 'perfex.samples'"), 1);
	expect(&r, "perfex samples --csv | grep /hot,", 0);
	hot = CELL(r.out, SAMPLES, ",hot\r");
	warm = CELL(r.out, SAMPLES, ",warm");
	ck_assert_msg(hot + warm > 30 && hot > warm && warm > 0, "%s", r.out);
	expect(&r, "perfex samples --csv --by=process", 0);
	all = CELL(r.out, EVENTS_OF, ",hot,");
	counted = CELL(r.out, EVENTS_OF, "(counted)");
	ck_assert_uint_eq(all % CLOCK_PERIOD, 0);
	ck_assert_msg(all > 0 && all <= counted + CLOCK_PERIOD, "%s", r.out);
	expect(&r,
	       "perfex record -e task-clock -F 10000 -g $HOT && perfex samples --folded | grep ^hot",
	       0);
	ck_assert_uint_gt(stack_events(r.out, "hot;_start;hot "), 0);
	/* The only caller of hot and warm. */
	expect(&r,
	       "perfex record -e task-clock -F 10000 -g --depth=1 $HOT && "
	       "perfex samples --folded | grep ^hot",
	       0);
	ck_assert_uint_gt(stack_events(r.out, "hot;_start;hot "), 0);
	expect(&r, "perfex record -e task-clock --kernel -c 100003 " TWENTY_TIMES, 0);
	ck_assert_uint_eq(lines(r.err, "time in user mode has no samples"), 1);
	expect(&r, "perfex samples --csv --by=object", 0);
	ck_assert_uint_gt(CELL(r.out, SAMPLES, "[kernel]"), 0);
	ck_assert_uint_eq(CELL(r.out, SAMPLES, "/hot\r"), 0);
	expect(&r, "perfex record -e task-clock --max=5 -c 100003 " TWENTY_TIMES, EXITED(125));
	expect(&r, "grep -c ^sample perfex.samples", 0);
	ck_assert_str_eq(r.out, "5\n");
}
END_TEST

START_TEST(without_samples_of_a_backend_a_clock_is_the_default)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex record --backend=perf_events -c 100003 $HOT", 0);
	ck_assert_uint_eq(lines(r.err, "no counter can be sampled here"), 1);
	expect(&r, "grep ^clock perfex.samples", 0);
	ck_assert_str_eq(r.out, "clock 100003 task-clock\n");
}
END_TEST

static void record_clock_as_nobody(void *unused)
{
	struct run r;

	become_nobody();
	RUN(&r, "sh", "-c", "perfex record --kernel -e task-clock -o /tmp/none.samples $HOT");
	EXPECT(r.status == EXITED(125));
	EXPECT(strstr(r.err, "cannot sample the kernel's time: it needs"));
	RUN(&r, "sh", "-c",
	    "perfex record -e task-clock -c 100003 -o /tmp/clock.samples " TWENTY_TIMES);
	EXPECT(r.status == 0);
	EXPECT(strstr(r.err, "time in the kernel has no samples, but is in the total: "));
	RUN(&r, "sh", "-c", "perfex samples --csv /tmp/clock.samples");
	EXPECT(r.status == 0);
	EXPECT(CELL(r.out, SAMPLES, ",hot\r") > 0);
	EXPECT(!strstr(r.out, "[kernel]"));
}

START_TEST(a_clock_shows_no_user_the_kernel)
{
	enter_directory();
	in_child(record_clock_as_nobody, NULL);
}
END_TEST

START_TEST(what_a_clock_cannot_do_is_refused)
{
	static const struct {
		const char *options, *message;
	} refused[] = {
		{ "-e task-clock,instructions", "it is sampled alone; leave out the other events" },
		{ "-e task-clock --beside instructions", "it is sampled alone; leave out" },
		{ "-e task-clock --registers", "--registers: samples of task-clock have none" },
		{ "-e task-clock --jitter=50", "--jitter: timers of the kernel end the periods" },
		{ "-e task-clock -c 9999", "has no periods below 10000 ns, which are 100000 in" },
		{ "-e task-clock -F 200000", "has no periods below 10000 ns, which are 100000 in" },
	};
	char script[256];
	struct run r;

	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		snprintf(script, sizeof(script), "perfex record %s touch started",
			 refused[i].options);
		expect(&r, script, EXITED(125));
		ck_assert_msg(strstr(r.err, refused[i].message), "%s", r.err);
		ck_assert_uint_eq(lines(r.err, "perfex: "), 1);
	}
	ck_assert_int_lt(access("started", F_OK), 0);
}
END_TEST

START_TEST(the_most_samples_end_with_an_error)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex record --max=20 -c 10007 $HOT", EXITED(125));
	ck_assert_uint_eq(lines(r.err, "sampling ended with the last of 20 samples"), 1);
	expect(&r, "perfex samples --csv", 0);
	ck_assert_uint_eq(CELL(r.out, EVENTS_OF, "(counted)"), HOT_INSTRUCTIONS);
	ck_assert_uint_eq(lines(r.err, "sampling ended before the command did"), 1);
}
END_TEST

START_TEST(what_ends_the_command_ends_the_recording)
{
	struct run r;

	enter_directory();
	expect(&r, "timeout 1 perfex record $HUGE", EXITED(124));
	expect(&r, "perfex samples --csv", 0);
	ck_assert_str_eq(r.err, "");
	ck_assert_uint_gt(CELL(r.out, EVENTS_OF, "(counted)"), 0);
	ck_assert_uint_gt(CELL(r.out, SAMPLES, "_start"), 0);
}
END_TEST

/* Interrupts would take nearly all of the time, but may take only a quarter of it. */
START_TEST(many_late_periods_are_told)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex record -c 50 $LOOP", 0);
	ck_assert_uint_eq(lines(r.err,
				"were found late, with one behind them: no function has them"),
			  1);
	expect(&r, "perfex samples --csv --by=thread", 0);
	/* All late periods belong to the only thread. */
	ck_assert_uint_eq(CELL(r.out, EVENTS_OF, "(late)"), 0);
	ck_assert_uint_ge(CELL(r.out, EVENTS_OF, ",loop,"), 2000000 - 50);
	ck_assert_uint_le(CELL(r.out, EVENTS_OF, ",loop,"), 2000004 + 50);
}
END_TEST

static void record_as_nobody(void *unused)
{
	struct run r;

	become_nobody();
	RUN(&r, "sh", "-c", "perfex record -c 10007 -o /tmp/nobody.samples $HOT");
	EXPECT(r.status == 0);
	RUN(&r, "sh", "-c", "perfex samples --csv /tmp/nobody.samples");
	EXPECT(r.status == 0);
	EXPECT(CELL(r.out, EVENTS_OF, "(counted)") == HOT_INSTRUCTIONS);
	EXPECT(CELL(r.out, EVENTS_OF, ",hot\r") > 0);
}

START_TEST(an_ordinary_user_records_its_own)
{
	enter_directory();
	in_child(record_as_nobody, NULL);
}
END_TEST

/* As on a machine that may have many more CPUs than are there. */
START_TEST(who_may_have_little_memory_records_with_little_room)
{
	enter_directory();
	write_file("/sys/module/perfctr/parameters/user_kb", "40");
	in_child(record_as_nobody, NULL);
	write_file("/sys/module/perfctr/parameters/user_kb", "2048");
}
END_TEST

START_TEST(each_rank_writes_files_of_its_own)
{
	static const struct {
		const char *script, *file;
	} subcommands[] = {
		{ "perfex record -e instructions -c 1000 $LOOP", "perfex.1.samples" },
		{ "perfex record -o s -e instructions -c 1000 $LOOP", "s.1" },
		{ "perfex record -o %r.s -e instructions -c 1000 $LOOP", "1.s" },
		{ "perfex trace -o t.trace -e instructions $LOOP", "t.1.trace" },
		{ "perfex mark -o m.json --json -e instructions $LOOP", "m.1.json" },
		{ "perfex system -o y -e instructions $LOOP", "y.1" },
	};
	struct run r;

	enter_directory();
	setenv("PMI_RANK", "1", 1);
	setenv("PMI_SIZE", "2", 1);
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++) {
		expect(&r, subcommands[i].script, 0);
		ck_assert_msg(access(subcommands[i].file, F_OK) == 0, "%s", subcommands[i].script);
	}
	setenv("PMI_RANK", "0", 1);
	expect(&r, "perfex trace -o t.trace -e instructions $LOOP", 0);
	ck_assert_msg(strstr(r.err,
			     "perfex: each of the 2 ranks writes a file of its own, this one "
			     "'t.0.trace'\n"),
		      "%s", r.err);
	ck_assert_int_ne(access("t.trace", F_OK), 0);
}
END_TEST

SUITE(perfex_record, a_clock_tells_where_the_time_is,
      without_samples_of_a_backend_a_clock_is_the_default, a_clock_shows_no_user_the_kernel,
      what_a_clock_cannot_do_is_refused, totals_are_exact_and_all_periods_are_accounted_for,
      events_are_those_of_the_functions_and_lines_that_have_them, callers_are_those_of_the_frames,
      each_program_of_a_tree_has_its_events, functions_of_the_kernel_are_those_of_kallsyms,
      a_file_that_is_gone_or_another_gives_no_names, a_frequency_is_a_run_before_and_then_a_period,
      what_cannot_be_is_refused_before_the_command_runs, the_most_samples_end_with_an_error,
      many_late_periods_are_told, each_rank_writes_files_of_its_own,
      an_ordinary_user_records_its_own, who_may_have_little_memory_records_with_little_room,
      BY_THE_CLOCK, what_ends_the_command_ends_the_recording)
