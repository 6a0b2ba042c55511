/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs whose events have periods. */
#ifndef PERIOD_H
#define PERIOD_H

#include "guest.h"

/* perfctr.interrupts_per_tick and perfctr.interrupt_percent; 400 and 25 are what they are at first. */
void limit_interrupts(const char *per_tick, const char *percent);

/*
 * A program that counts so much of the control's events, all with the period: its periods, after
 * they and the counts have been found right.
 */
struct perfctr_periods count_periods(const char *name, struct perfctr_control control,
				     uint64_t period, const uint64_t *expected);

#endif
