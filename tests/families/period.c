// SPDX-License-Identifier: GPL-2.0-or-later
/* Periods: their number is the count divided by the period. A machine without periods says so. */
#include "families.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 50

static bool has_interrupts(void)
{
	return profile.features & PERFCTR_FEATURE_INTERRUPT;
}

static bool is_refused(int fd, struct perfctr_control control)
{
	errno = 0;
	return EXPECT(ioctl(fd, PERFCTR_IOC_CONTROL, &control) == -1) && EXPECT(errno == EINVAL) &&
	       EXPECT_EQUAL(control.bad_reason, PERFCTR_BAD_PERIOD);
}

/* The events of the control all count the same, with one period. */
static bool periods_are_right(struct perfctr_control control, const struct workload *w,
			      uint64_t period, uint64_t expected)
{
	struct perfctr_periods told = { .size = sizeof(told), .scope = PERFCTR_SCOPE_CHILDREN };
	struct perfctr_counts counts;
	int fd = context_open(0);

	REQUIRE(fd >= 0);
	for (uint32_t i = 0; i < control.n_events; i++)
		control.event[i].period = period;
	REQUIRE(count_children_of(fd, &control, w, 1, &counts));
	REQUIRE(ioctl(fd, PERFCTR_IOC_PERIODS, &told) == 0);
	close(fd);
	REQUIRE(EXPECT_EQUAL(told.n_counters, control.n_events));
	for (uint32_t i = 0; i < control.n_events; i++) {
		REQUIRE(EXPECT_EQUAL(counts.counter[i], expected));
		REQUIRE(EXPECT_EQUAL(told.over[i], expected / period));
	}
	return true;
}

static bool list_has_periods(const struct event_list *list, const struct workload *w, uint64_t n)
{
	const uint64_t periods[] = { 1,	    2, 3,     31,	  101,	      1009,
				     n - 1, n, n + 1, 0x7fffffff, 0x80000000, 0x80000007 };

	for (size_t i = 0; i < list->n; i++) {
		struct perfctr_control control = control_one(&list->of[i], USER);

		for (size_t k = 0; k < sizeof(periods) / sizeof(*periods); k++)
			REQUIRE(periods_are_right(control, w, periods[k], n));
	}
	return true;
}

bool periods_are_exact_on_every_counter_or_refused(void)
{
	const struct workload w = { .in = zeros(), .out = nowhere(), .rounds = 3, .loop = 1000 };
	struct perfctr_control control = control_one(&profile.instructions.of[0], USER);
	int fd = context_open(0);
	bool good;

	REQUIRE(fd >= 0);
	control.event[0].period = has_interrupts() ? 1ull << 63 : 1000;
	good = is_refused(fd, control);
	close(fd);
	if (!good || !has_interrupts())
		return good;
	return list_has_periods(&profile.instructions, &w, workload_instructions(&w)) &&
	       list_has_periods(&profile.branches, &w, workload_branches(&w));
}

bool periods_of_all_counters_at_once_are_exact(void)
{
	const uint64_t periods[] = { 1, 7, 1009 };
	const struct workload w = { .in = zeros(), .out = nowhere(), .rounds = 3, .loop = 1000 };
	struct perfctr_control control = control_empty(0);

	for (size_t i = 0; i < profile.instructions.n; i++)
		control_add(&control, &profile.instructions.of[i], USER);
	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++)
		REQUIRE(periods_are_right(control, &w, periods[i], workload_instructions(&w)));
	return true;
}

/* This is more than a write of 32 bits can set. */
bool a_period_of_more_than_2_to_the_31_ends(void)
{
	const uint64_t period = 0x80000007;
	const struct workload w = {
		.in = zeros(), .out = nowhere(), .rounds = 1, .loop = 1080000000
	};

	REQUIRE(workload_instructions(&w) > period);
	return periods_are_right(control_one(&profile.instructions.of[0], USER), &w, period,
				 workload_instructions(&w));
}

