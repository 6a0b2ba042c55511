// SPDX-License-Identifier: GPL-2.0-or-later
/* The process of the service: its start, its reports, and its end. */
#include "bpf.h"
#include "attacker.h"
#include "raw.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * It notifies its manager when it can be used, not before. When told to end, it removes everything.
 */
START_TEST(it_notifies_who_started_it_and_ends_when_told)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = 20 };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), status;
	char message[64] = "";
	pid_t pid;

	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "perfctr-test-%d", getpid());
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address,
			      (socklen_t)(sizeof(sa_family_t) + 1 + strlen(address.sun_path + 1))),
			 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	pid = fork();
	if (pid == 0) {
		address.sun_path[0] = '@';
		setenv("NOTIFY_SOCKET", address.sun_path, 1);
		execl("build/sbin/perfctr-bpfd", "perfctr-bpfd", "start", "--foreground", NULL);
		_exit(1);
	}
	ck_assert_int_gt(recv(fd, message, sizeof(message) - 1, 0), 0);
	ck_assert_str_eq(message, "READY=1");
	ck_assert_int_eq(access(PIN("call"), F_OK), 0);
	kill(pid, SIGTERM);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_lt(access(PERFCTR_BPF_DIRECTORY, F_OK), 0);
}
END_TEST

static int shell(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static pid_t begin_service(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("build/sbin/perfctr-bpfd", "perfctr-bpfd", "start", "--foreground", NULL);
		_exit(1);
	}
	while (access(PIN("call"), F_OK) < 0)
		nap(10);
	while (shell("build/sbin/perfctr-bpfd status | grep -q '^service  process '") != 0)
		nap(10);
	return pid;
}

START_TEST(the_number_of_a_killed_service_may_be_anybodys)
{
	pid_t pid = begin_service(), stranger;
	struct raw raw;

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	stranger = victim();
	ck_assert_int_ge(raw_open(&raw), 0);
	ck_assert_int_eq(raw_say_service(stranger, 1), 0);
	ck_assert_int_eq(shell("build/sbin/perfctr-bpfd status | grep -q 'does not run'"), 0);
	ck_assert_int_eq(shell("build/sbin/perfctr-bpfd stop"), 0);
	ck_assert_int_eq(waitpid(stranger, NULL, WNOHANG), 0);
	end_victim(stranger);
	raw_close(&raw);
}
END_TEST

/* Field 22 of its /proc/PID/stat. Its name has no space. */
static uint64_t start_of(pid_t pid)
{
	unsigned long long start = 0;
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file,
				"%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
				"%*s %*s %*s %*s %*s %*s %llu",
				&start),
			 1);
	fclose(file);
	return start;
}

START_TEST(stop_signals_nobody_that_the_map_names)
{
	pid_t pid = begin_service(), stranger = victim();
	int status;

	ck_assert_int_eq(raw_say_service(stranger, start_of(stranger)), 0);
	ck_assert_int_eq(shell("build/sbin/perfctr-bpfd stop"), 0);
	ck_assert_int_eq(waitpid(stranger, NULL, WNOHANG), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_lt(access(PERFCTR_BPF_DIRECTORY, F_OK), 0);
	end_victim(stranger);
}
END_TEST

/* This holds whatever the service writes after it was told to end. */
START_TEST(what_has_ended_does_not_begin_again)
{
	static const uint32_t actions[] = { PERFCTR_BPF_KEEP_SERVICE, PERFCTR_BPF_KEEP_CLOCK,
					    PERFCTR_BPF_KEEP_END, 3, UINT32_MAX };
	pid_t pid = begin_service();
	struct perfctr_bpf_kept to = { .action = PERFCTR_BPF_KEEP_CLOCK };
	struct perfctr_bpf_info info;
	int keep = raw_get(PIN("keep"), 0), map = raw_get(PIN("info"), BPF_F_RDONLY);

	ck_assert_int_eq(raw_read_info(map, &info), 0);
	ck_assert_uint_eq(info.ended, 0);
	ck_assert_int_eq(shell("build/sbin/perfctr-bpfd stop"), 0);
	waitpid(pid, NULL, 0);
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		to.action = actions[i];
		ck_assert_int_eq(raw_keep(keep, &to), actions[i] > 2 ? -EINVAL : 0);
		ck_assert_int_eq(raw_read_info(map, &info), 0);
		ck_assert_uint_eq(info.ended, 1);
	}
	close(keep);
	close(map);
}
END_TEST

/*
 * Runs a command in a child that may not give up capabilities. Returns its status and what it
 * prints.
 */
static int say_without_capset(const char *command, char *text, size_t size)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_capset, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	FILE *file = tmpfile();
	int status;
	pid_t pid;

	ck_assert_ptr_nonnull(file);
	pid = fork();
	if (pid == 0) {
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ||
		    dup2(fileno(file), STDERR_FILENO) < 0)
			_exit(126);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define CANNOT_DROP "perfctr-bpfd: cannot give up capabilities (Operation not permitted)\n"

START_TEST(a_start_that_has_no_service_fails_and_leaves_nothing)
{
	static const char *const commands[] = {
		"exec build/sbin/perfctr-bpfd start",
		"exec build/sbin/perfctr-bpfd start --foreground",
	};
	char text[256];

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		ck_assert_int_eq(say_without_capset(commands[i], text, sizeof(text)), 1);
		ck_assert_str_eq(text, CANNOT_DROP);
		ck_assert_int_lt(access(PERFCTR_BPF_DIRECTORY, F_OK), 0);
	}
}
END_TEST

/* Counting without the service goes on. */
START_TEST(a_start_that_has_no_service_leaves_what_was_there)
{
	pid_t pid = begin_service();
	char text[256];
	struct raw raw;

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(say_without_capset("exec build/sbin/perfctr-bpfd start", text,
					    sizeof(text)),
			 1);
	ck_assert_str_eq(text, CANNOT_DROP);
	ck_assert_int_eq(shell("build/sbin/perfctr-bpfd status | grep -q 'does not run'"), 0);
	ck_assert_int_ge(raw_open(&raw), 0);
	ck_assert_int_ge(RAW_CALL(&raw, PERFCTR_BPF_TAKE, 0, 0, PERFCTR_BPF_MARKED), 0);
	raw_close(&raw);
	ck_assert_int_eq(shell("build/sbin/perfctr-bpfd stop"), 0);
}
END_TEST

TCase *notify_tests(void)
{
	TCase *tests = tcase_create("notify");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, it_notifies_who_started_it_and_ends_when_told);
	tcase_add_test(tests, the_number_of_a_killed_service_may_be_anybodys);
	tcase_add_test(tests, stop_signals_nobody_that_the_map_names);
	tcase_add_test(tests, what_has_ended_does_not_begin_again);
	tcase_add_test(tests, a_start_that_has_no_service_fails_and_leaves_nothing);
	tcase_add_test(tests, a_start_that_has_no_service_leaves_what_was_there);
	return tests;
}
