// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses rules.  Each line has one rule; '#' begins a comment. */
#define _GNU_SOURCE
#include "rules_internal.h"
#include "../perfex.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS "0123456789"
#define NAME_REST LETTERS DIGITS ".:@"
#define NUMBER_MAX 63 /* characters */

enum token { END_OF_LINE, NUMBER, NAME, QUOTED_NAME, OPERATOR };

struct parser {
	const char *at, *end; /* the text that is not read yet */
	unsigned int line;
	enum token token;
	const char *text; /* of the token, without the quotes of a name */
	size_t length;
	const char *token_end; /* end of the token, with its quotes */
	const char *last_end;  /* end of the token before */
	long double number;
	locale_t locale; /* the C locale: numbers have a decimal point in any locale of the user */
	unsigned int nesting;
	size_t stack;
	struct rules *rules;
	size_t rule;
	struct text_error *error;
};

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

static bool take_name(struct parser *p)
{
	p->token = NAME;
	p->at += rules_dashed_name(p->at, (size_t)(p->end - p->at));
	while (p->at < p->end && is_one_of(*p->at, NAME_REST))
		p->at++;
	return true;
}

/* Returns true if a control character is at p->at.  The text has no NUL at p->end. */
static bool is_control(const struct parser *p)
{
	return (unsigned char)*p->at < ' ' || *p->at == 0x7f ||
	       (p->at + 1 < p->end && control_length(p->at));
}

static bool take_quoted_name(struct parser *p)
{
	char quote = *p->at++;

	p->token = QUOTED_NAME;
	p->text = p->at;
	while (p->at < p->end && *p->at != quote) {
		if (is_control(p))
			break;
		p->at++;
	}
	if (p->at == p->end || *p->at != quote)
		return refuse_text(p->error, p->line,
				   "a name in quotes does not end; write a second %c behind it",
				   quote);
	if (p->at == p->text)
		return refuse_text(
			p->error, p->line,
			"there is nothing between the quotes; write the name of an event");
	return true;
}

/*
 * Takes a number and any letters behind it.  A name that begins with a digit needs quotes: without
 * them, the error message shows the whole name.
 */
static bool take_number(struct parser *p)
{
	bool hexadecimal = p->end - p->at > 1 && (p->at[1] == 'x' || p->at[1] == 'X');
	char number[NUMBER_MAX + 1];
	char *end;

	p->token = NUMBER;
	while (p->at < p->end &&
	       (is_one_of(*p->at, NAME_REST) ||
		(is_one_of(*p->at, "+-") && !hexadecimal && is_one_of(p->at[-1], "eE"))))
		p->at++;
	p->length = (size_t)(p->at - p->text);
	if (p->length > NUMBER_MAX)
		return refuse_text(p->error, p->line, "a number of more than %d characters",
				   NUMBER_MAX);
	memcpy(number, p->text, p->length);
	number[p->length] = '\0';
	p->number = strtold_l(number, &end, p->locale);
	if (*end)
		return refuse_text(
			p->error, p->line,
			"'%s' is not a number; if it is the name of an event, write it in "
			"quotes",
			number);
	if (isinf(p->number))
		return refuse_text(p->error, p->line, "'%s' is too large for a number", number);
	return true;
}

static bool unexpected_character(struct parser *p)
{
	unsigned char c = (unsigned char)*p->at;

	if (c < ' ' || c >= 0x7f)
		return refuse_text(
			p->error, p->line,
			"unexpected byte 0x%02x; write a name that contains it in quotes", c);
	return refuse_text(p->error, p->line,
			   "unexpected '%c'; write a name that contains it in quotes", c);
}

/*
 * Reads the next token of the line, which is END_OF_LINE at the end.  Never goes beyond the line.
 */
static bool next_token(struct parser *p)
{
	bool good = true;

	p->last_end = p->token_end;
	while (p->at < p->end && is_one_of(*p->at, " \t\r"))
		p->at++;
	p->text = p->at;
	if (p->at == p->end || *p->at == '\n' || *p->at == '#') {
		p->token = END_OF_LINE;
		p->length = 0;
		return true;
	}
	if (is_one_of(*p->at, LETTERS)) {
		good = take_name(p);
	} else if (is_one_of(*p->at, "'\"")) {
		good = take_quoted_name(p);
	} else if (is_one_of(*p->at, DIGITS ".")) {
		good = take_number(p);
	} else if (is_one_of(*p->at, "+-*/(),=")) {
		p->token = OPERATOR;
		p->at++;
	} else {
		return unexpected_character(p);
	}
	p->length = (size_t)(p->at - p->text);
	if (p->token == QUOTED_NAME && good)
		p->at++;
	p->token_end = p->at;
	return good;
}

static bool at_operator(const struct parser *p, char c)
{
	return p->token == OPERATOR && *p->text == c;
}

static bool refuse_token(struct parser *p, const char *what)
{
	if (p->token == END_OF_LINE)
		return refuse_text(p->error, p->line, "expected %s, but the rule ends", what);
	return refuse_text(p->error, p->line, "expected %s, not '%.*s'", what,
			   (int)(p->length < 80 ? p->length : 80), p->text);
}

static void append_step(struct parser *p, struct step step)
{
	struct rule *rule = &p->rules->rule[p->rule];

	rule_append_step(rule, step);
	if (step.operation == PUSH_NUMBER || step.operation == PUSH_NAME)
		p->stack++;
	else if (step.operation != NEGATE)
		p->stack--;
	if (p->stack > rule->depth)
		rule->depth = p->stack;
}

static bool parse_factor(struct parser *p);
static bool parse_expression(struct parser *p);

