// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "merge.h"
#include "document_rules.h"
#include "json_values.h"
#include "../perfex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The confidence of intervals that are not used: only the values of rules are. */
#define ANY_CONFIDENCE 0.95

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/*
 * Returns true if the row matches key and has no value of this file yet: several events of a file
 * may have the same name, and each gets a row.
 */
static bool is_row(const struct merge_row *row, const struct merge_row *key, size_t file)
{
	return !row->found[file] && strcmp(row->name, key->name) == 0 &&
	       same_text(row->region, key->region) && same_text(row->modes, key->modes) &&
	       same_text(row->definition, key->definition);
}

static struct merge_row *append_row(struct merge *merge, const struct merge_row *key)
{
	struct merge_row *row;

	merge->row = reallocarray(merge->row, merge->n_rows + 1, sizeof(*merge->row));
	if (!merge->row)
		fail("out of memory");
	row = &merge->row[merge->n_rows++];
	*row = *key;
	row->value = allocate(merge->n_files, sizeof(*row->value));
	row->found = allocate(merge->n_files, sizeof(*row->found));
	for (size_t i = 0; i < merge->n_files; i++)
		row->value[i] = NAN;
	return row;
}

/*
 * Sets the value of a file in the row that matches key, and appends the row if there is none.  Most
 * files have the same order, so the search begins at *place, behind the row found last.
 */
static void add_value(struct merge *merge, size_t file, size_t *place, struct merge_row key,
		      long double value)
{
	struct merge_row *row = NULL;

	for (size_t i = 0; i < merge->n_rows && !row; i++) {
		size_t n = (*place + i) % merge->n_rows;

		if (!is_row(&merge->row[n], &key, file))
			continue;
		row = &merge->row[n];
		*place = n + 1;
	}
	if (!row)
		row = append_row(merge, &key);
	row->value[file] = value;
	row->found[file] = true;
}

static long double mean_count(const struct document_event *event)
{
	long double sum = 0;

	for (size_t i = 0; i < event->runs; i++)
		sum += event->count[i];
	return event->runs ? sum / event->runs : (long double)NAN;
}

static void add_recording(struct merge *merge, size_t number)
{
	struct merge_file *file = &merge->file[number];
	const struct document *document = file->document;
	struct rule_result *result;
	struct text_error error;
	size_t place = 0;

	for (size_t i = 0; i < document->n; i++) {
		const struct document_event *event = &document->event[i];

		add_value(merge, number, &place,
			  (struct merge_row){ .name = event->name, .modes = event->modes },
			  mean_count(event));
	}
	result = document_evaluate(document, ANY_CONFIDENCE, &error);
	if (!result)
		textfile_fail(file->path, &error);
	for (size_t i = 0; i < document->n_rules; i++) {
		const struct document_rule *rule = &document->rule[i];

		add_value(merge, number, &place,
			  (struct merge_row){ .name = rule->name, .definition = rule->definition },
			  result[i].state == RULE_VALUE ? result[i].value : NAN);
	}
	free(result);
}

/* Adds the passes and the counts of all threads in one region of a file. */
static void add_region(struct merge *merge, size_t number, size_t *place, size_t region)
{
	const struct regions_file *file = &merge->file[number].regions;
	struct passes passes = { 0 };

	for (size_t thread = 0; thread < file->n_threads; thread++)
		regions_file_add_passes(file, thread, region, &passes);
	add_value(merge, number, place,
		  (struct merge_row){ .region = passes.name, .name = "passes" }, passes.passes);
	for (size_t event = 0; event <= file->n_events; event++) {
		struct sums sums = { .min = NAN, .max = NAN };

		for (size_t thread = 0; thread < file->n_threads; thread++)
			regions_file_add_sums(file, thread, region, event, &sums);
		add_value(merge, number, place,
			  (struct merge_row){ .region = passes.name,
					      .name = regions_file_event(file, event),
					      .modes = regions_file_modes(file, event) },
			  sums.total);
	}
}

static bool counts_event(const struct regions_file *file, const struct merge_row *row)
{
	if (!row->modes)
		return true;
	for (size_t event = 0; event <= file->n_events; event++)
		if (strcmp(regions_file_event(file, event), row->name) == 0 &&
		    strcmp(regions_file_modes(file, event), row->modes) == 0)
			return true;
	return false;
}

/*
 * Sets the row of a region to 0 for each file that counts the event but lacks the region: its
 * process was never in the region.
 */
static void add_absence(struct merge *merge, struct merge_row *row)
{
	for (size_t i = 0; i < merge->n_files; i++)
		if (!row->found[i] && counts_event(&merge->file[i].regions, row))
			row->value[i] = 0;
}

static void sum_up(const struct merge *merge, struct merge_row *row)
{
	size_t n = 0;

	row->sum = row->mean = row->imbalance = NAN;
	for (size_t i = 0; i < merge->n_files; i++) {
		row->n_found += row->found[i] && !isnan(row->value[i]);
		if (isnan(row->value[i]))
			continue;
		if (!n++) {
			row->min = row->max = i;
			row->sum = 0;
		}
		row->sum += row->value[i];
		if (row->value[i] < row->value[row->min])
			row->min = i;
		if (row->value[i] > row->value[row->max])
			row->max = i;
	}
	if (!n)
		return;
	row->mean = row->sum / n;
	if (row->mean > 0)
		row->imbalance = 100 * (row->value[row->max] / row->mean - 1);
	if (row->definition)
		row->sum = NAN;
}

