// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfex run: repetitions, passes, intervals, limits, and where the counts go.  Expected counts are
 * those of asm/noise.S and asm/loop.S.
 */
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXITED(code) ((code) << 8)
#define EVENT "0x004100c0@0"
#define NOISE(byte) (1003ull * (byte) + 1015)
#define NOISE_READ 1010ull /* behind the read of byte 0 */

static char directory[32];

static void enter_directory(void)
{
	strcpy(directory, "/tmp/perfex-XXXXXX");
	ck_assert(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
	setenv("NOISE", program("noise"), 1);
	setenv("LOOP", program("loop"), 1);
	setenv("LONG", program("loop-long"), 1);
	setenv("HUGE", program("loop-huge"), 1);
	setenv("DIE", program("die-9"), 1);
}

static void write_bytes(const char *path, const unsigned char *bytes, size_t n)
{
	FILE *file = fopen(path, "w");

	ck_assert(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0);
}

static void shell(struct run *r, const char *script)
{
	RUN(r, "sh", "-c", script);
}

static void expect(struct run *r, const char *script, int status)
{
	shell(r, script);
	ck_assert_msg(r->status == status, "%s: wait status %#x\n%s%s", script, r->status, r->out,
		      r->err);
}

static const char *contents(const char *path)
{
	static char text[65536];
	FILE *file = fopen(path, "r");

	ck_assert_msg(file, "%s: %s", path, strerror(errno));
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static unsigned int lines(const char *text, const char *with)
{
	unsigned int n = 0;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		const char *found = strstr(text, with);

		n += found && found < text + strcspn(text, "\n");
	}
	return n;
}

/* The columns of perfex's CSV. */
enum {
	ROW,
	RUN_NUMBER,
	PASS,
	TIME,
	PID,
	TID,
	PROCESS,
	NAME,
	COUNTER,
	RINGS,
	COUNT,
	RUNS,
	MEAN,
	STDDEV,
	LOW,
	HIGH,
	MIN,
	MAX,
	COLUMNS
};

struct row {
	char column[COLUMNS][64];
};

/* Of names without quotes; false at the end. */
static bool next_row(const char **text, struct row *row)
{
	const char *end = strstr(*text, "\r\n");
	int n = 0;

	if (!end)
		return false;
	for (const char *c = *text; c <= end; n++) {
		size_t length = strcspn(c, ",\r");

		ck_assert(n < COLUMNS && length < sizeof(row->column[n]));
		memcpy(row->column[n], c, length);
		row->column[n][length] = '\0';
		c += length + 1;
	}
	ck_assert_int_eq(n, COLUMNS);
	*text = end + 2;
	return true;
}

/* The only row of its kind for the event. */
static struct row find_row(const char *text, const char *kind, const char *event)
{
	struct row row, found = { 0 };
	int n = 0;

	for (const char *rest = text; next_row(&rest, &row);)
		if (strcmp(row.column[ROW], kind) == 0 && strcmp(row.column[NAME], event) == 0) {
			found = row;
			n++;
		}
	ck_assert_msg(n == 1, "%d rows \"%s\" of %s in:\n%s", n, kind, event, text);
	return found;
}

static double real(const struct row *row, int column)
{
	return strtod(row->column[column], NULL);
}

static uint64_t integer(const struct row *row, int column)
{
	return strtoull(row->column[column], NULL, 10);
}

/*
 * Bytes 0 to 4: 1015, 2018, .. 5027.  Mean 3021, standard deviation 1003 * sqrt(2.5) = 1585.88,
 * half of the interval t * s / sqrt(5) with t = 2.776 (95 %, 4 degrees of freedom) or 4.604 (99 %).
 */
START_TEST(repetitions_have_mean_interval_deviation_and_extremes)
{
	static const unsigned char bytes[] = { 99, 98, 0, 1, 2, 3, 4 };
	struct run r;
	struct row row;

	enter_directory();
	write_bytes("bytes", bytes + 2, 5);
	expect(&r, "perfex -r 5 --csv -e " EVENT " $NOISE <bytes", 0);
	row = find_row(r.err, "summary", EVENT);
	ck_assert_uint_eq(integer(&row, RUNS), 5);
	ck_assert_double_eq(real(&row, MEAN), 3021);
	ck_assert_double_eq_tol(real(&row, STDDEV), 1585.88, 0.005);
	ck_assert_double_eq_tol(real(&row, LOW), 3021 - 1969.1, 0.5);
	ck_assert_double_eq_tol(real(&row, HIGH), 3021 + 1969.1, 0.5);
	ck_assert_uint_eq(integer(&row, MIN), NOISE(0));
	ck_assert_uint_eq(integer(&row, MAX), NOISE(4));
	ck_assert_str_eq(row.column[RINGS], "user");
	expect(&r, "perfex -r 5 --csv --confidence=99 -e " EVENT " $NOISE <bytes", 0);
	row = find_row(r.err, "summary", EVENT);
	ck_assert_double_eq_tol(real(&row, HIGH), 3021 + 3265.4, 0.5);

	write_bytes("bytes", bytes, 7);
	expect(&r, "perfex --repeat=5 --warmup=2 -e " EVENT " $NOISE <bytes", 0);
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
	expect(&r, "perfex -r 5 -o out --csv -e " EVENT " $NOISE <bytes", EXITED(1));
	ck_assert_str_eq(r.err, "perfex: run 3 ended with status 1: no further run; what was "
				"counted is kept\n");
	row = find_row(contents("out"), "summary", EVENT);
	ck_assert_uint_eq(integer(&row, RUNS), 2);
	ck_assert_double_eq(real(&row, MEAN), NOISE(2));

	/* There is nothing but what the failed run has counted. */
	expect(&r, "perfex -r 5 -o out --csv -e " EVENT " $NOISE </dev/null", EXITED(1));
	row = find_row(contents("out"), "total", EVENT);
	ck_assert_uint_eq(integer(&row, COUNT), 10);

	expect(&r, "exec perfex -r 5 -o out --csv -e " EVENT " $DIE", SIGKILL);
	ck_assert_str_eq(r.err, "perfex: run 1 died of signal 9 (Killed): no further run; what was "
				"counted is kept\n");
	row = find_row(contents("out"), "total", EVENT);
	ck_assert_uint_eq(integer(&row, COUNT), 2007);
}
END_TEST

/* Register values that fit general counters alone, of which there are four. */
START_TEST(forty_events_take_ten_runs_and_are_all_exact)
{
	char script[2048] = "perfex -o out --csv";
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
		if (strcmp(row.column[ROW], "total") || strcmp(row.column[NAME], "tsc") == 0)
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

/* In kernel mode the program itself is not counted, in both modes the sum is. */
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

START_TEST(what_the_kernel_refuses_of_a_later_pass_is_refused_before_the_first)
{
	struct run r;

	enter_directory();
	expect(&r,
	       "perfex -e 0x4100c0 -e 0x4100c0 -e 0x4100c0 -e 0x4100c0 -e 0x5100c0 touch started",
	       EXITED(125));
	ck_assert_msg(strstr(r.err, "0x005100c0"), "%s", r.err);
	ck_assert_int_lt(access("started", F_OK), 0);
}
END_TEST

START_TEST(intervals_add_up_to_the_sum)
{
	uint64_t count = 0, tsc = 0, time = 0;
	unsigned int n = 0;
	struct row row, total;
	const char *text;
	struct run r;

	enter_directory();
	expect(&r, "perfex -I 20 --csv -o out -e " EVENT " $LONG", 0);
	ck_assert_str_eq(r.err, "");
	for (text = contents("out"); next_row(&text, &row);) {
		if (strcmp(row.column[ROW], "interval"))
			continue;
		if (strcmp(row.column[NAME], "tsc") == 0) {
			tsc += integer(&row, COUNT);
			continue;
		}
		n++;
		count += integer(&row, COUNT);
		ck_assert_uint_gt(integer(&row, TIME), time);
		time = integer(&row, TIME);
	}
	ck_assert_uint_gt(n, 3);
	ck_assert_uint_eq(count, LOOP_INSTRUCTIONS(LONG_LOOP));
	total = find_row(contents("out"), "total", "tsc");
	ck_assert_uint_eq(tsc, integer(&total, COUNT));

	expect(&r, "perfex -I 20 --json -o out -e " EVENT " $LONG", 0);
	ck_assert_uint_gt(lines(contents("out"), "\"perfex-interval\""), 3);
	ck_assert_uint_eq(lines(contents("out"), "\"perfex-run\""), 1);
}
END_TEST

START_TEST(a_time_limit_ends_the_command_and_is_no_failure)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex --timeout=300 -e " EVENT " $HUGE", 0);
	ck_assert_uint_gt(printed_count(r.err, EVENT), 0);
	ck_assert_uint_lt(printed_count(r.err, EVENT), LOOP_INSTRUCTIONS(HUGE_LOOP));
	/* One that has stopped itself. */
	expect(&r, "perfex -r 2 --timeout=100 -e " EVENT " sh -c 'kill -STOP $$'", 0);
	ck_assert_uint_eq(printed_count(r.err, "runs"), 2);
	/* What it does with the signal is its own business. */
	expect(&r, "perfex --timeout=300 sh -c 'trap \"exit 3\" TERM; while :; do :; done'",
	       EXITED(3));
	expect(&r, "perfex --timeout=100000 -e " EVENT " $LOOP", 0);
	ck_assert_uint_eq(printed_count(r.err, EVENT), LOOP_INSTRUCTIONS(SHORT_LOOP));
}
END_TEST

START_TEST(a_delay_leaves_out_what_comes_before)
{
	struct run r;

	enter_directory();
	expect(&r, "{ sleep 1; printf '\\000'; } | perfex --delay=300 -e " EVENT " $NOISE", 0);
	ck_assert_uint_eq(printed_count(r.err, EVENT), NOISE_READ);
	/* What is created before is counted too, from then on. */
	expect(&r,
	       "perfex --delay=500 -e " EVENT " --per-process -o out sh -c '"
	       "{ sleep 1; printf \"\\\\000\"; } | $NOISE'",
	       0);
	ck_assert_msg(strstr(contents("out"), "noise"), "%s", contents("out"));
	ck_assert_uint_eq(printed_count(strstr(contents("out"), "noise"), EVENT), NOISE_READ);
	expect(&r, "perfex --delay=60000 -e " EVENT " $LOOP", 0);
	ck_assert_uint_eq(printed_count(r.err, EVENT), 0);
	ck_assert_msg(strstr(r.err, "perfex: the command ended within the delay of 60000 ms: "
				    "nothing was counted\n"),
		      "%s", r.err);
}
END_TEST

START_TEST(a_process_is_counted_in_passes_of_limited_time)
{
	struct run r;

	enter_directory();
	expect(&r,
	       "$HUGE & trap \"kill $!\" EXIT; perfex --csv -o out --timeout=200 -e 0x4100c0 "
	       "-e 0x4100c0 -e 0x4100c0 -e 0x4100c0 -e branches:u -p $!",
	       0);
	ck_assert_uint_gt(find_row(contents("out"), "total", "branches:u").column[COUNT][0], '0');
	expect(&r, "$HUGE & trap \"kill $!\" EXIT; perfex -r 2 -p $!", EXITED(125));
	ck_assert_msg(strstr(r.err, "--timeout"), "%s", r.err);
}
END_TEST

START_TEST(appended_output_has_one_head_and_nothing_is_lost)
{
	struct run r;

	enter_directory();
	for (int i = 0; i < 3; i++)
		expect(&r, "perfex -o out.csv --append --csv -e " EVENT " $LOOP", 0);
	ck_assert_uint_eq(lines(contents("out.csv"), "row,run,pass"), 1);
	ck_assert_uint_eq(lines(contents("out.csv"), EVENT ",0x0,user,2000004,"), 3);
	for (int i = 0; i < 3; i++)
		expect(&r, "perfex -o out.json --append --json -e " EVENT " $LOOP", 0);
	ck_assert_uint_eq(lines(contents("out.json"), "{\"schema\":\"perfex-run\""), 3);
	ck_assert_uint_eq(lines(contents("out.json"), "\"counts\":[2000004]"), 3);
	expect(&r, "perfex -o out.json --json -e " EVENT " $LOOP", 0);
	ck_assert_uint_eq(lines(contents("out.json"), "{\"schema\":\"perfex-run\""), 1);
}
END_TEST

START_TEST(a_descriptor_takes_the_counts_and_the_command_does_not_get_it)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex --log-fd 5 -e " EVENT " ls -l /proc/self/fd 5>out", 0);
	ck_assert_str_eq(r.err, "");
	ck_assert_msg(!strstr(r.out, "/out"), "%s", r.out);
	ck_assert_uint_gt(printed_count(contents("out"), EVENT), 0);
	expect(&r, "perfex --log-fd=1 -e " EVENT " $LOOP", 0);
	ck_assert_uint_eq(printed_count(r.out, EVENT), 2000004);
	expect(&r, "perfex --log-fd=7 touch started", EXITED(125));
	ck_assert_msg(strstr(r.err, "descriptor 7 is not open for writing"), "%s", r.err);
	expect(&r, "perfex --log-fd=7 touch started 7</dev/null", EXITED(125));
	ck_assert_int_lt(access("started", F_OK), 0);
}
END_TEST

