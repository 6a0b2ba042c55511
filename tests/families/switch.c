// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs that alternate on a CPU, or move from one to another, and the register writes of a
 * switch.
 */
#include "families.h"

#include <fcntl.h>
#include <pmu-stats.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Two programs on CPU 0 that hand a byte back and forth. Nothing else runs there meanwhile. */
struct pair {
	struct workload workload[2];
	pid_t pid[2];
	int fd[2]; /* of the contexts; -1: not counted */
	int pipe[2][2];
};

static bool pair_start(struct pair *p, uint32_t rounds, uint32_t loop)
{
	for (int i = 0; i < 2; i++)
		REQUIRE(pipe2(p->pipe[i], O_CLOEXEC) == 0);
	for (int i = 0; i < 2; i++) {
		p->workload[i] = (struct workload){
			.in = p->pipe[i][0],
			.out = p->pipe[!i][1],
			.rounds = rounds,
			.loop = loop,
		};
		p->fd[i] = -1;
		p->pid[i] = workload_waiting(&p->workload[i]);
		REQUIRE(p->pid[i] > 0);
		REQUIRE(pin(p->pid[i], 0));
		REQUIRE(wait_until_waiting(p->pid[i]));
	}
	return true;
}

static bool pair_count(struct pair *p, int i, const struct counting *counting)
{
	struct perfctr_control control = control_one(counting, USER);

	p->fd[i] = context_open(p->pid[i]);
	return EXPECT(p->fd[i] >= 0) && context_control(p->fd[i], &control);
}

/* Sends the byte around. Returns what the programs have counted at their end. */
static bool pair_run(struct pair *p, struct perfctr_counts counts[2])
{
	REQUIRE(write(p->pipe[0][1], "", 1) == 1);
	for (int i = 0; i < 2; i++) {
		REQUIRE(reap(p->pid[i]));
		if (p->fd[i] < 0)
			continue;
		counts[i] = counts_of(p->fd[i], PERFCTR_SCOPE_SELF);
		close(p->fd[i]);
	}
	for (int i = 0; i < 2; i++) {
		close(p->pipe[i][0]);
		close(p->pipe[i][1]);
	}
	return true;
}

static bool alternate(const struct counting *first, const struct counting *second, bool branches)
{
	const uint32_t rounds = 300;
	struct perfctr_counts counts[2];
	struct pair p;

	REQUIRE(pair_start(&p, rounds, 1000));
	REQUIRE(pair_count(&p, 0, first));
	REQUIRE(pair_count(&p, 1, second));
	REQUIRE(pair_run(&p, counts));
	return EXPECT_EQUAL(counts[0].counter[0], waiting_instructions(&p.workload[0])) &&
	       EXPECT_EQUAL(counts[1].counter[0], branches
							  ? waiting_branches(&p.workload[1])
							  : waiting_instructions(&p.workload[1])) &&
	       EXPECT(counts[0].switches >= rounds) && EXPECT(counts[1].switches >= rounds);
}

/* The same event on the same counter, on different ones, and another event on the same one. */
bool two_programs_that_alternate_are_exact(void)
{
	const struct counting *i = profile.instructions.of;

	return alternate(&i[0], &i[0], false) && alternate(&i[0], &i[1], false) &&
	       alternate(&i[1], &i[0], false) &&
	       (!profile.branches.n || alternate(&i[0], &profile.branches.of[0], true));
}

bool two_programs_that_alternate_do_not_count_each_other(void)
{
	const struct counting *first = &profile.instructions.of[0];
	struct perfctr_counts counts[2];
	struct pair p;

	REQUIRE(pair_start(&p, 20, 1000000));
	REQUIRE(pair_count(&p, 0, first));
	REQUIRE(pair_count(&p, 1, first));
	REQUIRE(pair_run(&p, counts));
	for (int i = 0; i < 2; i++)
		REQUIRE(is_count_of_both_modes(counts[i].counter[0],
					       waiting_instructions(&p.workload[i])));
	return true;
}

/*
 * The program is sent back and forth until 20 moves were seen: their number in one run depends on
 * the host.
 */
bool programs_that_migrate_are_exact(void)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	struct perfctr_control control = control_one(&profile.instructions.of[0], USER);
	struct workload w = { .out = nowhere(), .rounds = 100, .loop = 1000000 };
	static const char bytes[100];
	uint64_t migrations = 0;
	int in[2];

	REQUIRE(pipe2(in, O_CLOEXEC) == 0);
	w.in = in[0];
	while (migrations < 20) {
		struct perfctr_counts counts;
		siginfo_t ended = { 0 };
		unsigned int cpu = 0;
		pid_t pid = workload_waiting(&w);
		int fd = context_open(pid);

		REQUIRE(pid > 0 && fd >= 0);
		REQUIRE(context_control(fd, &control));
		REQUIRE(write(in[1], bytes, w.rounds) == (ssize_t)w.rounds);
		while (!ended.si_pid) {
			cpu = (cpu + 1) % profile.cpus;
			pin(pid, cpu);
			nanosleep(&pause, NULL);
			REQUIRE(!waitid(P_PID, pid, &ended, WEXITED | WNOHANG | WNOWAIT));
		}
		REQUIRE(reap(pid));
		counts = counts_of(fd, PERFCTR_SCOPE_SELF);
		close(fd);
		REQUIRE(EXPECT_EQUAL(counts.counter[0], waiting_instructions(&w)));
		migrations += counts.migrations;
	}
	close(in[0]);
	close(in[1]);
	return true;
}

