/* SPDX-License-Identifier: GPL-2.0-only */
/* The service's changes of the map "info". */
#ifndef PERFCTR_BPF_KEEP_H
#define PERFCTR_BPF_KEEP_H

/*
 * Other CPUs use one clock while the other is written.  The directory's lock makes sure that there
 * is only one service.
 */
static __always_inline void set_clock(struct perfctr_bpf_info *i, const struct perfctr_bpf_kept *to)
{
	__u64 next = i->current + 1;
	struct perfctr_bpf_clock *clock = next & 1 ? &i->clock[1] : &i->clock[0];

	clock->ns = to->clock.ns;
	clock->ticks = to->clock.ticks;
	clock->rate.whole = to->clock.rate.whole;
	clock->rate.fraction = to->clock.rate.fraction;
	barrier();
	*(volatile __u64 *)&i->current = next;
}

static __always_inline int keep_info(const struct perfctr_bpf_kept *to)
{
	__u32 zero = 0;
	struct perfctr_bpf_info *i = bpf_map_lookup_elem(&info, &zero);

	if (!i)
		return -EINVAL;
	switch (to->action) {
	case PERFCTR_BPF_KEEP_SERVICE:
		i->pid = to->pid;
		i->pid_start = to->pid_start;
		return 0;
	case PERFCTR_BPF_KEEP_CLOCK:
		set_clock(i, to);
		return 0;
	case PERFCTR_BPF_KEEP_END:
		i->ended = 1;
		return 0;
	default:
		return -EINVAL;
	}
}

#endif
