// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex run: repetitions, and passes for more events than there are counters. */
#include "perfex_csv.h"
#include "perfex_shell.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_bytes(const char *path, const unsigned char *bytes, size_t n)
{
	FILE *file = fopen(path, "w");

	ck_assert(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0);
}

/*
 * Bytes 0 to 4 give 1015, 2018, .. 5027: mean 3021, standard deviation 1003 * sqrt(2.5) = 1585.88.
 * Half of the interval is t * s / sqrt(5), with t = 2.776 (95 %, 4 degrees of freedom) or 4.604 (99
 * %).
 */
START_TEST(repetitions_have_mean_interval_deviation_and_extremes)
{
	static const unsigned char bytes[] = { 99, 98, 0, 1, 2, 3, 4 };
	struct run r;
	struct row row;

	enter_directory();
	write_bytes("bytes", bytes + 2, 5);
	expect(&r, "perfex -r 5 --csv -e " EVENT " $NOISE 3<bytes", 0);
	row = find_row(r.err, "summary", EVENT);
	ck_assert_uint_eq(integer(&row, RUNS), 5);
	ck_assert_double_eq(real(&row, MEAN), 3021);
	ck_assert_double_eq_tol(real(&row, STDDEV), 1585.88, 0.005);
	ck_assert_double_eq_tol(real(&row, LOW), 3021 - 1969.1, 0.5);
	ck_assert_double_eq_tol(real(&row, HIGH), 3021 + 1969.1, 0.5);
	ck_assert_uint_eq(integer(&row, MIN), NOISE(0));
	ck_assert_uint_eq(integer(&row, MAX), NOISE(4));
	ck_assert_str_eq(row.column[RINGS], "user");
	expect(&r, "perfex -r 5 --csv --confidence=99 -e " EVENT " $NOISE 3<bytes", 0);
	row = find_row(r.err, "summary", EVENT);
	ck_assert_double_eq_tol(real(&row, HIGH), 3021 + 3265.4, 0.5);

	write_bytes("bytes", bytes, 7);
	expect(&r, "perfex --repeat=5 --warmup=2 -e " EVENT " $NOISE 3<bytes", 0);
	ck_assert_msg(strstr(r.err, " 3021.00 "), "%s", r.err);
	ck_assert_msg(strstr(r.err, " 1969.13 "), "%s", r.err);
	ck_assert_msg(strstr(r.err, " 1585.88 "), "%s", r.err);
	ck_assert_uint_eq(printed_count(r.err, "runs"), 5);
	ck_assert_uint_eq(printed_count(r.err, "warmup"), 2);
}
END_TEST

START_TEST(a_failed_repetition_is_the_last_and_the_counts_before_are_kept)
{
	static const unsigned char bytes[] = { 1, 3 };
	struct run r;
	struct row row;

	enter_directory();
	write_bytes("bytes", bytes, 2);
	expect(&r, "perfex -r 5 -o out --csv -e " EVENT " $NOISE 3<bytes", EXITED(1));
	ck_assert_str_eq(r.err, "perfex: run 3 ended with status 1: no further run; its counts are "
				"left out (--ignore-failure goes on)\n");
	row = find_row(contents("out"), "summary", EVENT);
	ck_assert_uint_eq(integer(&row, RUNS), 2);
	ck_assert_double_eq(real(&row, MEAN), NOISE(2));

	/* There are only the counts of the failed run. */
	expect(&r, "perfex -r 5 -o out --csv -e " EVENT " $NOISE 3</dev/null", EXITED(1));
	row = find_row(contents("out"), "total", EVENT);
	ck_assert_uint_eq(integer(&row, COUNT), 10);

	expect(&r, "exec perfex -r 5 -o out --csv -e " EVENT " $DIE", SIGKILL);
	ck_assert_str_eq(r.err, "perfex: run 1 died of signal 9 (Killed): no further run; what it "
				"counted is all there is\n");
	row = find_row(contents("out"), "total", EVENT);
	ck_assert_uint_eq(integer(&row, COUNT), 2007);
}
END_TEST

