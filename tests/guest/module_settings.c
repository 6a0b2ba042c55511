// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module reads the administrator's settings from files. A caller that cannot read them, here
 * because of a program of its control group, gains nothing by that.
 */
#include "marks.h"
#include "module.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CGROUPS "/tmp/cgroups"
#define CONFINED CGROUPS "/confined"

static const char PARANOID[] = "/proc/sys/kernel/perf_event_paranoid";
static const char SCOPE[] = "/proc/sys/kernel/yama/ptrace_scope";

#define NAME_BYTES 32

/* Bytes 4 * part to 4 * part + 3 of the file's name. */
static int32_t name_part(const char *path, int part)
{
	int32_t bytes;

	memcpy(&bytes, strrchr(path, '/') + 1 + part * sizeof(bytes), sizeof(bytes));
	return bytes;
}

/* "return name[0..7] != that": the file of /proc/sys can be neither read nor written. */
static int load_refusal_of(const char *path)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X,
		  .dst_reg = BPF_REG_2,
		  .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -NAME_BYTES },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = NAME_BYTES },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K,
		  .dst_reg = BPF_REG_4,
		  .imm = BPF_F_SYSCTL_BASE_NAME },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_sysctl_get_name },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_10,
		  .off = -NAME_BYTES },
		{ .code = BPF_LD | BPF_IMM | BPF_DW,
		  .dst_reg = BPF_REG_2,
		  .imm = name_part(path, 0) },
		{ .imm = name_part(path, 1) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_JNE | BPF_X,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_2,
		  .off = 1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr program = {
		.prog_type = BPF_PROG_TYPE_CGROUP_SYSCTL,
		.insn_cnt = ARRAY_SIZE(code),
		.insns = (uintptr_t)code,
		.license = (uintptr_t) "GPL",
	};

	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &program, sizeof(program));
}

/* Threads of this control group cannot read the file. */
static void confinement_begin(const char *path)
{
	union bpf_attr attach = { .attach_type = BPF_CGROUP_SYSCTL };
	int group, program = load_refusal_of(path);

	ck_assert_msg(program >= 0, "BPF_PROG_LOAD: %s", strerror(errno));
	mkdir(CGROUPS, 0755);
	ck_assert_int_eq(mount("none", CGROUPS, "cgroup2", 0, NULL), 0);
	ck_assert_int_eq(mkdir(CONFINED, 0755), 0);
	group = open(CONFINED, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(group, 0);
	attach.target_fd = group;
	attach.attach_bpf_fd = program;
	ck_assert_msg(syscall(SYS_bpf, BPF_PROG_ATTACH, &attach, sizeof(attach)) == 0,
		      "BPF_PROG_ATTACH: %s", strerror(errno));
	close(group);
	close(program);
}

/* The control group must be empty. */
static void confinement_end(void)
{
	ck_assert_int_eq(rmdir(CONFINED), 0);
	ck_assert_int_eq(umount(CGROUPS), 0);
}

static bool can_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte;
	bool can;

	EXPECT(fd >= 0);
	can = read(fd, &byte, 1) == 1;
	EXPECT(can || errno == EPERM);
	close(fd);
	return can;
}

/* Makes the caller an ordinary user that can never read the file. */
static void become_confined(const char *path)
{
	EXPECT(can_read(path));
	write_file(CONFINED "/cgroup.procs", "0");
	EXPECT(!can_read(path));
	become_nobody();
	/* The process has been root: other processes of its user could not look at it. */
	EXPECT(prctl(PR_SET_DUMPABLE, 1) == 0);
}

/* The module has read level 2 before. */
static void count_itself_at_level_3(void *unused)
{
	(void)unused;
	set_paranoid(2);
	close(context_open(0, PERFCTR_OPEN_CREATE));
	set_paranoid(3);
	become_confined(PARANOID);
	errno = 0;
	EXPECT(try_context_open(0, PERFCTR_OPEN_CREATE) == -1 && errno == EACCES);
}

START_TEST(a_caller_that_cannot_read_the_level_counts_nothing)
{
	int before = set_paranoid(2);

	confinement_begin(PARANOID);
	in_child(count_itself_at_level_3, NULL);
	set_paranoid(before);
	confinement_end();
}
END_TEST

