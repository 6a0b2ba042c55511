// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "scope.h"
#include "../perfex.h"
#include "../result/json_values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void stream_begin(struct stream *stream)
{
	*stream = (struct stream){ .lines = tmpfile(), .n_events = 1 };
	if (!stream->lines)
		fail("cannot make a temporary file: %m");
	stream->name[0] = text_print("tsc");
}

void stream_free(struct stream *stream)
{
	for (size_t i = 0; i < stream->n_events; i++)
		free(stream->name[i]);
	free(stream->sample);
	free(stream->rest);
	fclose(stream->lines);
}

static uint64_t number_of(json_object *json, const char *key)
{
	return json_object_get_uint64(json_object_object_get(json, key));
}

static struct scope_sample *add_sample(struct stream *stream)
{
	stream->sample = grow(stream->sample, stream->n, sizeof(*stream->sample));
	return &stream->sample[stream->n++];
}

/* Sets count i of a sample.  Takes the name of event i from the first sample that has the event. */
static void take_event(struct stream *stream, struct scope_sample *sample, size_t i,
		       json_object *json)
{
	if (i >= MAX_SCOPE_EVENTS)
		return;
	if (i == stream->n_events) {
		const char *name = json_object_get_string(json_object_object_get(json, "name"));

		stream->name[i] = text_print("%s", name ? name : "");
		make_printable(stream->name[i]);
		stream->n_events++;
	}
	sample->count[i] = number_of(json, "count");
}

static void take_interval(struct stream *stream, json_object *json)
{
	uint64_t before = stream->n ? stream->sample[stream->n - 1].end_ns : 0;
	struct scope_sample *sample = add_sample(stream);
	json_object *events = json_object_object_get(json, "events");

	sample->end_ns = number_of(json, "time_ns");
	sample->length_ns = sample->end_ns > before ? sample->end_ns - before : 0;
	sample->count[0] = number_of(json, "tsc");
	for (size_t i = 0;
	     json_object_is_type(events, json_type_array) && i < json_object_array_length(events);
	     i++)
		take_event(stream, sample, i + 1, json_object_array_get_idx(events, i));
}

static void take_line(struct stream *stream, const char *line)
{
	json_object *json = json_tokener_parse(line);

	if (json_has_schema(json, "perfex-interval") || json_has_schema(json, "perfex-system"))
		take_interval(stream, json);
	json_object_put(json);
}

void stream_take(struct stream *stream, const char *text, size_t length)
{
	char *line, *end;

	fwrite(text, 1, length, stream->lines);
	stream->rest = realloc(stream->rest, stream->n_rest + length + 1);
	if (!stream->rest)
		fail("out of memory");
	memcpy(stream->rest + stream->n_rest, text, length);
	stream->n_rest += length;
	stream->rest[stream->n_rest] = '\0';
	for (line = stream->rest; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		take_line(stream, line);
	}
	stream->n_rest = strlen(line);
	memmove(stream->rest, line, stream->n_rest + 1);
}

bool stream_save(const struct stream *stream, const char *path)
{
	char buffer[65536];
	struct text text;
	FILE *copy = text_open(&text);
	size_t n, whole;
	bool good;

	rewind(stream->lines);
	while ((n = fread(buffer, 1, sizeof(buffer), stream->lines)) > 0)
		fwrite(buffer, 1, n, copy);
	fseek(stream->lines, 0, SEEK_END);
	text_close(&text);
	/* Leave out a last line without end, which is no JSON. */
	whole = text.size - stream->n_rest;
	if (!whole)
		errno = ENODATA;
	good = !ferror(stream->lines) && whole && textfile_output(path, text.text, whole);
	free(text.text);
	return good;
}