/* perfex's child uses CPU time before it executes the command, more than a short command does. */
START_TEST(one_thread_has_no_more_cpu_time_than_elapsed_time)
{
	static const char *const runs[] = {
		"perfex -r 5 --csv -e " EVENT " true",
		"perfex -r 5 --csv -e " EVENT " $LOOP",
	};
	struct run r;

	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		struct row elapsed, user, system;

		expect(&r, runs[i], 0);
		elapsed = find_row(r.err, "summary", "elapsed_ns");
		user = find_row(r.err, "summary", "user_ns");
		system = find_row(r.err, "summary", "system_ns");
		ck_assert_msg(real(&user, MEAN) + real(&system, MEAN) <=
				      real(&elapsed, MEAN),
			      "%s", r.err);
	}
	/* Of the time before the counting, a part is the children's, which nobody knows then. */
	expect(&r, "perfex -r 2 --csv --delay=50 -e " EVENT " $LONG", 0);
	ck_assert_msg(strstr(r.err, "elapsed_ns") && !strstr(r.err, "user_ns") &&
			      !strstr(r.err, "system_ns"),
		      "%s", r.err);
}
END_TEST

/* Register values that only fit general counters, of which there are four. */
START_TEST(forty_events_take_ten_runs_and_are_all_exact)
{
	char script[2048] = "perfex -o out --csv --passes=auto";
	unsigned int instructions = 0, branches = 0, last_pass = 0;
	const char *text;
	struct run r;
	struct row row;

	enter_directory();
	for (int i = 0; i < 20; i++)
		strcat(script, " -e 0x004100c0 -e 0x004100c4");
	strcat(script, " $LOOP");
	expect(&r, script, 0);
	text = contents("out");
	while (next_row(&text, &row)) {
		if (strcmp(row.column[ROW], "total") || strncmp(row.column[NAME], "0x", 2) != 0)
			continue;
		last_pass = (unsigned int)integer(&row, PASS);
		if (strncmp(row.column[NAME], "0x004100c0", 10) == 0) {
			ck_assert_uint_eq(integer(&row, COUNT), LOOP_INSTRUCTIONS(SHORT_LOOP));
			instructions++;
		} else {
			ck_assert_uint_eq(integer(&row, COUNT), LOOP_BRANCHES(SHORT_LOOP));
			branches++;
		}
	}
	ck_assert_uint_eq(instructions, 20);
	ck_assert_uint_eq(branches, 20);
	ck_assert_uint_eq(last_pass, 9);
}
END_TEST

