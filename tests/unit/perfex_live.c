// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfex with the real driver: a program of its own, to be run in the virtual machine.  Counts are added up by hand
 * from the assembly of the counted processes, which is here or in tests/guest/asm/fork.S.
 */
#define _GNU_SOURCE
#include "opens.h"
#include "unit.h"

#include <fcntl.h>
#include <perfctr.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENT	"0x004100c0@0"	/* instructions in user mode */

/*
 * The parent executes 4 + 6 + 3 instructions.  The child begins after the system call: test, jz, mov, 1,000,000 times
 * dec and jnz, jmp, and 3 for exit.
 */
#define FORK_PARENT	13ull
#define FORK_CHILD	2000007ull

/* Instructions of wait_and_go_on() after the read: mov, 1,000,000 times dec and jnz, and 3 to exit. */
#define GO_ON		2000004ull

struct process {
	pid_t pid;
	int go;			/* a byte written here lets it go on */
};

/* Called in a child: waits in a system call, then executes GO_ON instructions and exits. */
static void wait_and_go_on(int fd)
{
	char byte;

	__asm__ volatile("syscall\n\t"
			 "mov $1000000, %%ecx\n"
			 "1:\tdec %%ecx\n\t"
			 "jnz 1b\n\t"
			 "mov $231, %%eax\n\t"	/* exit_group */
			 "xor %%edi, %%edi\n\t"
			 "syscall"
			 : : "a"(0L), "D"((long)fd), "S"(&byte), "d"(1L)
			 : "rcx", "r11", "memory");
}

static void wait_until_asleep(pid_t pid)
{
	char path[32], state = 'R';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'S') {
		usleep(1000);
		file = fopen(path, "re");
		ck_assert_ptr_nonnull(file);
		ck_assert_int_eq(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
		fclose(file);
	}
}

static struct process start_waiting(void)
{
	struct process process;
	int go[2];

	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	process.go = go[1];
	process.pid = fork();
	ck_assert_int_ge(process.pid, 0);
	if (process.pid == 0)
		wait_and_go_on(go[0]);
	close(go[0]);
	/* Instructions before the system call must not be counted. */
	wait_until_asleep(process.pid);
	return process;
}

/* Starts perfex in the background, with standard output and standard error in one pipe. */
static FILE *perfex(pid_t *pid, const char *const arguments[])
{
	const char *argv[16] = { "perfex" };
	int output[2];

	for (int i = 0; arguments[i]; i++)
		argv[i + 1] = arguments[i];
	ck_assert_int_eq(pipe2(output, O_CLOEXEC), 0);
	*pid = fork();
	ck_assert_int_ge(*pid, 0);
	if (*pid == 0) {
		dup2(output[1], 1);
		dup2(output[1], 2);
		execvp("perfex", (char **)argv);
		_exit(99);
	}
	close(output[1]);
	return fdopen(output[0], "r");
}

/* Waits for the end of perfex and returns its output.  expected: the exit status it must have. */
static const char *finish(pid_t pid, FILE *output, int expected)
{
	static char text[8192];
	int status;

	text[fread(text, 1, sizeof(text) - 1, output)] = '\0';
	fclose(output);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == expected, "%#x: %s", status, text);
	return text;
}

#define PERFEX(...) perfex_text((const char *const[]){ "-e", EVENT, __VA_ARGS__, NULL })

static const char *perfex_text(const char *const arguments[])
{
	pid_t pid;
	FILE *output = perfex(&pid, arguments);

	return finish(pid, output, 0);
}

/* Returns the number in line nth, counted from 0, of the lines that begin with "what". */
static unsigned long long number(const char *text, const char *what, unsigned int nth)
{
	size_t length = strlen(what);

	for (const char *line = text; line && *line; line = strchr(line, '\n') + 1)
		if (strncmp(line, what, length) == 0 && line[length] == ' ' && nth-- == 0)
			return strtoull(line + length, NULL, 10);
	ck_abort_msg("too few lines \"%s\" in:\n%s", what, text);
	return 0;
}

static const char *forking_program(void)
{
	return getenv("FORKING_PROGRAM");
}

static uint32_t contexts(void)
{
	struct perfctr_pmu_info info;

	ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
	return info.n_contexts;
}

static bool counters_are_held(void)
{
	struct perfctr_pmu_info info;

	ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
	return info.context_counters != 0;
}

START_TEST(a_command_is_counted_with_its_child)
{
	const char *text = PERFEX(forking_program());

	ck_assert_uint_eq(number(text, EVENT, 0), FORK_PARENT + FORK_CHILD);
	ck_assert_ptr_null(strstr(text, "members"));
	text = PERFEX("--tree", forking_program());
	ck_assert_uint_eq(number(text, EVENT, 0), FORK_PARENT + FORK_CHILD);
}
END_TEST