/* Reads host and rank of a recording.  Recordings of older versions of perfex have neither. */
static void find_place(struct merge_file *file)
{
	json_object *value;

	if (json_object_object_get_ex(file->document->json, "host", &value) &&
	    json_object_is_type(value, json_type_string))
		file->host = json_object_get_string(value);
	if (!json_object_object_get_ex(file->document->json, "rank", &value) ||
	    !json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0 ||
	    json_object_get_int64(value) > UINT32_MAX)
		return;
	file->has_rank = true;
	file->rank = (unsigned int)json_object_get_int64(value);
}

static void read_file(struct merge_file *file, const char *path)
{
	struct text_error error;
	size_t length;
	char *text = textfile_read(path, &length);
	json_object *json;

	file->path = path;
	if (!text)
		fail("cannot read '%s': %m", path);
	json = json_tokener_parse(text);
	if (json_has_schema(json, "perfctr-regions")) {
		regions_file_take(&file->regions, path, json);
	} else {
		json_object_put(json);
		file->document = document_parse(text, length, &error);
		if (!file->document)
			textfile_fail(path, &error);
		find_place(file);
	}
	free(text);
}

static void check_kind(const struct merge_file *first, const struct merge_file *file)
{
	if (!first->document != !file->document)
		fail("'%s' has counts of a whole program and '%s' of its regions; merge either",
		     first->document ? first->path : file->path,
		     first->document ? file->path : first->path);
	if (first->document && (strcmp(first->document->view, "self") == 0) !=
				       (strcmp(file->document->view, "self") == 0))
		fail("'%s' counts all that the command created, '%s' its first thread alone; count "
		     "all with --self or all without",
		     strcmp(file->document->view, "self") == 0 ? first->path : file->path,
		     strcmp(file->document->view, "self") == 0 ? file->path : first->path);
}

static const struct merge_file *find_rank(const struct merge *merge, unsigned int rank, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (merge->file[i].has_rank && merge->file[i].rank == rank)
			return &merge->file[i];
	return NULL;
}

/* Warns of a rank with two files or none: an old file or a missing one would spoil the sums. */
static void check_ranks(const struct merge *merge)
{
	unsigned int n_ranks = 0, most = 0;

	for (size_t i = 0; i < merge->n_files; i++) {
		const struct merge_file *file = &merge->file[i], *other;

		if (!file->has_rank)
			continue;
		n_ranks++;
		other = find_rank(merge, file->rank, i);
		if (other)
			complain("warning: '%s' and '%s' are both of rank %u", other->path,
				 file->path, file->rank);
		if (file->rank > most)
			most = file->rank;
	}
	for (unsigned int rank = 0; n_ranks && rank < most; rank++) {
		if (find_rank(merge, rank, merge->n_files))
			continue;
		complain("warning: there is a file of rank %u, and none of rank %u", most, rank);
		return;
	}
}

/* Warns of programs that failed: their counts may be too small, or of something else. */
static void check_ends(const struct merge *merge)
{
	for (size_t i = 0; i < merge->n_files; i++) {
		const struct merge_file *file = &merge->file[i];
		json_object *json = file->document ? file->document->json : NULL;
		int signal = json_object_get_int(json_object_object_get(json, "signal"));
		int status = json_object_get_int(json_object_object_get(json, "exit_status"));

		if (signal)
			complain("warning: '%s': the command died of signal %d", file->path, signal);
		else if (status)
			complain("warning: '%s': the command ended with exit status %d", file->path,
				 status);
	}
}

void merge_make(struct merge *merge, char *const *path, size_t n)
{
	merge->file = allocate(n, sizeof(*merge->file));
	merge->n_files = n;
	for (size_t i = 0; i < n; i++) {
		size_t place = 0;

		read_file(&merge->file[i], path[i]);
		check_kind(&merge->file[0], &merge->file[i]);
		if (merge->file[i].document)
			add_recording(merge, i);
		for (size_t k = 0; k < merge->file[i].regions.n_regions; k++)
			add_region(merge, i, &place, k);
	}
	for (size_t i = 0; i < merge->n_rows; i++) {
		if (merge->row[i].region)
			add_absence(merge, &merge->row[i]);
		sum_up(merge, &merge->row[i]);
	}
	check_ranks(merge);
	check_ends(merge);
}

void merge_free(struct merge *merge)
{
	for (size_t i = 0; i < merge->n_rows; i++) {
		free(merge->row[i].value);
		free(merge->row[i].found);
	}
	free(merge->row);
	for (size_t i = 0; i < merge->n_files; i++) {
		document_free(merge->file[i].document);
		regions_file_close(&merge->file[i].regions);
	}
	free(merge->file);
}