/* Kernel mode excludes the program itself. Both modes together are the sum. */
START_TEST(names_are_counted_in_the_modes_that_are_asked_for)
{
	struct run r;
	struct row user, kernel;

	enter_directory();
	expect(&r, "perfex -o out -e instructions -e branches $LOOP", 0);
	ck_assert_uint_eq(printed_count(contents("out"), "instructions"),
			  LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(printed_count(contents("out"), "branches"), LOOP_BRANCHES(SHORT_LOOP));
	expect(&r, "perfex -o out --kernel --csv -e instructions:u -e instructions $LOOP", 0);
	user = find_row(contents("out"), "total", "instructions:u");
	kernel = find_row(contents("out"), "total", "instructions");
	ck_assert_uint_eq(integer(&user, COUNT), LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_str_eq(user.column[RINGS], "user");
	ck_assert_uint_gt(integer(&kernel, COUNT), 0);
	ck_assert_uint_lt(integer(&kernel, COUNT), LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_str_eq(kernel.column[RINGS], "kernel");
	expect(&r,
	       "perfex -o out --both --csv -e instructions:u -e instructions:k -e instructions "
	       "$LOOP",
	       0);
	user = find_row(contents("out"), "total", "instructions:u");
	kernel = find_row(contents("out"), "total", "instructions:k");
	ck_assert_uint_eq(integer(&user, COUNT) + integer(&kernel, COUNT),
			  strtoull(find_row(contents("out"), "total", "instructions").column[COUNT],
				   NULL, 10));
}
END_TEST

START_TEST(who_may_not_count_the_kernel_reads_what_was_typed)
{
	struct run r;

	enter_directory();
	chmod(".", 0777);
	become_nobody();
	expect(&r, "perfex -e instructions:u,instructions:k touch started", EXITED(125));
	ck_assert_str_eq(r.err, "perfex: event 'instructions:k': counting in kernel mode needs "
				"CAP_PERFMON or sysctl kernel.perf_event_paranoid=1; without them "
				"write it with ':u' for user mode\n");
	expect(&r, "perfex --both -e branches touch started", EXITED(125));
	ck_assert_ptr_nonnull(strstr(r.err, "event 'branches': "));
	ck_assert_int_lt(access("started", F_OK), 0);
	expect(&r, "perfex --both -e '{instructions,branches}:u' $LOOP", 0);
	expect(&r, "perfex -e 0x4200c0 true", EXITED(125));
	ck_assert_ptr_nonnull(strstr(r.err, "write 0x004100c0"));
}
END_TEST

START_TEST(perfex_below_perfex_is_told_who_counts)
{
	char expected[256];
	struct run r;
	int outer = 0;

	enter_directory();
	expect(&r,
	       "perfex -o out -e " EVENT " sh -c 'echo $PPID >pid; perfex -e " EVENT
	       " touch started; exit 3'",
	       EXITED(3));
	sscanf(r.err, "perfex: the thread is being counted already, by process %d", &outer);
	snprintf(expected, sizeof(expected),
		 "perfex: the thread is being counted already, by process %d (perfex); perfex mark "
		 "counts a program that counts itself, perfex --regions regions of one that does not\n",
		 outer);
	ck_assert_str_eq(r.err, expected);
	ck_assert_int_eq(outer, atoi(contents("pid")));
	ck_assert_int_lt(access("started", F_OK), 0);
}
END_TEST

START_TEST(what_the_kernel_refuses_of_a_later_pass_is_refused_before_the_first)
{
	struct run r;

	enter_directory();
	expect(&r,
	       "perfex --passes=auto -e 0x4100c0 -e 0x4100c0 -e 0x4100c0 -e 0x4100c0 -e 0x5100c0 "
	       "touch started",
	       EXITED(125));
	ck_assert_msg(strstr(r.err, "0x005100c0"), "%s", r.err);
	ck_assert_int_lt(access("started", F_OK), 0);
}
END_TEST

/* Two events for one counter. */
#define TWICE "-e 0x4100c0@1 -e 0x4100c4@1 "

START_TEST(what_does_not_fit_is_refused_with_the_plan)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex " TWICE "touch started", EXITED(125));
	ck_assert_msg(strstr(r.err, ": leave some out, or let the command be run 2 times for all "
				    "of them by --passes=auto (0x4100c0@1, then 0x4100c4@1)\n"),
		      "%s", r.err);
	expect(&r, "perfex --passes=2 " TWICE "-e 0x41003c@1 touch started", EXITED(125));
	ck_assert_int_lt(access("started", F_OK), 0);
	expect(&r, "perfex --passes=2 " TWICE "sh -c 'echo x >>effects; cat effects'", 0);
	ck_assert_str_eq(r.out, "x\nx\nx\n");
}
END_TEST

#define READ_ONCE "can be read once: the 2 runs read /dev/null instead; name a file for them by --input=FILE\n"

START_TEST(each_run_reads_the_same_input)
{
	struct run r;

	enter_directory();
	write_bytes("input", (const unsigned char *)"a\nb\nc\n", 6);
	expect(&r, "perfex -o out --passes=auto " TWICE "cat <input", 0);
	ck_assert_str_eq(r.out, "a\nb\nc\na\nb\nc\n");
	expect(&r, "{ read -r line; perfex -o out -r 2 --warmup=1 cat; } <input", 0);
	ck_assert_str_eq(r.out, "b\nc\nb\nc\nb\nc\n");
	expect(&r, "cat input | perfex -o out cat", 0);
	ck_assert_str_eq(r.out, "a\nb\nc\n");
	expect(&r, "cat input | perfex -o out -r 2 cat", 0);
	ck_assert_str_eq(r.err, "perfex: standard input is a pipe, which " READ_ONCE);
	ck_assert_str_eq(r.out, "");
	expect(&r, "cat input | perfex -o out -r 2 --input=input cat", 0);
	ck_assert_str_eq(r.err, "");
	ck_assert_str_eq(r.out, "a\nb\nc\na\nb\nc\n");
	expect(&r, "perfex -o out -r 2 --input=made --prepare='echo x >>new; cp new made' cat", 0);
	ck_assert_str_eq(r.out, "x\nx\nx\n");
	expect(&r, "perfex -o out --input=input cat", 0);
	ck_assert_str_eq(r.out, "a\nb\nc\n");
	/* A command that writes through the same open file must not overwrite what is there. */
	expect(&r, "perfex -o out -r 3 sh -c 'echo x >&0' 0>written; cat written", 0);
	ck_assert_str_eq(r.out, "x\nx\nx\n");
	expect(&r, "perfex -o out -r 2 cat <>written", 0);
	ck_assert_str_eq(r.err,
			 "perfex: standard input is a file that is open for writing too, which " READ_ONCE);
	ck_assert_str_eq(r.out, "");
	expect(&r, "perfex -o out -r 2 echo x <&-", 0);
	ck_assert_str_eq(r.out, "x\nx\n");
}
END_TEST

START_TEST(an_input_that_cannot_be_read_is_refused)
{
	static const struct {
		const char *options, *err;
	} inputs[] = {
		{ "--input=.", "perfex: --input=.: Is a directory\n" },
		{ "--input=./none", "perfex: --input=./none: No such file or directory\n" },
		{ "-r 2 --input=fifo", "perfex: 2 runs of the command were asked for, and --input is "
				       "a pipe, which only the first could read\n" },
		{ "-p $$ --input=.",
		  "perfex: --input, --prepare and --ignore-failure are for a command, not for process " },
		{ "-r 2 --input=/dev/ptmx", "perfex: 2 runs of the command were asked for, and --input is a "
					    "terminal, which only the first could read\n" },
	};

	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(inputs); i++) {
		char script[128];
		struct run r;

		snprintf(script, sizeof(script), "%sperfex %s %s", i == 2 ? "mkfifo fifo; " : "",
			 inputs[i].options, i == 3 ? "" : "touch started");
		expect(&r, script, EXITED(125));
		ck_assert_msg(strncmp(r.err, inputs[i].err, strlen(inputs[i].err)) == 0, "%s", r.err);
		ck_assert_int_lt(access("started", F_OK), 0);
	}
}
END_TEST

/* $NOISE counts NOISE(byte) instructions; where it finds no byte it ends with status 1, after 10. */
START_TEST(failures_are_counted_if_they_are_to_be_ignored)
{
	static const unsigned char bytes[] = { 1, 3 };
	struct run r;
	struct row row;

	enter_directory();
	write_bytes("bytes", bytes, 2);
	expect(&r, "perfex -r 4 --ignore-failure -o out --csv -e " EVENT " $NOISE 3<bytes", 0);
	ck_assert_str_eq(r.err, "perfex: 2 of 4 runs ended with another status than 0, and are counted\n");
	row = find_row(contents("out"), "summary", EVENT);
	ck_assert_uint_eq(integer(&row, RUNS), 4);
	ck_assert_double_eq(real(&row, MEAN), (NOISE(1) + NOISE(3) + 10 + 10) / 4.0);
	/* A command that dies has not ended as it meant to. */
	expect(&r, "exec perfex -r 4 --ignore-failure -o out -e " EVENT " $DIE", SIGKILL);
	ck_assert_str_eq(r.err, "perfex: run 1 died of signal 9 (Killed): no further run; what it "
				"counted is all there is\n");
}
END_TEST

START_TEST(a_command_prepares_each_run)
{
	struct run r;

	enter_directory();
	expect(&r,
	       "perfex -o out -r 2 --warmup=1 --prepare='echo p >>file; cat' sh -c 'cat file; rm file'",
	       0);
	ck_assert_str_eq(r.out, "p\np\np\n");
	expect(&r, "perfex -o out -r 2 --prepare='exit 3' touch started", EXITED(125));
	ck_assert_str_eq(r.err, "perfex: --prepare: 'exit 3' ended with status 3\n");
	ck_assert_int_lt(access("started", F_OK), 0);
	expect(&r, "perfex -o out -r 2 --prepare='mkdir once' echo x", EXITED(125));
	ck_assert_msg(strstr(r.err, "perfex: --prepare: 'mkdir once' ended with status 1\n"
				    "perfex: run 2 was not counted: no further run\n"),
		      "%s", r.err);
	ck_assert_str_eq(r.out, "x\n");
}
END_TEST

START_TEST(a_signal_ends_the_preparation_and_all_runs)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = { { "TERM", SIGTERM }, { "HUP", SIGHUP } };
	char command[128];
	struct run r;
	struct row row;

	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		snprintf(command, sizeof(command),
			 "exec perfex -o out -r 2 --prepare='kill -%s $PPID; exec sleep 300' touch started",
			 signals[i].name);
		expect(&r, command, signals[i].number);
		ck_assert_msg(strstr(r.err, "perfex: --prepare: a signal came while 'kill -"), "%s", r.err);
	}
	expect(&r, "exec perfex -o out --prepare='kill -INT $PPID' touch started", SIGINT);
	ck_assert_int_lt(access("out", F_OK), 0);
	expect(&r, "exec perfex compare --prepare='kill -TERM $PPID; exec sleep 300' touch started -- true",
	       SIGTERM);
	expect(&r, "exec perfex compare true -- sh -c 'kill -INT $PPID'", SIGINT);
	ck_assert_int_lt(access("started", F_OK), 0);
	/* The first run is kept. */
	expect(&r,
	       "exec perfex -o out --csv -r 2 -e " EVENT
	       " --prepare='mkdir once || kill -INT $PPID' $LOOP", SIGINT);
	ck_assert_msg(strstr(r.err, "perfex: run 2 was not counted: no further run\n"), "%s", r.err);
	row = find_row(contents("out"), "summary", EVENT);
	ck_assert_str_eq(row.column[RUNS], "1");
	ck_assert_double_eq(real(&row, MEAN), LOOP_INSTRUCTIONS(SHORT_LOOP));
}
END_TEST

