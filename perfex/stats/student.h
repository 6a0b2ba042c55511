/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Student's t distribution.  Degrees of freedom need not be whole (Welch). */
#ifndef PERFEX_STUDENT_H
#define PERFEX_STUDENT_H

/*
 * student_p - return the probability that |T| exceeds |t|, from 0 to 1.  degrees > 0; t may be
 * infinite.
 * Source: Abramowitz and Stegun, 26.7.1; the incomplete beta function as in DLMF 8.17.22.
 */
double student_p(double t, double degrees);

/*
 * student_t - return the t that |T| does not exceed with this probability, such as 12.706 for 0.95
 * and one degree of freedom.  0 < confidence < 1.
 */
double student_t(double confidence, double degrees);

#endif
