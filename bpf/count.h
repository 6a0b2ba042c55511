/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of the processor.  The service opens them on each CPU, where they count all threads.  A
 * thread gets what they have counted while it was on the CPU.
 */
#ifndef PERFCTR_BPF_COUNT_H
#define PERFCTR_BPF_COUNT_H

/* Event i on a CPU: element CPU * PERFCTR_BPF_EVENTS + i.  The events stay without the service. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(map_flags, BPF_F_PRESERVE_ELEMS);
	__uint(max_entries, PERFCTR_BPF_EVENTS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} counters SEC(".maps");

/*
 * Adds to c what the events have counted on this CPU since the last time.  The thread of c runs
 * here.  since == false: only begins to count.  If an interrupt calls this meanwhile, both add to
 * the same sum.  A pinned event cannot be read while others have its counter.
 */
static __noinline void count_here(struct context *c, bool since)
{
	__u32 first = bpf_get_smp_processor_id() * PERFCTR_BPF_EVENTS, counting = 1;
	struct bpf_perf_event_value value;
	__u64 from;

	since = since && c->counting;
	for (__u32 i = 0; i < PERFCTR_BPF_EVENTS && i < n_events; i++) {
		if (bpf_perf_event_read_value(&counters, first + i, &value, sizeof(value))) {
			counting = 0;
			continue;
		}
		from = __sync_lock_test_and_set(&c->from[i], value.counter);
		if (since)
			__sync_fetch_and_add(&c->event[i], value.counter - from);
	}
	c->counting = counting;
	if (!counting)
		c->uncounted++;
}

static __always_inline void count_events(struct context *c, bool since)
{
	if (n_events)
		count_here(c, since);
}

static __always_inline void count_self(struct task_struct *self)
{
	struct context *c = bpf_task_storage_get(&contexts, self, NULL, 0);

	if (c && !c->dead && c->running)
		count_events(c, true);
}

#endif
