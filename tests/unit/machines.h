/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines of all families, as their manuals describe them. */
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
 * The machine's description; from now on libpfm4, in this process, takes the CPU for that machine,
 * and there are no tables but those in the library.
 */
const struct perfctr_pmu_info *be_machine(enum machine machine);

/* The description alone. */
const struct perfctr_pmu_info *machine_info(enum machine machine);

#endif
