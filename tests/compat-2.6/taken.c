// SPDX-License-Identifier: GPL-2.0-or-later
/* Another user of perf_events takes the counters: counts since then cannot be read. */
#define _GNU_SOURCE
#include "old.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CPUS = 2, MOST = 8 };

/* Takes all counters of instructions on all CPUs: events of CPUs precede those of threads. */
static void take(int fd[CPUS][MOST])
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.pinned = 1,
	};

	for (int cpu = 0; cpu < CPUS; cpu++)
		for (int i = 0; i < MOST; i++)
			fd[cpu][i] = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
	usleep(10000);
}

static void give_back(int fd[CPUS][MOST])
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		for (int i = 0; i < MOST; i++)
			close(fd[cpu][i]);
}

static bool go_on(struct vperfctr *self)
{
	struct vperfctr_control control = control_of_all();
	struct perfctr_sum_ctrs sum;
	int taken[CPUS][MOST];

	take(taken);
	REQUIRE(REFUSED(vperfctr_read_state(self, &sum, NULL), EBUSY));
	give_back(taken);
	/* The counts that should go on are lost. */
	control.preserve = 1;
	REQUIRE(REFUSED(vperfctr_control(self, &control), EBUSY));
	control.preserve = 0;
	REQUIRE(vperfctr_control(self, &control) == 0);
	loop(ITERATIONS);
	REQUIRE(vperfctr_read_state(self, &sum, NULL) == 0);
	for (unsigned int k = 0; k < machine.n_events; k++)
		REQUIRE(sum.pmc[k] > 2 * ITERATIONS && sum.pmc[k] < 3 * ITERATIONS);
	take(taken);
	REQUIRE(REFUSED(vperfctr_unlink(self), EBUSY));
	give_back(taken);
	return EXPECT(!vperfctr_is_running(self)) && EXPECT(vperfctr_unlink(self) == 0);
}

bool a_state_outlives_taken_counters(void)
{
	struct vperfctr *self = counting(control_of_all()), *other;
	bool good;

	REQUIRE(self);
	good = go_on(self);
	vperfctr_close(self);
	other = counting(control_of_all());
	REQUIRE(other);
	end_state(other);
	return good;
}
