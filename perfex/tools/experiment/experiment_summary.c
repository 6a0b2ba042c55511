// SPDX-License-Identifier: GPL-2.0-or-later
/* Merges the recordings of all repetitions into one, as perfex run -r would have written it. */
#include "experiment.h"
#include "../../rules/derive.h"
#include "../../rules/times.h"
#include "../../result/document_rules.h"
#include "../../stats/statistics.h"
#include "../../perfex.h"
#include "../../json_member.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_real(json_object *object, const char *key, double value)
{
	add_member(object, key, isnan(value) ? NULL : json_object_new_double(value));
}

/* Returns part i of a recording, in the order of document_parse(). */
static json_object *summarize_part(json_object *json, size_t i)
{
	static const char *const times[] = { "tsc", "elapsed_ns" };
	json_object *passes = json_object_object_get(json, "time");
	size_t n_times = 2 * json_object_array_length(passes);

	if (i < n_times)
		return json_object_object_get(json_object_array_get_idx(passes, i / 2),
					      times[i % 2]);
	return json_object_array_get_idx(json_object_object_get(json, "events"), i - n_times);
}

static void set_counts(json_object *object, const uint64_t *count, size_t n, double confidence)
{
	struct statistics s = statistics_of(count, n, confidence);
	json_object *counts = json_object_new_array();

	for (size_t i = 0; i < n; i++)
		json_object_array_add(counts, json_object_new_uint64(count[i]));
	add_member(object, "counts", counts);
	add_real(object, "mean", s.mean);
	add_real(object, "stddev", s.stddev);
	add_real(object, "low", s.low);
	add_real(object, "high", s.high);
	add_member(object, "min", json_object_new_uint64(s.min));
	add_member(object, "max", json_object_new_uint64(s.max));
}

static void merge_counts(json_object *json, struct document *const *repetition, unsigned int n,
			 double confidence)
{
	uint64_t *count = allocate(n, sizeof(*count));

	for (size_t i = 0; i < repetition[0]->n; i++) {
		for (unsigned int k = 0; k < n; k++)
			count[k] = repetition[k]->event[i].count[0];
		set_counts(summarize_part(json, i), count, n, confidence);
	}
	free(count);
}

/* Removes the parts of a recording that are about its own run only. */
static void leave_out_runs(json_object *json)
{
	json_object *passes = json_object_object_get(json, "time");

	json_object_object_del(json, "pid");
	for (size_t i = 0; i < json_object_array_length(passes); i++) {
		json_object *pass = json_object_array_get_idx(passes, i);

		json_object_object_del(pass, time_keys[TIME_USER]);
		json_object_object_del(pass, time_keys[TIME_SYSTEM]);
	}
}

/* Puts the members of all recordings into json, each with the index of its recording as "run". */
static void merge_members(json_object *json, struct document *const *repetition, unsigned int n)
{
	json_object *all = json_object_new_array(), *members;

	for (unsigned int k = 0; k < n; k++) {
		members = json_object_object_get(repetition[k]->json, "members");
		for (size_t i = 0; i < json_object_array_length(members); i++) {
			json_object *member = json_object_array_get_idx(members, i);

			add_member(member, "run", json_object_new_int((int)k));
			json_object_array_add(all, json_object_get(member));
		}
	}
	add_member(json, "members", all);
}

static void merge_ends(json_object *json, struct document *const *repetition, unsigned int n)
{
	int64_t lost = 0;
	bool consistent = true;

	for (unsigned int k = 0; k < n; k++) {
		json_object *one = repetition[k]->json;

		lost += json_object_get_int64(json_object_object_get(one, "lost"));
		consistent &= json_object_get_boolean(json_object_object_get(one, "consistent"));
	}
	leave_out_runs(json);
	add_member(json, "runs", json_object_new_int64(n));
	add_member(json, "lost", json_object_new_int64(lost));
	add_member(json, "consistent", json_object_new_boolean(consistent));
}

/*
 * Returns true if two recordings have the same events in the same passes.  All recordings of a job
 * do, because they have one definition, unless somebody has exchanged a file.
 */
static bool are_alike(const struct document *a, const struct document *b)
{
	if (a->n != b->n || a->n_times != b->n_times)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->event[i].name, b->event[i].name) != 0 ||
		    a->event[i].pass != b->event[i].pass)
			return false;
	return true;
}

static struct document *merge_repetition(const struct job *job, struct document *const *repetition,
					 unsigned int n)
{
	double confidence = job->file->confidence;
	struct text_error error;
	struct document *document;
	json_object *json = NULL;
	const char *text;

	for (unsigned int k = 1; k < n; k++)
		if (!are_alike(repetition[0], repetition[k]))
			fail("'%s': the repetitions have different events; remove the directory, to "
			     "run the job again",
			     job->directory);
	if (json_object_deep_copy(repetition[0]->json, &json, NULL) < 0)
		fail("out of memory");
	merge_counts(json, repetition, n, confidence);
	merge_members(json, repetition, n);
	merge_ends(json, repetition, n);
	add_member(json, "confidence", json_object_new_double(confidence));
	add_member(json, "warmup", json_object_new_int((int)job->experiment->settings.warmup));
	add_member(json, "derived", json_object_new_array());
	text = json_object_to_json_string(json);
	document = document_parse(text, strlen(text), &error);
	if (!document)
		fail("'%s': %s", job->directory, error.text);
	json_object_put(json);
	return document;
}

static void derive_summary(struct job *job)
{
	const struct rules *rules = job->experiment->rules;
	struct rule_event *event = document_events(job->summary);

	job->derived = allocate(rules_count(rules), sizeof(*job->derived));
	rules_evaluate(rules, event, job->summary->n, job->file->confidence / 100.0, job->derived);
	free(event);
	add_member(job->summary->json, "derived", derive_json(rules, job->derived));
}

void job_summarize(struct job *job)
{
	unsigned int n = 0, repetitions = job->experiment->settings.repetitions;
	struct document **repetition = allocate(repetitions, sizeof(*repetition));

	for (unsigned int k = 0; k < repetitions; k++) {
		repetition[n] = job_repetition(job, k);
		n += repetition[n] != NULL;
	}
	job->done = n;
	if (n) {
		job->summary = merge_repetition(job, repetition, n);
		derive_summary(job);
		job_write(job, "summary.json", job->summary->json);
	}
	for (unsigned int k = 0; k < n; k++)
		document_free(repetition[k]);
	free(repetition);
}
