// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfex report-machine on an exact PMU: its checks pass, wrong counts are found, and private data
 * stays private.
 */
#include "perfex_shell.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALL_PASSED "checks: 8 passed, 0 failed, 0 not possible, 2 measured, 0 not finished\n"
/* Enough, even if the host is busy. */
#define SECONDS "--seconds=300"

static void expect_text(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part), "not '%s' in:\n%s", part, text);
}

static void expect_no_text(const char *text, const char *part)
{
	ck_assert_msg(!strstr(text, part), "'%s' in:\n%s", part, text);
}

static void expect_nothing_beyond(const char *text)
{
	unsigned int all = lines(text, " beyond"), none = lines(text, " 0 beyond");

	ck_assert_uint_eq(all, 10);
	ck_assert_msg(none == all, "%s", text);
}

/*
 * As an ordinary user. Names of the machine, of the user and of places that the user knows begin
 * with "planted": the report must contain none of them.
 */
START_TEST(all_checks_pass_to_the_instruction_and_nothing_private_is_told)
{
	const char *text;
	struct run r;

	set_paranoid(2);
	enter_directory();
	write_file("passwd", "root:x:0:0:root:/root:/bin/sh\n"
			     "planted-user:x:65534:65534:Planted:/tmp/planted-home:/bin/sh\n");
	write_file("script", "echo planted-host >/proc/sys/kernel/hostname\n"
			     "echo planted-domain >/proc/sys/kernel/domainname\n"
			     "mount --bind passwd /etc/passwd\n"
			     "mkdir -m 777 planted-directory planted-directory/planted-home\n"
			     "cd planted-directory\n"
			     "[ \"$(uname -n)\" = planted-host ] || exit 77\n"
			     "export USER=planted-user LOGNAME=planted-user HOME=$PWD/planted-home\n"
			     "exec setpriv --reuid 65534 --regid 65534 --clear-groups "
			     "perfex report-machine " SECONDS " -o planted-name\n");
	expect(&r, "unshare --uts --mount sh -e script", 0);
	ck_assert_str_eq(r.err, "");
	expect_text(r.out, "the report is in 'planted-name'");
	text = contents("planted-directory/planted-name");
	expect_no_text(text, "planted");
	expect_no_text(text, "/tmp");
	expect_text(text, "\nvendor: GenuineIntel\n");
	expect_text(text, driver_is_module() ? "\nbackend module: used" : "\nbackend patch: used");
	expect_text(text, "\nevent instructions: 0x004100c0@0\nevent branches: 0x004100c4@1\n");
	expect_text(text, "\n  RDPMC of a process that counts nothing: refused\n");
	expect_nothing_beyond(text);
	expect_text(text, "\nevents: measured");
	expect_text(text, ", overhead: subtract ");
	expect_text(text, ALL_PASSED);
}
END_TEST

/*
 * Puts another event under the same name into the administrator's table: the report does not read
 * the user's tables.
 */
static void count_instead(const char *table, struct run *r)
{
	char script[1024];

	enter_directory();
	write_file("lie.tbl", table);
	snprintf(script, sizeof(script),
		 "mount -t tmpfs none /usr/local/share && "
		 "mkdir -p /usr/local/share/perfctr/events && "
		 "cp lie.tbl /usr/local/share/perfctr/events && "
		 "exec perfex report-machine " SECONDS " -o -");
	RUN(r, "unshare", "--mount", "sh", "-c", script);
	ck_assert_msg(r->status == EXITED(1), "wait status %#x: %s%s", r->status, r->out, r->err);
}

START_TEST(counts_that_are_too_high_are_found_by_each_check_of_them)
{
	struct run r;

	count_instead("pmu arch\nbranches 0xc0 any occurrence Instructions\n", &r);
	expect_text(r.out, "\nevent branches: 0x004100c0@1\n");
	expect_text(r.out, "\nloops: failed: branches: ");
	expect_text(r.out, " too many");
	expect_text(r.out, "\nmigration: failed: branches: ");
	expect_text(r.out, "\ninheritance: failed: branches: ");
	expect_text(r.out, "\nisolation: failed: the first, branches: ");
	expect_text(r.out, "\ncounter-reads: passed\n");
}
END_TEST

START_TEST(counts_that_are_missing_are_found_by_each_check_of_them)
{
	struct run r;

	count_instead("pmu arch\ninstructions 0xc4 any occurrence Branches\n", &r);
	expect_text(r.out, "\nloops: failed: instructions: ");
	expect_text(r.out, " are missing\n");
	expect_text(r.out, "\nmigration: failed: instructions: ");
	expect_text(r.out, "\ninheritance: failed: instructions: ");
	expect_text(r.out, "\nisolation: failed: the first, instructions: ");
	expect_text(r.out, "\ncounter-reads: failed: ");
	expect_text(r.out, "\ntime-reads: passed\n");
}
END_TEST

