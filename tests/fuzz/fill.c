// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Structs that calls will probably accept, made from what the process holds. The image is zero
 * before.
 */
#include "fuzz.h"

#include <string.h>

/* Event select registers of the architectural PMU (SDM volume 3, 20.2.1.1). */
#define USR (1u << 16)
#define OS (1u << 17)
#define EN (1u << 22)

static const uint32_t events[] = { 0x00c0, 0x00c4, 0x003c, 0x81d0, 0x82d0, 0x412e };

char *extra(const struct fuzzer *f)
{
	return f->arena + 2 * PAGE_BYTES;
}

size_t fill_none(struct fuzzer *f, void *image)
{
	(void)f;
	(void)image;
	return 0;
}

size_t fill_info(struct fuzzer *f, void *image)
{
	struct perfctr_pmu_info *info = image;

	*info = (struct perfctr_pmu_info){ .size = sizeof(*info) };
	if (chance(f, 10))
		info->holder = PERFCTR_HOLDER_ASK;
	return sizeof(*info);
}

size_t fill_open(struct fuzzer *f, void *image)
{
	struct perfctr_open_args *open = image;

	*open = (struct perfctr_open_args){ .size = sizeof(*open), .tid = any_tid(f) };
	if (chance(f, 70))
		open->flags = PERFCTR_OPEN_CREATE;
	return sizeof(*open);
}

size_t fill_open_mark(struct fuzzer *f, void *image)
{
	struct perfctr_open_mark_args *open = image;

	(void)f;
	*open = (struct perfctr_open_mark_args){ .size = sizeof(*open) };
	return sizeof(*open);
}

/* Mostly a mark, sometimes none or something else. */
static int any_mark(struct fuzzer *f)
{
	const struct slot *slot = any_slot(f, 1u << MARK);

	if (slot && chance(f, 90))
		return slot->fd;
	if (chance(f, 50))
		return -1;
	return chance(f, 50) ? any_slot(f, ~0u)->fd : (int)awkward(f);
}

size_t fill_mark(struct fuzzer *f, void *image)
{
	struct perfctr_mark_args *mark = image;

	*mark = (struct perfctr_mark_args){ .size = sizeof(*mark) };
	mark->action = PERFCTR_MARK_SET + below(f, 3);
	mark->scope = mark->action == PERFCTR_MARK_GET ? PERFCTR_MARK_THREAD : below(f, 3);
	mark->tid = any_tid(f);
	mark->mark = mark->action == PERFCTR_MARK_GET ||
				     (mark->action == PERFCTR_MARK_CLEAR && chance(f, 50))
			     ? -1
			     : any_mark(f);
	return sizeof(*mark);
}

size_t fill_session(struct fuzzer *f, void *image)
{
	struct perfctr_session_args *open = image;

	*open = (struct perfctr_session_args){ .size = sizeof(*open), .mark = any_mark(f) };
	open->policy = below(f, 64);
	if (!self.privileged && chance(f, 90))
		open->policy |= PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED;
	if (chance(f, 90))
		open->policy &= ~PERFCTR_EXCLUDE_ALL;
	if (chance(f, 40)) {
		open->cpus = (uintptr_t)extra(f);
		open->cpus_bytes = 1 + below(f, 16);
		memset(extra(f), 0, 16);
		extra(f)[0] = below(f, chance(f, 90) ? 4 : 256);
	}
	if (chance(f, 30)) {
		open->trace_bytes = PAGE_BYTES << below(f, chance(f, 98) ? 5 : 11);
		if (chance(f, 50))
			open->trace_ticks = 1 + below(f, 3);
	}
	return sizeof(*open);
}

static struct perfctr_event_control any_event(struct fuzzer *f, uint32_t n)
{
	const struct perfctr_pmu_info *info = &shared->info;
	struct perfctr_event_control e = { .counter = n };
	uint64_t modes = USR;

	if (self.privileged || chance(f, 5))
		modes = (uint64_t[]){ USR, OS, USR | OS }[below(f, 3)];
	/* Seldom so short that no time is left for anything else, or more than there can be. */
	if (chance(f, 20))
		e.period = chance(f, 80) ? 1000 + below(f, 100000) : next(f) >> below(f, 64);
	if (e.period && chance(f, 40))
		e.signal = 1 + below(f, 66);
	/* Often enough that RESUME is accepted: few periods end before the next CONTROL. */
	if (e.period && chance(f, 50))
		e.flags = PERFCTR_EVENT_STOP;
	if (n >= info->n_general) {
		e.counter = PERFCTR_FIXED + n - info->n_general;
		e.evntsel = EN | modes;
	} else {
		e.evntsel = events[below(f, ARRAY_SIZE(events))] | EN | modes;
		if (chance(f, 5))
			e.evntsel |= next(f) & info->evntsel_allowed;
	}
	return e;
}

