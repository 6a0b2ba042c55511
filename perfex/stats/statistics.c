// SPDX-License-Identifier: GPL-2.0-or-later
#include "statistics.h"
#include "student.h"

#include <math.h>

/*
 * Returns the mean less the first value.  A sum of large counts that differ little would lose the
 * differences.
 */
static double offset_of_mean(const uint64_t *value, size_t n)
{
	double offset = 0;

	for (size_t i = 0; i < n; i++)
		offset += (double)(int64_t)(value[i] - value[0]) / (double)n;
	return offset;
}

double statistics_mean(const uint64_t *value, size_t n)
{
	return n ? (double)value[0] + offset_of_mean(value, n) : NAN;
}

struct statistics statistics_of(const uint64_t *value, size_t n, double confidence)
{
	struct statistics s = { NAN, NAN, NAN, NAN, 0, 0 };
	double offset, squares = 0, half;

	if (!n)
		return s;
	s.min = s.max = value[0];
	offset = offset_of_mean(value, n);
	for (size_t i = 0; i < n; i++) {
		s.min = value[i] < s.min ? value[i] : s.min;
		s.max = value[i] > s.max ? value[i] : s.max;
	}
	s.mean = (double)value[0] + offset;
	if (n == 1)
		return s;
	for (size_t i = 0; i < n; i++) {
		double d = (double)(int64_t)(value[i] - value[0]) - offset;

		squares += d * d;
	}
	s.stddev = sqrt(squares / (double)(n - 1));
	half = student_t(confidence / 100, (double)(n - 1)) * s.stddev / sqrt((double)n);
	s.low = s.mean < half ? 0 : s.mean - half;
	s.high = s.mean + half;
	return s;
}
