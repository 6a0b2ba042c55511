// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex with a kernel: what it refuses, how it ends, where it writes. */
#include "guest.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSTRUCTIONS_0	"0x004100c0@0"

/* Enters a directory for the files of one test. */
static void enter_directory(void)
{
	char directory[] = "/tmp/perfex-XXXXXX";

	ck_assert(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
}

static void expect_one_line(const struct run *r, const char *what)
{
	ck_assert_msg(strncmp(r->err, "perfex: ", 8) == 0 && strlen(r->err) > 8 &&
		      strchr(r->err, '\n') == r->err + strlen(r->err) - 1,
		      "%s: not one line on standard error: %s", what, r->err);
	ck_assert_msg(r->out[0] == '\0', "%s: standard output: %s", what, r->out);
}

static void expect_content(const char *path, const char *content)
{
	char text[256] = "";
	FILE *file = fopen(path, "r");

	ck_assert_msg(file, "%s: %s", path, strerror(errno));
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	ck_assert_str_eq(text, content);
}

/* Arguments before "touch started", which must not be executed. */
static const struct {
	const char *what;
	const char *arguments[7];
	const char *says;	/* the line must name it */
} refusals[] = {
	{ "counter number out of range", { "-e", "0x004100c0@4" }, "4" },
	{ "fixed counter out of range", { "-e", "0x00410000@0x40000003" }, "0x40000003" },
	{ "same counter twice", { "-e", "0x004100c0@1", "-e", "0x004100c4@1" }, "1" },
	{ "five events for four counters",
	  { "--passes=1", "-e0x004100c0", "-e0x004100c4", "-e0x0041003c", "-e0x004181d0",
	    "-e0x004182d0" },
	  "--passes" },
	{ "reserved bit", { "-e", "0x1004100c0@0" }, "0x1004100c0" },
	{ "interrupt bit", { "-e", "0x005100c0@0" }, "0x005100c0" },
	{ "no enable bit", { "-e", "0x000100c0@0" }, "0x000100c0" },
	{ "no mode", { "-e", "0x004000c0@0" }, "0x004000c0" },
	{ "second word on a machine without one", { "-e", "0x004100c0/0x1@0" }, "" },
	{ "an event of a fixed counter", { "-e", "0x004100c0@0x40000000" }, "" },
	{ "hexadecimal without 0x", { "-e", "4100c0@0" }, "0x" },
	{ "a number that could be decimal", { "-e", "10@0" }, "0x" },
	{ "empty event", { "-e", "" }, "" },
	{ "junk behind the event", { "-e", "0x004100c0@0x" }, "" },
	{ "65 bits", { "-e", "0x100000000004100c0@0" }, "64" },
	{ "unknown option", { "-Q" }, "-Q" },
	{ "unknown long option", { "--quite-unknown" }, "--quite-unknown" },
	{ "output in no directory", { "-o", "missing/output" }, "missing/output" },
	{ "output is a directory", { "-o", "/tmp" }, "/tmp" },
};

START_TEST(bad_input_is_one_line_status_125_and_no_command)
{
	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const char *command[12] = { "perfex" };
		unsigned int n = 1;
		struct run r;

		for (unsigned int k = 0; refusals[i].arguments[k]; k++)
			command[n++] = refusals[i].arguments[k];
		command[n++] = "touch";
		command[n++] = "started";
		run(&r, command);
		ck_assert_msg(r.status == EXITED(125), "%s: wait status %#x, %s", refusals[i].what,
			      r.status, r.err);
		expect_one_line(&r, refusals[i].what);
		ck_assert_msg(strstr(r.err, refusals[i].says), "%s does not name %s: %s",
			      refusals[i].what, refusals[i].says, r.err);
		ck_assert_msg(access("started", F_OK) < 0, "%s: the command ran",
			      refusals[i].what);
	}
}
END_TEST

START_TEST(a_missing_command_is_one_line_and_status_125)
{
	struct run r;

	RUN(&r, "perfex");
	ck_assert_int_eq(r.status, EXITED(125));
	expect_one_line(&r, "no argument");
	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, "--");
	ck_assert_int_eq(r.status, EXITED(125));
	expect_one_line(&r, "no command");
	RUN(&r, "perfex", "-e");
	ck_assert_int_eq(r.status, EXITED(125));
	expect_one_line(&r, "no event");
}
END_TEST

START_TEST(a_command_not_found_is_one_line_and_status_127)
{
	struct run r;

	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, "no-such-command");
	ck_assert_int_eq(r.status, EXITED(127));
	expect_one_line(&r, "not in the PATH");
	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, "/no/such/command");
	ck_assert_int_eq(r.status, EXITED(127));
	expect_one_line(&r, "no such path");
}
END_TEST

