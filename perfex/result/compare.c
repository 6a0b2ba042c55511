// SPDX-License-Identifier: GPL-2.0-or-later
#include "compare.h"
#include "document_rules.h"
#include "../perfex.h"
#include "../stats/student.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the term of one estimate in Welch's formula; variance is that of the difference. */
static double share_of(const struct estimate *estimate, double variance)
{
	double part = estimate->variance / variance;

	return part > 0 ? part * part / estimate->degrees : 0;
}

/* Returns the degrees of freedom of the test of a difference that varies. */
static double degrees_of(const struct estimate *a, const struct estimate *b)
{
	double variance = a->variance + b->variance;

	return 1 / (share_of(a, variance) + share_of(b, variance));
}

void compare_estimates(struct comparison *c, double confidence)
{
	double variance = c->a.variance + c->b.variance, half = 0, degrees;

	if (!c->a.known || !c->b.known)
		return;
	c->difference = (double)(c->b.value - c->a.value);
	c->repeated = c->a.repeated && c->b.repeated;
	if (!c->repeated)
		return;
	if (variance > 0) {
		degrees = degrees_of(&c->a, &c->b);
		half = student_t(confidence, degrees) * sqrt(variance);
		c->certainty = 1 - student_p(c->difference / sqrt(variance), degrees);
	} else {
		c->certainty = c->difference != 0;
	}
	c->low = c->difference - half;
	c->high = c->difference + half;
}

/*
 * Fieller's interval contains the ratios r for which larger - r * smaller is not certain to differ
 * from 0 (Fieller 1954).  The degrees of freedom are those at r = 1, of the test of the difference
 * (Welch 1947): so the interval contains 1 exactly if the difference is not certain.
 */
struct ratio compare_ratio(const struct estimate *larger, const struct estimate *smaller,
			   double confidence)
{
	double mean = (double)smaller->value, ratio = (double)larger->value / mean;
	struct ratio result = { .value = ratio, .bounded = true, .low = ratio, .high = ratio };
	double t, g, half;

	if (larger->variance + smaller->variance == 0)
		return result;
	t = student_t(confidence, degrees_of(larger, smaller));
	g = t * t * smaller->variance / (mean * mean);
	result.bounded = g < 1;
	half = t / mean * sqrt((1 - g) * larger->variance + ratio * ratio * smaller->variance);
	result.low = (ratio - half) / (1 - g);
	result.high = (ratio + half) / (1 - g);
	return result;
}

static struct estimate estimate_event(const struct document_event *event)
{
	struct estimate estimate = { .known = event->runs > 0, .repeated = event->runs > 1 };
	long double sum = 0, n = event->runs;

	if (!estimate.known)
		return estimate;
	for (size_t i = 0; i < event->runs; i++)
		sum += event->count[i];
	estimate.value = sum / n;
	estimate.degrees = (double)n - 1;
	sum = 0;
	for (size_t i = 0; i < event->runs; i++)
		sum += (event->count[i] - estimate.value) * (event->count[i] - estimate.value);
	if (estimate.repeated)
		estimate.variance = (double)(sum / (n - 1) / n);
	return estimate;
}

static struct estimate estimate_rule(const struct rule_result *result)
{
	return (struct estimate){
		.known = result->state == RULE_VALUE,
		.repeated = result->interval,
		.value = result->value,
		.variance = result->variance,
		.degrees = result->degrees,
	};
}

/*
 * Returns how many events before this one have the same name.  If a name was recorded several
 * times, the first event of the name is compared with the first, the second with the second.
 */
static size_t place_in_order(const struct document *document, size_t event)
{
	size_t n = 0;

	for (size_t i = 0; i < event; i++)
		n += strcmp(document->event[i].name, document->event[event].name) == 0;
	return n;
}

static bool same_modes(const struct document_event *a, const struct document_event *b,
		       struct text_error *error)
{
	if (!a->modes || !b->modes || strcmp(a->modes, b->modes) == 0)
		return true;
	snprintf(error->text, sizeof(error->text),
		 "event '%.80s' counts the modes %.20s in the one and %.20s in the other; record "
		 "both with the same",
		 a->name, a->modes, b->modes);
	return false;
}

