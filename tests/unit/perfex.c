// SPDX-License-Identifier: GPL-2.0-or-later
/* Command lines of perfex. It refuses wrong ones with one line and status 125, and does not start the command. */
#define _GNU_SOURCE
#include "command.h"
#include "unit.h"

#include <perfctr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct result {
	int status;
	char out[4096], err[4096];
};

static void contents(FILE *file, char *text, size_t size)
{
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
}

static struct result perfex(const char *const arguments[])
{
	const char *argv[16] = { "perfex" }, *perfex = getenv("PERFEX");
	FILE *out = tmpfile(), *err = tmpfile();
	struct result result;
	pid_t pid;

	for (int i = 0; arguments[i]; i++)
		argv[i + 1] = arguments[i];
	ck_assert(out && err && perfex);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		dup2(fileno(out), 1);
		dup2(fileno(err), 2);
		execv(perfex, (char **)argv);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(pid, &result.status, 0), pid);
	contents(out, result.out, sizeof(result.out));
	contents(err, result.err, sizeof(result.err));
	return result;
}

/* A command that runs creates this file. */
#define MARK "/tmp/perfctr-unit-command-ran"

static void remove_mark(void)
{
	unlink(MARK);
}

static const struct {
	const char *arguments[8];
	const char *err;
} refused[] = {
	{ { NULL }, "perfex: no command given; see perfex --help\n" },
	{ { "--", NULL }, "perfex: no command given; see perfex --help\n" },
	{ { "-e", "0x4100c0@0", NULL }, "perfex: no command given; see perfex --help\n" },
	{ { "-y", "touch", MARK, NULL }, "perfex: unknown option '-y'; see perfex --help\n" },
	{ { "--frob", "touch", MARK, NULL },
	  "perfex: unknown option '--frob'; see perfex --help\n" },
	{ { "--frob\n\033[2J", "touch", MARK, NULL },
	  "perfex: unknown option '--frob??[2J'; see perfex --help\n" },
	{ { "-e", NULL }, "perfex: option '-e' needs an argument; see perfex --help\n" },
	{ { "--event", NULL }, "perfex: option '--event' needs an argument; see perfex --help\n" },
	{ { "-o", NULL }, "perfex: option '-o' needs an argument; see perfex --help\n" },
	{ { "-o", "/a", "-o", "/b", "touch", MARK, NULL },
	  "perfex: two output files, '/a' and '/b'; give one\n" },
	{ { "-i", "touch", MARK, NULL },
	  "perfex: --info takes neither a command nor another option\n" },
	{ { "-i", "-p", "1", NULL },
	  "perfex: --info takes neither a command nor another option\n" },
	{ { "-i", "--self", NULL },
	  "perfex: --info takes neither a command nor another option\n" },
	{ { "--self", NULL }, "perfex: no command given; see perfex --help\n" },
	{ { "--self", "--per-thread", "touch", MARK, NULL },
	  "perfex: --self and --per-thread exclude each other; give one\n" },
	{ { "--per-process", "--tree", "touch", MARK, NULL },
	  "perfex: --per-process and --tree exclude each other; give one\n" },
	{ { "--per", "touch", MARK, NULL }, "perfex: unknown option '--per'; see perfex --help\n" },
	{ { "run", NULL }, "perfex: no command given; see perfex --help\n" },
	{ { "run", "--frob", "touch", MARK, NULL },
	  "perfex: unknown option '--frob'; see perfex --help\n" },
	{ { "info", "--frob", NULL }, "perfex: unknown option '--frob'; see perfex info --help\n" },
	{ { "info", "1", "2", NULL }, "perfex: perfex info takes one process, '2' is too many\n" },
	{ { "-r", "0", "touch", MARK, NULL },
	  "perfex: --repeat=0: give a number from 1 to 1000000\n" },
	{ { "-r", "3x", "touch", MARK, NULL },
	  "perfex: --repeat=3x: give a number from 1 to 1000000\n" },
	{ { "--warmup", "-1", "touch", MARK, NULL },
	  "perfex: --warmup=-1: give a number from 0 to 1000000\n" },
	{ { "-I", "0", "touch", MARK, NULL },
	  "perfex: --interval=0: give a number of milliseconds from 1 to 86400000\n" },
	{ { "--delay=4294967297", "touch", MARK, NULL },
	  "perfex: --delay=4294967297: give a number of milliseconds from 0 to 86400000\n" },
	{ { "--timeout=", "touch", MARK, NULL },
	  "perfex: --timeout=: give a number of milliseconds from 1 to 2000000000\n" },
	{ { "--passes=0", "touch", MARK, NULL },
	  "perfex: --passes=0: give the most passes that the events may take, or auto\n" },
	{ { "--confidence=100", "touch", MARK, NULL },
	  "perfex: --confidence=100: give per cent, from 50 to 99.99; 95 and 99 are usual\n" },
	{ { "--confidence=nan", "touch", MARK, NULL },
	  "perfex: --confidence=nan: give per cent, from 50 to 99.99; 95 and 99 are usual\n" },
	{ { "--csv", "--json", "touch", MARK, NULL },
	  "perfex: --csv and --json exclude each other; give one\n" },
	{ { "--user", "--both", "touch", MARK, NULL },
	  "perfex: --user and --both exclude each other; give one\n" },
	{ { "--append", "touch", MARK, NULL },
	  "perfex: --append needs a file to append to; give --output=FILE\n" },
	{ { "-o", MARK, "--log-fd=2", "true", NULL },
	  "perfex: --output and --log-fd exclude each other; give one\n" },
	{ { "--p4pe=1000001", "touch", MARK, NULL },
	  "perfex: --p4pe=1000001 could be hexadecimal or decimal; write 0x1000001 for "
	  "hexadecimal\n" },
	{ { "--p4_pebs_matrix_vert=0x", "touch", MARK, NULL },
	  "perfex: --p4_pebs_matrix_vert=0x: give the register's value like 0x1000001, in 64 "
	  "bits\n" },
	{ { "--p4pmv=0x10000000000000000", "touch", MARK, NULL },
	  "perfex: --p4pmv=0x10000000000000000: give the register's value like 0x1000001, in 64 "
	  "bits\n" },
	{ { "-p", NULL }, "perfex: option '-p' needs an argument; see perfex --help\n" },
	{ { "--pid", NULL }, "perfex: option '--pid' needs an argument; see perfex --help\n" },
	{ { "-p", "1", "-p", "2", "touch", MARK, NULL },
	  "perfex: two processes, 1 and 2; give one\n" },
	{ { "-e", "", "touch", MARK, NULL },
	  "perfex: event '': evntsel is empty; give it as 0x...\n" },
	{ { "-e", "4100c0@0", "touch", MARK, NULL },
	  "perfex: event '4100c0@0': evntsel '4100c0' could be hexadecimal or decimal; write "
	  "0x4100c0 for hexadecimal\n" },
	{ { "-e0x4100c0@0,", "touch", MARK, NULL },
	  "perfex: event list '0x4100c0@0,': an event is missing at the end; write it like "
	  "instructions,branches or {instructions,branches}\n" },
};

