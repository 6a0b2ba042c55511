// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes the values of rules, each with its partial derivatives by the events.  From these, a
 * rule that uses other rules knows how their values vary together.
 */
#include "rules_internal.h"
#include "../perfex.h"
#include "../stats/student.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* slope[i] is the partial derivative by event i.  It is valid only if state is RULE_VALUE. */
struct value {
	int state; /* as in struct rule_result */
	long double number;
	long double *slope;
};

struct evaluation {
	const struct rules *rules;
	const struct rule_event *event;
	size_t n;
	long double *mean;   /* of each event */
	struct value *value; /* of each rule */
	struct value *stack;
	size_t *event_of_name; /* index of the first event; n: no counted event has the name */
	unsigned int *pass;    /* of each rule: as in struct rule_result */
};

static struct value *allocate_values(size_t n_values, size_t n)
{
	struct value *value = allocate(n_values, sizeof(*value));
	long double *slopes = allocate(n_values * n, sizeof(*slopes));

	for (size_t i = 0; i <= n_values; i++)
		value[i].slope = i < n_values ? slopes + i * n : slopes;
	return value;
}

static void free_values(struct value *value)
{
	free(value[0].slope);
	free(value);
}

static void copy_value(struct value *to, const struct value *from, size_t n)
{
	to->state = from->state;
	to->number = from->number;
	memcpy(to->slope, from->slope, n * sizeof(*to->slope));
}

/* a += factor * b */
static void add_values(struct value *a, const struct value *b, long double factor, size_t n)
{
	a->number += factor * b->number;
	for (size_t i = 0; i < n; i++)
		a->slope[i] += factor * b->slope[i];
}

static void multiply_values(struct value *a, const struct value *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		a->slope[i] = a->slope[i] * b->number + a->number * b->slope[i];
	a->number *= b->number;
}

static void divide_values(struct value *a, const struct value *b, size_t n)
{
	long double quotient = a->number / b->number;

	if (b->number == 0)
		a->state = RULE_UNDEFINED;
	for (size_t i = 0; i < n; i++)
		a->slope[i] = (a->slope[i] - quotient * b->slope[i]) / b->number;
	a->number = quotient;
}

static void combine_values(struct value *a, const struct value *b, enum operation operation,
			   size_t n)
{
	if (a->state || b->state) {
		a->state = a->state > b->state ? a->state : b->state;
		return;
	}
	switch (operation) {
	case ADD:
		add_values(a, b, 1, n);
		break;
	case SUBTRACT:
		add_values(a, b, -1, n);
		break;
	case MULTIPLY:
		multiply_values(a, b, n);
		break;
	case DIVIDE:
		divide_values(a, b, n);
		break;
	case MINIMUM:
		if (b->number < a->number)
			copy_value(a, b, n);
		break;
	default:
		if (b->number > a->number)
			copy_value(a, b, n);
	}
}

/* Returns the event of this name in the pass; n: there is none. */
static size_t event_of_pass(const struct evaluation *e, size_t name, unsigned int pass)
{
	size_t first = e->event_of_name[name], i = first;

	if (pass == RULE_MIXED)
		return first;
	while (i < e->n && (e->event[i].pass != pass ||
			    (i > first && strcmp(e->event[i].name, e->event[first].name) != 0)))
		i++;
	return i;
}

static void push_name(struct evaluation *e, struct value *top, size_t name, unsigned int pass)
{
	size_t rule = e->rules->name[name].rule, event = event_of_pass(e, name, pass);

	if (rule != NO_RULE) {
		copy_value(top, &e->value[rule], e->n);
	} else if (event == e->n || !e->event[event].runs) {
		top->state = RULE_UNKNOWN;
	} else {
		top->number = e->mean[event];
		top->slope[event] = 1;
	}
}

static void push_value(struct evaluation *e, struct value *top, const struct step *step,
		       unsigned int pass)
{
	top->state = RULE_VALUE;
	top->number = step->number;
	memset(top->slope, 0, e->n * sizeof(*top->slope));
	if (step->operation == PUSH_NAME)
		push_name(e, top, step->name, pass);
}

static void negate_value(struct value *a, size_t n)
{
	a->number = -a->number;
	for (size_t i = 0; i < n; i++)
		a->slope[i] = -a->slope[i];
}