/* A shell that ignores a signal lets perfex ignore it, as nohup(1) does. $PPID is perfex. */
START_TEST(a_signal_that_was_ignored_before_ends_no_repetitions)
{
	static const char *const signals[] = { "HUP", "INT", "QUIT", "TERM" };
	char command[160];
	struct run r;

	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		snprintf(command, sizeof(command),
			 "trap '' %s; perfex -o out -r 3 --prepare='kill -%s $PPID' "
			 "sh -c 'kill -%s $PPID; echo x'",
			 signals[i], signals[i], signals[i]);
		expect(&r, command, 0);
		ck_assert_str_eq(r.err, "");
		ck_assert_str_eq(r.out, "x\nx\nx\n");
	}
	/* The others still end them. */
	expect(&r, "trap '' HUP; perfex -o out -r 3 sh -c 'kill -INT $PPID; echo x'", 0);
	ck_assert_str_eq(r.out, "x\n");
}
END_TEST

START_TEST(each_run_reads_the_pipe_that_is_prepared_for_it)
{
	struct run r;

	enter_directory();
	expect(&r, "mkfifo pipe; perfex -o out --prepare='echo fed >pipe &' --input=pipe cat", 0);
	ck_assert_str_eq(r.out, "fed\n");
	/* The writer has time to run before perfex opens the pipe. */
	expect(&r, "perfex -o out -r 2 --prepare='echo x >>new; cat new >pipe & sleep 1' --input=pipe cat", 0);
	ck_assert_str_eq(r.out, "x\nx\nx\n");
	expect(&r, "perfex -o out -r 2 --prepare='rm pipe; mkfifo pipe; echo made >pipe &' --input=pipe cat", 0);
	ck_assert_str_eq(r.out, "made\nmade\n");
	/* The command begins when the pipe has a writer, before there is anything to read. */
	expect(&r, "perfex -o out --prepare='exec 3<>pipe; sleep 300 & echo $! >pid' --input=pipe "
		   "sh -c 'kill $(cat pid); cat; echo read'", 0);
	ck_assert_str_eq(r.out, "read\n");
}
END_TEST

