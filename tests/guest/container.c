// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A container: root of a user namespace that an ordinary user has made, in pid and mount namespaces of its own. It has
 * /proc, perfex, a program and /dev/perfctr there, and the seccomp filter that podman gives to each container.
 */
#include "perfex_shell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEVICE "/dev/perfctr"
#define EVENT "0x004100c0@0"
#define FAILED EXITED(125)

/*
 * The calls of x86-64 that /usr/share/containers/seccomp.json of Debian 12 (golang-github-containers-common 0.50.1)
 * forbids to a container without capabilities. Calls that Linux has had after number 450 are forbidden, too. The list
 * allows socket(2) and personality(2) with some arguments alone: nothing here makes these calls.
 */
static const int not_permitted[] = {
	SYS_uselib,
	SYS_ustat,
	SYS_sysfs,
	SYS_vhangup,
	SYS_chroot,
	SYS_acct,
	SYS_settimeofday,
	SYS_swapon,
	SYS_swapoff,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_iopl,
	SYS_ioperm,
	SYS_init_module,
	SYS_delete_module,
	SYS_query_module,
	SYS_quotactl,
	SYS_nfsservctl,
	SYS_lookup_dcookie,
	SYS_clock_settime,
	SYS_kexec_load,
	SYS_migrate_pages,
	SYS_vmsplice,
	SYS_move_pages,
	SYS_perf_event_open,
	SYS_fanotify_init,
	SYS_open_by_handle_at,
	SYS_setns,
	SYS_kcmp,
	SYS_finit_module,
	SYS_kexec_file_load,
	SYS_bpf,
	SYS_userfaultfd,
	SYS_io_pgetevents,
	SYS_process_madvise,
};
static const int not_there[] = {
	SYS__sysctl,
	SYS_create_module,
	SYS_get_kernel_syms,
	SYS_getpmsg,
	SYS_putpmsg,
	SYS_afs_syscall,
	SYS_tuxcall,
	SYS_security,
	SYS_vserver,
	SYS_add_key,
	SYS_request_key,
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_quotactl_fd,
	SYS_futex_waitv,
	SYS_set_mempolicy_home_node,
};
#define LAST_LISTED 450

static unsigned int forbid(struct sock_filter *code, const int *call, size_t n, int error)
{
	for (size_t i = 0; i < n; i++) {
		*code++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call[i],
						       0, 1);
		*code++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						       SECCOMP_RET_ERRNO | (uint32_t)error);
	}
	return 2 * n;
}

