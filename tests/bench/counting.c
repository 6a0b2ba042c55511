// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench.h"

#include <err.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <perfctr.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVNTSEL_USR 0x00010000
#define EVNTSEL_EN 0x00400000
#define INSTRUCTIONS 0x00c0  /* both SDM table 20-1 and AMD's PMCx0C0 */
#define BRANCHES_ARCH 0x00c4 /* SDM table 20-1 */
#define BRANCHES_AMD 0x00c2  /* PMCx0C2 */

/* The codes of the events are also perf's raw events. */
static uint32_t event_code(unsigned int i, enum flavour flavour)
{
	struct perfctr_pmu_info info;

	if ((i + flavour) % 2 == 0)
		return INSTRUCTIONS;
	if (perfctr_get_pmu_info(&info) < 0)
		err(1, "/dev/perfctr");
	return info.pmu == PERFCTR_PMU_ARCH ? BRANCHES_ARCH : BRANCHES_AMD;
}

struct perfctr_control control_of(unsigned int n, enum flavour flavour)
{
	struct perfctr_control control;

	perfctr_control_init(&control);
	for (unsigned int i = 0; i < n; i++)
		perfctr_control_add(&control, i, event_code(i, flavour) | EVNTSEL_EN | EVNTSEL_USR,
				    0);
	return control;
}

static void start_perfctr(struct counting *c, pid_t pid, unsigned int n, enum flavour flavour,
			  unsigned int flags)
{
	struct perfctr_open_args open_request = {
		.size = sizeof(open_request),
		.flags = PERFCTR_OPEN_CREATE,
		.tid = pid,
	};
	struct perfctr_control control = control_of(n, flavour);
	int device = open("/dev/perfctr", O_RDWR | O_CLOEXEC);

	if (flags & COUNT_INHERIT)
		control.flags |= PERFCTR_CONTROL_INHERIT;
	if (flags & COUNT_TOTALS)
		control.flags |= PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_TOTALS;
	c->n = 1;
	c->fd[0] = device < 0 ? -1 : ioctl(device, PERFCTR_IOC_OPEN, &open_request);
	if (c->fd[0] < 0 || ioctl(c->fd[0], PERFCTR_IOC_CONTROL, &control) < 0)
		err(1, "perfctr, %u events", n);
	close(device);
}

/* A group of events: they count together, like those of perfctr. */
static void start_perf_events(struct counting *c, pid_t pid, unsigned int n, enum flavour flavour,
			      unsigned int flags)
{
	c->n = n;
	for (unsigned int i = 0; i < n; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_RAW,
			.size = sizeof(attr),
			.config = event_code(i, flavour),
			.read_format = flags & COUNT_GROUP ? PERF_FORMAT_GROUP : 0,
			.inherit = !!(flags & COUNT_INHERIT),
			.exclude_kernel = 1,
			.exclude_hv = 1,
		};

		c->fd[i] = syscall(SYS_perf_event_open, &attr, pid, -1, i ? c->fd[0] : -1,
				   PERF_FLAG_FD_CLOEXEC);
		if (c->fd[i] < 0)
			err(1, "perf_event_open, event %u of %u", i + 1, n);
	}
}

static void map_pages(struct counting *c)
{
	for (unsigned int i = 0; i < c->n; i++) {
		c->page[i] = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, c->fd[i], 0);
		if (c->page[i] == MAP_FAILED)
			err(1, "mmap of counter %u", i);
	}
}

struct counting counting_start(enum by by, pid_t pid, unsigned int n, enum flavour flavour,
			       unsigned int flags)
{
	struct counting counting = { 0 };

	if (by == BY_PERFCTR)
		start_perfctr(&counting, pid, n, flavour, flags);
	else if (by == BY_PERF_EVENTS)
		start_perf_events(&counting, pid, n, flavour, flags);
	if (flags & COUNT_MAP)
		map_pages(&counting);
	return counting;
}

void counting_stop(struct counting *counting)
{
	while (counting->n > 0) {
		unsigned int i = --counting->n;

		if (counting->page[i])
			munmap(counting->page[i], sysconf(_SC_PAGESIZE));
		close(counting->fd[i]);
	}
}