/* Nobody writes to the pipe, so that nothing but the signal can end the wait for a writer. */
START_TEST(a_signal_ends_the_wait_for_a_writer)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = { { "TERM", SIGTERM }, { "HUP", SIGHUP }, { "INT", SIGINT } };
	static const char *const runs[] = {
		"perfex -o out --prepare='mkfifo pipe; (sleep 0.5; kill -%s $PPID) &' --input=pipe "
		"touch started",
		"perfex compare --prepare='mkfifo pipe; (sleep 0.5; kill -%s $PPID) &' --input=pipe "
		"touch started -- true",
		"sh -c 'mkfifo pipe; (sleep 0.5; kill -%s $$) & exec perfex --input=pipe touch started'",
	};
	char command[192];
	struct run r;

	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(signals) * ARRAY_SIZE(runs); i++) {
		strcpy(command, "rm -f pipe; exec ");
		snprintf(command + strlen(command), sizeof(command) - strlen(command),
			 runs[i % ARRAY_SIZE(runs)], signals[i / ARRAY_SIZE(runs)].name);
		expect(&r, command, signals[i / ARRAY_SIZE(runs)].number);
		ck_assert_str_eq(r.err, "perfex: --input=pipe: a signal came before it was open: there is "
					"no further run\n");
		ck_assert_int_lt(access("started", F_OK), 0);
	}
}
END_TEST