/*
 * IA32_PERF_GLOBAL_STATUS (SDM volume 4), PerfCntrGlobalStatus (AMD's manual, volume 2); 0: there is
 * none.
 */
static uint32_t status_msr(void)
{
	if (strstr(profile.family, "PerfMonV2"))
		return 0xc0000300;
	if (strstr(profile.family, "PerfMon v1") || !strstr(profile.family, "PerfMon v"))
		return 0;
	return 0x38e;
}

bool has_overflow_status(void)
{
	return status_msr() != 0;
}

/* A process that leaves its CPU, and comes back, all the time. */
static pid_t sleeper_start(unsigned int cpu)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	while (pin(0, cpu))
		usleep(100);
	_exit(1);
}

static bool status_is_clear(int msrs)
{
	uint64_t status;

	REQUIRE(pread64(msrs, &status, sizeof(status), status_msr()) == sizeof(status));
	return EXPECT_EQUAL(status, 0);
}

/* Some overflows come during a switch: their interrupt finds another thread. */
static bool status_is_clear_after(pid_t pid, const struct perfctr_control *control, int msrs)
{
	int fd = context_open(pid);

	REQUIRE(fd >= 0 && context_control(fd, control));
	usleep(10000);
	close(fd);
	usleep(1000);
	return status_is_clear(msrs);
}

static bool status_stays_clear(pid_t pid)
{
	struct perfctr_control control =
		control_one(&profile.instructions.of[profile.instructions.n - 1], BOTH);
	int msrs = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	bool clear = true;

	REQUIRE(msrs >= 0);
	for (unsigned int i = 0; i < ROUNDS && clear; i++) {
		control.event[0].period = 1009 + i;
		clear = status_is_clear_after(pid, &control, msrs);
	}
	close(msrs);
	return clear;
}

/* Such processes take turns on CPU 0 all the time. */
static pid_t yielder_start(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	while (pin(0, 0))
		sched_yield();
	_exit(1);
}

/*
 * The interrupt of a process that has been stopped comes while the other one runs, with another
 * counter.
 */
static bool status_stays_clear_of_two(void)
{
	const pid_t pid[] = { yielder_start(), yielder_start() };
	const struct counting *of = profile.instructions.of;
	struct perfctr_control control[2] = {
		control_one(&of[0], BOTH),
		control_one(&of[profile.instructions.n - 1], BOTH),
	};
	int msrs = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	bool clear = true;

	REQUIRE(msrs >= 0);
	for (unsigned int i = 0; i < ROUNDS && clear; i++) {
		int fd[2];

		for (unsigned int k = 0; k < 2; k++) {
			control[k].event[0].period = 101 + 2 * i + k;
			fd[k] = context_open(pid[k]);
			REQUIRE(fd[k] >= 0 && context_control(fd[k], &control[k]));
		}
		usleep(10000);
		close(fd[0]);
		close(fd[1]);
		usleep(1000);
		clear = status_is_clear(msrs);
	}
	close(msrs);
	for (unsigned int k = 0; k < 2; k++) {
		kill(pid[k], SIGKILL);
		waitpid(pid[k], NULL, 0);
	}
	return clear;
}

/*
 * While another context holds the counters, they are not given back. If it has a period, their
 * interrupt is not, either.
 */
static bool status_stays_clear_beside(pid_t pid, pid_t holder, uint64_t period)
{
	struct perfctr_control control = control_one(&profile.instructions.of[0], USER);
	int fd = context_open(holder);
	bool clear;

	control.event[0].period = period;
	clear = EXPECT(fd >= 0 && context_control(fd, &control)) && status_stays_clear(pid);
	/* The check of two relies on the interrupt being given back, which a period prevents. */
	if (!period)
		clear = clear && status_stays_clear_of_two();
	close(fd);
	return clear;
}