START_TEST(bad_input_gets_one_line_and_starts_nothing)
{
	struct result result = perfex(refused[_i].arguments);

	ck_assert(WIFEXITED(result.status));
	ck_assert_int_eq(WEXITSTATUS(result.status), 125);
	ck_assert_str_eq(result.err, refused[_i].err);
	ck_assert_str_eq(result.out, "");
	ck_assert_int_ne(access(MARK, F_OK), 0);
}
END_TEST

static const char *const no_pids[] = {
	"", "0", "-1", "+1", " 1", "1 ", "0x10", "sh", "2147483648", "99999999999999999999",
};

START_TEST(what_is_no_process_number_is_named)
{
	const char *const arguments[] = { "-p", no_pids[_i], "touch", MARK, NULL };
	struct result result = perfex(arguments);
	char start[64];

	snprintf(start, sizeof(start), "perfex: '%s' is not a process number; give ", no_pids[_i]);
	ck_assert(WIFEXITED(result.status));
	ck_assert_int_eq(WEXITSTATUS(result.status), 125);
	ck_assert_msg(strncmp(result.err, start, strlen(start)) == 0, "%s", result.err);
	ck_assert_ptr_eq(strchr(result.err, '\n'), result.err + strlen(result.err) - 1);
	ck_assert_int_ne(access(MARK, F_OK), 0);
}
END_TEST

