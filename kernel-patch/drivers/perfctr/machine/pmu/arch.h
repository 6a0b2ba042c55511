/* SPDX-License-Identifier: GPL-2.0-only */
/* What CPUID tells of the PMU of one kind of core (arch-cpuid.c), for who drives it (arch.c). */
#ifndef _PERFCTR_ARCH_H
#define _PERFCTR_ARCH_H

#include <linux/types.h>
#include "../pmu.h"

#define ARCH_MAX_GENERAL	8	/* that have the addresses of all versions */
#define ARCH_MAX_FIXED		16

struct arch_kind {
	u32 leaf_1a;		/* EAX of the leaf; 0 where all cores are alike */
	u32 version;
	u32 n_general;
	u32 general_bits;
	u32 fixed_bits;
	u32 events;		/* mask of the architectural events that it has */
	unsigned long fixed;	/* mask of the fixed counters that exist */
	u64 counters;		/* slots of all counters */
	u64 evntsel_allowed;
	/* What hides counters from RDPMC in user mode, 0 where there is no such thing. */
	u64 evntsel_hidden;
	u64 fixed_hidden;	/* all of them */
};

/* RDPMC in user mode reads 0; of a fixed counter in FIXED_CTR_CTRL, above the nibbles. */
#define ARCH_EVNTSEL_USER_DISABLE	BIT_ULL(37)
#define ARCH_FIXED_USER_DISABLE		BIT_ULL(33)
#define ARCH_FIXED_CTRL_BITS		4	/* of IA32_FIXED_CTR_CTRL for each counter */

/* Of a counter's bits in FIXED_CTR_CTRL, those of counter 0 given. */
static inline u64 arch_fixed_bits(u64 bits, u32 n)
{
	return bits << (n * ARCH_FIXED_CTRL_BITS);
}

/* (cpu) Of this CPU; all padding is 0. False: it has no PMU. */
bool arch_kind_read(struct arch_kind *kind);
/* Does each CPU with this kind count the event on general counters? */
bool arch_kind_has_event(const struct arch_kind *kind, u64 evntsel);
/* Instructions, or cycles where CPUID says that there is no such event. */
u64 arch_kind_probe_event(const struct arch_kind *kind);
/* What all n kinds have. */
struct arch_kind arch_kind_common(const struct arch_kind *kinds, u32 n);

#endif
