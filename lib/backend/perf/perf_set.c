// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sets: events that are counted and read together.  A set is one group of perf_events, so that all
 * of its events count or none does.  A group with hardware events is pinned: perf_events does not
 * multiplex them, and refuses events that do not fit at once.
 */
#define _GNU_SOURCE
#include "perf.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EN (UINT64_C(1) << 22)

int perfctr_perf_event(struct perf_event_attr *attr, pid_t tid, int cpu, int leader)
{
	attr->size = sizeof(*attr);
	return (int)syscall(SYS_perf_event_open, attr, tid, cpu, leader, PERF_FLAG_FD_CLOEXEC);
}

static int refuse_event(struct perfctr_control *c, int error, uint32_t event, uint32_t reason)
{
	c->bad_event = event;
	c->bad_reason = reason;
	errno = error;
	return -1;
}

static bool is_fixed(const struct perfctr_event_control *event)
{
	return event->counter >= PERFCTR_FIXED;
}

uint32_t perfctr_perf_check_hardware(const struct perfctr_event_control *event,
				     const struct perfctr_pmu_info *info)
{
	uint32_t n = is_fixed(event) ? info->n_fixed : info->n_general;

	if ((event->counter & ~PERFCTR_FIXED) >= n)
		return PERFCTR_BAD_COUNTER;
	if (event->evntsel & ~(is_fixed(event) ? info->fixed_allowed : info->evntsel_allowed))
		return PERFCTR_BAD_EVNTSEL;
	if (info->evntsel_required & ~event->evntsel)
		return PERFCTR_BAD_ENABLE;
	if (!(event->evntsel & (info->evntsel_user | info->evntsel_kernel)))
		return PERFCTR_BAD_MODE;
	return 0;
}

static uint32_t check_software(const struct perfctr_event_control *event)
{
	uint32_t number = event->counter - PERFCTR_SOFTWARE;
	bool fault = number >= PERFCTR_PAGE_FAULTS && number <= PERFCTR_MAJOR_FAULTS;

	if (number >= PERFCTR_N_SOFTWARE)
		return PERFCTR_BAD_COUNTER;
	if (event->evntsel && !(fault && event->evntsel == PERFCTR_SOFTWARE_USER))
		return PERFCTR_BAD_MODE;
	return 0;
}

bool perfctr_perf_is_duplicate(const struct perfctr_control *c, uint32_t i)
{
	uint32_t counter = c->event[i].counter;

	for (uint32_t k = 0; k < i; k++)
		if (c->event[k].counter == counter && !perfctr_is_software(counter))
			return true;
	return false;
}

uint32_t perfctr_perf_check_event(const struct perfctr_control *c, uint32_t i,
				  const struct perfctr_pmu_info *info)
{
	const struct perfctr_event_control *event = &c->event[i];

	if (event->period || event->signal)
		return PERFCTR_BAD_PERIOD;
	if ((event->flags && !(event->flags & PERFCTR_EVENT_POLICY)) || event->kinds)
		return PERFCTR_BAD_FIELD;
	if (event->evntsel2)
		return PERFCTR_BAD_EVNTSEL2;
	if (perfctr_perf_is_duplicate(c, i))
		return PERFCTR_BAD_DUPLICATE;
	return perfctr_is_software(event->counter) ? check_software(event)
						   : perfctr_perf_check_hardware(event, info);
}

static int set_check(struct perfctr_control *c, const struct perfctr_pmu_info *info)
{
	if (c->n_events > PERFCTR_MAX_COUNTERS)
		return refuse_event(c, EINVAL, 0, 0);
	if (c->p4_pebs_enable || c->p4_pebs_matrix_vert)
		return refuse_event(c, EINVAL, 0, PERFCTR_BAD_PEBS);
	for (uint32_t i = 0; i < c->n_events; i++) {
		uint32_t reason = perfctr_perf_check_event(c, i, info);

		if (reason)
			return refuse_event(c, EINVAL, i, reason);
	}
	return 0;
}