static void forbid_what_podman_forbids(void)
{
	struct sock_filter code[2 * (ARRAY_SIZE(not_permitted) + ARRAY_SIZE(not_there)) + 4] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_LISTED, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	struct sock_fprog filter = { .len = 3, .filter = code };

	filter.len += forbid(code + filter.len, not_permitted, ARRAY_SIZE(not_permitted), EPERM);
	filter.len += forbid(code + filter.len, not_there, ARRAY_SIZE(not_there), ENOSYS);
	code[filter.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

/* How the container has the device: as podman gives it by --device, by --volume, and by neither. */
enum device { GIVEN, VOLUME, MISSING };

struct order {
	const char *const *command;
	enum device device;
	struct run run;
};

/* The first process of the container. */
static void run_order(void *argument)
{
	struct order *order = argument;

	EXPECT(getpid() == 1 && geteuid() == 0);
	EXPECT(mount("proc", "proc", "proc", 0, NULL) == 0);
	EXPECT(chroot(".") == 0);
	forbid_what_podman_forbids();
	EXPECT(try_perf_instructions() == -1 && errno == EPERM);
	run(&order->run, order->command);
}

static void bind_device(enum device device)
{
	int fd;

	if (device == MISSING)
		return;
	fd = open("." DEVICE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	EXPECT(fd >= 0 && close(fd) == 0);
	EXPECT(mount(DEVICE, "." DEVICE, NULL, MS_BIND, NULL) == 0);
	if (device == VOLUME)
		EXPECT(mount(NULL, "." DEVICE, NULL, MS_BIND | MS_REMOUNT | MS_NODEV, NULL) == 0);
}

static void enter_container(void *argument)
{
	const struct order *order = argument;
	char root[] = "/tmp/container-XXXXXX";

	become_nobody();
	prctl(PR_SET_DUMPABLE, 1);
	EXPECT(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0);
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", "0 65534 1");
	write_file("/proc/self/gid_map", "0 65534 1");
	EXPECT(mkdtemp(root));
	EXPECT(mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") == 0);
	EXPECT(chdir(root) == 0);
	EXPECT(mkdir("dev", 0755) == 0 && mkdir("proc", 0755) == 0 && mkdir("sys", 0755) == 0 &&
	       mkdir("tmp", 0700) == 0);
	EXPECT(mount("/sys", "sys", NULL, MS_BIND | MS_REC, NULL) == 0);
	copy_file(program("../../bin/perfex"), "perfex", 0755);
	copy_file(program("loop"), "loop", 0755);
	bind_device(order->device);
	EXPECT(unshare(CLONE_NEWPID) == 0);
	in_child(run_order, argument);
	/* The mounts end with the namespace. */
	EXPECT(chdir("/") == 0 && umount2(root, MNT_DETACH) == 0 && rmdir(root) == 0);
}

/* Runs the command in a new container. Returns what it printed. */
static const struct run *run_contained(enum device device, const char *const command[])
{
	struct order *order = mmap(NULL, sizeof(*order), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert(order != MAP_FAILED);
	order->command = command;
	order->device = device;
	in_child(enter_container, order);
	return &order->run;
}

static uint64_t contained_count(const char *event)
{
	const struct run *r = run_contained(GIVEN, COMMAND("/perfex", "-e", event, "/loop"));

	ck_assert_msg(r->status == 0, "%s: wait status %#x: %s", event, r->status, r->err);
	return printed_count(r->err, event);
}

static void expect_refusal(enum device device, const char *const command[], const char *words)
{
	const struct run *r = run_contained(device, command);

	ck_assert_msg(r->status == FAILED, "wait status %#x: %s", r->status, r->err);
	ck_assert_str_eq(r->err, words);
}

#define COUNT(event) COMMAND("/perfex", "--backend=patch", "-e", event, "/loop")

START_TEST(a_container_with_the_device_alone_counts_exactly)
{
	ck_assert_uint_eq(contained_count(EVENT), LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(contained_count("instructions:u"), LOOP_INSTRUCTIONS(SHORT_LOOP));
}
END_TEST

START_TEST(of_the_usual_events_a_container_lacks_page_faults_alone)
{
	const struct run *r = run_contained(GIVEN, COMMAND("/perfex", "/loop"));

	ck_assert_msg(r->status == 0, "wait status %#x: %s", r->status, r->err);
	ck_assert_uint_eq(printed_count(r->err, "instructions"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_gt(printed_count(r->err, "branches"), SHORT_LOOP);
	ck_assert_msg(strstr(r->err, "\npage-faults:u            not counted: perf_event_open(2) is "
				     "forbidden here\n"),
		      "%s", r->err);
	ck_assert_uint_eq(lines(r->err, " not counted: "), 1);
}
END_TEST

START_TEST(page_faults_are_refused_because_of_the_filter)
{
	expect_refusal(
		GIVEN, COUNT("page-faults:u"),
		"perfex: event page-faults: perf_events counts it, and the seccomp filter of a container forbids "
		"perf_event_open(2); leave it out, or allow the call there\n");
}
END_TEST

START_TEST(the_host_s_perf_event_paranoid_decides_about_kernel_mode)
{
	int before = set_paranoid(1);

	ck_assert_uint_gt(contained_count("instructions:uk"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	set_paranoid(2);
	expect_refusal(
		GIVEN, COUNT("instructions:uk"),
		"perfex: event 'instructions:uk': counting in kernel mode needs CAP_PERFMON or sysctl "
		"kernel.perf_event_paranoid=1; without them write it with ':u' for user mode\n");
	set_paranoid(before);
}
END_TEST

START_TEST(root_of_a_container_is_sent_to_root_of_the_host)
{
	int before = set_paranoid(3);

	expect_refusal(
		GIVEN, COUNT(EVENT),
		"perfex: kernel.perf_event_paranoid is 3: root of the host alone may count; ask root of the host "
		"for: sysctl kernel.perf_event_paranoid=2\n");
	set_paranoid(before);
	expect_refusal(GIVEN, COMMAND("/perfex", "revoke"),
		       "perfex: perfex revoke needs CAP_PERFMON: run it as root of the host\n");
}
END_TEST

START_TEST(a_container_without_the_device_is_told_how_to_get_it)
{
	expect_refusal(
		MISSING, COUNT(EVENT),
		"perfex: there is no /dev/perfctr here, but this kernel has perfctr: give the container --device "
		"/dev/perfctr\n");
	expect_refusal(
		VOLUME, COUNT(EVENT),
		"perfex: this container may not open /dev/perfctr: it needs --device /dev/perfctr, a volume is "
		"not enough\n");
}
END_TEST

START_TEST(info_in_a_container_says_what_it_may_do)
{
	static const char *const lines[] = {
		": used; it has: hardware software switches live-read ",
		"backend perf_events: not available; perf_event_open(2) is forbidden here (EPERM), ",
		"\ncounting in user mode: everybody, the threads that they may trace\n",
		"\nuser namespace: another than the host's; the capabilities of its processes are not the "
		"host's, and do not let them count\n",
	};
	int before = set_paranoid(2);
	const struct run *r = run_contained(GIVEN, COMMAND("/perfex", "info"));
	char driver[32];

	set_paranoid(before);
	ck_assert_msg(r->status == 0, "wait status %#x: %s", r->status, r->err);
	snprintf(driver, sizeof(driver), "backend %s: used", DRIVER_BACKEND);
	ck_assert_msg(strstr(r->out, driver), "no \"%s\" in:\n%s", driver, r->out);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		ck_assert_msg(strstr(r->out, lines[i]), "no \"%s\" in:\n%s", lines[i], r->out);
}
END_TEST

#define GROUP 4321
#define AS_NOBODY "setpriv --reuid 65534 --regid 65534 "
#define COUNTS " perfex --backend=patch -e " EVENT " $LOOP"

/* No container, but a device that its container or its machine gives to a group alone. */
START_TEST(a_user_outside_of_the_device_s_group_is_told_the_group)
{
	static const struct {
		gid_t group;
		const char *words;
	} groups[] = {
		{ GROUP, "perfex: only members of the group counters may open /dev/perfctr; ask root for: usermod "
			 "-aG counters USER, then log in again\n" },
		{ GROUP + 1, "perfex: only members of the group 4322 may open /dev/perfctr, and this group has no "
			     "name here; ask root for a group that you are in\n" },
		{ 0, "perfex: no permission to read /dev/perfctr; ask root to chmod a+r it, or to give it a group "
		     "(docs/install.md)\n" },
	};
	struct run r;

	enter_directory();
	write_file("group", "root:x:0:\ncounters:x:4321:\n");
	expect(&r, "[ -e /etc/group ] || touch /etc/group; mount --bind group /etc/group", 0);
	ck_assert_int_eq(chmod(DEVICE, 0660), 0);
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		ck_assert_int_eq(chown(DEVICE, 0, groups[i].group), 0);
		expect(&r, AS_NOBODY "--clear-groups" COUNTS, EXITED(125));
		ck_assert_str_eq(r.err, groups[i].words);
	}
	ck_assert_int_eq(chown(DEVICE, 0, GROUP), 0);
	expect(&r, AS_NOBODY "--groups 4321" COUNTS, 0);
	ck_assert_uint_eq(printed_count(r.err, EVENT), LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_int_eq(chown(DEVICE, 0, 0), 0);
	ck_assert_int_eq(chmod(DEVICE, 0666), 0);
	expect(&r, "umount /etc/group", 0);
}
END_TEST

SUITE(container, a_container_with_the_device_alone_counts_exactly,
      of_the_usual_events_a_container_lacks_page_faults_alone,
      page_faults_are_refused_because_of_the_filter,
      the_host_s_perf_event_paranoid_decides_about_kernel_mode,
      root_of_a_container_is_sent_to_root_of_the_host,
      a_container_without_the_device_is_told_how_to_get_it,
      a_user_outside_of_the_device_s_group_is_told_the_group, info_in_a_container_says_what_it_may_do)