static void evaluate_rule(struct evaluation *e, size_t rule, unsigned int pass)
{
	const struct rule *r = &e->rules->rule[rule];
	struct value *top = e->stack;

	for (const struct step *step = r->step; step < r->step + r->n_steps; step++) {
		switch (step->operation) {
		case PUSH_NUMBER:
		case PUSH_NAME:
			push_value(e, top++, step, pass);
			break;
		case NEGATE:
			negate_value(top - 1, e->n);
			break;
		default:
			top--;
			combine_values(top - 1, top, step->operation, e->n);
		}
	}
	copy_value(&e->value[rule], e->stack, e->n);
	if (e->value[rule].state == RULE_VALUE && !isfinite((double)e->value[rule].number))
		e->value[rule].state = RULE_UNDEFINED;
	e->pass[rule] = pass;
}

/*
 * Returns true if the pass has all events of the rule that are counted at all.  The rules that this
 * one uses have been asked before.
 */
static bool is_of_pass(const struct evaluation *e, size_t rule, unsigned int pass)
{
	const struct rule *r = &e->rules->rule[rule];

	for (const struct step *step = r->step; step < r->step + r->n_steps; step++) {
		size_t other;

		if (step->operation != PUSH_NAME)
			continue;
		other = e->rules->name[step->name].rule;
		if (other != NO_RULE ? e->pass[other] != pass
				     : e->event_of_name[step->name] < e->n &&
					       event_of_pass(e, step->name, pass) == e->n)
			return false;
	}
	return true;
}

static void evaluate_pass(struct evaluation *e, unsigned int pass)
{
	for (size_t i = 0; i < e->rules->n; i++)
		if (is_of_pass(e, e->rules->order[i], pass))
			evaluate_rule(e, e->rules->order[i], pass);
}

/*
 * Evaluates each rule in each pass that has its events, in the first such pass last: that value
 * stays.  A rule of times has had a value of its own for the rules of each pass that use it.
 */
static void evaluate_rules(struct evaluation *e)
{
	for (size_t i = 0; i < e->rules->n; i++)
		e->pass[i] = RULE_MIXED;
	for (size_t i = e->n; i-- > 0;) {
		size_t first = 0;

		while (e->event[first].pass != e->event[i].pass)
			first++;
		if (first == i)
			evaluate_pass(e, e->event[i].pass);
	}
	if (!e->n)
		evaluate_pass(e, 0);
	for (size_t i = 0; i < e->rules->n; i++)
		if (e->pass[e->rules->order[i]] == RULE_MIXED)
			evaluate_rule(e, e->rules->order[i], RULE_MIXED);
}

static long double mean_of(const struct rule_event *event)
{
	long double sum = 0;

	for (size_t i = 0; i < event->runs; i++)
		sum += event->count[i];
	return sum / event->runs;
}

/*
 * Returns the part of the value's variance that comes from the events of one pass.  It is the
 * variance of the linear approximation of the value over the runs, and so includes the covariances.
 */
static long double variance_of_pass(const struct evaluation *e, const struct value *value,
				    unsigned int pass, size_t runs)
{
	long double sum = 0;

	for (size_t run = 0; run < runs; run++) {
		long double deviation = 0;

		for (size_t i = 0; i < e->n; i++)
			if (e->event[i].pass == pass && value->slope[i] != 0)
				deviation +=
					value->slope[i] * (e->event[i].count[run] - e->mean[i]);
		sum += deviation * deviation;
	}
	return sum / (runs - 1) / runs;
}

static bool first_of_pass(const struct evaluation *e, const struct value *value, size_t event)
{
	if (value->slope[event] == 0)
		return false;
	for (size_t i = 0; i < event; i++)
		if (e->event[i].pass == e->event[event].pass && value->slope[i] != 0)
			return false;
	return true;
}

/*
 * Sets the interval, variance and degrees of freedom, after Welch and Satterthwaite.  With one
 * pass, the degrees are its runs less one.  Sets no interval if a pass has fewer than two runs.
 */
static void set_interval(const struct evaluation *e, const struct value *value, double confidence,
			 struct rule_result *result)
{
	long double variance = 0, denominator = 0;
	double half = 0;

