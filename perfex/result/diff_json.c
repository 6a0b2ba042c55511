// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff.h"
#include "../perfex.h"
#include "../json_member.h"

#include <math.h>

static void add_string(json_object *object, const char *key, const char *string)
{
	add_member(object, key, json_object_new_string(string));
}

static void add_number(json_object *object, const char *key, long double number)
{
	add_member(object, key, number_json(number));
}

static void add_estimate(json_object *object, const char *key, const struct estimate *estimate)
{
	add_number(object, key, estimate->known ? estimate->value : (long double)NAN);
}

static json_object *comparison_json(const struct comparison *c)
{
	bool known = c->a.known && c->b.known;
	json_object *object = json_object_new_object();

	add_string(object, "name", c->name);
	if (c->modes)
		add_string(object, "modes", c->modes);
	add_estimate(object, "a", &c->a);
	add_estimate(object, "b", &c->b);
	add_number(object, "difference", known ? c->difference : NAN);
	add_number(object, "low", c->repeated ? c->low : NAN);
	add_number(object, "high", c->repeated ? c->high : NAN);
	add_number(object, "certainty", c->repeated ? 100 * c->certainty : NAN);
	return object;
}

static void add_comparisons(json_object *object, const char *key, const struct comparison *c,
			    size_t n)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < n; i++)
		json_object_array_add(array, comparison_json(&c[i]));
	add_member(object, key, array);
}

static void add_names(json_object *object, const char *key, const char *const *name, size_t n)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < n; i++)
		json_object_array_add(array, json_object_new_string(name[i]));
	add_member(object, key, array);
}

static void add_outliers(json_object *object, const struct outliers *outliers)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < outliers->n; i++) {
		json_object *one = json_object_new_object();

		add_string(one, "name", outliers->outlier[i].name);
		add_number(one, "run", outliers->outlier[i].run);
		add_number(one, "count", outliers->outlier[i].count);
		json_object_array_add(array, one);
	}
	add_member(object, "outliers", array);
}

static void add_side(json_object *object, const char *key, const struct side *side)
{
	json_object *json = json_object_new_object();

	add_member(json, "file", side->path ? json_object_new_string(side->path) : NULL);
	add_string(json, "date", side->document->date);
	add_string(json, "pmu", side->document->pmu);
	add_string(json, "view", side->document->view);
	add_member(json, "command",
		   json_object_get(json_object_object_get(side->document->json, "command")));
	add_outliers(json, &side->outliers);
	add_member(object, key, json);
}

json_object *diff_json(const struct diff *diff)
{
	const struct comparisons *comparisons = &diff->comparisons;
	json_object *json = json_object_new_object();

	add_string(json, "schema", "perfex-diff");
	add_number(json, "version", 2);
	add_string(json, "perfex", PERFCTR_VERSION);
	add_number(json, "confidence", diff->confidence);
	add_side(json, "a", &diff->a);
	add_side(json, "b", &diff->b);
	add_comparisons(json, "events", comparisons->event, comparisons->n_events);
	add_comparisons(json, "derived", comparisons->rule, comparisons->n_rules);
	add_names(json, "only_a", comparisons->only_a, comparisons->n_only_a);
	add_names(json, "only_b", comparisons->only_b, comparisons->n_only_b);
	if (diff->limits && diff->limits->n)
		add_member(json, "limits", limits_json(diff->limits));
	return json;
}

void diff_write_json(FILE *file, const struct diff *diff)
{
	write_json(file, diff_json(diff));
}