/* Indexed by PERFCTR_TASK_CLOCK and the others. */
static const uint64_t software[PERFCTR_N_SOFTWARE] = {
	[PERFCTR_TASK_CLOCK] = PERF_COUNT_SW_TASK_CLOCK,
	[PERFCTR_PAGE_FAULTS] = PERF_COUNT_SW_PAGE_FAULTS,
	[PERFCTR_MINOR_FAULTS] = PERF_COUNT_SW_PAGE_FAULTS_MIN,
	[PERFCTR_MAJOR_FAULTS] = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	[PERFCTR_CONTEXT_SWITCHES] = PERF_COUNT_SW_CONTEXT_SWITCHES,
	[PERFCTR_MIGRATIONS] = PERF_COUNT_SW_CPU_MIGRATIONS,
};

/*
 * The events that the fixed counters count: instructions, cycles, and cycles at the rate of the
 * time stamp, for which the kernel has a number of its own (arch/x86/events/intel/core.c).
 */
static const uint64_t fixed[] = { 0x00c0, 0x003c, 0x0300 };

void perfctr_perf_describe_hardware(struct perf_event_attr *attr,
				    const struct perfctr_event_control *event, unsigned int policy,
				    const struct perfctr_pmu_info *info)
{
	if (event->flags & PERFCTR_EVENT_POLICY)
		policy = event->flags;
	attr->type = PERF_TYPE_RAW;
	attr->config = is_fixed(event)
			       ? fixed[event->counter - PERFCTR_FIXED]
			       : event->evntsel & ~(info->evntsel_user | info->evntsel_kernel | EN);
	attr->exclude_user =
		!(event->evntsel & info->evntsel_user) || policy & PERFCTR_EXCLUDE_USER;
	attr->exclude_kernel =
		!(event->evntsel & info->evntsel_kernel) || policy & PERFCTR_EXCLUDE_KERNEL;
}

static void describe_software(struct perf_event_attr *attr,
			      const struct perfctr_event_control *event, uint32_t capabilities)
{
	uint32_t number = event->counter - PERFCTR_SOFTWARE;

	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = software[number];
	attr->exclude_kernel = event->evntsel == PERFCTR_SOFTWARE_USER;
	/* The task clock counts the same without the kernel, but then needs no privilege. */
	if (number == PERFCTR_TASK_CLOCK && !(capabilities & PERFCTR_CAN_KERNEL))
		attr->exclude_kernel = 1;
}

static int add_event(struct perf_set *set, struct perf_event_attr *attr,
		     const struct perf_target *target)
{
	int fd;

	attr->inherit = target->inherit;
	attr->disabled = !set->n;
	attr->read_format =
		PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = perfctr_perf_event(attr, target->tid, target->cpu, set->n ? set->fd[0] : -1);
	if (fd < 0)
		return -1;
	set->fd[set->n++] = fd;
	return 0;
}

/* Adds the events that every set has. */
static int add_own(struct perf_set *set, const struct perf_target *target, uint32_t capabilities)
{
	bool kernel = capabilities & PERFCTR_CAN_KERNEL;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = target->cpu < 0 ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = !kernel,
		.pinned = set->hardware,
	};

	if (add_event(set, &attr, target) < 0)
		return -1;
	attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	};
	if (kernel && add_event(set, &attr, target) < 0)
		return -1;
	attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_MIGRATIONS,
	};
	if (kernel && add_event(set, &attr, target) < 0)
		return -1;
	set->n_own = set->n;
	return 0;
}

/*
 * Finds out why perf_events refused event i.  It gives EINVAL both to an event that has no room in
 * its group and to one that it does not support.  Only the latter is refused alone, too.
 */
static int explain_refusal(const struct perf_event_attr *attr, const struct perf_target *target,
			   struct perfctr_control *c, uint32_t i)
{
	struct perf_event_attr alone = *attr;
	int error = errno, fd;

	switch (error) {
	case EINVAL:
		fd = perfctr_perf_event(&alone, target->tid, target->cpu, -1);
		if (fd < 0 && errno == ESRCH)
			return -1;
		if (fd < 0)
			return refuse_event(c, EINVAL, i, PERFCTR_BAD_EVENT);
		close(fd);
		return refuse_event(c, ENOSPC, i, 0);
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		return refuse_event(c, EINVAL, i, PERFCTR_BAD_EVENT);
	case EACCES:
	case EPERM:
		if (!attr->exclude_kernel)
			return refuse_event(c, EACCES, i, PERFCTR_BAD_PRIVILEGE);
	}
	errno = error;
	return -1;
}