START_TEST(a_subcommand_that_is_misspelt_or_not_first_is_told_of)
{
	struct run r;

	RUN(&r, "perfex", "systm", "-e", INSTRUCTIONS_0);
	ck_assert_int_eq(r.status, EXITED(127));
	ck_assert_str_eq(r.err, "perfex: cannot execute 'systm': No such file or directory, and no "
			 "subcommand: see perfex --help\n");
	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, "mark", "true");
	ck_assert_int_eq(r.status, EXITED(127));
	ck_assert_str_eq(r.err, "perfex: cannot execute 'mark': No such file or directory; a subcommand comes "
			 "first: see perfex --help\n");
	RUN(&r, "perfex", "/no/such/command");
	ck_assert_str_eq(r.err, "perfex: cannot execute '/no/such/command': No such file or directory\n");
}
END_TEST

START_TEST(a_command_not_executable_is_one_line_and_status_126)
{
	struct run r;

	enter_directory();
	write_file("text", "no program\n");
	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, "./text");
	ck_assert_int_eq(r.status, EXITED(126));
	expect_one_line(&r, "no execute permission");
	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, "/tmp");
	ck_assert_int_eq(r.status, EXITED(126));
	expect_one_line(&r, "a directory");
}
END_TEST

START_TEST(bad_input_leaves_the_output_file_as_it_was)
{
	struct run r;

	enter_directory();
	write_file("output", "before\n");
	RUN(&r, "perfex", "-o", "output", "-e", "0x004100c0@4", "true");
	ck_assert_int_eq(r.status, EXITED(125));
	expect_content("output", "before\n");
	RUN(&r, "perfex", "-o", "output", "-Q", "true");
	ck_assert_int_eq(r.status, EXITED(125));
	expect_content("output", "before\n");
	RUN(&r, "perfex", "-o", "output", "-e", INSTRUCTIONS_0, "no-such-command");
	ck_assert_int_eq(r.status, EXITED(127));
	expect_content("output", "before\n");
	RUN(&r, "perfex", "-o", "new", "-e", INSTRUCTIONS_0, "no-such-command");
	ck_assert_int_eq(r.status, EXITED(127));
	ck_assert_int_lt(access("new", F_OK), 0);
}
END_TEST

START_TEST(output_goes_to_the_file_and_nothing_to_standard_error)
{
	char text[1024] = "";
	struct run r;
	FILE *file;

	enter_directory();
	write_file("output", "something much longer than what comes, so that it must be emptied: "
		   "0x004100c0@0 1\n0x004100c0@0 1\n0x004100c0@0 1\n0x004100c0@0 1\n");
	RUN(&r, "perfex", "-o", "output", "-e", INSTRUCTIONS_0, program("loop"));
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.err, "");
	ck_assert_str_eq(r.out, "");
	file = fopen("output", "r");
	ck_assert(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	ck_assert_uint_eq(printed_count(text, INSTRUCTIONS_0), 2000004);
	ck_assert(!strstr(text, "longer"));
}
END_TEST

START_TEST(one_line_per_event_in_the_order_asked_for_with_its_ring)
{
	unsigned long long tsc, user, kernel, both;
	char modes[3][16];
	struct run r;

	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, "-e", "0x004200c0@1", "-e", "0x004300c0@2",
	    program("loop"));
	ck_assert_int_eq(r.status, 0);
	ck_assert_msg(sscanf(r.err, "tsc %llu 0x004100c0@0 %llu %15s %*s %*s 0x004200c0@1 %llu "
			     "%15s %*s %*s 0x004300c0@2 %llu %15s", &tsc, &user, modes[0], &kernel, modes[1],
			     &both, modes[2]) == 7, "%s", r.err);
	ck_assert_str_eq(modes[0], "user");
	ck_assert_str_eq(modes[1], "kernel");
	ck_assert_str_eq(modes[2], "user+kernel");
	ck_assert_uint_gt(tsc, 0);
}
END_TEST

/*
 * The emulated machine retires one instruction per cycle. loop.S executes 1,000,001 branches, and
 * has no page of data.
 */
