/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs whose events have periods. */
#ifndef PERIOD_H
#define PERIOD_H

#include "guest.h"

/*
 * allow_interrupts() lifts the limits of interrupts, restore_limits() sets the default limits. On a
 * busy host each interrupt takes long. With limits, interrupts would be put off to the next tick,
 * which says nothing about the driver.
 */
void allow_interrupts(void);
void restore_limits(void);

#define PROMPT_SUITE(name, ...) SUITE_BETWEEN(allow_interrupts, restore_limits, name, __VA_ARGS__)

struct perfctr_control with_period(struct perfctr_control control, uint64_t period);
void set_control(int fd, struct perfctr_control control);
struct perfctr_periods periods_of(int fd, uint32_t scope);
uint32_t branches(void);	/* the event has another code on AMD */

/*
 * Runs a program that counts this much of the control's events, all with the period. Checks its
 * counts and periods, and returns the periods.
 */
struct perfctr_periods count_periods(const char *name, struct perfctr_control control,
				     uint64_t period, const uint64_t *expected);

#endif