START_TEST(a_rank_of_an_mpi_program_is_run_once)
{
	struct run r;

	enter_directory();
	expect(&r, "PMI_RANK=3 perfex --warmup=1 touch started </dev/null", EXITED(125));
	ck_assert_msg(strstr(r.err, "2 runs of the command were asked for, and it is rank 3 of an "
				    "MPI program (PMI_RANK), which runs once: "),
		      "%s", r.err);
	expect(&r, "PMIX_RANK=0 perfex --passes=2 " TWICE "touch started </dev/null", EXITED(125));
	expect(&r, "OMPI_COMM_WORLD_RANK=1 perfex -r 2 touch started </dev/null", EXITED(125));
	ck_assert_int_lt(access("started", F_OK), 0);
	expect(&r, "PMI_RANK=3 perfex -o out echo x", 0);
	ck_assert_str_eq(r.out, "x\n");
	/* An empty variable is no rank. */
	expect(&r, "PMI_RANK= perfex -o out -r 2 echo x </dev/null", 0);
	ck_assert_str_eq(r.out, "x\nx\n");
}
END_TEST

#define FAILS_SECOND "sh -c 'test -e done && exit 3; touch done' </dev/null"

START_TEST(a_failed_pass_is_told_and_is_no_result)
{
	struct run r;
	struct row row;

	enter_directory();
	expect(&r, "perfex -o out --csv --passes=2 " TWICE FAILS_SECOND, EXITED(3));
	ck_assert_str_eq(r.err, "perfex: pass 2 of run 1 ended with status 3: no further run; its "
				"counts are left out (--ignore-failure goes on)\n");
	row = find_row(contents("out"), "total", "0x004100c0@1");
	ck_assert_uint_gt(integer(&row, COUNT), 0);
	row = find_row(contents("out"), "summary", "0x004100c4@1");
	ck_assert_str_eq(row.column[RUNS], "0");
	ck_assert_str_eq(row.column[MEAN], "");
	expect(&r, "rm -f out; perfex -o out --passes=2 " TWICE FAILS_SECOND, EXITED(3));
	ck_assert_str_eq(r.err, "perfex: pass 1 of run 1 ended with status 3: no further run; its "
				"counts are left out (--ignore-failure goes on)\n");
	ck_assert_str_eq(contents("out"), "");
	expect(&r, "rm -f done; perfex -o out --csv --per-process -r 2 " FAILS_SECOND, EXITED(3));
	ck_assert_uint_gt(lines(contents("out"), "member,0,"), 0);
	ck_assert_uint_eq(lines(contents("out"), "member,1,"), 0);
	ck_assert_str_eq(r.err, "perfex: run 2 ended with status 3: no further run; its counts are "
				"left out (--ignore-failure goes on)\n");
}
END_TEST

/* Two passes of two repetitions: the fourth run fails. */
#define FAILS_FOURTH "sh -c 'echo x >>runs; test $(wc -l <runs) -lt 4' </dev/null"

