/* SPDX-License-Identifier: GPL-2.0-only */
/* The PMU of one kind of core as CPUID describes it (arch-cpuid.c), for its driver (arch.c). */
#ifndef _PERFCTR_ARCH_H
#define _PERFCTR_ARCH_H

#include <linux/types.h>
#include "../pmu.h"

#define ARCH_MAX_GENERAL	10	/* these have the same MSRs in all versions */
#define ARCH_MAX_FIXED		16

struct arch_kind {
	u32 leaf_1a;		/* EAX of leaf 1AH; 0: all cores are alike */
	u32 version;
	u32 n_general;
	u32 general_bits;
	u32 fixed_bits;
	u32 events;		/* mask of its architectural events */
	unsigned long fixed;	/* mask of existing fixed counters */
	u64 counters;		/* slots of all counters */
	u64 evntsel_allowed;
	/* Bits that hide counters from RDPMC in user mode; 0: there are none. */
	u64 evntsel_hidden;
	u64 fixed_hidden;	/* the bits of all fixed counters */
};

/*
 * Bits that make RDPMC read 0 in user mode. The bits of fixed counters are in FIXED_CTR_CTRL, above
 * the four bits that control each counter.
 */
#define ARCH_EVNTSEL_USER_DISABLE	BIT_ULL(37)
#define ARCH_FIXED_USER_DISABLE		BIT_ULL(33)
#define ARCH_FIXED_CTRL_BITS		4	/* bits of IA32_FIXED_CTR_CTRL per counter */

/* Returns the bits of counter n in FIXED_CTR_CTRL, given those of counter 0. */
static inline u64 arch_fixed_bits(u64 bits, u32 n)
{
	return bits << (n * ARCH_FIXED_CTRL_BITS);
}

/*
 * (cpu) Reads the kind of this CPU, and sets all padding to 0 for memcmp(). Returns false if the
 * CPU has no PMU.
 */
bool arch_kind_read(struct arch_kind *kind);
/*
 * Returns whether CPUID announces the event as an architectural one that this kind's general
 * counters count.
 */
bool arch_kind_has_event(const struct arch_kind *kind, u64 evntsel);
/* Returns the event select of instructions, or of cycles if CPUID denies that event. */
u64 arch_kind_probe_event(const struct arch_kind *kind);
/* Returns what all n kinds have in common. */
struct arch_kind arch_kind_common(const struct arch_kind *kinds, u32 n);

#endif
