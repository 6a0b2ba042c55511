/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs whose events have periods. */
#ifndef PERIOD_H
#define PERIOD_H

#include "guest.h"

/*
 * As many interrupts as there are, and the limits that are there at first.  A busy host makes each
 * take long: then they are put off to the next tick, which says nothing of the driver.
 */
void allow_interrupts(void);
void restore_limits(void);

#define PROMPT_SUITE(name, ...) SUITE_BETWEEN(allow_interrupts, restore_limits, name, __VA_ARGS__)

struct perfctr_control with_period(struct perfctr_control control, uint64_t period);
void set_control(int fd, struct perfctr_control control);
struct perfctr_periods periods_of(int fd, uint32_t scope);
uint32_t branches(void);	/* AMD's have another code */

/*
 * A program that counts so much of the control's events, all with the period: its periods, after
 * they and the counts have been found right.
 */
struct perfctr_periods count_periods(const char *name, struct perfctr_control control,
				     uint64_t period, const uint64_t *expected);

#endif