START_TEST(a_full_device_loses_neither_the_counts_nor_the_file)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex -o /dev/full -e " EVENT " $LOOP", EXITED(125));
	ck_assert_uint_eq(lines(r.err, "perfex: cannot write '/dev/full': No space left"), 1);
	ck_assert_uint_eq(printed_count(r.err, EVENT), 2000004);

	/* Said once; the command goes on to its end. */
	expect(&r, "perfex -o /dev/full -I 20 -e " EVENT " $LONG", EXITED(125));
	ck_assert_uint_eq(lines(r.err, "perfex: "), 1);
	ck_assert_uint_eq(printed_count(r.err, EVENT), LOOP_INSTRUCTIONS(LONG_LOOP));

	/* 4096 bytes, 4090 of them taken: half a line would fit. */
	ck_assert_int_eq(mkdir("small", 0755), 0);
	ck_assert_int_eq(mount("none", "small", "tmpfs", 0, "size=4096"), 0);
	expect(&r,
	       "head -c 4090 /dev/zero | tr '\\0' x >small/out && "
	       "perfex -o small/out --append -e " EVENT " $LOOP",
	       EXITED(125));
	ck_assert_uint_eq(printed_count(r.err, EVENT), 2000004);
	expect(&r, "tr -d x <small/out | wc -c; wc -c <small/out", 0);
	ck_assert_str_eq(r.out, "0\n4090\n");
	umount("small");
}
END_TEST

