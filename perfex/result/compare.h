/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two recordings, event by event: how much they differ and how certain that is. */
#ifndef PERFEX_COMPARE_H
#define PERFEX_COMPARE_H

#include "document.h"

/* What the runs tell of a mean. */
struct estimate {
	bool known;    /* there is a value */
	bool repeated; /* two runs or more: there is a variance */
	long double value;
	double variance; /* of the value, not of a run */
	double degrees;	 /* of freedom; any where the variance is 0 */
};

struct comparison {
	const char *name;
	const char *modes; /* NULL: of none, a time or a rule */
	struct estimate a, b;
	double difference; /* b - a; here and below 0 unless both are known */
	bool repeated;	   /* both are: what follows is known too */
	double low, high;  /* interval of the difference */
	double certainty;  /* that the means differ: 0 to 1 */
};

/* Welch's t-test (Welch 1947); confidence: of the interval, 0 < c < 1. */
void compare_estimates(struct comparison *comparison, double confidence);

struct comparisons {
	struct comparison *event, *rule;
	size_t n_events, n_rules;
	const char **only_a, **only_b; /* names of what the other one has not */
	size_t n_only_a, n_only_b;
};

/*
 * What can be compared; strings are those of the documents.  False: error says what must not be,
 * because the numbers count different things.
 */
bool compare(const struct document *a, const struct document *b, double confidence,
	     struct comparisons *result, struct text_error *error);
void comparisons_free(struct comparisons *comparisons);

#endif
