/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines of all families, as the manuals describe them. */
#ifndef MACHINES_H
#define MACHINES_H

#include <perfctr_events.h>

enum machine {
	NEHALEM,
	SKYLAKE,
	P5,
	P5_MMX,
	P6,
	P4,
	K7,
	K8,
	FAM10H,
	ZEN,
	MII,
	WINCHIP_C6,
	WINCHIP_2,
	VIA_C3,
	ICELAKE,
	SAPPHIRE_RAPIDS
};

/*
 * Returns the machine's description.  From now on libpfm4 takes the CPU of this process for that machine, and the only
 * tables of events are those of the library.
 */
const struct perfctr_pmu_info *be_machine(enum machine machine);

/* The same for a processor by its name.  Returns NULL if perfctr_family_info() does not know it. */
const struct perfctr_pmu_info *be_processor(const char *name);

/* Returns the machine's description without further effects. */
const struct perfctr_pmu_info *machine_info(enum machine machine);

#endif