START_TEST(a_closed_pipe_loses_no_counts_and_kills_nobody)
{
	struct run r;

	enter_directory();
	expect(&r,
	       "{ sleep 1; perfex --log-fd=3 -e " EVENT " $LOOP 3>&1; echo $? >status; } | true",
	       0);
	ck_assert_str_eq(contents("status"), "125\n");
	ck_assert_uint_eq(printed_count(r.err, EVENT), 2000004);
	/* The command's own broken pipe is its own affair: it dies of it, as without perfex. */
	expect(&r, "perfex -o out -e " EVENT " yes | head -n 1 >/dev/null", 0);
	ck_assert_uint_gt(printed_count(contents("out"), EVENT), 0);
	expect(&r, "{ perfex -o out yes; echo $? >status; } | head -n 1 >/dev/null", 0);
	ck_assert_str_eq(contents("status"), "141\n");
}
END_TEST

/* perfex in a process group of its own, as a shell with job control has it. */
static pid_t start_group(const char *script)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		/* libcheck's handler would end the test. */
		signal(SIGINT, SIG_DFL);
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(99);
	}
	setpgid(pid, pid);
	return pid;
}

/* Once it has executed the program. */
static pid_t child_of(pid_t parent, const char *name)
{
	for (int i = 0; i < 100; i++) {
		DIR *processes = opendir("/proc");
		struct dirent *entry;

		while ((entry = readdir(processes))) {
			char path[300], comm[32] = "";
			int pid, ppid;
			FILE *file;

			snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
			file = fopen(path, "r");
			if (!file)
				continue;
			if (fscanf(file, "%d (%31[^)]) %*c %d", &pid, comm, &ppid) != 3)
				ppid = 0;
			fclose(file);
			if (ppid == parent && strcmp(comm, name) == 0) {
				closedir(processes);
				return pid;
			}
		}
		closedir(processes);
		sleep_us(100000);
	}
	ck_abort_msg("process %d has no child %s", parent, name);
}

