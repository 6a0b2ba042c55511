// SPDX-License-Identifier: GPL-2.0-or-later
/* perf_events also wants the counters: for a moment, or for a while. */
#include "fuzz.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Intel's instructions, branches and reference cycles, and an event that needs no counter. */
static const struct {
	uint32_t type;
	uint64_t config;
} events[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ PERF_TYPE_RAW, 0x00c4 },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
};

/* On the process itself, a child, or a whole CPU, which not everybody may count. */
static int open_event(struct fuzzer *f)
{
	size_t i = below(f, ARRAY_SIZE(events));
	bool system = chance(f, 20);
	struct perf_event_attr attribute = {
		.size = sizeof(attribute),
		.type = events[i].type,
		.config = events[i].config,
		.exclude_kernel = chance(f, 90),
		.inherit = chance(f, 30),
		.pinned = chance(f, 20),
		.disabled = chance(f, 10),
	};
	pid_t pid = system ? -1 : chance(f, 80) ? 0 : self.child[below(f, N_CHILDREN)];

	return syscall(SYS_perf_event_open, &attribute, pid, system ? (int)below(f, 2) : -1, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

/* The page of an event allows RDPMC, as pages of contexts do. The process keeps no such page. */
static void map_for_a_moment(int fd, struct fuzzer *f)
{
	bool before = self.mapped;
	void *page;

	self.mapped = true;
	page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	op_rdpmc(f);
	if (page == MAP_FAILED)
		return;
	munmap(page, PAGE_BYTES);
	if (f->alone)
		self.mapped = before;
}

void op_perf_close(struct fuzzer *f)
{
	int fd = atomic_exchange(&self.perf, -1);

	(void)f;
	if (fd >= 0)
		close(fd);
}

void op_perf(struct fuzzer *f)
{
	int fd = open_event(f);

	if (fd < 0)
		return;
	atomic_fetch_add(&shared->perf_events, 1);
	if (chance(f, 40))
		map_for_a_moment(fd, f);
	op_call(f);
	if (chance(f, 70)) {
		close(fd);
		return;
	}
	op_perf_close(f);
	atomic_store(&self.perf, fd);
}
