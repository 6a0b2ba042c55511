// SPDX-License-Identifier: GPL-2.0-or-later
/* Student's t distribution, compared with published tables, closed forms and an integral of its density. */
#include "unit.h"
#include "../../perfex/stats/student.h"

#include <math.h>

/* Percentage points as in any table of the t distribution, to three places. */
static const struct {
	double degrees, t95, t99;
} published[] = {
	{ 1, 12.706, 63.657 }, { 2, 4.303, 9.925 },   { 3, 3.182, 5.841 },   { 4, 2.776, 4.604 },
	{ 5, 2.571, 4.032 },   { 6, 2.447, 3.707 },   { 7, 2.365, 3.499 },   { 8, 2.306, 3.355 },
	{ 9, 2.262, 3.250 },   { 10, 2.228, 3.169 },  { 15, 2.131, 2.947 },  { 20, 2.086, 2.845 },
	{ 24, 2.064, 2.797 },  { 29, 2.045, 2.756 },  { 30, 2.042, 2.750 },  { 40, 2.021, 2.704 },
	{ 60, 2.000, 2.660 },  { 120, 1.980, 2.617 }, { 1e9, 1.960, 2.576 },
};

START_TEST(student_t_is_as_published)
{
	ck_assert_double_eq_tol(student_t(0.95, published[_i].degrees), published[_i].t95, 0.0005);
	ck_assert_double_eq_tol(student_t(0.99, published[_i].degrees), published[_i].t99, 0.0005);
}
END_TEST

/* With one degree of freedom this is the Cauchy distribution; with two it has a closed form as well. */
START_TEST(student_p_has_its_closed_forms)
{
	for (double t = 1e-3; t < 1e6; t *= 1.7) {
		ck_assert_double_eq_tol(student_p(t, 1), 1 - 2 * atan(t) / M_PI, 1e-12);
		ck_assert_double_eq_tol(student_p(-t, 2), 1 - t / sqrt(2 + t * t), 1e-12);
	}
}
END_TEST

static double density(double t, double degrees)
{
	return exp(lgamma((degrees + 1) / 2) - lgamma(degrees / 2) -
		   (degrees + 1) / 2 * log1p(t * t / degrees)) /
	       sqrt(degrees * M_PI);
}

/* Returns the integral of the density from 0 to t, by Simpson's rule. */
static double integral(double t, double degrees)
{
	enum { STEPS = 20000 };
	double sum = density(0, degrees) + density(t, degrees);

	for (int i = 1; i < STEPS; i++)
		sum += (i % 2 ? 4 : 2) * density(t * i / STEPS, degrees);
	return sum * t / STEPS / 3;
}

START_TEST(student_p_is_the_integral_of_the_density)
{
	static const double degrees[] = { 0.7, 1.5, 3.14, 9.99, 31.4, 250.5, 5000 };

	for (double t = 0.05; t < 12; t += 0.7)
		ck_assert_double_eq_tol(student_p(t, degrees[_i]), 1 - 2 * integral(t, degrees[_i]),
					1e-9);
}
END_TEST

START_TEST(student_p_at_the_ends)
{
	ck_assert_double_eq(student_p(0, 3), 1);
	ck_assert_double_eq(student_p(INFINITY, 3), 0);
	ck_assert_double_eq(student_p(-INFINITY, 3), 0);
	ck_assert_double_eq(student_p(1e200, 3), 0);
}
END_TEST

TCase *student_tests(void)
{
	TCase *tests = tcase_create("student");

	tcase_add_loop_test(tests, student_t_is_as_published, 0, ARRAY_SIZE(published));
	tcase_add_test(tests, student_p_has_its_closed_forms);
	tcase_add_loop_test(tests, student_p_is_the_integral_of_the_density, 0, 7);
	tcase_add_test(tests, student_p_at_the_ends);
	return tests;
}
