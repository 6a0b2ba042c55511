// SPDX-License-Identifier: LGPL-2.1-or-later
/* BPF: reads the sums of slots, and encodes the events of controls. */
#include "bpf.h"
#include "../perf/perf.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define SETTLE_TRIES 1000 /* times 50 us */
#define CONSISTENT_TRIES 3
#define QUICK_COPIES 1000
#define COPIES 21000 /* QUICK_COPIES, and the others 50 us apart */

static void pause_briefly(void)
{
	struct timespec pause = { .tv_nsec = 50000 };

	nanosleep(&pause, NULL);
}

int perfctr_bpf_copy(const struct perfctr_bpf_slot *slot, struct perfctr_bpf_slot *copy)
{
	for (int i = 0; i < COPIES; i++) {
		uint64_t ended = __atomic_load_n(&slot->ended, __ATOMIC_ACQUIRE);

		memcpy(copy, slot, sizeof(*copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&slot->begun, __ATOMIC_RELAXED) == ended)
			return 0;
		if (i >= QUICK_COPIES)
			pause_briefly();
	}
	errno = EPROTO;
	return -1;
}

static uint32_t exiting_in(const volatile struct perfctr_bpf_slot *slot)
{
	return slot->exiting + !!(slot->flags & PERFCTR_BPF_EXITING);
}

void perfctr_bpf_settle(struct perfctr_bpf_handle *h)
{
	uint32_t exiting = exiting_in(h->mapped);

	for (int i = 0; i < SETTLE_TRIES; i++) {
		if (exiting <= __atomic_load_n(&h->staying, __ATOMIC_RELAXED))
			break;
		pause_briefly();
		exiting = exiting_in(h->mapped);
	}
	__atomic_store_n(&h->staying, exiting, __ATOMIC_RELAXED);
}

/*
 * The walk folds a thread that stays in exit like any other.  It cannot find a thread that has been
 * reaped: the counts of that thread since its last fold are missing until its last switch.
 */
static bool is_somebody_lost(const struct perfctr_bpf_slot *copy,
			     const struct perfctr_bpf_reply *reply)
{
	return exiting_in(copy) > reply->exiting;
}

int perfctr_bpf_read_slot(struct perfctr_bpf_handle *h, struct perfctr_bpf_slot *copy,
			  bool *consistent)
{
	struct perfctr_bpf_reply reply;
	uint64_t begun;
	bool lost;

	perfctr_bpf_settle(h);
	for (int i = 0; i < CONSISTENT_TRIES; i++) {
		perfctr_bpf_count(h);
		begun = __atomic_load_n(&h->mapped->begun, __ATOMIC_ACQUIRE);
		if (perfctr_bpf_walk(h, PERFCTR_BPF_WALK_FOLD, 0, 0, &reply, NULL, 0) < 0)
			return -1;
		if (perfctr_bpf_copy(h->mapped, copy) < 0)
			return -1;
		lost = is_somebody_lost(copy, &reply);
		*consistent = !reply.running && !lost && copy->begun - begun <= reply.folded;
		if (*consistent)
			break;
		if (lost && i == 0) {
			__atomic_store_n(&h->staying, reply.exiting, __ATOMIC_RELAXED);
			perfctr_bpf_settle(h);
		}
	}
	if (copy->generation == h->generation)
		return 0;
	errno = ENODEV;
	return -1;
}

static const struct {
	uint32_t counter;
	uint8_t field[2]; /* the event is their sum; PERFCTR_BPF_FIELDS: none */
} events[] = {
	{ PERFCTR_TASK_CLOCK, { PERFCTR_BPF_TIME, PERFCTR_BPF_FIELDS } },
	{ PERFCTR_PAGE_FAULTS, { PERFCTR_BPF_MINOR, PERFCTR_BPF_MAJOR } },
	{ PERFCTR_MINOR_FAULTS, { PERFCTR_BPF_MINOR, PERFCTR_BPF_FIELDS } },
	{ PERFCTR_MAJOR_FAULTS, { PERFCTR_BPF_MAJOR, PERFCTR_BPF_FIELDS } },
	{ PERFCTR_CONTEXT_SWITCHES, { PERFCTR_BPF_SWITCHES, PERFCTR_BPF_FIELDS } },
	{ PERFCTR_MIGRATIONS, { PERFCTR_BPF_MIGRATIONS, PERFCTR_BPF_FIELDS } },
};

