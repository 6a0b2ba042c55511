/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The common part of PMUs that consist of event select registers, each with its counter (SDM volume
 * 3, 20.2.1.1 and 20.6.8; AMD APM volume 2, 13.2.1).
 */
#ifndef _PERFCTR_EVNTSEL_H
#define _PERFCTR_EVNTSEL_H

#include <asm/perf_event.h>
#include "../pmu.h"

/*
 * The bits that an event may have. They exclude PC (19), which drives a pin; INT (20), which a
 * period sets; and bit 21, which is reserved or counts events of the sibling logical processor.
 */
#define PERFCTR_EVNTSEL_ALLOWED	(ARCH_PERFMON_EVENTSEL_EVENT | ARCH_PERFMON_EVENTSEL_UMASK |	\
				 ARCH_PERFMON_EVENTSEL_USR | ARCH_PERFMON_EVENTSEL_OS |		\
				 ARCH_PERFMON_EVENTSEL_EDGE | ARCH_PERFMON_EVENTSEL_ENABLE |	\
				 ARCH_PERFMON_EVENTSEL_INV | ARCH_PERFMON_EVENTSEL_CMASK)

struct perfctr_evntsel_layout {
	u32 evntsel;		/* MSR of event select register 0 */
	u32 counter;		/* MSR of counter 0 */
	u32 step;		/* distance between MSRs of one sort */
	u32 n;			/* number of registers, and of counters */
	u32 global_ctl;		/* MSR with an enable bit for each counter; 0: none */
	u32 global_status;	/* MSRs that show and clear overflow bits; 0: none */
	u32 global_status_clear;
	bool single_enable;	/* EN of register 0 enables all counters */
	bool full_width;	/* writes set all bits; false: bit 31 is copied above it */
};

/* An event select that counts instructions in the kernel, on nearly all processors. */
#define PERFCTR_EVNTSEL_PROBE	(0xc0 | ARCH_PERFMON_EVENTSEL_OS)

/*
 * Fills in pmu's counters and the operations on them. The family has set the masks and
 * general_bits, and may add check(). Only one family calls this, with the layout of the machine.
 */
void perfctr_evntsel_init(struct perfctr_pmu *pmu, const struct perfctr_evntsel_layout *layout);

/*
 * (cpu) Keeps an overflow from freezing the counters, on processors that can freeze them: Intel's
 * with PerfMon 2, and AMD's with PerfMonV2.
 */
void perfctr_evntsel_thaw(void);

#endif
