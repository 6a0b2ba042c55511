// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf.h"
#include "attacker.h"

#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t begin_attack(uid_t uid, int (*attack)(void *), void *argument)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		become_user(uid);
		_exit(attack(argument));
	}
	return pid;
}

static int map_ids(pid_t pid, const char *which, const char *map)
{
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, which);
	file = fopen(path, "w");
	return file && fputs(map, file) >= 0 && fclose(file) == 0 ? 0 : -1;
}

/* Other callers are in a namespace themselves, and are no tests. */
pid_t begin_attack_in_namespace(uid_t uid, const char *map, int (*attack)(void *), void *argument)
{
	int there[2], mapped[2];
	char byte = 'x';
	pid_t pid;

	if (pipe(there) < 0 || pipe(mapped) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		become_user(uid);
		if (unshare(CLONE_NEWUSER) < 0 || write(there[1], &byte, 1) != 1 ||
		    read(mapped[0], &byte, 1) != 1)
			_exit(1);
		/* The change of credentials has ended it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(attack(argument));
	}
	close(there[1]);
	if (read(there[0], &byte, 1) != 1 || map_ids(pid, "uid_map", map) < 0 ||
	    map_ids(pid, "gid_map", map) < 0 || write(mapped[1], &byte, 1) != 1)
		return -1;
	close(there[0]);
	close(mapped[0]);
	close(mapped[1]);
	return pid;
}

void end_attack(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(status == 0, "the attack ended with status 0x%x", (unsigned int)status);
}

void attack(int (*attack)(void *), void *argument)
{
	end_attack(begin_attack(NOBODY, attack, argument));
}

pid_t victim(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

pid_t capable_victim(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct raw_network[2] = {
		{ 1u << CAP_NET_RAW, 1u << CAP_NET_RAW, 1u << CAP_NET_RAW },
	};
	int pipes[2];
	char ready;
	pid_t pid;

	ck_assert_int_eq(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_KEEPCAPS, 1);
		become_user(NOBODY);
		if (syscall(SYS_capset, &header, raw_network) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0)
			_exit(1);
		if (write(pipes[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(pipes[0], &ready, 1), 1);
	return pid;
}

static void write_map(pid_t pid, const char *which)
{
	char map[32];

	snprintf(map, sizeof(map), "0 0 1\n%d %d 1\n", NOBODY, NOBODY);
	ck_assert_int_eq(map_ids(pid, which, map), 0);
}

pid_t confined_victim(void)
{
	int there[2], mapped[2], ready[2];
	char byte = 'x';
	pid_t pid;

	ck_assert_int_eq(pipe(there) | pipe(mapped) | pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWUSER) < 0 || write(there[1], &byte, 1) != 1 ||
		    read(mapped[0], &byte, 1) != 1)
			_exit(1);
		become_user(NOBODY);
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(there[0], &byte, 1), 1);
	write_map(pid, "uid_map");
	write_map(pid, "gid_map");
	ck_assert_int_eq(write(mapped[1], &byte, 1), 1);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	return pid;
}

void end_victim(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}
