// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex over a long time, on a machine whose clock leaps while it sleeps. */
#include "guest.h"
#include "perfex_shell.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENT "0x004100c0@0"

/* A value of /proc/PID/status, in kB. */
static unsigned long memory_of(pid_t pid, const char *what)
{
	char path[64], line[128];
	unsigned long value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	ck_assert(file);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, what, strlen(what)) == 0)
			value = strtoul(line + strlen(what), NULL, 10);
	fclose(file);
	ck_assert_uint_gt(value, 0);
	return value;
}

static unsigned int lines_of(const char *path)
{
	unsigned int lines = 0;
	FILE *file = fopen(path, "r");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		lines++;
	if (file)
		fclose(file);
	return lines;
}

static void wait_for_lines(pid_t pid, const char *path, unsigned int n)
{
	while (lines_of(path) < n) {
		ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
		sleep(3600);
	}
}

/* One line in 8.64 s is 10,000 a day. If the machine has been kept waiting, more days pass. */
START_TEST(ten_thousand_intervals_do_not_grow_in_memory)
{
	unsigned long resident, data;
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		execlp("perfex", "perfex", "-I", "8640", "-o", "/tmp/day", "-e", EVENT, "sleep",
		       "infinity", NULL);
		_exit(99);
	}
	wait_for_lines(pid, "/tmp/day", 1000);
	resident = memory_of(pid, "VmRSS:");
	data = memory_of(pid, "VmData:");
	wait_for_lines(pid, "/tmp/day", 10000);
	ck_assert_uint_le(memory_of(pid, "VmRSS:"), resident);
	ck_assert_uint_eq(memory_of(pid, "VmData:"), data);
	kill(pid, SIGTERM);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, SIGTERM);
}
END_TEST

/*
 * Is the truth within the interval of the event's line? The line begins with the mean and half of
 * the interval.
 */
static bool covers(const char *text, double truth)
{
	const char *line = strstr(text, EVENT " ");
	double mean, half;

	ck_assert_msg(line && sscanf(line, EVENT " %lf %lf", &mean, &half) == 2, "%s", text);
	return mean - half <= truth && truth <= mean + half;
}

/* About normally distributed: the sum of 12 numbers from 0 to 19. Its mean is 114. */
static unsigned char noise_byte(void)
{
	int sum = 0;

	for (int i = 0; i < 12; i++)
		sum += (int)(20 * drand48());
	return (unsigned char)sum;
}

/*
 * With this seed. Fewer than 88, or all, of 100 intervals of 95 % cover the truth once in 130
 * seeds.
 */
START_TEST(intervals_cover_the_truth_of_a_noisy_program)
{
	enum { SESSIONS = 100, REPETITIONS = 5 };
	int covered = 0;

	ck_assert_int_eq(chdir("/tmp"), 0);
	setenv("NOISE", program("noise"), 1);
	srand48(1);
	for (int i = 0; i < SESSIONS; i++) {
		unsigned char bytes[REPETITIONS];
		FILE *file;
		struct run r;

		for (int k = 0; k < REPETITIONS; k++)
			bytes[k] = noise_byte();
		file = fopen("bytes", "w");
		ck_assert(file && fwrite(bytes, 1, REPETITIONS, file) == REPETITIONS);
		fclose(file);
		RUN(&r, "sh", "-c", "exec perfex -r 5 -e " EVENT " $NOISE 3<bytes");
		covered += covers(r.err, NOISE(114));
	}
	ck_assert_int_ge(covered, 88);
	ck_assert_int_lt(covered, SESSIONS);
}
END_TEST

/*
 * A pass of asm/hot.S has 94 instructions: 65 in hot, 25 in warm. It is much shorter than a period,
 * so that samples are independent. Intervals of 95 % contain the truth in 95 of 100 runs, give or
 * take 2.2, and in fewer than 88 runs once in 700 times.
 */
START_TEST(intervals_of_samples_have_the_true_share_in_95_per_cent_of_the_runs)
{
	static const char script[] =
		"for seed in $(seq 100); do "
		"perfex record --seed=$seed -c 10007 -o samples $HOT 2>/dev/null && "
		"perfex samples --csv samples; done | tr -d '\\r' | "
		"awk -F, '$NF == \"hot\" { hot += $5 <= 6500 / 94 && 6500 / 94 <= $6 } "
		"$NF == \"warm\" { warm += $5 <= 2500 / 94 && 2500 / 94 <= $6 } "
		"END { print hot, warm }'";
	unsigned int hot, warm;
	struct run r;

	enter_directory();
	expect(&r, script, 0);
	ck_assert_int_eq(sscanf(r.out, "%u %u", &hot, &warm), 2);
	ck_assert_uint_ge(hot, 88);
	ck_assert_uint_ge(warm, 88);
}
END_TEST

/* The distance of hot's share from 75 %, in standard deviations of independent samples. */
static double error_of_rounds(unsigned int passes, const char *options)
{
	unsigned int hot, all;
	char script[512];
	struct run r;

	snprintf(
		script, sizeof(script),
		"perfex record %s -c 10007 -o samples $ROUNDS %u && "
		"perfex samples --csv samples | tr -d '\\r' | "
		"awk -F, '$2 > 0 { all += $2 } $NF == \"hot\" { hot = $2 } END { print hot, all }'",
		options, passes);
	expect(&r, script, 0);
	ck_assert_int_eq(sscanf(r.out, "%u %u", &hot, &all), 2);
	ck_assert_uint_gt(all, 100);
	return fabs(hot - 0.75 * all) / sqrt(0.75 * 0.25 * all);
}

/*
 * Rounds of asm/rounds.S with a length near a simple fraction or multiple of the period: 1/4, 1/3,
 * 1/2, 2/3, 1, 3/2, 2, 3, 4, 5 and 6 periods.
 */
START_TEST(shares_are_right_of_a_program_in_step_with_the_period)
{
	static const unsigned int passes[] = { 312,  416,  624,	 833,  1250, 1875,
					       2501, 3752, 5002, 6253, 7504 };
	unsigned int in_step = 0;

	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(passes); i++) {
		in_step += error_of_rounds(passes[i], "--jitter=0 --seed=1") > 4;
		ck_assert_msg(error_of_rounds(passes[i], "--seed=1") < 4, "%u passes", passes[i]);
	}
	/* Otherwise this program tests nothing. */
	ck_assert_uint_ge(in_step, 3);
}
END_TEST

SUITE(perfex_long, ten_thousand_intervals_do_not_grow_in_memory,
      intervals_cover_the_truth_of_a_noisy_program,
      intervals_of_samples_have_the_true_share_in_95_per_cent_of_the_runs,
      shares_are_right_of_a_program_in_step_with_the_period)