/* perfex opens the device twice: to learn what it has, and to count.  It reads the user's table once, for the name. */
START_TEST(one_event_opens_the_device_twice_and_a_table_once)
{
	static const char *const arguments[] = { "-e", "loads", "true", NULL };
	char directory[] = "/tmp/perfctr-live-XXXXXX", path[64];
	int device, table;
	FILE *file;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/mine.tbl", directory);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs("pmu arch\nloads = instructions:u\n", file);
	ck_assert_int_eq(fclose(file), 0);
	setenv("PERFCTR_EVENTS", directory, 1);
	device = watch_opens("/dev/perfctr");
	table = watch_opens(path);
	ck_assert_uint_gt(number(perfex_text(arguments), "loads", 0), 0);
	ck_assert_uint_eq(count_opens(device), 2);
	ck_assert_uint_eq(count_opens(table), 1);
}
END_TEST

START_TEST(self_is_the_first_thread_alone)
{
	ck_assert_uint_eq(number(PERFEX("--self", forking_program()), EVENT, 0), FORK_PARENT);
}
END_TEST

START_TEST(each_process_has_its_counts_in_the_order_of_their_ends)
{
	const char *text = PERFEX("--per-process", forking_program());

	ck_assert_uint_eq(number(text, EVENT, 0), FORK_CHILD);
	ck_assert_uint_eq(number(text, EVENT, 1), FORK_PARENT);
	ck_assert_uint_eq(number(text, EVENT, 2), FORK_PARENT + FORK_CHILD);
	ck_assert_uint_eq(number(text, "total", 0), 2);
	ck_assert_uint_ne(number(text, "pid", 0), number(text, "pid", 1));
	ck_assert_ptr_nonnull(strstr(text, "  fork\n"));
	ck_assert_ptr_nonnull(strstr(text, "  processes\n"));
}
END_TEST

START_TEST(each_thread_has_its_counts)
{
	const char *text = PERFEX("--per-thread", forking_program());

	ck_assert_uint_eq(number(text, EVENT, 0), FORK_CHILD);
	ck_assert_uint_eq(number(text, EVENT, 1), FORK_PARENT);
	ck_assert_uint_eq(number(text, "tid", 1), number(text, "pid", 1));
	ck_assert_uint_eq(number(text, "total", 0), 2);
	ck_assert_ptr_nonnull(strstr(text, "  threads\n"));
}
END_TEST

/* The host compares these files with the schema: see tests/unit/rules.mk. */
START_TEST(recordings_are_left_for_the_host_to_validate)
{
	const char *directory = getenv("RECORDINGS");
	char path[256];

	ck_assert_ptr_nonnull(directory);
	snprintf(path, sizeof(path), "%s/repeated.json", directory);
	PERFEX("--json", "-o", path, "-r", "2", "--warmup=1", "--per-thread", "-I", "10",
	       forking_program());
	snprintf(path, sizeof(path), "%s/passes.json", directory);
	PERFEX("--json", "-o", path, "--passes=auto", "-e", EVENT, "-e", EVENT, "--per-process",
	       forking_program());
	snprintf(path, sizeof(path), "%s/passes.csv", directory);
	PERFEX("--csv", "-o", path, "--passes=2", "-e", EVENT, "-I", "10", "--per-thread",
	       forking_program());
	snprintf(path, sizeof(path), "%s/running.json", directory);
	PERFEX("--json", "-o", path, "--timeout=100", "-p", "1");
}
END_TEST

START_TEST(a_thousand_processes_are_recorded)
{
	const char *text = PERFEX("-o", "/tmp/perfex-thousand", "--per-process", "sh", "-c",
				  "i=0; while [ $i -lt 1000 ]; do (:); i=$((i + 1)); done");
	unsigned long long sum = 0, total = 0;
	char line[128], what[32];
	unsigned int processes = 0;
	bool behind = false;
	FILE *file = fopen("/tmp/perfex-thousand", "r");

	ck_assert_str_eq(text, "");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		unsigned long long value;

		if (strncmp(line, "backend ", 8) == 0)
			break;
		ck_assert_int_eq(sscanf(line, "%31s %llu", what, &value), 2);
		behind |= strcmp(what, "total") == 0;
		processes += strcmp(what, "pid") == 0;
		if (strcmp(what, EVENT) == 0)
			*(behind ? &total : &sum) += value;
	}
	fclose(file);
	ck_assert_uint_eq(processes, 1001);
	ck_assert_uint_eq(sum, total);
}
END_TEST

START_TEST(who_outlives_the_command_is_named)
{
	const char *text = PERFEX("sh", "-c", "exec >/dev/null 2>&1; sleep 3 & exit 0");

	ck_assert_uint_eq(number(text, "members", 0), 1);
	ck_assert_ptr_nonnull(strstr(text, " still run"));
}
END_TEST

