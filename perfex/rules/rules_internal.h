/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of rules, as the parser makes it for evaluation.  Each rule is a program for a stack. */
#ifndef PERFEX_RULES_INTERNAL_H
#define PERFEX_RULES_INTERNAL_H

#include "rules.h"

enum operation {
	PUSH_NUMBER,
	PUSH_NAME,
	NEGATE,
	ADD,
	SUBTRACT,
	MULTIPLY,
	DIVIDE,
	MINIMUM,
	MAXIMUM,
};

struct step {
	enum operation operation;
	long double number; /* of PUSH_NUMBER; a long double holds every count of 64 bits */
	size_t name;	    /* of PUSH_NAME */
};

#define NO_RULE SIZE_MAX

/* The name of a rule or of an event. */
struct rule_name {
	char *text;
	size_t rule; /* index of the rule; NO_RULE: the name is that of an event */
};

struct rule {
	size_t name;
	char *definition;
	unsigned int line;
	struct step *step;
	size_t n_steps;
	size_t depth; /* most values on the stack */
	enum { NEW, OPEN, DONE } visit;
};

struct rules {
	struct rule_name *name;
	size_t n_names;
	struct rule *rule;
	size_t n;
	size_t *order; /* indices of rules, each behind the rules that it needs */
	size_t n_ordered;
};

size_t rules_find_name(struct rules *rules, const char *text, size_t length);
struct rule *rules_append(struct rules *rules, size_t name, unsigned int line);
/* Returns the length of the event name with a '-' that text begins with; 0 if there is none. */
size_t rules_dashed_name(const char *text, size_t length);
void rule_append_step(struct rule *rule, struct step step);

#endif