START_TEST(a_repetition_that_lacks_a_pass_is_left_out_of_the_means)
{
	struct run r;
	struct row row;

	enter_directory();
	expect(&r, "perfex -o out --csv -r 3 --per-process --passes=2 " TWICE FAILS_FOURTH, EXITED(1));
	ck_assert_str_eq(r.err, "perfex: pass 2 of run 2 ended with status 1: no further run; its "
				"counts are left out (--ignore-failure goes on)\n");
	row = find_row(contents("out"), "summary", "0x004100c0@1");
	ck_assert_str_eq(row.column[RUNS], "1");
	row = find_row(contents("out"), "summary", "0x004100c4@1");
	ck_assert_str_eq(row.column[RUNS], "1");
	row = find_row(contents("out"), "failed", "");
	ck_assert_str_eq(row.column[RUN_NUMBER], "1");
	ck_assert_str_eq(row.column[PASS], "1");
	ck_assert_uint_gt(lines(contents("out"), "member,0,0,"), 0);
	ck_assert_uint_eq(lines(contents("out"), "member,1,"), 0);
}
END_TEST

START_TEST(intervals_of_a_failed_run_are_told_from_others)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex -o out -I 50 -r 2 " FAILS_SECOND, EXITED(3));
	ck_assert_uint_eq(printed_count(contents("out"), "failed"), 2);
	expect(&r, "rm done; perfex -o out --json -I 50 -r 2 " FAILS_SECOND, EXITED(3));
	ck_assert_uint_eq(lines(contents("out"), "\"failed\":{\"run\":1,\"pass\":0}"), 1);
	expect(&r, "perfex -o out --json true", 0);
	ck_assert_uint_eq(lines(contents("out"), "\"failed\":null"), 1);
	/* A pass that counted nothing has no heading. */
	expect(&r, "rm done; perfex -o out --passes=2 " TWICE FAILS_SECOND, EXITED(3));
	ck_assert_uint_eq(lines(contents("out"), "pass "), 2);
	ck_assert_uint_eq(printed_count(contents("out"), "pass"), 1);
	ck_assert_uint_eq(printed_count(contents("out"), "failed"), 1);
}
END_TEST

START_TEST(a_command_that_vanishes_is_told_by_its_run)
{
	struct run r;

	enter_directory();
	expect(&r,
	       "cp /bin/busybox ./mv 2>/dev/null || cp $(command -v mv) ./mv; "
	       "perfex -r 3 -e " EVENT " ./mv ./mv ./away </dev/null",
	       EXITED(127));
	ck_assert_msg(strstr(r.err, "perfex: run 2 was not counted: no further run\n"), "%s",
		      r.err);
	ck_assert_uint_eq(printed_count(r.err, "runs"), 1);
}
END_TEST

START_TEST(a_run_that_is_cut_short_is_left_out)
{
	struct run r;

	enter_directory();
	/* The process ends in the second run, before the limit, however long perfex takes to begin. */
	expect(&r,
	       "sleep 8 & perfex --csv -o out -r 2 --timeout=4500 -e " EVENT " -p $! </dev/null",
	       0);
	ck_assert_str_eq(r.err, "perfex: run 2 was cut short: no further run; its counts are left "
				"out\n");
	ck_assert_str_eq(find_row(contents("out"), "summary", EVENT).column[RUNS], "1");
}
END_TEST

START_TEST(what_was_not_counted_once_is_not_repeated)
{
	struct run r;

	enter_directory();
	/* Reported like a single run that nobody asked to repeat. */
	expect(&r, "perfex -r 2 --delay=60000 -e " EVENT " true </dev/null", 0);
	ck_assert_uint_eq(lines(r.err, "perfex: "), 1);
	ck_assert_uint_eq(lines(r.err, "run 1 ended within the delay of 60000 ms: nothing was "),
			  1);
	ck_assert_uint_eq(printed_count(r.err, "runs"), 1);
	expect(&r, "perfex --warmup=2 -e " EVENT " sh -c 'trap : TERM; kill -TERM $PPID' </dev/null", 0);
	ck_assert_str_eq(r.err, "perfex: a signal ended the counting after warm-up 1; nothing was "
				"counted\n");
	/* For a process there is no command to run again. */
	expect(&r, "perfex -p $$ " TWICE, EXITED(125));
	ck_assert_msg(strstr(r.err, ": leave some out, or let the process be counted 2 times, each "
				    "for the time of --timeout=MS, by --passes=auto ("),
		      "%s", r.err);
}
END_TEST

