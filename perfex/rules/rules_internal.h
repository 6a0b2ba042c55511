/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of rules between parser and evaluation: each is a program for a stack. */
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
	long double number; /* of PUSH_NUMBER; every count of 64 bits is one */
	size_t name;	    /* of PUSH_NAME */
};

#define NO_RULE SIZE_MAX

/* Of a rule or of an event. */
struct rule_name {
	char *text;
	size_t rule; /* NO_RULE: none defines it, it is an event */
};

struct rule {
	size_t name;
	char *definition;
	unsigned int line;
	struct step *step;
	size_t n_steps;
	size_t depth; /* of the stack */
	enum { NEW, OPEN, DONE } visit;
};

struct rules {
	struct rule_name *name;
	size_t n_names;
	struct rule *rule;
	size_t n;
	size_t *order; /* rules, each behind those that it needs */
	size_t n_ordered;
};

size_t rules_find_name(struct rules *rules, const char *text, size_t length);
struct rule *rules_append(struct rules *rules, size_t name, unsigned int line);
/* The length of the event's name with a '-' that text begins with; 0: it is none. */
size_t rules_dashed_name(const char *text, size_t length);
void rule_append_step(struct rule *rule, struct step step);

#endif