static int add_events(struct perf_set *set, const struct perf_target *target,
		      const struct perfctr_pmu_info *info, uint32_t capabilities,
		      struct perfctr_control *c)
{
	for (uint32_t i = 0; i < c->n_events; i++) {
		const struct perfctr_event_control *event = &c->event[i];
		struct perf_event_attr attr = { 0 };

		if (perfctr_is_software(event->counter))
			describe_software(&attr, event, capabilities);
		else
			perfctr_perf_describe_hardware(&attr, event, target->policy, info);
		/*
		 * Refused here, because perf_events can accept context switches and then counts
		 * none in user mode.
		 */
		if (!attr.exclude_kernel && !(capabilities & PERFCTR_CAN_KERNEL))
			return refuse_event(c, EACCES, i, PERFCTR_BAD_PRIVILEGE);
		if (add_event(set, &attr, target) < 0)
			return explain_refusal(&attr, target, c, i);
	}
	return 0;
}

/* anchor: a hardware event of the set. */
static int open_witness(struct perf_set *set, const struct perf_target *target,
			struct perf_event_attr *anchor)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.disabled = 1,
		.inherit = target->inherit,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
	};

	set->witness = perfctr_perf_event(&attr, target->tid, target->cpu, -1);
	if (set->witness < 0)
		return -1;
	anchor->inherit = target->inherit;
	anchor->disabled = 1;
	anchor->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	set->anchor = perfctr_perf_event(anchor, target->tid, target->cpu, set->witness);
	return set->anchor < 0 ? -1 : 0;
}

static int add_witness(struct perf_set *set, const struct perf_target *target,
		       const struct perfctr_pmu_info *info, const struct perfctr_control *c)
{
	struct perf_event_attr anchor = { 0 };

	for (uint32_t i = 0; i < c->n_events; i++)
		if (!perfctr_is_software(c->event[i].counter)) {
			perfctr_perf_describe_hardware(&anchor, &c->event[i], target->policy, info);
			return open_witness(set, target, &anchor);
		}
	return 0;
}

int perfctr_perf_set_open(struct perf_set *set, const struct perf_target *target,
			  const struct perfctr_pmu_info *info, uint32_t capabilities,
			  struct perfctr_control *c)
{
	int error;

	memset(set, 0, sizeof(*set));
	set->witness = -1;
	set->anchor = -1;
	if (set_check(c, info) < 0)
		return -1;
	for (uint32_t i = 0; i < c->n_events; i++)
		set->hardware |= !perfctr_is_software(c->event[i].counter);
	if (add_own(set, target, capabilities) == 0 &&
	    add_events(set, target, info, capabilities, c) == 0 &&
	    add_witness(set, target, info, c) == 0)
		return 0;
	error = errno;
	perfctr_perf_set_close(set);
	errno = error;
	return -1;
}

void perfctr_perf_set_close(struct perf_set *set)
{
	if (set->n && set->hardware && set->anchor >= 0)
		close(set->anchor);
	if (set->n && set->hardware && set->witness >= 0)
		close(set->witness);
	while (set->n)
		close(set->fd[--set->n]);
}

/* The other events count while the leader does. */
int perfctr_perf_set_enable(const struct perf_set *set, bool on)
{
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	if (set->hardware && !on && ioctl(set->witness, request, 0) < 0)
		return -1;
	if (ioctl(set->fd[0], request, 0) < 0)
		return -1;
	return set->hardware && on ? ioctl(set->witness, request, 0) : 0;
}

int perfctr_perf_try(const struct perf_target *target, unsigned int n,
		     const struct perfctr_pmu_info *info, uint32_t capabilities,
		     struct perfctr_control *c)
{
	struct perf_target self = *target;
	struct perfctr_counts counts = { 0 };
	struct perf_set set;
	int status, error;

	self.tid = 0;
	self.cpu = -1;
	if (perfctr_perf_set_open(&set, &self, info, capabilities, c) < 0)
		return -1;
	status = perfctr_perf_set_enable(&set, true);
	if (status == 0 && n > 1)
		status = perfctr_perf_try(target, n - 1, info, capabilities, c);
	if (status == 0)
		status = perfctr_perf_set_add(&set, info, &counts);
	error = errno;
	perfctr_perf_set_close(&set);
	errno = error;
	return status;
}
