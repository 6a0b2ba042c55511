// SPDX-License-Identifier: GPL-2.0-or-later
#include "limits.h"
#include "table.h"
#include "../json_member.h"
#include "../perfex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parses "0.1%", "100" or "-1%".  Returns false if text is none of these. */
static bool parse_limit(struct limit *limit, const char *text)
{
	size_t length;
	char *end;

	limit->is_fall = *text == '-';
	text += limit->is_fall;
	length = strspn(text, "0123456789.");
	limit->size = strtod(text, &end);
	limit->is_percent = *end == '%';
	return length && end == text + length && !end[limit->is_percent];
}

void take_limit(void *list, const struct option_row *row, const char *text)
{
	const char *equal = strrchr(text, '='); /* names of events may have one */
	struct limits *limits = list;
	struct limit limit = { 0 };

	if (!equal || equal == text || !parse_limit(&limit, equal + 1))
		fail("--limit=%s: give NAME=LIMIT, such as instructions=0.1%% or ipc=-2%%", text);
	limit.name = text_print("%.*s", (int)(equal - text), text);
	limits->limit = grow(limits->limit, limits->n, sizeof(*limits->limit));
	limits->limit[limits->n++] = limit;
}

void limits_free(struct limits *limits)
{
	for (size_t i = 0; i < limits->n; i++)
		free(limits->limit[i].name);
	free(limits->limit);
	*limits = (struct limits){ 0 };
}

/* Returns how far the value has moved in the limit's direction, at least. */
static double least_move(const struct limit *limit, const struct comparison *c, bool is_exact)
{
	bool has_interval = c->repeated && !is_exact;

	if (limit->is_fall)
		return -(has_interval ? c->high : c->difference);
	return has_interval ? c->low : c->difference;
}

static bool is_exceeded(const struct limit *limit, const struct comparison *c, bool is_exact)
{
	/* "0.1" is no binary fraction: a move of exactly the limit must not exceed it. */
	static const double rounding = 1 + 1e-12;
	double most = limit->size * rounding, move = least_move(limit, c, is_exact);

	return limit->is_percent ? 100 * move > (double)fabsl(c->a.value) * most : move > most;
}

/* Judges the comparisons of this name.  Of several, the first that exceeds the limit counts. */
static void judge_limit(struct limit *limit, const struct comparison *comparison, size_t n,
			bool is_exact)
{
	for (size_t i = 0; i < n && !limit->exceeded; i++) {
		if (strcmp(comparison[i].name, limit->name) != 0)
			continue;
		limit->comparison = &comparison[i];
		if (!comparison[i].a.known || !comparison[i].b.known)
			return;
		limit->exceeded = is_exceeded(limit, &comparison[i], is_exact);
	}
}

bool limits_judge(struct limits *limits, const struct comparisons *comparisons, bool is_exact,
		  struct text_error *error)
{
	for (size_t i = 0; i < limits->n; i++) {
		struct limit *limit = &limits->limit[i];
		const struct comparison *c;

		judge_limit(limit, comparisons->event, comparisons->n_events, is_exact);
		judge_limit(limit, comparisons->rule, comparisons->n_rules, is_exact);
		c = limit->comparison;
		if (!c)
			return refuse_text(
				error, 0,
				"--limit=%.80s: no event, rule or time (tsc, elapsed_ns) "
				"of this name is in both recordings",
				limit->name);
		if (!c->a.known || !c->b.known)
			return refuse_text(error, 0,
					   "--limit=%.80s: %s recording has no value of it",
					   limit->name, c->a.known ? "the second" : "the first");
	}
	return true;
}

size_t limits_exceeded(const struct limits *limits)
{
	size_t n = 0;

	for (size_t i = 0; i < limits->n; i++)
		n += limits->limit[i].exceeded;
	return n;
}

/* A move beyond the limit does not look like the limit. */
static void write_percent(FILE *file, const struct limit *limit)
{
	const struct comparison *c = limit->comparison;
	double percent = fabs(c->difference) * 100 / (double)fabsl(c->a.value);
	char moved[NUMBER_TEXT], most[NUMBER_TEXT];

	snprintf(moved, sizeof(moved), "%.4g", percent);
	snprintf(most, sizeof(most), "%.4g", limit->size);
	if (limit->is_percent && strcmp(moved, most) == 0)
		snprintf(moved, sizeof(moved), "%.15g", percent);
	fprintf(file, " (%s %%)", moved);
}

static void write_exceeded(FILE *file, const char *bullet, const struct limit *limit)
{
	const struct comparison *c = limit->comparison;
	char number[NUMBER_TEXT];
	struct text line;

	number_format(number, TABLE_TEXT, c->difference);
	fprintf(text_open(&line), "%s%s has %s by %s", bullet, limit->name,
		limit->is_fall ? "fallen" : "risen", number + (*number == '-'));
	if (c->a.value != 0)
		write_percent(line.file, limit);
	fprintf(line.file, ": more than %.15g%s", limit->size, limit->is_percent ? " %" : "");
	text_close(&line);
	if (*bullet)
		fprintf(file, "%s\n", line.text);
	else
		write_words(file, line.text, line.size, 0, 0);
	free(line.text);
}

void limits_write_exceeded(FILE *file, const char *bullet, const struct limits *limits)
{
	for (size_t i = 0; i < limits->n; i++)
		if (limits->limit[i].exceeded)
			write_exceeded(file, bullet, &limits->limit[i]);
}

void limits_write(FILE *file, const char *bullet, const struct limits *limits)
{
	if (!limits_exceeded(limits))
		fprintf(file, "%s%s\n", bullet,
			limits->n == 1 ? "the limit is kept" : "all limits are kept");
	limits_write_exceeded(file, bullet, limits);
}

json_object *limits_json(const struct limits *limits)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < limits->n; i++) {
		const struct limit *limit = &limits->limit[i];
		json_object *json = json_object_new_object();

		add_member(json, "name", json_object_new_string(limit->name));
		add_member(json, "limit", number_json(limit->size));
		add_member(json, "unit",
			   json_object_new_string(limit->is_percent ? "percent" : "absolute"));
		add_member(json, "direction",
			   json_object_new_string(limit->is_fall ? "fall" : "rise"));
		add_member(json, "exceeded", json_object_new_boolean(limit->exceeded));
		json_object_array_add(array, json);
	}
	return array;
}
