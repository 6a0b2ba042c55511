// SPDX-License-Identifier: LGPL-2.1-or-later
/* Results of regions as JSON: docs/regions.schema.json. */
#include "regions.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>

/*
 * A document under construction.  If something cannot be added for lack of memory, failed is set,
 * and the document is not printed.
 */
struct document {
	const struct perfctr_regions *regions;
	bool failed;
};

/*
 * Adds value to an object, or with key NULL to an array, which owns value then.  Returns value, or
 * NULL.
 */
static struct json_object *add_object(struct document *d, struct json_object *to, const char *key,
				      struct json_object *value)
{
	int status = -1;

	if (to && value)
		status = key ? json_object_object_add(to, key, value)
			     : json_object_array_add(to, value);
	if (status < 0) {
		json_object_put(value);
		d->failed = true;
		return NULL;
	}
	return value;
}

static void add_number(struct document *d, struct json_object *to, const char *key, uint64_t number)
{
	add_object(d, to, key, json_object_new_uint64(number));
}

static void add_text(struct document *d, struct json_object *to, const char *key, const char *text)
{
	add_object(d, to, key, json_object_new_string(text));
}

static void add_register(struct document *d, struct json_object *to, const char *key,
			 uint64_t value)
{
	char text[19];

	snprintf(text, sizeof(text), "%#" PRIx64, value);
	add_text(d, to, key, value ? text : "0x0");
}

static void add_events(struct document *d, struct json_object *root)
{
	struct json_object *events = add_object(d, root, "events", json_object_new_array());
	const struct perfctr_regions *r = d->regions;

	for (uint32_t i = 0; i < r->control.n_events; i++) {
		struct json_object *event = add_object(d, events, NULL, json_object_new_object());

		add_text(d, event, "name", r->event[i].name);
		add_number(d, event, "counter", r->control.event[i].counter);
		add_register(d, event, "evntsel", r->control.event[i].evntsel);
		add_register(d, event, "evntsel2", r->control.event[i].evntsel2);
		add_text(d, event, "modes", perfctr_modes_text(r->event[i].modes));
	}
}

/* Without a pass there is no mean, minimum or maximum: they are left out. */
static void add_count(struct document *d, struct json_object *to, const char *key,
		      const struct perfctr_region_count *count, uint64_t passes)
{
	struct json_object *object = add_object(d, to, key, json_object_new_object());

	add_number(d, object, "total", count->total);
	if (!passes)
		return;
	add_object(d, object, "mean",
		   json_object_new_double((double)count->total / (double)passes));
	add_number(d, object, "min", count->min);
	add_number(d, object, "max", count->max);
}

static void add_region(struct document *d, struct json_object *regions,
		       const struct perfctr_region_result *result)
{
	struct json_object *region = add_object(d, regions, NULL, json_object_new_object());
	struct json_object *counts;

	add_text(d, region, "name", result->name);
	add_number(d, region, "entries", result->entries);
	add_number(d, region, "exits", result->exits);
	add_number(d, region, "passes", result->passes);
	add_number(d, region, "retried", result->retried);
	add_object(d, region, "corrected",
		   json_object_new_boolean(result->flags & PERFCTR_REGIONS_CORRECTED));
	add_count(d, region, "tsc", &result->tsc, result->passes);
	counts = add_object(d, region, "counts", json_object_new_array());
	for (uint32_t i = 0; i < result->n_counters; i++)
		add_count(d, counts, NULL, &result->counter[i], result->passes);
}

static void add_thread(struct document *d, struct json_object *threads,
		       const struct perfctr_region_thread *thread, unsigned int flags)
{
	struct json_object *object = add_object(d, threads, NULL, json_object_new_object());
	struct perfctr_region_result result;
	struct json_object *regions;

	add_number(d, object, "thread", (uint64_t)thread->tid);
	regions = add_object(d, object, "regions", json_object_new_array());
	for (unsigned int i = 0; i < d->regions->n_regions; i++) {
		perfctr_regions_result(d->regions, thread, i, flags, &result);
		add_region(d, regions, &result);
	}
}

static int print_json(const struct document *d, struct json_object *root, FILE *file)
{
	const char *text = NULL;

	if (!d->failed)
		text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN |
								    JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!text) {
		errno = ENOMEM;
		return -1;
	}
	return fputs(text, file) < 0 || fputc('\n', file) < 0 ? -1 : 0;
}

int perfctr_regions_write_json(struct perfctr_regions *r, FILE *file, unsigned int flags)
{
	const struct perfctr_region_thread *thread = NULL;
	const char *refusal = __atomic_load_n(&r->refusal, __ATOMIC_ACQUIRE);
	struct json_object *root = json_object_new_object();
	struct document d = { .regions = r };
	struct json_object *threads;
	int status;

	add_text(&d, root, "schema", "perfctr-regions");
	add_number(&d, root, "version", 3);
	if (refusal)
		add_text(&d, root, "error", refusal);
	add_events(&d, root);
	threads = add_object(&d, root, "threads", json_object_new_array());
	while ((thread = perfctr_regions_next(r, thread)))
		add_thread(&d, threads, thread, flags);
	status = print_json(&d, root, file);
	json_object_put(root);
	return status;
}