/* The tabs and widths of perfctr 2.6, after the line of the time stamp. */
#define TSC_2_6 "tsc\t\t\t\t"
#define LOOP_2_6                                                                                   \
	"event 0x004100C0@0\t\t            2000004\n"                                              \
	"event 0x004100C4@1\t\t            1000001\n"

/*
 * Commands that are understood as perfctr 2.6 understood them, with its output. warning: in front
 * of that.
 */
static const struct {
	const char *command, *warning;
} old_commands[] = {
	{ "perfex --self --format=2.6 -e 0x4100c0@0 -e 0x4100c4@1 $LOOP", "" },
	{ "perfex --self -x -e 4100c0 -e 4100c4@1 --format=2.6 $LOOP", "" },
	{ "perfex --self -d --format=2.6 -e 4260032@0 -e 4260036@1 $LOOP", "" },
	{ "perfex --self -d --format=2.6 -e 04260032@0 -e 0x4100c4@01 $LOOP", "" },
	{ "perfex --self --format=2.6 -e 4100C0@0 -e 0x4100c4@1 $LOOP", "" },
	{ "perfex --self --format=2.6 -e 410000@0 -e 0x4100c4@1 true", "410000" },
	{ "perfex --self --format=2.6 -e instructions,branches $LOOP", "" },
};

START_TEST(a_command_line_of_2_6_gives_what_2_6_gave)
{
	struct run r;

	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(old_commands); i++) {
		const char *out = r.err;
		unsigned long long tsc;

		expect(&r, old_commands[i].command, 0);
		if (*old_commands[i].warning) {
			ck_assert_msg(strstr(out, "perfex: '410000' is taken as hexadecimal, "
						  "0x410000, as by perfctr 2.6; ") == out,
				      "%s", out);
			ck_assert_uint_eq(lines(out, "event 0x00410000@0\t\t"), 1);
			continue;
		}
		ck_assert_msg(sscanf(out, TSC_2_6 "%19llu", &tsc) == 1 && tsc > 2000000, "%s", out);
		ck_assert_uint_eq(strcspn(out, "\n"), strlen(TSC_2_6) + 19);
		ck_assert_str_eq(out + strcspn(out, "\n") + 1, LOOP_2_6);
	}
	/* perfctr 2.6 counted no event by itself. */
	expect(&r, "perfex --format=2.6 true", 0);
	ck_assert_uint_eq(strcspn(r.err, "\n") + 1, strlen(r.err));
	expect(&r, "perfex --format=2.6 -e page-faults true", EXITED(125));
	ck_assert_str_eq(r.err, "perfex: event 'page-faults': --format=2.6 has events of the "
				"processor alone; leave it out, or the format\n");
}
END_TEST

SUITE(perfex_run, a_command_line_of_2_6_gives_what_2_6_gave,
      a_repetition_that_lacks_a_pass_is_left_out_of_the_means,
      intervals_of_a_failed_run_are_told_from_others, a_command_that_vanishes_is_told_by_its_run,
      what_was_not_counted_once_is_not_repeated, what_does_not_fit_is_refused_with_the_plan,
      each_run_reads_the_same_input, an_input_that_cannot_be_read_is_refused,
      failures_are_counted_if_they_are_to_be_ignored, a_command_prepares_each_run,
      a_signal_ends_the_preparation_and_all_runs,
      a_signal_that_was_ignored_before_ends_no_repetitions,
      each_run_reads_the_pipe_that_is_prepared_for_it, a_signal_ends_the_wait_for_a_writer,
      a_rank_of_an_mpi_program_is_run_once,
      a_failed_pass_is_told_and_is_no_result, repetitions_have_mean_interval_deviation_and_extremes,
      a_failed_repetition_is_the_last_and_the_counts_before_are_kept,
      one_thread_has_no_more_cpu_time_than_elapsed_time,
      forty_events_take_ten_runs_and_are_all_exact,
      names_are_counted_in_the_modes_that_are_asked_for,
      who_may_not_count_the_kernel_reads_what_was_typed, perfex_below_perfex_is_told_who_counts,
      what_the_kernel_refuses_of_a_later_pass_is_refused_before_the_first, BY_THE_CLOCK,
      a_run_that_is_cut_short_is_left_out)