START_TEST(without_an_event_the_usual_ones_are_counted_in_one_run)
{
	static const char *const software[] = {
		"task-clock", "context-switches", "cpu-migrations", "page-faults",
	};
	struct run r;

	RUN(&r, "perfex", program("loop"));
	ck_assert_int_eq(r.status, 0);
	ck_assert_uint_gt(printed_count(r.err, "tsc"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(software); i++)
		ck_assert_msg(strstr(r.err, software[i]), "%s: %s", software[i], r.err);
	ck_assert_uint_eq(printed_count(r.err, "instructions"), 2000004);
	ck_assert_uint_eq(printed_count(r.err, "cycles"), 2000004);
	ck_assert_uint_eq(printed_count(r.err, "branches"), 1000001);
	/*
	 * The end of the loop is mispredicted, and so are some branches at its beginning, in some
	 * time slices.
	 */
	ck_assert_uint_ge(printed_count(r.err, "branch-misses"), 1);
	ck_assert_uint_le(printed_count(r.err, "branch-misses"), 10000);
	ck_assert_msg(strstr(r.err, "  1.00 per cycle\n"), "%s", r.err);
	ck_assert_msg(strstr(r.err, " % of branches\n"), "%s", r.err);
	ck_assert_msg(strstr(r.err, " CPUs utilized\n"), "%s", r.err);
	ck_assert_msg(strstr(r.err, "\nelapsed ") && strstr(r.err, "  seconds\nuser ") &&
			      strstr(r.err, "  seconds\nsystem ") &&
			      strstr(r.err, "  seconds\nbackend   "),
		      "%s", r.err);
	RUN(&r, "perfex", "--per-process", program("loop"));
	ck_assert_int_eq(r.status, 0);
	ck_assert_uint_eq(printed_count(r.err, "instructions"), 2000004);
	ck_assert_msg(strstr(r.err, "\npage-faults              not counted: processes have no counts "
				    "of their own\n"),
		      "%s", r.err);
}
END_TEST

/* Both names stand for a time, which has no rate. */
START_TEST(cpu_clock_is_told_as_task_clock_is)
{
	static const char *const names[] = { "task-clock", "cpu-clock" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct run r;

		RUN(&r, "perfex", "-e", names[i], program("loop"));
		ck_assert_int_eq(r.status, 0);
		ck_assert_msg(strstr(r.err, " ns ") && strstr(r.err, " CPUs utilized\n"), "%s", r.err);
		ck_assert_msg(!strstr(r.err, "/sec"), "%s", r.err);
	}
}
END_TEST

/* A forked process of the C library writes more than once to its stack and data. */
START_TEST(software_events_are_counted_beside_those_of_the_processor)
{
	unsigned long long both, minor, major, user;
	struct run r;

	RUN(&r, "perfex", "-e", "task-clock", "-e", INSTRUCTIONS_0, "-e", "cs", "-e", "migrations",
	    program("loop"));
	ck_assert_int_eq(r.status, 0);
	ck_assert_uint_eq(printed_count(r.err, INSTRUCTIONS_0), 2000004);
	ck_assert_uint_gt(printed_count(r.err, "task-clock"), 0);
	ck_assert_uint_gt(printed_count(r.err, "cs"), 0);
	RUN(&r, "perfex", "-e", "faults", "-e", INSTRUCTIONS_0, "-e", "minor-faults", "-e",
	    "major-faults", "-e", "faults:u", "sh", "-c", "true; (true); true");
	ck_assert_int_eq(r.status, 0);
	both = printed_count(r.err, "faults");
	minor = printed_count(r.err, "minor-faults");
	major = printed_count(r.err, "major-faults");
	user = printed_count(r.err, "faults:u");
	ck_assert_uint_gt(both, 10);
	ck_assert_uint_eq(both, minor + major);
	ck_assert_uint_gt(user, 0);
	ck_assert_uint_le(user, both);
	RUN(&r, "perfex", "--per-thread", "-e", INSTRUCTIONS_0, "-e", "faults", "touch", "started");
	ck_assert_int_eq(r.status, EXITED(125));
	ck_assert_str_eq(r.err, "perfex: event page-faults: this backend counts it of all members "
				"together, not of single processes or threads; leave it out, or "
				"count their sum\n");
	RUN(&r, "perfex", "mark", "-e", "faults", "--backend=patch", "touch", "started");
	ck_assert_int_eq(r.status, EXITED(125));
	expect_one_line(&r, "mark");
}
END_TEST

START_TEST(the_exit_status_is_the_command_s)
{
	struct run r;

	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, "sh", "-c", "echo out; exit 3");
	ck_assert_int_eq(r.status, EXITED(3));
	ck_assert_str_eq(r.out, "out\n");
	ck_assert_uint_gt(printed_count(r.err, INSTRUCTIONS_0), 0);
	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, "true");
	ck_assert_int_eq(r.status, 0);
}
END_TEST

