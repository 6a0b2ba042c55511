// SPDX-License-Identifier: GPL-2.0-or-later
#include "student.h"

#include <float.h>
#include <math.h>

#define MAX_TERMS 100000

static double not_zero(double x)
{
	return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/* Returns partial numerator n, from 1, of the continued fraction of DLMF 8.17.22. */
static double beta_numerator(int n, double a, double b, double x)
{
	int m = n / 2;

	if (n % 2)
		return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
	return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
}

/*
 * Returns 1 / (1 + n1 / (1 + n2 / ..)), evaluated from the left.  Converges quickly if
 * x < (a + 1) / (a + b + 2).
 */
static double continued_fraction(double a, double b, double x)
{
	double above = 1, below = 0, fraction = 1, factor;

	for (int n = 1; n < MAX_TERMS; n++) {
		double term = beta_numerator(n, a, b, x);

		below = 1 / not_zero(1 + term * below);
		above = not_zero(1 + term / above);
		factor = above * below;
		fraction *= factor;
		if (fabs(factor - 1) < DBL_EPSILON)
			break;
	}
	return 1 / fraction;
}

/* The regularized incomplete beta function.  y is 1 - x, and exact even if x is almost 1. */
static double incomplete_beta(double a, double b, double x, double y)
{
	double front;

	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	if (x > (a + 1) / (a + b + 2))
		return 1 - incomplete_beta(b, a, y, x);
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y)) / a;
	return front * continued_fraction(a, b, x);
}

double student_p(double t, double degrees)
{
	double square = t * t;

	if (isinf(square))
		return 0;
	return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + square),
			       square / (degrees + square));
}

double student_t(double confidence, double degrees)
{
	double low = 0, high = 1, middle;

	while (student_p(high, degrees) > 1 - confidence && high < DBL_MAX / 2)
		high *= 2;
	for (;;) {
		middle = low + (high - low) / 2;
		if (middle <= low || middle >= high)
			return middle;
		if (student_p(middle, degrees) > 1 - confidence)
			low = middle;
		else
			high = middle;
	}
}