static FILE *perfex_process(pid_t *perfex_pid, pid_t process)
{
	char pid[16];
	FILE *output;

	snprintf(pid, sizeof(pid), "%d", process);
	output = perfex(perfex_pid, (const char *const[]){ "-e", EVENT, "-p", pid, NULL });
	/* perfex does not report when it has begun to count, but from then on it holds counters. */
	while (!counters_are_held())
		usleep(1000);
	ck_assert_uint_eq(contexts(), 1);
	return output;
}

START_TEST(a_running_process_is_counted_from_the_attach_to_its_end)
{
	struct process process = start_waiting();
	pid_t pid;
	FILE *output = perfex_process(&pid, process.pid);
	const char *text;

	ck_assert_int_eq(write(process.go, "", 1), 1);
	text = finish(pid, output, 0);
	ck_assert_uint_eq(number(text, EVENT, 0), GO_ON);
	ck_assert_ptr_null(strstr(text, "members"));
	ck_assert_uint_eq(contexts(), 0);
}
END_TEST

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

START_TEST(a_signal_ends_the_counting_not_the_process)
{
	struct process process = start_waiting();
	pid_t pid;
	FILE *output = perfex_process(&pid, process.pid);
	const char *text;
	int status;

	/* perfex takes signals only a moment after it has begun. */
	usleep(200000);
	kill(pid, ends[_i]);
	text = finish(pid, output, 0);
	ck_assert_uint_eq(number(text, EVENT, 0), 0);
	ck_assert_uint_eq(number(text, "members", 0), 1);
	ck_assert_uint_eq(contexts(), 0);
	ck_assert_int_eq(waitpid(process.pid, &status, WNOHANG), 0);
	ck_assert_int_eq(write(process.go, "", 1), 1);
	ck_assert_int_eq(waitpid(process.pid, &status, 0), process.pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(a_command_limits_the_counting_of_a_process_and_gives_the_status)
{
	struct process process = start_waiting();
	char number_of_process[16];
	const char *text;
	FILE *output;
	pid_t pid;

	snprintf(number_of_process, sizeof(number_of_process), "%d", process.pid);
	output = perfex(&pid, (const char *const[]){ "-e", EVENT, "-p", number_of_process, "sh", "-c",
						     "exit 3", NULL });
	text = finish(pid, output, 3);
	ck_assert_uint_eq(number(text, EVENT, 0), 0);
	ck_assert_uint_eq(number(text, "members", 0), 1);
	kill(process.pid, SIGKILL);
}
END_TEST

START_TEST(a_process_that_is_counted_already_is_named)
{
	struct process process = start_waiting();
	char number_of_process[16], line[256];
	pid_t first, second;
	FILE *output = perfex_process(&first, process.pid), *refused;

	snprintf(number_of_process, sizeof(number_of_process), "%d", process.pid);
	refused = perfex(&second, (const char *const[]){ "-p", number_of_process, NULL });
	snprintf(line, sizeof(line), "perfex: thread %d: the thread is being counted already; close "
		 "its context first, or if another program counts it, let one of both count alone: perfex --regions "
		 "counts regions there\n", process.pid);
	ck_assert_str_eq(finish(second, refused, 125), line);
	ck_assert_int_eq(write(process.go, "", 1), 1);
	ck_assert_uint_eq(number(finish(first, output, 0), EVENT, 0), GO_ON);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfex");
	TCase *tests = tcase_create("live"), *clock = tcase_create("live");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_command_is_counted_with_its_child);
	tcase_add_test(tests, one_event_opens_the_device_twice_and_a_table_once);
	tcase_add_test(tests, self_is_the_first_thread_alone);
	tcase_add_test(tests, each_process_has_its_counts_in_the_order_of_their_ends);
	tcase_add_test(tests, each_thread_has_its_counts);
	tcase_add_test(tests, recordings_are_left_for_the_host_to_validate);
	tcase_add_test(tests, a_thousand_processes_are_recorded);
	tcase_add_test(tests, a_running_process_is_counted_from_the_attach_to_its_end);
	tcase_add_test(tests, a_command_limits_the_counting_of_a_process_and_gives_the_status);
	tcase_add_test(tests, a_process_that_is_counted_already_is_named);
	suite_add_tcase(suite, tests);
	/* These tests need the clock of the host. */
	tcase_set_tags(clock, "clock");
	tcase_set_timeout(clock, 60);
	tcase_add_test(clock, who_outlives_the_command_is_named);
	tcase_add_loop_test(clock, a_signal_ends_the_counting_not_the_process, 0, ARRAY_SIZE(ends));
	suite_add_tcase(suite, clock);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