enum { WRMSR, RDMSR, RDPMC, N_STATISTICS };

/* The statistics of CPU 0. */
static bool statistics(uint64_t value[N_STATISTICS])
{
	static const uint32_t index[N_STATISTICS] = {
		[WRMSR] = PMU_STATS_PMU_WRMSR,
		[RDMSR] = PMU_STATS_PMU_RDMSR,
		[RDPMC] = PMU_STATS_RDPMC,
	};
	int fd = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0;

	for (int i = 0; i < N_STATISTICS && good; i++)
		good = pread(fd, &value[i], sizeof(*value), PMU_STATS_MSR + index[i]) ==
		       sizeof(*value);
	close(fd);
	return EXPECT(good);
}

/*
 * Each round has two switches: there and back. Prints their accesses, and returns the WRMSR in
 * thousandths.
 */
static bool measure_pair(const char *what, struct pair *p, struct perfctr_counts counts[2],
			 uint64_t *wrmsr)
{
	static const char *const name[N_STATISTICS] = { "wrmsr", "rdmsr", "rdpmc" };
	uint64_t before[N_STATISTICS], after[N_STATISTICS];

	REQUIRE(statistics(before));
	REQUIRE(pair_run(p, counts));
	REQUIRE(statistics(after));
	printf("switch  %-12s %-24s", profile.name, what);
	for (int i = 0; i < N_STATISTICS; i++) {
		uint64_t each = (after[i] - before[i]) * 1000 / p->workload[0].rounds;

		printf("  %s %llu.%02llu", name[i], (unsigned long long)each / 1000,
		       (unsigned long long)each % 1000 / 10);
		if (i == WRMSR)
			*wrmsr = each;
	}
	printf("\n");
	return true;
}

static bool measure(const char *what, const struct counting *first, const struct counting *second,
		    uint64_t *wrmsr)
{
	struct perfctr_counts counts[2];
	struct pair p;

	REQUIRE(pair_start(&p, 1000, 10));
	REQUIRE(!first || pair_count(&p, 0, first));
	REQUIRE(!second || pair_count(&p, 1, second));
	return measure_pair(what, &p, counts, wrmsr);
}

/* One program or both are marked. The session's count of marked programs is exact. */
static bool measure_marked(const char *what, bool both, uint64_t *wrmsr)
{
	struct perfctr_control control = control_one(&profile.instructions.of[0], USER);
	int mark_fd = mark_open();
	int session = session_open(mark_fd, PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED);
	struct perfctr_counts counts[2], sum;
	uint64_t expected;
	struct pair p;

	REQUIRE(mark_fd >= 0 && session >= 0);
	REQUIRE(pair_start(&p, 1000, 10));
	REQUIRE(context_control(session, &control));
	REQUIRE(mark(mark_fd, p.pid[0]));
	REQUIRE(!both || mark(mark_fd, p.pid[1]));
	REQUIRE(measure_pair(what, &p, counts, wrmsr));
	sum = counts_of(session, PERFCTR_SCOPE_SELF);
	close(session);
	close(mark_fd);
	expected = waiting_instructions(&p.workload[0]);
	if (both)
		expected += waiting_instructions(&p.workload[1]);
	return EXPECT_EQUAL(sum.counter[0], expected);
}

/*
 * Starts a holder of the counters of CPU 0. Taking the counters, and giving them back when nothing
 * counts there any more, writes all registers. That is no part of a switch.
 */
static bool hold_start(struct pair *p)
{
	const struct counting *first = profile.instructions.of;
	struct perfctr_counts counts[2];
	struct pair other;

	return pair_start(p, 1, 10) && pair_count(p, 0, first) && pair_start(&other, 1, 10) &&
	       pair_count(&other, 0, first) && pair_run(&other, counts);
}

/*
 * There and back, in thousandths, with room for a tick now and then. Between programs of the same
 * control nothing is written. Between one that counts and one that does not, the counter is stopped
 * and started.
 */
bool a_switch_writes_no_more_than_it_has_to(void)
{
	const struct counting *i = profile.instructions.of;
	const uint64_t room = 200;
	uint64_t none, same, alone, other;
	struct perfctr_counts counts[2];
	struct pair holder;

	REQUIRE(hold_start(&holder));
	REQUIRE(measure("not counted", NULL, NULL, &none));
	REQUIRE(measure("same control", &i[0], &i[0], &same));
	REQUIRE(measure("one counted", &i[0], NULL, &alone));
	REQUIRE(measure("different counters", &i[0], &i[1], &other));
	REQUIRE(pair_run(&holder, counts));
	return EXPECT(none <= room) && EXPECT(same <= room) && EXPECT(alone <= 2000 + room);
}

/*
 * A switch between two marked threads writes nothing. One to or from an unmarked thread writes
 * once for a counter.
 */
bool a_gate_writes_no_more_than_it_has_to(void)
{
	const uint64_t room = 200;
	uint64_t inside, border;

	return measure_marked("both bear the mark", true, &inside) &&
	       measure_marked("one bears the mark", false, &border) && EXPECT(inside <= room) &&
	       EXPECT(border <= 2000 + room);
}
