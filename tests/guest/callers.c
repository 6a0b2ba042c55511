// SPDX-License-Identifier: GPL-2.0-or-later
/* Callers with other rights than the test's own, and what perf_event_open(2) says to them. */
#include "guest.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Mounts a file system for them: all others are mounted without set-user-id. */
struct set_user_id set_user_id_programs(void)
{
	struct set_user_id s = { .directory = "/tmp/set-user-id-XXXXXX" };

	ck_assert(mkdtemp(s.directory));
	ck_assert_int_eq(mount("tmpfs", s.directory, "tmpfs", 0, "mode=755"), 0);
	snprintf(s.exec, sizeof(s.exec), "%s/exec", s.directory);
	snprintf(s.loop, sizeof(s.loop), "%s/loop", s.directory);
	copy_file(program("exec"), s.exec, 0755);
	copy_file(program("loop"), s.loop, 04755);
	return s;
}

void set_user_id_remove(const struct set_user_id *programs)
{
	umount2(programs->directory, MNT_DETACH);
	rmdir(programs->directory);
}

void become_nobody(void)
{
	if (geteuid() == 0) {
		EXPECT(setresgid(NOBODY, NOBODY, NOBODY) == 0);
		EXPECT(setresuid(NOBODY, NOBODY, NOBODY) == 0);
	}
}

void become(uid_t uid, uint64_t capabilities)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .permitted = (uint32_t)capabilities, .effective = (uint32_t)capabilities },
		{ .permitted = capabilities >> 32, .effective = capabilities >> 32 },
	};

	EXPECT(prctl(PR_SET_KEEPCAPS, 1) == 0);
	EXPECT(setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0);
	EXPECT(syscall(SYS_capset, &header, data) == 0);
}

int set_paranoid(int level)
{
	static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
	FILE *file = fopen(path, "r");
	char text[8];
	int before;

	ck_assert(file && fscanf(file, "%d", &before) == 1);
	fclose(file);
	snprintf(text, sizeof(text), "%d", level);
	write_file(path, text);
	return before;
}

pid_t sleeper_as(void (*become_it)(const void *argument), const void *argument)
{
	int ready[2];
	char byte;
	pid_t pid;

	EXPECT(pipe(ready) == 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		become_it(argument);
		/* The change of credentials has cleared it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		EXPECT(write(ready[1], "", 1) == 1);
		for (;;)
			pause();
	}
	EXPECT(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

int try_perf(uint32_t type, uint64_t config, pid_t pid, int cpu)
{
	struct perf_event_attr attr = { .type = type, .size = sizeof(attr), .config = config };

	return syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int try_perf_instructions(void)
{
	return try_perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, -1);
}

/*
 * A software event needs the same rights as a hardware event, and is not refused while perfctr has
 * the counters.
 */
int try_perf_dummy(pid_t thread, int cpu, bool kernel)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = !kernel,
		.exclude_hv = 1,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, thread, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

void restrict_files(void)
{
	const struct landlock_ruleset_attr ruleset = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
				     LANDLOCK_ACCESS_FS_READ_DIR,
	};
	const struct landlock_path_beneath_attr dev = {
		.allowed_access = ruleset.handled_access_fs,
		.parent_fd = open("/dev", O_PATH | O_CLOEXEC),
	};
	int fd = syscall(SYS_landlock_create_ruleset, &ruleset, sizeof(ruleset), 0);

	EXPECT(fd >= 0 && dev.parent_fd >= 0);
	EXPECT(syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &dev, 0) == 0);
	EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	EXPECT(syscall(SYS_landlock_restrict_self, fd, 0) == 0);
	close(fd);
	close(dev.parent_fd);
}

void forbid_perf_events(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = ARRAY_SIZE(code), .filter = code };

	EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}