static void wait_for_lines(const char *path, unsigned int n)
{
	for (int i = 0; i < 600; i++) {
		if (access(path, F_OK) == 0 && lines(contents(path), "run") >= n)
			return;
		sleep_us(100000);
	}
	ck_abort_msg("no %u lines in %s", n, path);
}

START_TEST(an_interrupt_ends_the_repetitions_and_the_counts_are_printed)
{
	int status;
	pid_t pid;

	enter_directory();
	pid = start_group("exec perfex -r 1000 -o out -e " EVENT
			  " sh -c 'echo run >>started; sleep 1' 2>err");
	wait_for_lines("started", 3);
	kill(-pid, SIGINT);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT, "%#x", status);
	ck_assert_msg(strstr(contents("err"), " died of signal 2 (Interrupt): no further run"),
		      "%s", contents("err"));
	ck_assert_uint_eq(printed_count(contents("out"), "runs"), 2);

	/* A command that does not die of it ends as it likes; there is no other. */
	pid = start_group("exec perfex -r 1000 -o out sh -c 'trap : INT; echo run >trapped; "
			  "sleep 1; sleep 1' 2>err");
	wait_for_lines("trapped", 1);
	kill(-pid, SIGINT);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_msg(strstr(contents("err"), "perfex: a signal ended the counting after run 1;"),
		      "%s", contents("err"));
}
END_TEST

