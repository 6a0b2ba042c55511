// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "merge.h"
#include "../perfex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct column text_columns[] = {
	{ "region", LEFT },	{ "event", LEFT },   { "modes", LEFT }, { "files", RIGHT },
	{ "sum", RIGHT },	{ "min", RIGHT },    { "max", RIGHT },	{ "mean", RIGHT },
	{ "imbalance", RIGHT }, { "most in", LEFT },
};

static const struct column csv_columns[] = {
	{ "region", LEFT },   { "event", LEFT },    { "modes", LEFT },
	{ "files", RIGHT },   { "sum", RIGHT },	    { "min", RIGHT },
	{ "max", RIGHT },     { "mean", RIGHT },    { "imbalance_percent", RIGHT },
	{ "min_file", LEFT }, { "max_file", LEFT },
};

#define N_TEXT (sizeof(text_columns) / sizeof(text_columns[0]))
#define N_CSV (sizeof(csv_columns) / sizeof(csv_columns[0]))

static void add_imbalance(struct table *table, long double imbalance)
{
	if (table->format == TABLE_CSV || isnan(imbalance))
		table_add_number(table, imbalance);
	else
		table_add(table, "%.2Lf %%", imbalance);
}

/* Adds the file with the largest value; even: all files have the same value, or none has one. */
static void add_most(struct table *table, const struct merge_file *file, bool even)
{
	if (even)
		table_add_text(table, "-");
	else if (file->has_rank)
		table_add(table, "rank %u", file->rank);
	else
		table_add_text(table, file->path);
}

static void add_row(struct table *table, const struct merge *merge, const struct merge_row *row)
{
	long double min = row->value[row->min], max = row->value[row->max];

	if (row->region || table->format == TABLE_CSV)
		table_add_text(table, row->region ? row->region : "");
	table_add_text(table, row->name);
	table_add_text(table, row->modes ? row->modes : "");
	table_add(table, "%zu", row->n_found);
	table_add_number(table, row->sum);
	table_add_number(table, min);
	table_add_number(table, max);
	table_add_number(table, row->mean);
	add_imbalance(table, row->imbalance);
	if (table->format != TABLE_CSV) {
		add_most(table, &merge->file[row->max], isnan(max) || min == max);
		return;
	}
	table_add_text(table, isnan(min) ? "" : merge->file[row->min].path);
	table_add_text(table, isnan(max) ? "" : merge->file[row->max].path);
}

static size_t count_hosts(const struct merge *merge)
{
	size_t n = 0;

	for (size_t i = 0; i < merge->n_files; i++) {
		bool new = merge->file[i].host;

		for (size_t k = 0; new &&k < i; k++)
			new = !merge->file[k].host ||
			      strcmp(merge->file[k].host, merge->file[i].host) != 0;
		n += new;
	}
	return n;
}

static bool same_commands(const struct merge *merge)
{
	json_object *command = json_object_object_get(merge->file[0].document->json, "command");

	for (size_t i = 1; i < merge->n_files; i++)
		if (!json_object_equal(command,
				       json_object_object_get(merge->file[i].document->json,
							      "command")))
			return false;
	return true;
}

static void write_heading(FILE *file, const struct merge *merge)
{
	size_t n_hosts = count_hosts(merge);
	char *command;

	fprintf(file, "%zu file%s", merge->n_files, merge->n_files == 1 ? "" : "s");
	if (n_hosts)
		fprintf(file, ", %zu host%s", n_hosts, n_hosts == 1 ? "" : "s");
	if (!merge->file[0].document) {
		fputs(": regions\n", file);
		return;
	}
	if (!same_commands(merge)) {
		fputs(": several commands\n", file);
		return;
	}
	command = document_command(merge->file[0].document);
	make_printable(command);
	fprintf(file, ": %s\n", command);
	free(command);
}

void merge_write_table(FILE *file, const struct merge *merge, enum table_format format)
{
	bool of_regions = !merge->file[0].document;
	struct table table;

	if (format == TABLE_CSV)
		table_begin(&table, format, csv_columns, N_CSV);
	else
		table_begin(&table, format, text_columns + !of_regions, N_TEXT - !of_regions);
	for (size_t i = 0; i < merge->n_rows; i++)
		add_row(&table, merge, &merge->row[i]);
	if (format == TABLE_TEXT)
		write_heading(file, merge);
	table_end(&table, file);
	if (format == TABLE_TEXT)
		fputs("imbalance: how much max is above mean\n", file);
}