/* die.S executes 2,007 instructions. */
static void expect_death(const char *name, int signal)
{
	char script[512], status[8];
	struct run r;

	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, program(name));
	ck_assert_msg(WIFSIGNALED(r.status) && WTERMSIG(r.status) == signal, "wait status %#x",
		      r.status);
	ck_assert_uint_eq(printed_count(r.err, INSTRUCTIONS_0), 2007);

	/* The status as a shell sees it. */
	snprintf(script, sizeof(script), "perfex -e " INSTRUCTIONS_0 " %s; echo $?", program(name));
	snprintf(status, sizeof(status), "%d\n", 128 + signal);
	RUN(&r, "sh", "-c", script);
	ck_assert_str_eq(r.out, status);
}

START_TEST(death_by_a_signal_is_passed_on_and_the_counts_are_exact)
{
	expect_death("die-9", SIGKILL);
	expect_death("die-15", SIGTERM);
}
END_TEST

START_TEST(the_command_inherits_no_descriptor_of_perfex)
{
	struct run r;

	char without[sizeof(r.out)];

	RUN(&r, "ls", "/proc/self/fd");
	ck_assert_int_eq(r.status, 0);
	strcpy(without, r.out);
	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, "ls", "/proc/self/fd");
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.out, without);
}
END_TEST

START_TEST(info_names_the_machine_and_its_holder)
{
	struct run r;

	RUN(&r, "perfex", "-i");
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.err, "");
	ck_assert_msg(strstr(r.out, "Intel architectural PerfMon v2"), "%s", r.out);
	for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n"))
		ck_assert_msg(strstr(line, ": "), "no \"name: value\": %s", line);
}
END_TEST

/* The lines are those of docs/security.md. The kernels of the tests have Debian's level 3. */
START_TEST(info_says_who_may_count)
{
	static const struct {
		int level;
		const char *line;
	} lines[] = {
		{ 1, "counting in user mode: everybody, the threads that they may trace\n" },
		{ 1, "counting in kernel mode: everybody (kernel.perf_event_paranoid is 1)\n" },
		{ 2, "counting in user mode: everybody, the threads that they may trace\n" },
		{ 2, "counting in kernel mode: with CAP_PERFMON (kernel.perf_event_paranoid is 2)\n" },
		{ 3, "counting in user mode: with CAP_SYS_ADMIN "
		     "(kernel.perf_event_paranoid is 3, Debian's level)\n" },
		{ 3, "counting in kernel mode: with CAP_SYS_ADMIN "
		     "(kernel.perf_event_paranoid is 3, Debian's level)\n" },
	};
	int before = set_paranoid(lines[0].level);

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct run r;

		set_paranoid(lines[i].level);
		RUN(&r, "perfex", "info");
		ck_assert_msg(strstr(r.out, lines[i].line), "level %d:\n%s", lines[i].level, r.out);
		ck_assert_msg(!strstr(r.out, "user namespace"), "%s", r.out);
	}
	set_paranoid(before);
}
END_TEST

/* Programs called "info" and "run". Their output differs from perfex's. */
START_TEST(the_name_of_a_subcommand_is_one_in_the_first_place_only)
{
	char path[1024];
	struct run r;

	enter_directory();
	write_file("info", "#!/bin/sh\necho a program\n");
	ck_assert_int_eq(chmod("info", 0755), 0);
	snprintf(path, sizeof(path), ".:%s", getenv("PATH"));
	ck_assert_int_eq(setenv("PATH", path, 1), 0);
	RUN(&r, "perfex", "info");
	ck_assert_msg(strstr(r.out, "general counters: 4"), "%s", r.out);
	RUN(&r, "perfex", "--", "info");
	ck_assert_str_eq(r.out, "a program\n");
	RUN(&r, "perfex", "run", "info");
	ck_assert_str_eq(r.out, "a program\n");
	RUN(&r, "perfex", "-e", INSTRUCTIONS_0, "info");
	ck_assert_str_eq(r.out, "a program\n");
}
END_TEST

SUITE(perfex,
      bad_input_is_one_line_status_125_and_no_command,
      a_missing_command_is_one_line_and_status_125,
      a_command_not_found_is_one_line_and_status_127,
      a_subcommand_that_is_misspelt_or_not_first_is_told_of,
      a_command_not_executable_is_one_line_and_status_126,
      bad_input_leaves_the_output_file_as_it_was,
      output_goes_to_the_file_and_nothing_to_standard_error,
      one_line_per_event_in_the_order_asked_for_with_its_ring,
      without_an_event_the_usual_ones_are_counted_in_one_run, cpu_clock_is_told_as_task_clock_is,
      software_events_are_counted_beside_those_of_the_processor,
      the_exit_status_is_the_command_s,
      death_by_a_signal_is_passed_on_and_the_counts_are_exact,
      the_command_inherits_no_descriptor_of_perfex,
      info_names_the_machine_and_its_holder,
      info_says_who_may_count,
      the_name_of_a_subcommand_is_one_in_the_first_place_only)