static const struct {
	const char *name;
	enum operation operation;
} functions[] = {
	{ "min", MINIMUM },
	{ "max", MAXIMUM },
};

/*
 * Parses the arguments of a function, at least two.  The caller has made '(' the token.  On
 * success, the token is the one behind ')'.  Returns false with the reason in p->error.
 */
static bool parse_arguments(struct parser *p, enum operation operation)
{
	if (!next_token(p) || !parse_expression(p))
		return false;
	if (!at_operator(p, ','))
		return refuse_token(p, "',' and a second value");
	while (at_operator(p, ',')) {
		if (!next_token(p) || !parse_expression(p))
			return false;
		append_step(p, (struct step){ .operation = operation });
	}
	if (!at_operator(p, ')'))
		return refuse_token(p, "',' or ')'");
	return next_token(p);
}

static bool parse_name(struct parser *p)
{
	const char *text = p->text;
	size_t length = p->length;
	bool quoted = p->token == QUOTED_NAME;

	if (!next_token(p))
		return false;
	if (quoted || !at_operator(p, '(')) {
		append_step(p, (struct step){ .operation = PUSH_NAME,
					      .name = rules_find_name(p->rules, text, length) });
		return true;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strlen(functions[i].name) == length &&
		    memcmp(functions[i].name, text, length) == 0)
			return parse_arguments(p, functions[i].operation);
	return refuse_text(p->error, p->line, "there is no function '%.*s'; there are min and max",
			   (int)(length < 80 ? length : 80), text);
}

static bool parse_operand(struct parser *p)
{
	switch (p->token) {
	case NUMBER:
		append_step(p, (struct step){ .operation = PUSH_NUMBER, .number = p->number });
		return next_token(p);
	case NAME:
	case QUOTED_NAME:
		return parse_name(p);
	default:
		break;
	}
	if (at_operator(p, '-')) {
		if (!next_token(p) || !parse_factor(p))
			return false;
		append_step(p, (struct step){ .operation = NEGATE });
		return true;
	}
	if (!at_operator(p, '('))
		return refuse_token(p, "a number, the name of an event or of a rule, or '('");
	if (!next_token(p) || !parse_expression(p))
		return false;
	if (!at_operator(p, ')'))
		return refuse_token(p, "')' or an operator");
	return next_token(p);
}

/* Limits the nesting: every nested expression is parsed through this function. */
static bool parse_factor(struct parser *p)
{
	bool good;

	if (p->nesting == RULES_DEPTH)
		return refuse_text(p->error, p->line,
				   "more than %d parentheses and signs within each other; "
				   "divide it into several rules",
				   RULES_DEPTH);
	p->nesting++;
	good = parse_operand(p);
	p->nesting--;
	return good;
}

static bool parse_term(struct parser *p)
{
	if (!parse_factor(p))
		return false;
	while (at_operator(p, '*') || at_operator(p, '/')) {
		enum operation operation = *p->text == '*' ? MULTIPLY : DIVIDE;

		if (!next_token(p) || !parse_factor(p))
			return false;
		append_step(p, (struct step){ .operation = operation });
	}
	return true;
}

static bool parse_expression(struct parser *p)
{
	if (!parse_term(p))
		return false;
	while (at_operator(p, '+') || at_operator(p, '-')) {
		enum operation operation = *p->text == '+' ? ADD : SUBTRACT;

		if (!next_token(p) || !parse_term(p))
			return false;
		append_step(p, (struct step){ .operation = operation });
	}
	return true;
}

/* Parses the name of a new rule, and appends the rule.  The token is then the '='. */
static bool parse_head(struct parser *p)
{
	const struct rule_name *name;
	size_t i;

	if (p->token != NAME && p->token != QUOTED_NAME)
		return refuse_token(p, "the name of a rule");
	i = rules_find_name(p->rules, p->text, p->length);
	name = &p->rules->name[i];
	if (name->rule != NO_RULE)
		return refuse_text(p->error, p->line,
				   "there are two rules '%.80s'; give each its own name",
				   name->text);
	if (p->rules->n == RULES_MAX)
		return refuse_text(p->error, p->line, "more than %d rules", RULES_MAX);
	if (!next_token(p))
		return false;
	if (!at_operator(p, '='))
		return refuse_token(p, "'=' behind the name of the rule");
	rules_append(p->rules, i, p->line);
	p->rule = p->rules->n - 1;
	return true;
}

static bool parse_rule(struct parser *p)
{
	struct rule *rule;
	const char *start;

	if (!parse_head(p) || !next_token(p))
		return false;
	start = p->token == QUOTED_NAME ? p->text - 1 : p->text;
	p->stack = 0;
	if (!parse_expression(p))
		return false;
	if (p->token != END_OF_LINE)
		return refuse_token(p, "an operator or the end of the line");
	rule = &p->rules->rule[p->rule];
	rule->definition = strndup(start, (size_t)(p->last_end - start));
	if (!rule->definition)
		fail("out of memory");
	return true;
}

static bool parse_line(struct parser *p)
{
	if (!next_token(p) || (p->token != END_OF_LINE && !parse_rule(p)))
		return false;
	while (p->at < p->end && *p->at++ != '\n')
		;
	return true;
}

bool rules_add(struct rules *rules, const char *text, size_t length, struct text_error *error)
{
	struct parser parser = {
		.at = text,
		.end = text + length,
		.rules = rules,
		.error = error,
		.locale = newlocale(LC_ALL_MASK, "C", (locale_t)0),
	};
	bool good = true;

	while (good && parser.at < parser.end) {
		parser.line++;
		good = parse_line(&parser);
	}
	freelocale(parser.locale);
	return good;
}