/* perf_events would warn of such an overflow, or wait for it at each of its switches. */
bool no_overflow_is_left_in_the_status_register(void)
{
	pid_t pid = sleeper_start(0), holder = sleeper_start(1);
	bool clear = pid > 0 && holder > 0 && status_stays_clear(pid) &&
		     status_stays_clear_beside(pid, holder, 0) &&
		     status_stays_clear_beside(pid, holder, INT64_MAX);

	kill(pid, SIGKILL);
	kill(holder, SIGKILL);
	while (wait(NULL) > 0)
		;
	return clear;
}

#define SAMPLES		200
#define TRIES		100000
#define COUNTED		(1ull << 48)
#define PUT_OFF		100000	/* more than any of these */

/*
 * How far before its overflow a counter is set if the next period ends sooner: as far as the model
 * needs.
 */
static const struct distance {
	const char *profile;
	struct counting counting;
	uint32_t msr; /* of the counter (SDM volume 4) */
	uint64_t events;
} distances[] = {
	/* The least that perf_events leaves to a counter (Linux, arch/x86/events/intel/core.c) */
	{ "nehalem", { 0, { 0x004000c0, 0 } }, 0xc1, 32 },
	{ "haswell", { 0, { 0x004000c0, 0 } }, 0xc1, 32 },
	{ "haswell", { PERFCTR_FIXED, { 0x00400000, 0 } }, 0x309, 32 },
	/* INST_RETIRED.PREC_DIST */
	{ "haswell", { 1, { 0x004001c0, 0 } }, 0xc2, 128 },
	{ "arch-v3", { 0, { 0x004000c0, 0 } }, 0xc1, 5 },
};

static bool has_distance(const struct distance *d)
{
	return !strcmp(profile.name, d->profile);
}

bool distances_are_known(void)
{
	bool known = false;

	for (size_t i = 0; i < sizeof(distances) / sizeof(*distances); i++)
		known |= has_distance(&distances[i]);
	return known;
}

/*
 * The counter stands still in kernel mode. Interrupts beyond the limit are put off until the next
 * tick.
 */
static bool find_furthest(uint32_t msr, uint64_t *furthest)
{
	int msrs = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC), found = 0;
	uint64_t value;

	REQUIRE(msrs >= 0);
	*furthest = 0;
	for (int i = 0; i < TRIES && found < SAMPLES; i++) {
		for (volatile int j = 0; j < i % 7; j++)
			;
		REQUIRE(pread64(msrs, &value, sizeof(value), msr) == sizeof(value));
		if (COUNTED - value > PUT_OFF)
			continue;
		if (COUNTED - value > *furthest)
			*furthest = COUNTED - value;
		found++;
	}
	close(msrs);
	return EXPECT_EQUAL(found, SAMPLES);
}

static bool distance_is_right(const struct distance *d)
{
	struct perfctr_control control = control_one(&d->counting, USER);
	int fd = context_open(0);
	uint64_t furthest;

	control.event[0].period = 5;
	REQUIRE(fd >= 0 && context_control(fd, &control) && find_furthest(d->msr, &furthest));
	close(fd);
	printf("distance %s: event %#x, %llu\n", profile.name,
	       (unsigned int)d->counting.event.evntsel, (unsigned long long)furthest);
	return EXPECT(furthest <= d->events) && EXPECT(furthest > d->events / 2);
}

bool counters_are_set_as_near_to_their_overflow_as_the_model_allows(void)
{
	REQUIRE(pin(0, 0));
	for (size_t i = 0; i < sizeof(distances) / sizeof(*distances); i++)
		if (has_distance(&distances[i]))
			REQUIRE(distance_is_right(&distances[i]));
	return true;
}

/* The sign of a value of 32 bits is unknown. */
bool p4_a_period_and_fast_rdpmc_exclude_each_other(void)
{
	struct perfctr_control control = control_one(&profile.instructions.of[0], USER);
	int fd = context_open(0);
	bool good;

	REQUIRE(fd >= 0);
	control.event[0].counter |= PERFCTR_FAST;
	control.event[0].period = 1000;
	good = is_refused(fd, control);
	control.event[0].period = 0;
	good = good && context_control(fd, &control);
	close(fd);
	return good;
}
