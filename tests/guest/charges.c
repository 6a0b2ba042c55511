// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory is charged to a user, up to a limit, and to the control group of the process that causes
 * it.
 */
#include "marks.h"
#include "trees.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER_KB "/sys/module/perfctr/parameters/user_kb"

/* Opens contexts of threads that have exited until a call is refused. Returns their number. */
static unsigned int hoard(int *error)
{
	unsigned int n = 0;
	pid_t pid;

	for (;; n++) {
		pid = fork();
		if (pid == 0) {
			pause();
			_exit(0);
		}
		*error = try_context_open(pid, PERFCTR_OPEN_CREATE) < 0 ? errno : 0;
		kill_and_wait(pid);
		if (*error)
			return n;
	}
}

/* Each of the two users has 256 KB: 128 KB for each of two CPUs. */
static void user_hoards(void *unused)
{
	unsigned int n;
	int error;

	(void)unused;
	raise_descriptors(20000);
	become(NOBODY, 0);
	/*
	 * After a change of ids, nobody may trace the process or its child until the process says
	 * so.
	 */
	prctl(PR_SET_DUMPABLE, 1);
	n = hoard(&error);
	EXPECT(error == EMFILE);
	EXPECT(n >= 256 / 8 && n <= 256 / 4);
	raise(SIGSTOP);
}

static void other_user_counts(void *unused)
{
	int fd;

	(void)unused;
	become(NOBODY - 1, 0);
	fd = try_context_open(0, PERFCTR_OPEN_CREATE);
	EXPECT(fd >= 0 && try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })) == 0);
}

