// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A second opinion on the emulated PMU: Linux's own driver, which knows nothing of this project,
 * counts the same programs.
 */
#include "families.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int perf_open(pid_t pid, uint64_t event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = event,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0);
}

static bool perf_count(uint64_t event, const struct workload *w, uint64_t *count)
{
	static const char bytes[100];
	struct workload waiting = *w;
	int in[2], fd;
	pid_t pid;

	REQUIRE(pipe(in) == 0);
	waiting.in = in[0];
	pid = workload_waiting(&waiting);
	REQUIRE(pid > 0);
	fd = perf_open(pid, event);
	REQUIRE(fd >= 0);
	REQUIRE(write(in[1], bytes, w->rounds) == (ssize_t)w->rounds);
	REQUIRE(reap(pid));
	REQUIRE(read(fd, count, sizeof(*count)) == sizeof(*count));
	close(fd);
	close(in[0]);
	close(in[1]);
	return true;
}

bool linux_itself_counts_the_same(void)
{
	const struct workload w = { .out = nowhere(), .rounds = 50, .loop = 10000 };
	uint64_t instructions, branches;

	return perf_count(PERF_COUNT_HW_INSTRUCTIONS, &w, &instructions) &&
	       EXPECT_EQUAL(instructions, waiting_instructions(&w)) &&
	       perf_count(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, &w, &branches) &&
	       EXPECT_EQUAL(branches, waiting_branches(&w));
}

/* The first one to ask has the counters, by whatever addresses the two write them. */
bool perf_events_and_contexts_keep_each_other_out(void)
{
	struct perfctr_control control = control_one(&profile.instructions.of[0], USER);
	struct perfctr_control nothing = control_empty(0);
	int visitor = perf_open(0, PERF_COUNT_HW_INSTRUCTIONS), fd = context_open(0);
	bool good;

	REQUIRE(visitor >= 0 && fd >= 0);
	good = EXPECT(ioctl(fd, PERFCTR_IOC_CONTROL, &control) == -1) && EXPECT(errno == EBUSY);
	close(visitor);
	control = control_one(&profile.instructions.of[0], USER);
	good &= EXPECT(context_control(fd, &control));
	good &= EXPECT(perf_open(0, PERF_COUNT_HW_INSTRUCTIONS) == -1) && EXPECT(errno == EBUSY);
	good &= EXPECT(context_control(fd, &nothing));
	visitor = perf_open(0, PERF_COUNT_HW_INSTRUCTIONS);
	good &= EXPECT(visitor >= 0);
	close(visitor);
	close(fd);
	return good;
}