START_TEST(a_job_that_is_stopped_and_continued_is_counted_exactly)
{
	int status;
	pid_t pid;

	enter_directory();
	pid = start_group("exec perfex -o out -e " EVENT " $LONG");
	child_of(pid, "loop-long");
	kill(-pid, SIGTSTP);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert_msg(WIFSTOPPED(status), "%#x", status);
	sleep_us(200000);
	kill(-pid, SIGCONT);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(printed_count(contents("out"), EVENT), LOOP_INSTRUCTIONS(LONG_LOOP));
}
END_TEST

START_TEST(a_stopped_command_is_waited_for_and_a_killed_one_reported)
{
	int status;
	pid_t pid, command;

	enter_directory();
	pid = start_group("exec perfex -o out -I 50 -e " EVENT " $LONG");
	command = child_of(pid, "loop-long");
	kill(command, SIGSTOP);
	sleep_us(500000);
	ck_assert_int_eq(waitpid(pid, &status, WNOHANG | WUNTRACED), 0);
	kill(command, SIGCONT);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(printed_count(contents("out"), EVENT), LOOP_INSTRUCTIONS(LONG_LOOP));

	pid = start_group("exec perfex -o out -e " EVENT " $HUGE");
	kill(child_of(pid, "loop-huge"), SIGKILL);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, SIGKILL);
	ck_assert_uint_lt(printed_count(contents("out"), EVENT), LOOP_INSTRUCTIONS(HUGE_LOOP));
}
END_TEST

/* As a daemon does it: the child in between is gone before the program runs. */
START_TEST(a_command_that_forks_twice_is_counted_with_its_daemon)
{
	struct run r;
	const char *daemon;

	enter_directory();
	expect(&r, "perfex --per-process -o out -e " EVENT " sh -c '(setsid $LOOP &) & sleep 2'",
	       0);
	daemon = strstr(contents("out"), "  loop\n");
	ck_assert_msg(daemon, "%s", contents("out"));
	/* The fork of the shell, until it executes the loop, is part of the process. */
	ck_assert_uint_ge(printed_count(daemon, EVENT), 2000004);
	ck_assert(!strstr(contents("out"), "members"));
	expect(&r,
	       "perfex -o out -e " EVENT
	       " sh -c '(setsid sleep 20 >/dev/null 2>&1 &) & wait; sleep 1' 2>err",
	       0);
	ck_assert_uint_eq(printed_count(contents("out"), "members"), 1);
}
END_TEST

