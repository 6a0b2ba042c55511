/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Estimates shares of all events from samples. */
#ifndef PERFEX_SHARES_H
#define PERFEX_SHARES_H

#include <stdint.h>

/*
 * The share that n of all samples are, and the interval that contains the true share with 95 %
 * probability, if each event had the same chance to be sampled (Wilson's score interval, corrected
 * for continuity).  All are from 0 to 1.  Without samples, value is NAN, low 0 and high 1.
 */
struct share {
	double value, low, high;
};

struct share share_of(uint64_t n, uint64_t all);

#endif
