/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several counts of one event say: their mean, and how certain it is. */
#ifndef PERFEX_STATISTICS_H
#define PERFEX_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* Of n values: mean from 1 on, stddev, low and high from 2 on; NAN where there is none. */
struct statistics {
	double mean, stddev;
	double low, high; /* the confidence interval of the mean */
	uint64_t min, max;
};

/* The mean of n values; NAN for none. */
double statistics_mean(const uint64_t *value, size_t n);
/* confidence: per cent */
struct statistics statistics_of(const uint64_t *value, size_t n, double confidence);

#endif
