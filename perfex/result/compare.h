/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares two recordings event by event: how much they differ, and how certain that is. */
#ifndef PERFEX_COMPARE_H
#define PERFEX_COMPARE_H

#include "document.h"

/* A mean over the runs, and how exact it is. */
struct estimate {
	bool known;    /* value is valid */
	bool repeated; /* there are two runs or more, and variance is valid */
	long double value;
	double variance; /* of the mean, not of a run */
	double degrees;	 /* of freedom; without meaning if the variance is 0 */
};

struct comparison {
	const char *name;
	const char *modes; /* NULL: a time or a rule, which has no mode */
	struct estimate a, b;
	double difference; /* b - a; this and all below are 0 unless a and b are known */
	bool repeated;	   /* a and b are repeated, and the members below are valid */
	double low, high;  /* confidence interval of the difference */
	double certainty;  /* that the means differ, from 0 to 1 */
};

/*
 * Compares a and b by Welch's t-test (Welch 1947), and fills in the members below b.  confidence is
 * that of the interval, 0 < c < 1.
 */
void compare_estimates(struct comparison *comparison, double confidence);

struct ratio {
	double value;
	bool bounded;	  /* the members below are valid */
	double low, high; /* confidence interval */
};

/*
 * Returns the ratio of the larger mean to the smaller one, which is above 0, with the interval of
 * Fieller (1954).  There is none if the smaller mean may be 0; otherwise it is above 1 exactly if
 * the certainty of compare_estimates() reaches the confidence.  Both are repeated.
 */
struct ratio compare_ratio(const struct estimate *larger, const struct estimate *smaller,
			   double confidence);

struct comparisons {
	struct comparison *event, *rule;
	size_t n_events, n_rules;
	const char **only_a, **only_b; /* events and rules that the other recording lacks */
	size_t n_only_a, n_only_b;
};

/*
 * Compares the events and rules that both documents have.  Strings belong to the documents.
 * Returns false, with the reason in error, if the numbers count different things.  In both cases
 * the caller frees the result.
 */
bool compare(const struct document *a, const struct document *b, double confidence,
	     struct comparisons *result, struct text_error *error);
void comparisons_free(struct comparisons *comparisons);

#endif