static void expect_process_refused(pid_t pid, const char *says)
{
	char number[16], line[128];
	const char *const arguments[] = { "-p", number, "touch", MARK, NULL };
	struct result result;

	snprintf(number, sizeof(number), "%d", pid);
	snprintf(line, sizeof(line), says, pid);
	result = perfex(arguments);
	ck_assert(WIFEXITED(result.status));
	ck_assert_int_eq(WEXITSTATUS(result.status), 125);
	ck_assert_str_eq(result.err, line);
	ck_assert_int_ne(access(MARK, F_OK), 0);
}

START_TEST(a_process_that_does_not_exist_is_named)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	expect_process_refused(pid, "perfex: there is no process %d\n");
}
END_TEST

static void *refuse_thread(void *unused)
{
	expect_process_refused(gettid(), "perfex: %d is a thread, not a process; give the number of "
			       "its process\n");
	return unused;
}

START_TEST(a_thread_is_no_process)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, refuse_thread, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(perfex_does_not_count_itself)
{
	char command[1024], line[200] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "exec %s -p $$ touch " MARK " 2>&1", getenv("PERFEX"));
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), pipe));
	ck_assert_int_eq(WEXITSTATUS(pclose(pipe)), 125);
	ck_assert_ptr_nonnull(strstr(line, " is perfex itself, which is never counted\n"));
	ck_assert_int_ne(access(MARK, F_OK), 0);
}
END_TEST

START_TEST(help_and_version_go_to_standard_output)
{
	static const char *const options[] = { "-h", "--help", "-V", "--version" };
	const char *const arguments[] = { options[_i], NULL };
	struct result result = perfex(arguments);

	ck_assert_int_eq(result.status, 0);
	ck_assert_str_eq(result.err, "");
	ck_assert_int_eq(strncmp(result.out, _i < 2 ? "Usage: perfex " : "perfex (perfctr) ",
				 _i < 2 ? 14 : 17), 0);
}
END_TEST

/* If the kernel has perfctr, perfex must not say that it has not. */
START_TEST(a_kernel_without_perfctr_is_named)
{
	static const char *const commands[][5] = {
		{ "info", "--backend=patch", NULL },
		{ "--backend=patch", "touch", MARK, NULL },
		{ "--backend=patch", "-o", MARK, "true", NULL },
		{ "mark", "--list", "--backend=patch", NULL },
		{ "mark", "--clear", "--backend=patch", NULL },
		{ "revoke", "touch", MARK, NULL },
	};
	struct result result = perfex(commands[_i]);

	if (access("/dev/perfctr", F_OK) == 0) {
		ck_assert_ptr_null(strstr(result.err, "there is no"));
		return;
	}
	ck_assert(WIFEXITED(result.status));
	ck_assert_int_eq(WEXITSTATUS(result.status), 125);
	ck_assert_str_eq(result.err, "perfex: there is no /dev/perfctr: load the module as root by: "
			 "modprobe perfctr, or build it first by: make module (docs/install.md)\n");
	ck_assert_int_ne(access(MARK, F_OK), 0);
}
END_TEST