/* Opens a context of a child of the caller, which only the scope forbids. */
static int try_open_child(void)
{
	pid_t child = fork();
	int fd, error;

	if (child == 0) {
		pause();
		_exit(0);
	}
	fd = try_context_open(child, PERFCTR_OPEN_CREATE);
	error = errno;
	kill_and_wait(child);
	if (fd < 0)
		return error;
	close(fd);
	return 0;
}

static void count_a_child_at_scope_1(void *unused)
{
	(void)unused;
	become_nobody();
	EXPECT(prctl(PR_SET_DUMPABLE, 1) == 0);
	EXPECT(try_open_child() == 0);
}

/* At scope 2, perf_event_open(2) refuses it. */
static void count_a_child_at_scope_2(void *unused)
{
	(void)unused;
	become_confined(SCOPE);
	EXPECT(can_read(PARANOID));
	EXPECT(try_open_child() == EACCES);
}

START_TEST(a_caller_that_cannot_read_the_scope_of_ptrace_counts_nobody_else)
{
	uint64_t scope = read_number(SCOPE);
	int before = set_paranoid(2);
	char text[8];

	snprintf(text, sizeof(text), "%d", (int)scope);
	confinement_begin(SCOPE);
	write_file(SCOPE, "1");
	in_child(count_a_child_at_scope_1, NULL);
	write_file(SCOPE, "2");
	in_child(count_a_child_at_scope_2, NULL);
	write_file(SCOPE, text);
	set_paranoid(before);
	confinement_end();
}
END_TEST

#define DEVICE "/dev/perfctr"
#define GROUP 4321

/* argument: the group */
static void open_in_group(void *argument)
{
	const gid_t *group = argument;
	bool expected = *group == GROUP;

	EXPECT(setgroups(1, group) == 0 && setgid(*group) == 0 && setuid(NOBODY) == 0);
	errno = 0;
	EXPECT((open(DEVICE, O_RDONLY | O_CLOEXEC) >= 0) == expected);
	EXPECT(expected || errno == EACCES);
}

static void expect_mode(mode_t mode)
{
	struct stat device;

	ck_assert_int_eq(stat(DEVICE, &device), 0);
	ck_assert_uint_eq(device.st_mode, S_IFCHR | mode);
}

static void reload(const char *parameters)
{
	module_unload_soon();
	ck_assert_int_eq(try_module_load(parameters), 0);
}

START_TEST(a_group_alone_opens_the_device_if_the_administrator_says_so)
{
	gid_t group = GROUP, other = NOBODY;

	expect_mode(0666);
	reload("device_mode=0660");
	expect_mode(0660);
	/* As a rule of udev does. */
	ck_assert_int_eq(chown(DEVICE, 0, GROUP), 0);
	in_child(open_in_group, &group);
	in_child(open_in_group, &other);
	reload("device_mode=600");
	expect_mode(0600);
	reload("");
	expect_mode(0666);
}
END_TEST

static void expect_in_log(const char *text)
{
	static char log[1 << 18];
	int n = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof(log) - 1);

	ck_assert_int_gt(n, 0);
	log[n] = '\0';
	ck_assert_msg(strstr(log, text), "the kernel's log lacks: %s", text);
}

START_TEST(a_mode_that_is_none_keeps_the_module_out)
{
	static const char *const wrong[] = { "01666", "1000", "668", "rw", "", "-1", "0x1b0" };
	char parameters[64], words[128];

	module_unload_soon();
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		snprintf(parameters, sizeof(parameters), "device_mode=%s", wrong[i]);
		ck_assert_int_eq(try_module_load(parameters), EINVAL);
		snprintf(words, sizeof(words), "perfctr: %s is no octal number from 0 to 0777",
			 parameters);
		expect_in_log(words);
		ck_assert_int_eq(access(DEVICE, F_OK), -1);
	}
	ck_assert_int_eq(try_module_load(""), 0);
}
END_TEST

SUITE(module_settings, a_caller_that_cannot_read_the_level_counts_nothing,
      a_caller_that_cannot_read_the_scope_of_ptrace_counts_nobody_else,
      a_group_alone_opens_the_device_if_the_administrator_says_so,
      a_mode_that_is_none_keeps_the_module_out)