static bool compare_events(const struct document *a, const struct document *b, double confidence,
			   struct comparisons *result, struct text_error *error)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct document_event *event = &a->event[i];
		const struct document_event *other =
			document_find_event(b, event->name, place_in_order(a, i));
		struct comparison *comparison;

		if (!other) {
			result->only_a[result->n_only_a++] = event->name;
			continue;
		}
		if (!same_modes(event, other, error))
			return false;
		comparison = &result->event[result->n_events++];
		*comparison = (struct comparison){
			.name = event->name,
			.modes = event->modes,
			.a = estimate_event(event),
			.b = estimate_event(other),
		};
		compare_estimates(comparison, confidence);
	}
	for (size_t i = 0; i < b->n; i++)
		if (!document_find_event(a, b->event[i].name, place_in_order(b, i)))
			result->only_b[result->n_only_b++] = b->event[i].name;
	return true;
}

static size_t find_rule(const struct document *document, const char *name)
{
	size_t i = 0;

	while (i < document->n_rules && strcmp(document->rule[i].name, name) != 0)
		i++;
	return i;
}

static bool same_definition(const struct document_rule *a, const struct document_rule *b,
			    struct text_error *error)
{
	if (strcmp(a->definition, b->definition) == 0)
		return true;
	snprintf(error->text, sizeof(error->text),
		 "rule '%.50s' is '%.50s' in the one and '%.50s' in the other; record both with "
		 "the same rules",
		 a->name, a->definition, b->definition);
	return false;
}

static bool compare_rules(const struct document *a, const struct document *b, double confidence,
			  struct comparisons *result, struct text_error *error)
{
	struct rule_result *value_a = document_evaluate(a, confidence, error);
	struct rule_result *value_b = value_a ? document_evaluate(b, confidence, error) : NULL;
	bool good = value_b;

	for (size_t i = 0; good && i < a->n_rules; i++) {
		size_t other = find_rule(b, a->rule[i].name);
		struct comparison *comparison = &result->rule[result->n_rules];

		if (other == b->n_rules) {
			result->only_a[result->n_only_a++] = a->rule[i].name;
			continue;
		}
		good = same_definition(&a->rule[i], &b->rule[other], error);
		comparison->name = a->rule[i].name;
		comparison->a = estimate_rule(&value_a[i]);
		comparison->b = estimate_rule(&value_b[other]);
		compare_estimates(comparison, confidence);
		result->n_rules++;
	}
	for (size_t i = 0; good && i < b->n_rules; i++)
		if (find_rule(a, b->rule[i].name) == a->n_rules)
			result->only_b[result->n_only_b++] = b->rule[i].name;
	free(value_a);
	free(value_b);
	return good;
}

/* Returns true if the recording counted a tree.  All views of a tree have the same sums. */
static bool is_tree(const struct document *document)
{
	return strcmp(document->view, "self") != 0;
}

bool compare(const struct document *a, const struct document *b, double confidence,
	     struct comparisons *result, struct text_error *error)
{
	*result = (struct comparisons){
		.event = allocate(a->n, sizeof(*result->event)),
		.rule = allocate(a->n_rules, sizeof(*result->rule)),
		.only_a = allocate(a->n + a->n_rules, sizeof(*result->only_a)),
		.only_b = allocate(b->n + b->n_rules, sizeof(*result->only_b)),
	};
	error->line = 0;
	if (is_tree(a) != is_tree(b)) {
		snprintf(error->text, sizeof(error->text),
			 "the %s counts all that the command created, the other its first thread "
			 "alone; record both with --self or both without",
			 is_tree(a) ? "first" : "second");
		return false;
	}
	return compare_events(a, b, confidence, result, error) &&
	       compare_rules(a, b, confidence, result, error);
}

void comparisons_free(struct comparisons *comparisons)
{
	free(comparisons->event);
	free(comparisons->rule);
	free(comparisons->only_a);
	free(comparisons->only_b);
}
