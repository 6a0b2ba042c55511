/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What samples say of all events. */
#ifndef PERFEX_SHARES_H
#define PERFEX_SHARES_H

#include <stdint.h>

/*
 * The share that n of all samples are, and the interval that has the true one with 95 %
 * probability, if each event had the same chance to be sampled (Wilson's score interval, corrected
 * for continuity).  From 0 to 1; NAN, 0 and 1 of no samples.
 */
struct share {
	double value, low, high;
};

struct share share_of(uint64_t n, uint64_t all);

#endif
