// SPDX-License-Identifier: GPL-2.0-or-later
#include "regions_file.h"
#include "../perfex.h"
#include "../textfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noreturn)) static void refuse_regions(const struct regions_file *file,
						     const char *what)
{
	fail("'%s': %s; give a file that perfctr_regions_write() wrote as JSON", file->path, what);
}

static json_object *get_member(const struct regions_file *file, json_object *object,
			       const char *key, enum json_type type)
{
	json_object *value;
	char what[128];

	if (json_object_is_type(object, json_type_object) &&
	    json_object_object_get_ex(object, key, &value) && json_object_is_type(value, type))
		return value;
	snprintf(what, sizeof(what), "'%s' is missing or not of type %s", key,
		 json_type_to_name(type));
	refuse_regions(file, what);
}

static const char *get_string(const struct regions_file *file, json_object *object, const char *key)
{
	return json_object_get_string(get_member(file, object, key, json_type_string));
}

static uint64_t get_count(const struct regions_file *file, json_object *object, const char *key)
{
	json_object *value = get_member(file, object, key, json_type_int);
	char what[128];

	if (json_object_get_int64(value) < 0) {
		snprintf(what, sizeof(what), "'%s' is negative", key);
		refuse_regions(file, what);
	}
	return json_object_get_uint64(value);
}

static json_object *region_of(const struct regions_file *file, size_t thread, size_t region)
{
	json_object *object = json_object_array_get_idx(file->threads, thread);

	return json_object_array_get_idx(get_member(file, object, "regions", json_type_array),
					 region);
}

void regions_file_add_passes(const struct regions_file *file, size_t thread, size_t region,
			     struct passes *p)
{
	json_object *object = region_of(file, thread, region);
	const char *name = get_string(file, object, "name");

	if (p->name && strcmp(p->name, name) != 0)
		refuse_regions(file, "its threads have different regions");
	p->name = name;
	p->threads++;
	p->thread = get_count(file, json_object_array_get_idx(file->threads, thread), "thread");
	p->entries += get_count(file, object, "entries");
	p->exits += get_count(file, object, "exits");
	p->passes += get_count(file, object, "passes");
	p->retried += get_count(file, object, "retried");
	p->corrected +=
		json_object_get_boolean(get_member(file, object, "corrected", json_type_boolean));
}

void regions_file_add_sums(const struct regions_file *file, size_t thread, size_t region,
			   size_t number, struct sums *sums)
{
	json_object *object = region_of(file, thread, region), *counts;
	uint64_t passes = get_count(file, object, "passes");

	if (number) {
		counts = get_member(file, object, "counts", json_type_array);
		counts = json_object_array_get_idx(counts, number - 1);
	} else {
		counts = get_member(file, object, "tsc", json_type_object);
	}
	sums->total += get_count(file, counts, "total");
	if (!passes)
		return;
	sums->min = fminl(sums->min, get_count(file, counts, "min"));
	sums->max = fmaxl(sums->max, get_count(file, counts, "max"));
}

static void tell_refusal(const struct regions_file *file, const char *why)
{
	if (!file->n_threads)
		fail("'%s': the program could not count: %s", file->path, why);
	complain("'%s': a thread is missing, because it could not count: %s", file->path, why);
}

void regions_file_take(struct regions_file *file, const char *path, json_object *root)
{
	json_object *why;

	*file = (struct regions_file){ .path = path, .root = root };
	if (!root)
		refuse_regions(file, "it is not JSON");
	if (strcmp(get_string(file, file->root, "schema"), "perfctr-regions") != 0)
		refuse_regions(file, "it has no regions");
	if (get_count(file, file->root, "version") != 3)
		refuse_regions(file, "its version is not 3, the one that this perfex knows");
	file->events = get_member(file, file->root, "events", json_type_array);
	file->threads = get_member(file, file->root, "threads", json_type_array);
	file->n_events = json_object_array_length(file->events);
	file->n_threads = json_object_array_length(file->threads);
	if (json_object_object_get_ex(file->root, "error", &why))
		tell_refusal(file, json_object_get_string(why));
	if (file->n_threads)
		file->n_regions = json_object_array_length(
			get_member(file, json_object_array_get_idx(file->threads, 0), "regions",
				   json_type_array));
}

void regions_file_open(struct regions_file *file, const char *path)
{
	size_t length;
	char *text = textfile_read(path, &length);

	if (!text)
		fail("cannot read '%s': %m", path);
	regions_file_take(file, path, json_tokener_parse(text));
	free(text);
}

void regions_file_close(struct regions_file *file)
{
	json_object_put(file->root);
}

/* Returns event number, from 1; NULL for 0, the time stamp. */
static json_object *event_of(const struct regions_file *file, size_t number)
{
	return number ? json_object_array_get_idx(file->events, number - 1) : NULL;
}

const char *regions_file_event(const struct regions_file *file, size_t number)
{
	return number ? get_string(file, event_of(file, number), "name") : "tsc";
}

const char *regions_file_modes(const struct regions_file *file, size_t number)
{
	return number ? get_string(file, event_of(file, number), "modes") : "user+kernel";
}
