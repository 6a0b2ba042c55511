// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfex trace and perfex report, as a user runs them. The expected counts are those of asm/tree.S.
 */
#include "marks.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACE "/tmp/perfex-trace"
#define INSTRUCTIONS_ANY "0x004100c0"

static void expect_run(const struct run *r, int status)
{
	ck_assert_msg(r->status == status, "wait status %#x\n%s%s", r->status, r->out, r->err);
}

/* The rows of a report in CSV with one event, by their counts. */
struct rows {
	unsigned int root, middles, looping, executing, threaded, threads, others;
	uint64_t sum, total;
};

static struct rows read_report(const char *option, bool per_thread)
{
	const char *format = per_thread ? "%15[^,],%*[0-9],%*u,%llu" : "%15[^,],%*u,%llu";
	char command[128], line[256], name[16];
	struct rows rows = { 0 };
	FILE *pipe;

	snprintf(command, sizeof(command), "perfex report --csv %s " TRACE, option);
	pipe = popen(command, "re");
	ck_assert(pipe);
	ck_assert(fgets(line, sizeof(line), pipe)); /* the names of the columns */
	while (fgets(line, sizeof(line), pipe)) {
		unsigned long long n = 0;

		if (strncmp(line, "total,", 6) == 0 || strncmp(line, "unmarked,", 9) == 0) {
			n = strtoull(strrchr(line, ',') + 1, NULL, 10);
			if (line[0] == 't')
				rows.total = n;
			else
				ck_assert_uint_eq(n, 0);
			continue;
		}
		ck_assert_msg(sscanf(line, format, name, &n) == 2, "%s", line);
		rows.sum += n;
		rows.root += n == TREE_ROOT;
		rows.middles += n == TREE_MIDDLE;
		rows.looping += n == TREE_LOOPING;
		rows.executing += n == TREE_EXECUTING;
		rows.threaded += n == TREE_THREADED;
		rows.threads += n == TREE_THREAD;
		rows.others += n == TREE_THREADED + TREE_THREAD;
	}
	ck_assert_int_eq(pclose(pipe), 0);
	return rows;
}

START_TEST(each_process_and_each_thread_has_its_own_counts_and_they_add_up)
{
	struct rows rows;
	struct run r;

	competitors_start(2);
	RUN(&r, "perfex", "trace", "-o", TRACE, "-e", INSTRUCTIONS_ANY, program("tree"),
	    program("loop"));
	expect_run(&r, 0);
	ck_assert_str_eq(r.err, "");

	rows = read_report("", false);
	ck_assert_uint_eq(rows.total, TREE_INSTRUCTIONS);
	ck_assert_uint_eq(rows.sum, TREE_INSTRUCTIONS);
	ck_assert_uint_eq(rows.root, 1);
	ck_assert_uint_eq(rows.middles, 8);
	ck_assert_uint_eq(rows.looping, 3 * TREE_SIXES);
	ck_assert_uint_eq(rows.executing, 2 * TREE_SIXES);
	ck_assert_uint_eq(rows.others, TREE_SIXES);

	rows = read_report("--per-thread", true);
	ck_assert_uint_eq(rows.total, TREE_INSTRUCTIONS);
	ck_assert_uint_eq(rows.sum, TREE_INSTRUCTIONS);
	ck_assert_uint_eq(rows.threaded, TREE_SIXES);
	ck_assert_uint_eq(rows.threads, TREE_SIXES);
	unlink(TRACE);
}
END_TEST

START_TEST(the_status_of_the_command_is_that_of_trace)
{
	struct run r;

	RUN(&r, "perfex", "trace", "-o", TRACE, "--ticks=1", "-e", INSTRUCTIONS_ANY, "sh", "-c",
	    "exit 3");
	expect_run(&r, EXITED(3));
	RUN(&r, "perfex", "report", TRACE);
	expect_run(&r, 0);
	ck_assert_ptr_ne(strstr(r.out, "total"), NULL);
	unlink(TRACE);
	RUN(&r, "perfex", "trace", "-o", TRACE, "/nonexistent");
	expect_run(&r, EXITED(127));
	ck_assert_int_eq(access(TRACE, F_OK), -1);
}
END_TEST

