// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON as docs/perfex-rotation.schema.json describes it. */
#include "rotate.h"
#include "../json_member.h"
#include "../run/json.h"

#include <math.h>

static void add_real(struct json_object *object, const char *name, double value)
{
	add_member(object, name, isnan(value) ? NULL : json_object_new_double(value));
}

static void add_number(struct json_object *object, const char *name, uint64_t value)
{
	add_member(object, name, json_object_new_uint64(value));
}

static struct json_object *json_series(const struct series *series)
{
	struct json_object *all = json_object_new_array();

	for (size_t i = 0; i < series->n; i++)
		json_object_array_add(all, json_object_new_uint64(series->value[i]));
	return all;
}

static struct json_object *json_sets(const struct recording *recording)
{
	struct json_object *all = json_object_new_array();

	for (unsigned int set = 0; set < recording->events.n_passes; set++) {
		struct json_object *object = json_object_new_object();

		add_real(object, "share", rotation_share(rotation_of(recording), set));
		add_member(object, "tsc", json_series(&recording->pass[set].tsc));
		add_member(object, "start_ns", json_series(&rotation_of(recording)->start[set]));
		add_member(object, "elapsed_ns",
			   json_series(&recording->pass[set].time[TIME_ELAPSED]));
		json_object_array_add(all, object);
	}
	return all;
}

static struct json_object *json_events(const struct recording *recording)
{
	struct json_object *all = json_object_new_array();

	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = &recording->events.event[i];
		struct estimate estimate = rotation_estimate(rotation_of(recording), event);
		struct json_object *object = json_event(recording, event, "set");

		add_member(object, "slices", json_series(&event->counts));
		add_real(object, "estimate", estimate.total);
		add_real(object, "half_width", estimate.half);
		add_member(object, "steady",
			   isnan(estimate.total) ? NULL
						 : json_object_new_boolean(!estimate.unsteady));
		json_object_array_add(all, object);
	}
	return all;
}

static void put_json(FILE *file, const struct style *style, const struct recording *recording)
{
	const struct rotation *rotation = rotation_of(recording);
	struct json_object *object = json_document("perfex-rotation", 1, recording);

	(void)style;
	add_number(object, "seed", rotation->seed);
	add_number(object, "slice_ms", rotation->options->slice_ms);
	add_number(object, "elapsed_ns", rotation->elapsed_ns);
	add_number(object, "tsc", rotation->tsc);
	add_member(object, "sets", json_sets(recording));
	add_member(object, "events", json_events(recording));
	add_number(object, "running", recording->running);
	write_json(file, object);
}

const struct format rotation_json = { .names_host = true, .recording = put_json };
