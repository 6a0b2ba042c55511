// SPDX-License-Identifier: GPL-2.0-or-later
#include "derive.h"
#include "perfex.h"

static void add(json_object *object, const char *key, json_object *value)
{
	if (json_object_object_add(object, key, value))
		fail("out of memory");
}

static json_object *number(double value, bool known)
{
	return known ? json_object_new_double(value) : NULL;
}

static json_object *result_json(const struct rules *rules, size_t i,
				const struct rule_result *result)
{
	json_object *object = json_object_new_object();

	add(object, "name", json_object_new_string(rules_name(rules, i)));
	add(object, "definition", json_object_new_string(rules_definition(rules, i)));
	add(object, "mean", number(result->value, result->state == RULE_VALUE));
	add(object, "low", number(result->low, result->interval));
	add(object, "high", number(result->high, result->interval));
	if (result->state != RULE_VALUE)
		add(object, "why",
		    json_object_new_string(result->state == RULE_UNDEFINED ? "0/0" : "unreadable"));
	return object;
}

json_object *derive_json(const struct rules *rules, const struct rule_result *result)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < rules_count(rules); i++)
		json_object_array_add(array, result_json(rules, i, &result[i]));
	return array;
}