/* The struct may end after the last event. */
static size_t fill_events(struct fuzzer *f, struct perfctr_control *control, uint32_t most)
{
	uint32_t counters = shared->info.n_general + shared->info.n_fixed;
	uint32_t n = below(f, counters);

	control->n_events = below(f, most + 1);
	for (uint32_t i = 0; i < control->n_events; i++)
		control->event[i] = any_event(f, (n + i) % counters);
	control->size = chance(f, 50) ? sizeof(*control)
				      : (uint32_t)(offsetof(struct perfctr_control, event) +
						   control->n_events * sizeof(control->event[0]));
	return control->size;
}

size_t fill_control(struct fuzzer *f, void *image)
{
	struct perfctr_control *control = image;
	size_t size = fill_events(f, control, chance(f, 80) ? 3 : 7);

	control->flags = below(f, 16);
	if (chance(f, 30))
		control->flags |=
			PERFCTR_CONTROL_INHERIT |
			(chance(f, 50) ? PERFCTR_CONTROL_EXIT_RECORDS : PERFCTR_CONTROL_TOTALS);
	if (!(control->flags & PERFCTR_CONTROL_TOTALS) && chance(f, 30))
		control->flags |= PERFCTR_CONTROL_PHASE;
	if (control->flags & PERFCTR_CONTROL_STOPPED && chance(f, 60))
		control->flags &= ~PERFCTR_CONTROL_STOPPED;
	return size;
}

size_t fill_session_control(struct fuzzer *f, void *image)
{
	struct perfctr_control *control = image;
	size_t size = fill_events(f, control, chance(f, 80) ? 2 : 4);

	control->flags = chance(f, 20) ? PERFCTR_CONTROL_STOPPED : 0;
	for (uint32_t i = 0; i < control->n_events; i++)
		if (chance(f, 30))
			control->event[i].flags = PERFCTR_EVENT_POLICY | below(f, 64);
	return size;
}

size_t fill_read(struct fuzzer *f, void *image)
{
	struct perfctr_counts *counts = image;

	counts->size = sizeof(*counts);
	counts->scope = below(f, 3);
	return sizeof(*counts);
}

size_t fill_periods(struct fuzzer *f, void *image)
{
	struct perfctr_periods *periods = image;

	periods->size = sizeof(*periods);
	periods->scope = below(f, 3);
	return sizeof(*periods);
}

size_t fill_session_read(struct fuzzer *f, void *image)
{
	struct perfctr_counts *counts = image;

	(void)f;
	counts->size = sizeof(*counts);
	return sizeof(*counts);
}

size_t fill_record(struct fuzzer *f, void *image)
{
	struct perfctr_exit_record *record = image;

	(void)f;
	record->size = sizeof(*record);
	return sizeof(*record);
}

size_t fill_get_control(struct fuzzer *f, void *image)
{
	struct perfctr_control *control = image;

	(void)f;
	control->size = sizeof(*control);
	return sizeof(*control);
}

size_t fill_samples(struct fuzzer *f, void *image)
{
	struct perfctr_samples_args *samples = image;

	*samples = (struct perfctr_samples_args){
		.size = sizeof(*samples),
		.flags = below(f, 4),
		.room_bytes = PAGE_BYTES << below(f, chance(f, 98) ? 5 : 11),
		.watermark = below(f, 4),
		.jitter = chance(f, 30) ? below(f, 101) : 0,
		.max_samples = chance(f, 30) ? below(f, 1000) : 0,
		.seed = below(f, 2),
	};
	if (samples->flags & PERFCTR_SAMPLES_CHAIN)
		samples->depth = 1 + below(f, PERFCTR_MAX_DEPTH);
	return sizeof(*samples);
}

size_t fill_sampled(struct fuzzer *f, void *image)
{
	struct perfctr_sampled *sampled = image;

	(void)f;
	sampled->size = sizeof(*sampled);
	return sizeof(*sampled);
}

size_t fill_members(struct fuzzer *f, void *image)
{
	struct perfctr_members_args *members = image;

	*members = (struct perfctr_members_args){
		.size = sizeof(*members),
		.room = below(f, chance(f, 90) ? 8 : 64),
		.tids = (uintptr_t)extra(f),
	};
	memset(extra(f), PATTERN, EXTRA_BYTES);
	return sizeof(*members);
}

size_t fill_consume(struct fuzzer *f, void *image)
{
	struct perfctr_consume *consume = image;

	*consume = (struct perfctr_consume){
		.size = sizeof(*consume),
		.cpu = below(f, 3),
		.tail = below(f, chance(f, 80) ? 4 : 64),
	};
	return sizeof(*consume);
}
