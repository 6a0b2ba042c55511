// SPDX-License-Identifier: GPL-2.0-or-later
#include "run.h"
#include "../rules/student.h"

#include <math.h>
#include <stdlib.h>

void series_add(struct series *series, uint64_t value)
{
	if (series->n == series->room) {
		series->room = series->room ? 2 * series->room : 1;
		series->value = reallocarray(series->value, series->room, sizeof(*series->value));
		if (!series->value)
			fail("out of memory");
	}
	series->value[series->n++] = value;
}

void series_free(struct series *series)
{
	free(series->value);
	*series = (struct series){ 0 };
}

struct statistics series_statistics(const struct series *series, double confidence)
{
	struct statistics s = { NAN, NAN, NAN, NAN, 0, 0 };
	double n = (double)series->n, offset = 0, squares = 0, half;

	if (!series->n)
		return s;
	s.min = s.max = series->value[0];
	/*
	 * From the first value on, because large counts that differ little lose their difference.
	 */
	for (size_t i = 0; i < series->n; i++) {
		uint64_t value = series->value[i];

		offset += (double)(int64_t)(value - series->value[0]) / n;
		s.min = value < s.min ? value : s.min;
		s.max = value > s.max ? value : s.max;
	}
	s.mean = (double)series->value[0] + offset;
	if (series->n == 1)
		return s;
	for (size_t i = 0; i < series->n; i++) {
		double d = (double)(int64_t)(series->value[i] - series->value[0]) - offset;

		squares += d * d;
	}
	s.stddev = sqrt(squares / (n - 1));
	half = student_t(confidence / 100, n - 1) * s.stddev / sqrt(n);
	s.low = s.mean - half;
	s.high = s.mean + half;
	return s;
}
