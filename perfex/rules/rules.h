/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules derive values from counts: 'cpi = cycles / instructions'.  One rule a line; a rule may use
 * others, in any order.  perfex(1) describes the notation.
 */
#ifndef PERFEX_RULES_H
#define PERFEX_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../textfile.h"

#define RULES_MAX 1000 /* rules at a time */
#define RULES_DEPTH 64 /* parentheses and signs within each other */

struct rules;

struct rules *rules_new(void);
void rules_free(struct rules *rules);

/* Rules of a text, which need not end with a NUL.  On failure the set can only be freed. */
bool rules_add(struct rules *rules, const char *text, size_t length, struct text_error *error);

/* After the last text and before the first value: refuses rules that need themselves. */
bool rules_link(struct rules *rules, struct text_error *error);

/* Name i of the rules, if it is an event's, else ""; NULL: there are not so many. */
const char *rules_event(const struct rules *rules, size_t i);
size_t rules_count(const struct rules *rules);
const char *rules_name(const struct rules *rules, size_t i);
const char *rules_definition(const struct rules *rules, size_t i); /* what is behind the '=' */

/*
 * An event as it was counted.  Register values are found in any spelling, and without a counter.
 * Events of one pass were counted in the same runs of the program.
 */
struct rule_event {
	const char *name;
	unsigned int pass;
	const uint64_t *count; /* one for each run */
	size_t runs;
};

struct rule_result {
	enum {
		RULE_VALUE,
		RULE_UNDEFINED, /* 0/0, any other division by 0, too large */
		RULE_UNKNOWN,	/* an event was not counted */
	} state;
	double value;	  /* of the means over the runs */
	double low, high; /* both are the value where there is no interval */
	bool interval;
	double variance, degrees; /* that the interval is made of */
};

/* The name of an event that is needed but not among these; NULL: there is none. */
const char *rules_missing(const struct rules *rules, const struct rule_event *event, size_t n);

/* The name of a rule that is the name of an event too; NULL: there is none. */
const char *rules_ambiguous(const struct rules *rules, const struct rule_event *event, size_t n);

/*
 * One result for each rule.  The interval is that of the first-order propagation of errors, with
 * the covariances within a pass; passes are independent of each other; fewer than two runs have
 * none.  confidence: 0 < c < 1.
 */
void rules_evaluate(const struct rules *rules, const struct rule_event *event, size_t n,
		    double confidence, struct rule_result *result);

#endif