/* What is on a terminal comes back from its other side; there input is typed after the line "ready". */
static const char *on_terminal(const char *script, const char *input, int *status)
{
	static char text[16384];
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
	size_t length = 0;
	ssize_t n;
	pid_t pid;

	ck_assert_msg(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0, "%s",
		      strerror(errno));
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(slave, 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		setsid();
		ioctl(slave, TIOCSCTTY, 0);
		dup2(slave, 0);
		dup2(slave, 1);
		dup2(slave, 2);
		setenv("TERM", "xterm", 1);
		execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(99);
	}
	close(slave);
	/* The last one who has the other side closes it: EIO. */
	while ((n = read(master, text + length, sizeof(text) - 1 - length)) > 0) {
		length += (size_t)n;
		text[length] = '\0';
		if (input && strstr(text, "ready\r\n")) {
			ck_assert_int_gt(write(master, input, strlen(input)), 0);
			input = NULL;
		}
	}
	text[length] = '\0';
	close(master);
	ck_assert_int_eq(wait_for(pid, status), pid);
	return text;
}

START_TEST(a_terminal_gets_colours_and_a_bar_unless_it_does_not_want_them)
{
	const char *text;
	int status;

	enter_directory();
	text = on_terminal("exec perfex -r 2 -e " EVENT " $LOOP", NULL, &status);
	ck_assert_int_eq(status, 0);
	ck_assert_msg(strstr(text, "\033[1m") && strstr(text, "2000004.00\033[0m"), "%s", text);
	ck_assert_msg(strstr(text, "] run 1 of 2\r"), "%s", text);
	text = on_terminal("NO_COLOR=1 exec perfex -e " EVENT " $LOOP", NULL, &status);
	ck_assert_msg(strstr(text, "2000004  user") && !strchr(text, '\033'), "%s", text);
	text = on_terminal("TERM=dumb exec perfex -e " EVENT " $LOOP", NULL, &status);
	ck_assert_msg(!strchr(text, '\033'), "%s", text);
	text = on_terminal("exec perfex -o out -e " EVENT " $LOOP", NULL, &status);
	ck_assert_str_eq(text, "");
	ck_assert(!strchr(contents("out"), '\033'));
}
END_TEST

START_TEST(a_command_reads_from_the_terminal_and_gets_its_interrupt)
{
	const char *text;
	int status;

	enter_directory();
	text = on_terminal("exec perfex -o out sh -c 'echo ready; exec cat'", "typed\n\004",
			   &status);
	ck_assert_int_eq(status, 0);
	ck_assert_msg(strstr(text, "typed\r\ntyped\r\n"), "%s", text);
	on_terminal("exec perfex -r 5 -o out sh -c 'echo ready; exec cat' 2>err", "\003", &status);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT, "%#x", status);
	ck_assert_uint_eq(printed_count(contents("out"), "runs"), 1);
}
END_TEST

SUITE(perfex_run, repetitions_have_mean_interval_deviation_and_extremes,
      a_failed_repetition_is_the_last_and_the_counts_before_are_kept,
      forty_events_take_ten_runs_and_are_all_exact,
      names_are_counted_in_the_modes_that_are_asked_for,
      what_the_kernel_refuses_of_a_later_pass_is_refused_before_the_first,
      intervals_add_up_to_the_sum, a_time_limit_ends_the_command_and_is_no_failure,
      a_delay_leaves_out_what_comes_before, a_process_is_counted_in_passes_of_limited_time,
      appended_output_has_one_head_and_nothing_is_lost,
      a_descriptor_takes_the_counts_and_the_command_does_not_get_it,
      a_full_device_loses_neither_the_counts_nor_the_file,
      a_closed_pipe_loses_no_counts_and_kills_nobody,
      an_interrupt_ends_the_repetitions_and_the_counts_are_printed,
      a_job_that_is_stopped_and_continued_is_counted_exactly,
      a_stopped_command_is_waited_for_and_a_killed_one_reported,
      a_command_that_forks_twice_is_counted_with_its_daemon,
      a_terminal_gets_colours_and_a_bar_unless_it_does_not_want_them,
      a_command_reads_from_the_terminal_and_gets_its_interrupt)
