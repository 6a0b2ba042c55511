/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What PMUs have in common that are made of event select registers (SDM volume 3, 20.2.1.1 and
 * 20.6.8; AMD APM volume 2, 13.2.1), each with its counter.
 */
#ifndef _PERFCTR_EVNTSEL_H
#define _PERFCTR_EVNTSEL_H

#include <asm/perf_event.h>
#include "../pmu.h"

/*
 * What may be asked for. Not PC (19), which drives a pin, not INT (20), which a period sets, and
 * not bit 21, which is reserved or counts what the sibling logical processor does.
 */
#define PERFCTR_EVNTSEL_ALLOWED	(ARCH_PERFMON_EVENTSEL_EVENT | ARCH_PERFMON_EVENTSEL_UMASK |	\
				 ARCH_PERFMON_EVENTSEL_USR | ARCH_PERFMON_EVENTSEL_OS |		\
				 ARCH_PERFMON_EVENTSEL_EDGE | ARCH_PERFMON_EVENTSEL_ENABLE |	\
				 ARCH_PERFMON_EVENTSEL_INV | ARCH_PERFMON_EVENTSEL_CMASK)

struct perfctr_evntsel_layout {
	u32 evntsel;		/* MSR of event select register 0 */
	u32 counter;		/* MSR of counter 0 */
	u32 step;		/* from an MSR to the next of its kind */
	u32 n;			/* of each kind */
	u32 global_ctl;		/* MSR with an enable bit for each counter; 0: there is none */
	u32 global_status;	/* MSRs with overflow bits, and to clear them; likewise */
	u32 global_status_clear;
	bool single_enable;	/* EN of register 0 is that of all */
	bool full_width;	/* a write sets all bits, not the low 32 and their sign */
};

/* What counts instructions nearly everywhere, in the kernel. */
#define PERFCTR_EVNTSEL_PROBE	(0xc0 | ARCH_PERFMON_EVENTSEL_OS)

/*
 * Fills in pmu's counters and operations but for check. One family calls this, with the layout that
 * the machine has.
 */
void perfctr_evntsel_init(struct perfctr_pmu *pmu, const struct perfctr_evntsel_layout *layout);

/* (cpu) Of processors that can freeze their counters, Intel's with PerfMon 2 and AMD's. */
void perfctr_evntsel_thaw(void);

#endif
