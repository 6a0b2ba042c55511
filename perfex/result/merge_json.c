// SPDX-License-Identifier: GPL-2.0-or-later
#include "merge.h"
#include "../perfex.h"
#include "../json_member.h"

#include <math.h>

static json_object *new_string(const char *string)
{
	return string ? json_object_new_string(string) : NULL;
}

static void add_number(json_object *object, const char *key, long double number)
{
	add_member(object, key, number_json(number));
}

static json_object *file_json(const struct merge_file *file)
{
	json_object *object = json_object_new_object();

	add_member(object, "file", new_string(file->path));
	add_number(object, "rank", file->has_rank ? file->rank : (long double)NAN);
	add_member(object, "host", new_string(file->host));
	return object;
}

static json_object *row_json(const struct merge *merge, const struct merge_row *row)
{
	bool any = !isnan(row->value[row->min]);
	json_object *object = json_object_new_object(), *values = json_object_new_array();

	if (row->region)
		add_member(object, "region", new_string(row->region));
	add_member(object, "name", new_string(row->name));
	if (row->modes)
		add_member(object, "modes", new_string(row->modes));
	if (row->definition)
		add_member(object, "definition", new_string(row->definition));
	add_number(object, "files", row->n_found);
	add_number(object, "sum", row->sum);
	add_number(object, "min", row->value[row->min]);
	add_number(object, "max", row->value[row->max]);
	add_number(object, "mean", row->mean);
	add_number(object, "imbalance", row->imbalance);
	add_number(object, "min_file", any ? row->min : (long double)NAN);
	add_number(object, "max_file", any ? row->max : (long double)NAN);
	for (size_t i = 0; i < merge->n_files; i++)
		json_object_array_add(values, number_json(row->value[i]));
	add_member(object, "values", values);
	return object;
}

void merge_write_json(FILE *file, const struct merge *merge)
{
	json_object *json = json_object_new_object(), *files = json_object_new_array();
	json_object *rows = json_object_new_array();

	add_member(json, "schema", new_string("perfex-merge"));
	add_number(json, "version", 1);
	add_member(json, "perfex", new_string(PERFCTR_VERSION));
	for (size_t i = 0; i < merge->n_files; i++)
		json_object_array_add(files, file_json(&merge->file[i]));
	for (size_t i = 0; i < merge->n_rows; i++)
		json_object_array_add(rows, row_json(merge, &merge->row[i]));
	add_member(json, "files", files);
	add_member(json, "rows", rows);
	write_json(file, json);
}
