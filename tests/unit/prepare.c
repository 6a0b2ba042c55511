// SPDX-License-Identifier: GPL-2.0-or-later
/* The shell of --prepare is as perfex itself was started: with that environment, and with those signals. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "unit.h"

static const struct {
	const char *arguments[8];
} counts[] = {
	{ { "run", "-o", "/dev/null" } },
	{ { "run", "-o", "/dev/null", "--regions=regions.json", "-e", "page-faults:u" } },
	{ { "compare", "-r", "2", "--warmup=0", "-e", "page-faults:u" } },
};

/* Returns the output of the shell's command "shell" before a command that does nothing. */
static const char *output_of(int i, const char *shell)
{
	static char output[16384];
	const char *arguments[16] = { NULL };
	struct command_result result;
	char *prepare;
	unsigned int n = 0;
	FILE *file;

	for (; counts[i].arguments[n]; n++)
		arguments[n] = counts[i].arguments[n];
	ck_assert_int_ge(asprintf(&prepare, "--prepare=exec >prepared; %s", shell), 0);
	arguments[n++] = prepare;
	arguments[n++] = "--backend=perf_events";
	arguments[n++] = "true";
	if (strcmp(arguments[0], "compare") == 0) {
		arguments[n++] = "--";
		arguments[n++] = "true";
	}
	result = run_perfex(arguments);
	free(prepare);
	ck_assert_msg(result.status == 0, "%s", result.err);
	file = fopen("prepared", "r");
	ck_assert_ptr_nonnull(file);
	output[fread(output, 1, sizeof(output) - 1, file)] = '\0';
	fclose(file);
	unlink("prepared");
	unlink("regions.json");
	return output;
}

START_TEST(a_preparation_has_the_environment_of_perfex)
{
	enter_directory();
	unsetenv("PERFCTR_BACKEND");
	unsetenv("PERFCTR_REGIONS");
	unsetenv("PERFCTR_REGIONS_EVENTS");
	ck_assert_str_eq(output_of(_i, "env | grep ^PERFCTR_; true"), "");
	setenv("PERFCTR_BACKEND", "perf_events", 1);
	setenv("PERFCTR_REGIONS", "/mine", 1);
	setenv("PERFCTR_REGIONS_EVENTS", "cycles", 1);
	ck_assert_str_eq(output_of(_i, "env | grep ^PERFCTR_ | sort"),
			 "PERFCTR_BACKEND=perf_events\n"
			 "PERFCTR_REGIONS=/mine\n"
			 "PERFCTR_REGIONS_EVENTS=cycles\n");
	leave_directory();
}
END_TEST

/* Signals that perfex is started with, as by nohup(1).  perfex itself blocks some of these, and others. */
static const int ignored[] = { SIGHUP, SIGPIPE, SIGUSR2 }, blocked[] = { SIGTERM, SIGXFSZ, SIGUSR1 };

START_TEST(a_preparation_has_the_signals_of_perfex)
{
	char expected[128] = "", line[256];
	FILE *status;
	sigset_t mask;

	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(blocked); i++)
		sigaddset(&mask, blocked[i]);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	/* perfex is started with the signals of the test. */
	status = fopen("/proc/self/status", "r");
	ck_assert_ptr_nonnull(status);
	while (fgets(line, sizeof(line), status))
		if (strncmp(line, "SigBlk:", 7) == 0 || strncmp(line, "SigIgn:", 7) == 0)
			strcat(expected, line);
	fclose(status);
	/* SIGUSR1, SIGTERM and SIGXFSZ: bits 9, 14 and 24. */
	ck_assert_msg(strstr(expected, "SigBlk:\t0000000001004200\n"), "%s", expected);
	ck_assert_str_eq(output_of(_i, "exec grep -E '^Sig(Blk|Ign)' /proc/self/status"), expected);
	leave_directory();
}
END_TEST

TCase *prepare_tests(void)
{
	TCase *tests = tcase_create("prepare");

	tcase_add_loop_test(tests, a_preparation_has_the_environment_of_perfex, 0, ARRAY_SIZE(counts));
	tcase_add_loop_test(tests, a_preparation_has_the_signals_of_perfex, 0, ARRAY_SIZE(counts));
	return tests;
}
