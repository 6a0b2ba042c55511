// SPDX-License-Identifier: GPL-2.0-only
/*
 * The architectural PMU as CPUID describes it: leaf 0xA, and additions in leaf 0x23 (SDM volume 3,
 * 20.2). On a hybrid processor, leaf 0xA may show on each kind of core only what all kinds have.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include <asm/perf_event.h>
#include <asm/processor.h>
#include "arch.h"
#include "evntsel.h"

#define HAS_EXT			BIT(8)		/* CPUID leaf 7, subleaf 1, EAX */
/* CPUID leaf 0x23, and the bits of the event select register that it announces */
#define EXT_COUNTERS		BIT(1)		/* EAX: subleaf 1 */
#define EXT_UMASK2		BIT(0)		/* EBX */
#define EXT_EQ			BIT(1)
#define EXT_USER_DISABLE	BIT(2)
#define EVNTSEL_UMASK2		GENMASK_ULL(47, 40)
#define EVNTSEL_EQ		BIT_ULL(36)

#define EVNTSEL_CODE		(ARCH_PERFMON_EVENTSEL_EVENT | ARCH_PERFMON_EVENTSEL_UMASK |	\
				 EVNTSEL_UMASK2)

/* Event select and unit mask, indexed by the event's bit in EBX of leaf 0xA. */
static const u16 events[] = {
	0x003c,		/* core cycles */
	0x00c0,		/* instructions */
	0x013c,		/* reference cycles */
	0x4f2e,		/* last level cache references */
	0x412e,		/* last level cache misses */
	0x00c4,		/* branches */
	0x00c5,		/* mispredicted branches */
	0x01a4,		/* slots */
};

#define INSTRUCTIONS		1

/*
 * Leaf 7 announces leaf 0x23. CPUID is executed here, because older kernels do not know of either
 * leaf.
 */
static bool has_extensions(void)
{
	u32 eax, ebx, ecx, edx;

	if (boot_cpu_data.cpuid_level < 0x23 || cpuid_eax(7) < 1)
		return false;
	cpuid_count(7, 1, &eax, &ebx, &ecx, &edx);
	return eax & HAS_EXT;
}

/* Reads the masks of counters, and the event select bits that do not depend on the version. */
static void read_extensions(struct arch_kind *kind)
{
	u32 eax, ebx, ecx, edx, n;

	if (!has_extensions())
		return;
	cpuid_count(0x23, 0, &eax, &ebx, &ecx, &edx);
	if (ebx & EXT_UMASK2)
		kind->evntsel_allowed |= EVNTSEL_UMASK2;
	if (ebx & EXT_EQ)
		kind->evntsel_allowed |= EVNTSEL_EQ;
	if (eax & EXT_COUNTERS) {
		u32 unused;

		cpuid_count(0x23, 1, &eax, &edx, &ecx, &unused);
		kind->n_general = min_t(u32, eax == U32_MAX ? 32 : ffz(eax), ARCH_MAX_GENERAL);
		kind->fixed = edx & GENMASK(ARCH_MAX_FIXED - 1, 0);
	}
	if (!(ebx & EXT_USER_DISABLE))
		return;
	kind->evntsel_hidden = ARCH_EVNTSEL_USER_DISABLE;
	for_each_set_bit(n, &kind->fixed, ARCH_MAX_FIXED)
		kind->fixed_hidden |= arch_fixed_bits(ARCH_FIXED_USER_DISABLE, n);
}

static void read_fixed_counters(struct arch_kind *kind, u32 mask, union cpuid10_edx edx)
{
	u32 n = min_t(u32, edx.split.num_counters_fixed, ARCH_MAX_FIXED);

	if (kind->version < 2)
		return;
	kind->fixed = n ? GENMASK(n - 1, 0) : 0;
	if (kind->version >= 5)
		kind->fixed |= mask & GENMASK(ARCH_MAX_FIXED - 1, 0);
	kind->fixed_bits = edx.split.bit_width_fixed;
}

static void set_counters(struct arch_kind *kind)
{
	if (kind->n_general)
		kind->counters = GENMASK_ULL(kind->n_general - 1, 0);
	kind->counters |= (u64)kind->fixed << PERFCTR_FIXED_SLOT;
}

bool arch_kind_read(struct arch_kind *kind)
{
	union cpuid10_eax eax;
	union cpuid10_edx edx;
	unsigned int ebx, ecx;

	memset(kind, 0, sizeof(*kind));
	cpuid(0xa, &eax.full, &ebx, &ecx, &edx.full);
	kind->version = eax.split.version_id;
	if (!kind->version)
		return false;
	kind->n_general = min_t(u32, eax.split.num_counters, ARCH_MAX_GENERAL);
	kind->general_bits = eax.split.bit_width;
	if (eax.split.mask_length)
		kind->events = ~ebx & GENMASK(eax.split.mask_length - 1, 0);
	kind->evntsel_allowed = PERFCTR_EVNTSEL_ALLOWED;
	read_fixed_counters(kind, ecx, edx);
	if (kind->version >= 2)
		read_extensions(kind);
	set_counters(kind);
	if (boot_cpu_has(X86_FEATURE_HYBRID_CPU))
		kind->leaf_1a = cpuid_eax(0x1a);
	return true;
}

bool arch_kind_has_event(const struct arch_kind *kind, u64 evntsel)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if ((evntsel & EVNTSEL_CODE) == events[i])
			return kind->events & BIT(i);
	return false;
}

u64 arch_kind_probe_event(const struct arch_kind *kind)
{
	return events[kind->events & BIT(INSTRUCTIONS) ? INSTRUCTIONS : 0];
}

struct arch_kind arch_kind_common(const struct arch_kind *kinds, u32 n)
{
	struct arch_kind common = kinds[0];
	u32 k;

	for (k = 1; k < n; k++) {
		const struct arch_kind *kind = &kinds[k];

		common.version = min(common.version, kind->version);
		common.n_general = min(common.n_general, kind->n_general);
		common.general_bits = min(common.general_bits, kind->general_bits);
		common.fixed_bits = min(common.fixed_bits, kind->fixed_bits);
		common.events &= kind->events;
		common.fixed &= kind->fixed;
		common.counters &= kind->counters;
		common.evntsel_allowed &= kind->evntsel_allowed;
		common.evntsel_hidden &= kind->evntsel_hidden;
	}
	return common;
}