START_TEST(the_named_backend_is_for_the_command_too)
{
#define SAY "sh", "-c", "echo [$PERFCTR_BACKEND]", NULL
	static const struct {
		const char *arguments[10], *out;
	} commands[] = {
		{ { "-e", "cs", "-o", MARK, SAY }, "[]\n" },
		{ { "--backend=perf_events", "-e", "cs", "-o", MARK, SAY }, "[perf_events]\n" },
		{ { "mark", "-e", "cs", "-o", MARK, SAY }, "[]\n" },
		{ { "mark", "--backend=perf_events", "-e", "cs", "-o", MARK, SAY },
		  "[perf_events]\n" },
	};
	struct result result;

	unsetenv("PERFCTR_BACKEND");
	result = perfex(commands[_i].arguments);
	ck_assert_str_eq(result.err, "");
	ck_assert_str_eq(result.out, commands[_i].out);
}
END_TEST

/* A machine with a PMU encodes it. */
START_TEST(a_machine_without_a_pmu_needs_the_name_of_one)
{
	static const char *const commands[][4] = {
		{ "encode", "-e", "instructions", NULL },
		{ "check", "-e", "instructions", NULL },
	};
	struct perfctr_backend_info info = { 0 };
	struct result result = perfex(commands[_i]);

	ck_assert_int_eq(perfctr_backend(NULL, &info), 0);
	if (info.capabilities & PERFCTR_CAN_HARDWARE) {
		ck_assert_int_eq(result.status, 0);
		return;
	}
	ck_assert_int_eq(WEXITSTATUS(result.status), 125);
	ck_assert_ptr_nonnull(strstr(result.err, "; give a processor by --pmu=NAME, see perfex list "
						 "--processors\n"));
}
END_TEST

START_TEST(a_file_named_dash_is_standard_output)
{
	static const struct {
		const char *arguments[12], *out;
	} commands[] = {
		{ { "-e", "cs", "-o", "-", "echo", "said", NULL }, "said\ntsc " },
		{ { "-e", "cs", "-j", "-o", "-", "echo", "said", NULL }, "said\n{\"schema\":" },
		{ { "-e", "cs", "--csv", "-o", "-", "--append", "echo", "said", NULL }, "row," },
		{ { "mark", "-e", "cs", "-j", "-o", "-", "echo", "said", NULL }, "said\n{\"schema\":" },
		{ { "system", "-e", "cs", "-j", "-o", "-", "true", NULL }, "{\"schema\":" },
	};
	struct command_result result;

	enter_directory();
	result = run_perfex(commands[_i].arguments);
	ck_assert_int_ne(access("-", F_OK), 0);
	leave_directory();
	ck_assert_int_eq(result.status, 0);
	ck_assert_str_eq(result.err, "");
	ck_assert_int_eq(strncmp(result.out, commands[_i].out, strlen(commands[_i].out)), 0);
}
END_TEST

TCase *perfex_tests(void)
{
	TCase *tests = tcase_create("perfex");

	tcase_add_checked_fixture(tests, remove_mark, remove_mark);
	tcase_add_loop_test(tests, bad_input_gets_one_line_and_starts_nothing, 0,
			    ARRAY_SIZE(refused));
	tcase_add_loop_test(tests, what_is_no_process_number_is_named, 0, ARRAY_SIZE(no_pids));
	tcase_add_test(tests, a_process_that_does_not_exist_is_named);
	tcase_add_test(tests, a_thread_is_no_process);
	tcase_add_test(tests, perfex_does_not_count_itself);
	tcase_add_loop_test(tests, help_and_version_go_to_standard_output, 0, 4);
	tcase_add_loop_test(tests, a_kernel_without_perfctr_is_named, 0, 6);
	tcase_add_loop_test(tests, the_named_backend_is_for_the_command_too, 0, 4);
	tcase_add_loop_test(tests, a_machine_without_a_pmu_needs_the_name_of_one, 0, 2);
	tcase_add_loop_test(tests, a_file_named_dash_is_standard_output, 0, 5);
	return tests;
}