enum { N_EVENTS = sizeof(events) / sizeof(events[0]) };

static int refuse_event(struct perfctr_control *c, uint32_t event, uint32_t reason)
{
	c->bad_event = event;
	c->bad_reason = reason;
	errno = EINVAL;
	return -1;
}

/* Returns a reason to refuse the event, or 0 and the event's number. */
static uint32_t find_software(const struct perfctr_event_control *event, uint32_t *number)
{
	for (*number = 0; *number < N_EVENTS; ++*number)
		if (event->counter == PERFCTR_SOFTWARE + events[*number].counter)
			/* The kernel keeps no count of user mode alone. */
			return event->evntsel ? PERFCTR_BAD_EVNTSEL : 0;
	return PERFCTR_BAD_COUNTER;
}

/* The control may name any counter that no other event has: the kernel chooses the real one. */
static uint32_t find_hardware(const struct perfctr_event_control *event,
			      const struct perfctr_bpf_info *info, unsigned int policy,
			      uint32_t *number)
{
	struct perfctr_pmu_info pmu;
	struct perf_event_attr attr = { 0 };
	uint32_t reason, modes;

	perfctr_bpf_pmu_info(info, &pmu);
	reason = perfctr_perf_check_hardware(event, &pmu);
	if (reason)
		return reason;
	perfctr_perf_describe_hardware(&attr, event, policy, &pmu);
	modes = (attr.exclude_user ? 0 : PERFCTR_BPF_USER) |
		(attr.exclude_kernel ? 0 : PERFCTR_BPF_KERNEL);
	for (uint32_t i = 0; i < info->n_events; i++)
		if (info->event[i].config == attr.config && info->event[i].modes == modes) {
			*number = N_EVENTS + i;
			return 0;
		}
	return PERFCTR_BAD_UNLOADED;
}

int perfctr_bpf_encode(struct perfctr_control *c, const struct perfctr_bpf_info *info,
		       unsigned int policy, uint64_t encoded[2])
{
	encoded[0] = encoded[1] = 0;
	for (uint32_t i = 0; i < c->n_events; i++) {
		const struct perfctr_event_control *event = &c->event[i];
		uint32_t number, reason;

		reason = perfctr_is_software(event->counter)
				 ? find_software(event, &number)
				 : find_hardware(event, info, policy, &number);
		if (!reason && perfctr_perf_is_duplicate(c, i))
			reason = PERFCTR_BAD_DUPLICATE;
		if (reason)
			return refuse_event(c, i, reason);
		if (event->evntsel2)
			return refuse_event(c, i, PERFCTR_BAD_EVNTSEL2);
		if (event->period || event->signal)
			return refuse_event(c, i, PERFCTR_BAD_PERIOD);
		if ((event->flags && !(event->flags & PERFCTR_EVENT_POLICY)) || event->kinds)
			return refuse_event(c, i, PERFCTR_BAD_FIELD);
		encoded[i / 16] |= (uint64_t)number << i % 16 * 4;
	}
	return 0;
}

uint64_t perfctr_bpf_value(uint32_t event, const uint64_t *sums)
{
	uint64_t value = 0;

	/* The program that took the slot may have written any number. */
	if (event >= N_EVENTS + PERFCTR_BPF_EVENTS)
		return 0;
	if (event >= N_EVENTS)
		return sums[PERFCTR_BPF_EVENT + event - N_EVENTS];
	for (int i = 0; i < 2; i++)
		if (events[event].field[i] < PERFCTR_BPF_FIELDS)
			value += sums[events[event].field[i]];
	return value;
}

int perfctr_bpf_whole(const uint64_t *sums, uint32_t n, const uint32_t *numbers)
{
	for (uint32_t i = 0; sums[PERFCTR_BPF_UNCOUNTED] && i < n; i++)
		if (numbers[i] >= N_EVENTS) {
			errno = EBUSY;
			return -1;
		}
	return 0;
}

uint64_t perfctr_bpf_time(const struct perfctr_bpf_handle *h, uint64_t ns)
{
	return perfctr_bpf_ticks(&h->info.rate, ns);
}
