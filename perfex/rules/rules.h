/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules derive values from counts: 'cpi = cycles / instructions'.  Each line has one rule.  A rule
 * may use others, before or behind it.  perfex(1) describes the notation.
 */
#ifndef PERFEX_RULES_H
#define PERFEX_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../textfile.h"

#define RULES_MAX 1000 /* rules in a set */
#define RULES_DEPTH 64 /* nested parentheses and signs */

struct rules;

struct rules *rules_new(void);
void rules_free(struct rules *rules);

/*
 * Adds the rules of a text, which need not end with a NUL.  Returns false, with the reason in
 * error, if a rule is wrong; then the set can only be freed.
 */
bool rules_add(struct rules *rules, const char *text, size_t length, struct text_error *error);

/*
 * Orders the rules for evaluation; to be called after the last text and before rules_evaluate().
 * Returns false, with the reason in error, if a rule needs its own value.
 */
bool rules_link(struct rules *rules, struct text_error *error);

/* Returns name i if it is that of an event, "" if that of a rule, or NULL if there is no name i. */
const char *rules_event(const struct rules *rules, size_t i);
size_t rules_count(const struct rules *rules);
const char *rules_name(const struct rules *rules, size_t i);
const char *rules_definition(const struct rules *rules, size_t i); /* the text behind the '=' */

/*
 * The counts of an event.  Rules find register values in any spelling, and without a counter.
 * Events of one pass were counted in the same runs of the program.  A name may be in several
 * passes, as times are.
 */
struct rule_event {
	const char *name;
	unsigned int pass;
	const uint64_t *count; /* one for each run */
	size_t runs;
};

#define RULE_MIXED UINT32_MAX

struct rule_result {
	enum {
		RULE_VALUE,
		RULE_UNDEFINED, /* 0/0, any other division by 0, too large */
		RULE_UNKNOWN,	/* an event was not counted */
	} state;
	/* The first pass that has all that the rule uses; RULE_MIXED: the value is of several */
	unsigned int pass;
	double value;		  /* computed from the means over the runs */
	double low, high;	  /* the interval; both are value if there is none */
	bool interval;		  /* low and high are a confidence interval */
	double variance, degrees; /* of the value; the interval is computed from them */
};

/*
 * Returns the name of an event that the rules need and these n events lack; NULL if there is none.
 */
const char *rules_missing(const struct rules *rules, const struct rule_event *event, size_t n);

/*
 * Returns the name of a rule that is also the name of one of these events; NULL if there is none.
 */
const char *rules_ambiguous(const struct rules *rules, const struct rule_event *event, size_t n);

/* Sets uses[i][k] if the value of rule i depends on event k, itself or by another rule. */
void rules_uses(const struct rules *rules, const struct rule_event *event, size_t n, bool *uses[]);

/*
 * Computes one result for each rule, by counts of one pass if a pass has all that the rule uses;
 * otherwise a name stands for the first event of that name.  The interval follows from first-order
 * propagation of errors, with the covariances within each pass.  Passes are independent of each
 * other.  There is no interval if a pass has fewer than two runs.  confidence is that of the
 * interval, 0 < c < 1.
 */
void rules_evaluate(const struct rules *rules, const struct rule_event *event, size_t n,
		    double confidence, struct rule_result *result);

#endif