static void write_text(const char *text)
{
	FILE *file = fopen(TRACE, "we");

	ck_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

#define HEAD "# perfctr-trace 1 1000\n"
#define COLUMNS "cpu,time,type,pid,tid,lost,tsc,\"a\"\n"

/* Files that perfex trace has not written, and a word of the complaint. */
static const struct {
	const char *text, *word;
} wrong[] = {
	{ "", "no end" },
	{ "# perfctr-trace 2 1000\n", "version" },
	{ HEAD "cpu,time\n", "columns" },
	{ HEAD "cpu,time,type,pid,tid,lost,tsc,\"a\n", "no end" },
	{ HEAD COLUMNS "0,1\n", "too short" },
	{ HEAD COLUMNS "0,1,switch,5\n", "number" },
	{ HEAD COLUMNS "0,1,switch,5,5,0,1,x\n", "number" },
	{ HEAD COLUMNS "0,1,switch,5,5,0,1,2,3\n", "too long" },
	{ HEAD COLUMNS "99999,1,switch,5,5,0,1,2\n", "CPU" },
	{ HEAD COLUMNS "0,1,switch,5,5,0,1,2\n", "no end" },
	{ HEAD COLUMNS "0,1,switch,5,5,0,1,99999999999999999999\n", "too large" },
};

START_TEST(a_file_that_is_no_trace_is_refused_in_one_line)
{
	struct run r;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		write_text(wrong[i].text);
		RUN(&r, "perfex", "report", TRACE);
		expect_run(&r, EXITED(125));
		ck_assert_str_eq(r.out, "");
		ck_assert_msg(strstr(r.err, wrong[i].word) &&
				      strchr(r.err, '\n') == r.err + strlen(r.err) - 1,
			      "%zu: %s", i, r.err);
	}
	unlink(TRACE);
	RUN(&r, "perfex", "trace", "true");
	expect_run(&r, EXITED(125));
	RUN(&r, "perfex", "report", TRACE);
	expect_run(&r, EXITED(125));
}
END_TEST

/*
 * By hand: on CPU 0, process 5 counts 10, then unmarked threads count 4. Then records are lost,
 * between which 6 are counted, and process 7 counts 100.
 */
static const char lossy[] = HEAD COLUMNS "0,1,switch,5,5,0,0,0\n"
					 "0,2,switch,0,0,0,1,10\n"
					 "0,3,switch,5,5,0,2,14\n"
					 "0,4,switch,7,7,3,3,20\n"
					 "0,5,stop,0,0,0,4,120\n"
					 "-1,0,total,0,0,3,4,120\n";

START_TEST(what_was_counted_between_lost_records_is_nobody_s)
{
	struct run r;

	write_text(lossy);
	RUN(&r, "perfex", "report", "--csv", TRACE);
	expect_run(&r, 0);
	ck_assert_str_eq(r.out, "process,tsc,a\r\n"
				"lost,1,6\r\n"
				"unmarked,1,4\r\n"
				"5,1,10\r\n"
				"7,1,100\r\n"
				"total,4,120\r\n");
	ck_assert_ptr_ne(strstr(r.err, "3 records were lost"), NULL);
	unlink(TRACE);
}
END_TEST

START_TEST(a_full_device_ends_no_wait_for_the_command)
{
	struct run r;

	RUN(&r, "perfex", "trace", "-o", "/dev/full", "-e", INSTRUCTIONS_ANY, "sh", "-c",
	    "sleep 1; echo done");
	expect_run(&r, EXITED(125));
	ck_assert_str_eq(r.out, "done\n");
	ck_assert_str_eq(r.err, "perfex: cannot write '/dev/full': No space left on device\n");
}
END_TEST

SUITE(trace, a_full_device_ends_no_wait_for_the_command,
      each_process_and_each_thread_has_its_own_counts_and_they_add_up,
      the_status_of_the_command_is_that_of_trace, a_file_that_is_no_trace_is_refused_in_one_line,
      what_was_counted_between_lost_records_is_nobody_s)
