/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mean of several counts of one event, and how exact it is. */
#ifndef PERFEX_STATISTICS_H
#define PERFEX_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Statistics of n values.  Without values, mean is NAN, and min and max are 0.  With fewer than
 * two, stddev, low and high are NAN.
 */
struct statistics {
	double mean, stddev;
	double low, high; /* confidence interval of the mean; low is not below 0 */
	uint64_t min, max;
};

/* Returns the mean of n values; NAN if n is 0. */
double statistics_mean(const uint64_t *value, size_t n);
/* confidence: of the interval, in per cent */
struct statistics statistics_of(const uint64_t *value, size_t n, double confidence);

#endif