	for (size_t i = 0; i < e->n; i++) {
		size_t runs = e->event[i].runs;
		long double part;

		if (!first_of_pass(e, value, i))
			continue;
		result->interval = runs > 1;
		if (!result->interval)
			return;
		part = variance_of_pass(e, value, e->event[i].pass, runs);
		variance += part;
		denominator += part * part / (runs - 1);
	}
	result->variance = (double)variance;
	if (denominator > 0) {
		result->degrees = (double)(variance * variance / denominator);
		half = student_t(confidence, result->degrees) * (double)sqrtl(variance);
	}
	result->low = result->value - half;
	result->high = result->value + half;
}

static struct rule_result result_of(const struct evaluation *e, size_t rule, double confidence)
{
	const struct value *value = &e->value[rule];
	struct rule_result result = {
		.state = (unsigned int)value->state,
		.pass = e->pass[rule],
	};

	if (result.state == RULE_VALUE) {
		result.value = result.low = result.high = (double)value->number;
		set_interval(e, value, confidence, &result);
	}
	return result;
}

/*
 * Returns true if both names are the same register values, in any spelling.  A name without a
 * counter matches any counter of the event.
 */
static bool same_registers(const char *name, const char *event)
{
	struct perfctr_event_control a, b;
	char error[256];

	return perfctr_evntsel_parse(name, &a, error, sizeof(error)) == 0 &&
	       perfctr_evntsel_parse(event, &b, error, sizeof(error)) == 0 &&
	       a.evntsel == b.evntsel && a.evntsel2 == b.evntsel2 &&
	       (a.counter == PERFCTR_ANY || a.counter == b.counter);
}

static size_t find_event(const struct rule_event *event, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(event[i].name, name) == 0)
			return i;
	for (size_t i = 0; i < n; i++)
		if (same_registers(name, event[i].name))
			return i;
	return n;
}

const char *rules_missing(const struct rules *rules, const struct rule_event *event, size_t n)
{
	for (size_t i = 0; i < rules->n_names; i++)
		if (rules->name[i].rule == NO_RULE &&
		    find_event(event, n, rules->name[i].text) == n)
			return rules->name[i].text;
	return NULL;
}

const char *rules_ambiguous(const struct rules *rules, const struct rule_event *event, size_t n)
{
	for (size_t i = 0; i < rules->n_names; i++)
		if (rules->name[i].rule != NO_RULE &&
		    find_event(event, n, rules->name[i].text) != n)
			return rules->name[i].text;
	return NULL;
}

void rules_uses(const struct rules *rules, const struct rule_event *event, size_t n, bool *uses[])
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *r = &rules->rule[rules->order[i]];
		bool *own = uses[rules->order[i]];

		for (const struct step *step = r->step; step < r->step + r->n_steps; step++) {
			const struct rule_name *name;
			size_t found;

			if (step->operation != PUSH_NAME)
				continue;
			name = &rules->name[step->name];
			found = name->rule == NO_RULE ? find_event(event, n, name->text) : n;
			if (found < n)
				own[found] = true;
			for (size_t k = 0; name->rule != NO_RULE && k < n; k++)
				own[k] |= uses[name->rule][k];
		}
	}
}

void rules_evaluate(const struct rules *rules, const struct rule_event *event, size_t n,
		    double confidence, struct rule_result *result)
{
	size_t depth = 0;
	struct evaluation e = { .rules = rules, .event = event, .n = n };

	for (size_t i = 0; i < rules->n; i++)
		if (rules->rule[i].depth > depth)
			depth = rules->rule[i].depth;
	e.value = allocate_values(rules->n, n);
	e.stack = allocate_values(depth, n);
	e.mean = allocate(n, sizeof(*e.mean));
	e.event_of_name = allocate(rules->n_names, sizeof(*e.event_of_name));
	for (size_t i = 0; i < n; i++)
		e.mean[i] = event[i].runs ? mean_of(&event[i]) : 0;
	for (size_t i = 0; i < rules->n_names; i++)
		e.event_of_name[i] = find_event(event, n, rules->name[i].text);
	e.pass = allocate(rules->n, sizeof(*e.pass));
	evaluate_rules(&e);
	for (size_t i = 0; i < rules->n; i++)
		result[i] = result_of(&e, i, confidence);
	free(e.pass);
	free(e.event_of_name);
	free(e.mean);
	free_values(e.stack);
	free_values(e.value);
}
