// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Conservation: all contexts together have counted what all processors have executed in user mode,
 * according to the emulator's own statistics (scripts/vm --stats).
 *
 * The test is the root of a tree in which all the work is done. Every other process gets a context,
 * too, so that no process remains unmonitored; kernel threads are never in user mode. The same code
 * reads the statistics and the contexts before and after the work, while all processes but the test
 * sleep. It executes the same few instructions between these two reads both times.
 */
#include "guest.h"
#include "msr.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../emulator/pmu/pmu-stats.h"

#define MAX_CPUS	8
#define MAX_OTHERS	32

static struct {
	unsigned int cpus;
	int msr[MAX_CPUS];
	unsigned int others;	/* processes that existed before the test */
	int other[MAX_OTHERS];
	int tree;
} world;

static void open_statistics(void)
{
	world.cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ck_assert_uint_le(world.cpus, MAX_CPUS);
	for (unsigned int cpu = 0; cpu < world.cpus; cpu++)
		world.msr[cpu] = msr_open(cpu, O_RDONLY);
}

/* Kernel threads have no command line. */
static bool is_user_process(pid_t pid)
{
	char path[32], byte;
	bool is;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY);
	is = fd >= 0 && read(fd, &byte, 1) == 1;
	close(fd);
	return is;
}

static void monitor_others(void)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;

	ck_assert(directory);
	while ((entry = readdir(directory))) {
		pid_t pid = atoi(entry->d_name);

		if (pid <= 0 || pid == getpid() || !is_user_process(pid))
			continue;
		ck_assert_uint_lt(world.others, MAX_OTHERS);
		world.other[world.others] = context_open(pid, PERFCTR_OPEN_CREATE);
		context_control(world.other[world.others], EVENTS({ 0, USER(INSTRUCTIONS) }));
		world.others++;
	}
	closedir(directory);
	/* At least the guest's first process and the one that waits for this test. */
	ck_assert_uint_ge(world.others, 2);
}

struct totals {
	uint64_t executed, counted;
};

static uint64_t read_counter(int fd, uint32_t scope)
{
	struct perfctr_counts counts = { .size = sizeof(counts), .scope = scope };

	EXPECT(ioctl(fd, PERFCTR_IOC_READ, &counts) == 0);
	return counts.counter[0];
}

/*
 * Without assertions of libcheck: the number of instructions by which libcheck notes its place
 * varies.
 */
static struct totals read_totals(void)
{
	struct totals t = { 0 };
	uint64_t value;

	for (unsigned int cpu = 0; cpu < world.cpus; cpu++) {
		EXPECT(pread(world.msr[cpu], &value, sizeof(value),
			     PMU_STATS_MSR + PMU_STATS_INSN_USER) == sizeof(value));
		t.executed += value;
	}
	for (unsigned int i = 0; i < world.others; i++)
		t.counted += read_counter(world.other[i], PERFCTR_SCOPE_SELF);
	t.counted += read_counter(world.tree, PERFCTR_SCOPE_TREE);
	return t;
}

/* Runs on CPU 0: its statistics are read first. */
static struct totals settled_totals(void)
{
	struct totals t;

	pin(0, 0);
	/* The first call binds the names of the library. */
	read_totals();
	/* Until then, the processes for which the last wait() waited have left their CPUs. */
	sleep_us(100000);
	t = read_totals();
	unpin(0);
	return t;
}

/* flags: of the tree's control. */
static void expect_conserved(void (*work)(void), uint32_t flags)
{
	struct totals before, after;

	open_statistics();
	monitor_others();
	world.tree = tree_open(flags);
	before = settled_totals();
	work();
	after = settled_totals();
	ck_assert_uint_ge(after.executed - before.executed, 1000000);
	ck_assert_uint_eq(after.counted - before.counted, after.executed - before.executed);
}

static void run_tree(void)
{
	int status;
	pid_t pid = spawn(COMMAND(program("tree"), program("loop")));

	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(a_tree_of_known_programs_has_all_that_the_processors_executed)
{
	expect_conserved(run_tree, 0);
}
END_TEST

/*
 * Shells, pipes, dynamic linking, page faults, signals: nobody has counted their instructions by
 * hand.
 */
static void run_shell(void)
{
	struct run r;

	RUN(&r, "sh", "-c",
	    "for i in 1 2 3; do ls -lR /etc | sort | gzip -9 | wc -c; done; "
	    "(sleep 10 & kill $!; wait); seq 1 20000 | awk '{ s += $1 } END { print s }'");
	ck_assert_msg(r.status == 0, "%s", r.err);
	ck_assert_msg(strstr(r.out, "200010000"), "%s", r.out);
}

START_TEST(a_tree_of_everyday_programs_has_all_that_the_processors_executed)
{
	expect_conserved(run_shell, 0);
}
END_TEST

START_TEST(known_programs_counted_as_one_have_all_that_the_processors_executed)
{
	expect_conserved(run_tree, PERFCTR_CONTROL_TOTALS);
}
END_TEST

START_TEST(everyday_programs_counted_as_one_have_all_that_the_processors_executed)
{
	expect_conserved(run_shell, PERFCTR_CONTROL_TOTALS);
}
END_TEST

SUITE(conservation,
      a_tree_of_known_programs_has_all_that_the_processors_executed,
      a_tree_of_everyday_programs_has_all_that_the_processors_executed,
      known_programs_counted_as_one_have_all_that_the_processors_executed,
      everyday_programs_counted_as_one_have_all_that_the_processors_executed)