START_TEST(a_user_who_has_all_that_he_may_have_leaves_others_theirs)
{
	char before[16];
	int status;
	pid_t pid;

	snprintf(before, sizeof(before), "%d", (int)read_number(USER_KB));
	write_file(USER_KB, "128");
	pid = fork();
	if (pid == 0) {
		user_hoards(NULL);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert_msg(WIFSTOPPED(status), "wait status %#x", status);
	in_child(other_user_counts, NULL);
	close(context_open(0, PERFCTR_OPEN_CREATE));
	kill_and_wait(pid);
	/* The user gets everything back. */
	pid = fork();
	if (pid == 0) {
		user_hoards(NULL);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	kill_and_wait(pid);
	write_file(USER_KB, before);
}
END_TEST

static void become_in_namespace(uid_t uid)
{
	EXPECT(setresuid(uid, uid, uid) == 0);
	prctl(PR_SET_DUMPABLE, 1);
}

/*
 * In the user's namespace, id 0 is the user itself. The other ids are subordinate: see subuid(5).
 */
static void ids_hoard(int ready, int mapped)
{
	int error;

	become(NOBODY, 0);
	prctl(PR_SET_DUMPABLE, 1);
	EXPECT(unshare(CLONE_NEWUSER) == 0);
	give(ready);
	take(mapped);
	become_in_namespace(0);
	EXPECT(hoard(&error) >= 256 / 8 && error == EMFILE);
	become_in_namespace(1);
	EXPECT(hoard(&error) == 0 && error == EMFILE);
	_exit(0);
}

/* ids: "uid" or "gid". */
static void map_ids(pid_t pid, const char *ids, const char *map)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/%s_map", pid, ids);
	write_file(path, map);
}

static void run_ids(void)
{
	int ready = eventfd(0, 0), mapped = eventfd(0, 0), status;
	pid_t pid = fork();

	if (pid == 0)
		ids_hoard(ready, mapped);
	take(ready);
	map_ids(pid, "uid", "0 65534 1\n1 100000 1000\n");
	give(mapped);
	EXPECT(wait_for(pid, &status) == pid && status == 0);
}

/* A container with the same ids as outside. */
static void run_ids_in_namespace_of_root(void)
{
	int ready = eventfd(0, 0), mapped = eventfd(0, 0), status;
	pid_t pid = fork();

	if (pid == 0) {
		EXPECT(unshare(CLONE_NEWUSER) == 0);
		give(ready);
		take(mapped);
		run_ids();
		_exit(0);
	}
	take(ready);
	map_ids(pid, "uid", "0 0 4294967295\n");
	map_ids(pid, "gid", "0 0 4294967295\n");
	give(mapped);
	EXPECT(wait_for(pid, &status) == pid && status == 0);
}

static void run_all_ids(void *unused)
{
	(void)unused;
	raise_descriptors(20000);
	run_ids();
	run_ids_in_namespace_of_root();
}

START_TEST(a_user_s_subordinate_ids_have_nothing_beside_what_the_user_may_have)
{
	char before[16];

	snprintf(before, sizeof(before), "%d", (int)read_number(USER_KB));
	write_file(USER_KB, "128");
	in_child(run_all_ids, NULL);
	write_file(USER_KB, before);
}
END_TEST

#define CHILDREN 1000

static void user_keeps_records(void *unused)
{
	struct perfctr_exit_record record;
	unsigned int told = 0, lost = 0;
	pid_t pid;
	int fd;

	(void)unused;
	become_nobody();
	fd = tree_open(PERFCTR_CONTROL_EXIT_RECORDS);
	for (int i = 0; i < CHILDREN; i++) {
		pid = fork();
		if (pid == 0)
			_exit(0);
		EXPECT(wait_for(pid, NULL) == pid);
	}
	while (next_record(fd, &record)) {
		told += record.tid != 0;
		lost += record.lost;
	}
	EXPECT(told > 0 && lost > 0 && told + lost == CHILDREN);
}

START_TEST(records_that_the_user_has_no_memory_for_are_told_as_lost)
{
	char before[16];

	snprintf(before, sizeof(before), "%d", (int)read_number(USER_KB));
	write_file(USER_KB, "64");
	in_child(user_keeps_records, NULL);
	write_file(USER_KB, before);
}
END_TEST

static void user_loses_all_records(void *unused)
{
	struct perfctr_exit_record record;
	struct pollfd told;
	pid_t pid;

	(void)unused;
	become_nobody();
	told = (struct pollfd){ .fd = tree_open(PERFCTR_CONTROL_EXIT_RECORDS), .events = POLLIN };
	raise(SIGSTOP);
	pid = fork();
	if (pid == 0)
		_exit(0);
	EXPECT(wait_for(pid, NULL) == pid);
	EXPECT(poll(&told, 1, 0) == 1 && told.revents == POLLIN);
	EXPECT(next_record(told.fd, &record) && record.tid == 0 && record.lost == 1);
	EXPECT(poll(&told, 1, 0) == 0);
}

START_TEST(who_waits_for_records_is_told_of_those_that_are_lost)
{
	char before[16];
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		user_loses_all_records(NULL);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert_msg(WIFSTOPPED(status), "wait status %#x", status);
	snprintf(before, sizeof(before), "%d", (int)read_number(USER_KB));
	write_file(USER_KB, "0");
	kill(pid, SIGCONT);
	expect_success(pid);
	write_file(USER_KB, before);
}
END_TEST

#define CGROUP "/sys/fs/cgroup"

/* Returns the value of a line of memory.stat. */
static uint64_t charged(const char *directory, const char *what)
{
	char path[128], name[64];
	unsigned long long bytes;
	FILE *file;

	snprintf(path, sizeof(path), "%s/memory.stat", directory);
	file = fopen(path, "r");
	ck_assert_msg(file, "%s: %s", path, strerror(errno));
	while (fscanf(file, "%63s %llu", name, &bytes) == 2)
		if (strcmp(name, what) == 0)
			break;
	fclose(file);
	return bytes;
}

/* procs: the path of the file through which processes enter the cgroup. */
static void make_cgroup(const char *directory, char *procs, size_t size)
{
	if (mount("cgroup2", CGROUP, "cgroup2", 0, NULL) < 0)
		ck_assert_int_eq(errno, EBUSY);
	write_file(CGROUP "/cgroup.subtree_control", "+memory");
	ck_assert(mkdir(directory, 0755) == 0 || errno == EEXIST);
	snprintf(procs, size, "%s/cgroup.procs", directory);
}

#define SESSIONS	300
#define TRACED		12
/*
 * The kernel keeps some room on each CPU from the start. It charges nobody for memory that fits
 * into it.
 */
#define UNCHARGED	(64 << 10)

static void open_sessions(void)
{
	struct perfctr_session_args open;
	int mark_fd;

	become_nobody();
	mark_fd = mark_open();
	for (int i = 0; i < SESSIONS; i++) {
		open = session_of(mark_fd, NOT_PRIVILEGED | MARKED);
		open.trace_bytes = i < TRACED ? 65536 : 0;
		EXPECT(try_session(&open) >= 0);
	}
}

/* Each tree counts in memory that each CPU has. */
#define TREES	600

static void open_trees(void)
{
	for (int i = 0; i < TREES; i++) {
		struct perfctr_control control = tree_control(PERFCTR_CONTROL_TOTALS);
		pid_t pid = fork();
		int fd;

		EXPECT(pid >= 0);
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		fd = try_context_open(pid, PERFCTR_OPEN_CREATE);
		EXPECT(fd >= 0 && ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0);
	}
}

struct charges {
	uint64_t percpu, kernel;
};

/* Returns the charges of a cgroup after one of its processes has called open_all(). */
static struct charges charges_of(void (*open_all)(void))
{
	char directory[] = CGROUP "/neighbours", procs[64], text[16];
	struct charges charges;
	int status;
	pid_t pid;

	make_cgroup(directory, procs, sizeof(procs));
	pid = fork();
	if (pid == 0) {
		snprintf(text, sizeof(text), "%d", getpid());
		write_file(procs, text);
		open_all();
		raise(SIGSTOP);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert_msg(WIFSTOPPED(status), "wait status %#x", status);
	sleep_us(2500000); /* the kernel updates the sums every two seconds */
	charges.percpu = charged(directory, "percpu");
	charges.kernel = charged(directory, "kernel");
	kill_and_wait(pid);
	return charges;
}

START_TEST(sessions_are_charged_to_the_cgroup_of_who_opens_them)
{
	struct charges charges = charges_of(open_sessions);

	/*
	 * 2 CPUs: each trace has rings of 64 KB, and each session has memory from which its state
	 * pages are mapped.
	 */
	ck_assert_uint_ge(charges.kernel, TRACED * 2 * 65536 + SESSIONS * 4096);
}
END_TEST

/* Each CPU has as much of a state page as the counters need. */
START_TEST(trees_that_are_counted_as_one_are_charged_to_the_cgroup_of_who_opens_them)
{
	const uint64_t bytes = offsetof(struct perfctr_page, counter[N_COUNTERS]);
	struct charges charges;

	raise_descriptors(20000);
	charges = charges_of(open_trees);
	ck_assert_uint_ge(charges.percpu, 2 * (TREES * bytes - UNCHARGED));
}
END_TEST

#define THREADS		1000
/* The least size of an event's thresholds: the next threshold, and the number of those passed. */
#define THRESHOLD	16

static void *wait_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static void inherit_control(uint64_t period)
{
	struct event events[N_COUNTERS];
	struct perfctr_control control = control_of(events, all_counters(events));
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	control.flags = PERFCTR_CONTROL_INHERIT;
	for (uint32_t i = 0; i < control.n_events; i++)
		control.event[i].period = period;
	EXPECT(ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0);
}

static void make_threads(const char *procs, uint64_t period)
{
	pthread_attr_t attributes;
	pthread_t thread;
	char text[16];

	snprintf(text, sizeof(text), "%d", getpid());
	write_file(procs, text);
	inherit_control(period);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (int i = 0; i < THREADS; i++)
		EXPECT(pthread_create(&thread, &attributes, wait_for_ever, NULL) == 0);
	raise(SIGSTOP);
}

/* Returns the slab memory charged for a process whose THREADS threads inherit a control. */
static uint64_t charged_for_threads(const char *directory, uint64_t period)
{
	uint64_t slab;
	char procs[64];
	int status;
	pid_t pid;

	make_cgroup(directory, procs, sizeof(procs));
	pid = fork();
	if (pid == 0) {
		make_threads(procs, period);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert_msg(WIFSTOPPED(status), "wait status %#x", status);
	sleep_us(2500000);
	slab = charged(directory, "slab");
	kill_and_wait(pid);
	return slab;
}

START_TEST(thresholds_are_charged_to_the_cgroup_of_who_inherits_them)
{
	uint64_t without = charged_for_threads(CGROUP "/without", 0),
		 with = charged_for_threads(CGROUP "/with", INT64_MAX);

	ck_assert_uint_ge(with, without + THREADS * N_COUNTERS * THRESHOLD);
}
END_TEST

SUITE(charges, a_user_who_has_all_that_he_may_have_leaves_others_theirs,
      a_user_s_subordinate_ids_have_nothing_beside_what_the_user_may_have,
      records_that_the_user_has_no_memory_for_are_told_as_lost,
      who_waits_for_records_is_told_of_those_that_are_lost, BY_THE_CLOCK,
      sessions_are_charged_to_the_cgroup_of_who_opens_them,
      trees_that_are_counted_as_one_are_charged_to_the_cgroup_of_who_opens_them,
      thresholds_are_charged_to_the_cgroup_of_who_inherits_them)
