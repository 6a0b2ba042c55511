/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Estimates the count of an event that was counted in some slices of a run. */
#ifndef PERFEX_ESTIMATE_H
#define PERFEX_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Less time than so many slices of equal length gives no interval, and so no estimate. */
enum { ESTIMATE_SLICES = 5 };

struct estimate {
	double total; /* of the whole time; NAN: the slices have too little time */
	double half;  /* half of the confidence interval of total; NAN with total */
	/* The rate has changed in the course of the slices, or few of them have most events. */
	bool unsteady;
};

/*
 * estimate_of - estimate the count of the whole time.  Slice i, in the order of time, has count[i]
 * events in time[i] units.  all_time: of the run, the slices included.  confidence: in per cent.
 * The slices must be at random places of the run.
 * Source: ratio estimate and its variance, Cochran, Sampling Techniques, 3rd edition, chapter 6.
 * Slices of unequal length are worth (sum of t)^2 / (sum of t^2) equal ones (Kish, Survey Sampling,
 * section 11.7).  Few of them have most events if the same formula gives fewer than ESTIMATE_SLICES
 * equal counts, and fewer than half of n.  The ratio of von Neumann (successive differences) and
 * Welch's test of the two halves find a change of the rate, each at a level of 1 %.  An event that
 * no slice has is taken for a rare one, which comes at random: -ln(1 - confidence) is the most
 * expected count that gives none.
 */
struct estimate estimate_of(const uint64_t *count, const uint64_t *time, size_t n, double all_time,
			    double confidence);

#endif