START_TEST(who_has_the_counters_is_said_and_the_rest_is_checked)
{
	int other = try_perf_instructions();
	struct run r;

	ck_assert_int_ge(other, 0);
	enter_directory();
	expect(&r, "perfex report-machine " SECONDS " -o -", 0);
	close(other);
	expect_text(r.out, "\nevent instructions: not possible: the counters are busy: perf_events holds "
			   "them");
	expect_text(r.out, "\nloops: not possible: ");
	expect_text(r.out, "\ntime-reads: passed\n");
	expect_text(r.out, "checks: 3 passed, 0 failed, 6 not possible, 1 measured, 0 not finished\n");
}
END_TEST

START_TEST(another_backend_passes_what_it_can_do)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex report-machine --backend=perf_events " SECONDS " -o -", 0);
	expect_text(r.out, "\nbackend perf_events: used");
	expect_text(r.out, "\nloops: passed\n");
	expect_text(r.out, "\nmigration: passed\n");
	expect_text(r.out, "\ninheritance: passed\n");
	expect_text(r.out, "\nisolation: passed\n");
	expect_text(r.out, "\ntime-reads: not possible: ");
	expect_text(r.out, " 0 failed, ");
}
END_TEST

/* The machine is QEMU's Nehalem. */
START_TEST(a_report_that_exists_is_replaced_if_that_is_asked_for)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex report-machine --seconds=2", EXITED(1));
	ck_assert_str_eq(r.err, "");
	expect_text(r.out, "the report is in 'machine-report-GenuineIntel-6-26-3.txt'");
	write_file("machine-report-GenuineIntel-6-26-3.txt", "as it was\n");
	expect(&r, "perfex report-machine --seconds=2", EXITED(125));
	ck_assert_str_eq(contents("machine-report-GenuineIntel-6-26-3.txt"), "as it was\n");
	expect(&r, "perfex report-machine --force --seconds=2", EXITED(1));
	expect_text(contents("machine-report-GenuineIntel-6-26-3.txt"), "# perfctr: ");
	expect_text(contents("machine-report-GenuineIntel-6-26-3.txt"), " not finished");
	expect_no_text(contents("machine-report-GenuineIntel-6-26-3.txt"), "as it was");
	expect(&r, "perfex report-machine --seconds=2 -o - >/dev/full", EXITED(125));
	expect_text(r.err, "perfex: cannot write standard output: ");
}
END_TEST

static pid_t start_report(const char *path)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("perfex", "perfex", "report-machine", SECONDS, "-o", path, NULL);
		_exit(127);
	}
	return pid;
}

/* Processes of this name that have not ended. */
static unsigned int count_processes(const char *name)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	unsigned int n = 0;

	ck_assert(proc);
	while ((entry = readdir(proc))) {
		char path[300], line[256] = "", found[64], state = 'X';
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(line, sizeof(line), file) && sscanf(line, "%*d (%63[^)]) %c", found, &state) == 2)
			n += strcmp(found, name) == 0 && !strchr("XZ", state);
		fclose(file);
	}
	closedir(proc);
	return n;
}

/* Waits until a check and its processes are there, or until all have ended. */
static void wait_for_processes(bool there)
{
	while (there ? count_processes("perfex") < 3 : count_processes("perfex") > 0)
		sleep_us(10000);
}

static void expect_cut_short(int number)
{
	const char *text;
	int status;
	pid_t pid;

	enter_directory();
	pid = start_report("report");
	wait_for_processes(true);
	kill(pid, number);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == number, "%#x", status);
	ck_assert_uint_eq(count_processes("perfex"), 0);
	text = contents("report");
	expect_text(text, "\nloops: passed\n");
	expect_text(text, "\nmigration: not finished: a signal came\n");
	expect_text(text, "\ncosts: not finished: it was not begun\n");
	expect_text(text, "\ncut short: signal ");
}

START_TEST(a_signal_ends_it_with_what_was_checked_and_leaves_no_process)
{
	expect_cut_short(SIGINT);
	expect_cut_short(SIGTERM);
	expect_cut_short(SIGHUP);
}
END_TEST

START_TEST(who_ignores_a_signal_is_not_ended_by_it)
{
	int status;
	pid_t pid;

	enter_directory();
	signal(SIGHUP, SIG_IGN);
	pid = start_report("report");
	wait_for_processes(true);
	kill(pid, SIGHUP);
	sleep_us(500000);
	ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGINT);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}
END_TEST

START_TEST(its_processes_end_with_it)
{
	pid_t pid;

	enter_directory();
	pid = start_report("report");
	wait_for_processes(true);
	kill_and_wait(pid);
	wait_for_processes(false);
}
END_TEST

/* Where all checks pass, the report's own check of time does, too: it compares clocks. */
SUITE(machine_report,
      counts_that_are_too_high_are_found_by_each_check_of_them,
      counts_that_are_missing_are_found_by_each_check_of_them,
      a_report_that_exists_is_replaced_if_that_is_asked_for,
      a_signal_ends_it_with_what_was_checked_and_leaves_no_process,
      who_ignores_a_signal_is_not_ended_by_it,
      its_processes_end_with_it,
      BY_THE_CLOCK,
      all_checks_pass_to_the_instruction_and_nothing_private_is_told,
      who_has_the_counters_is_said_and_the_rest_is_checked,
      another_backend_passes_what_it_can_do)
