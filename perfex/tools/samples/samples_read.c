// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "samples.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PERIODS (1ull << 40) /* of one sample, so that no sum overflows */

struct parse {
	struct samples *samples;
	struct text_error *error;
	unsigned int line;
	const char *at, *end; /* of the line */
	bool good;
	size_t n_totals;
	bool ended;
};

static void refuse_line(struct parse *parse, const char *what)
{
	if (parse->good)
		refuse_text(parse->error, parse->line, "%s; give a file that perfex record wrote",
			    what);
	parse->good = false;
}

static void skip_space(struct parse *parse)
{
	if (parse->at < parse->end && *parse->at == ' ')
		parse->at++;
	else
		refuse_line(parse, "the line is too short");
}

static int digit_of(char c, unsigned int base)
{
	int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;

	return digit < (int)base ? digit : -1;
}

static uint64_t read_digits(struct parse *parse, unsigned int base, uint64_t max)
{
	const char *first = parse->at;
	uint64_t value = 0;

	for (; parse->at < parse->end; parse->at++) {
		int digit = digit_of(*parse->at, base);

		if (digit < 0)
			break;
		if ((uint64_t)digit > max || value > (max - (uint64_t)digit) / base) {
			refuse_line(parse, "a number is too large");
			return 0;
		}
		value = value * base + (uint64_t)digit;
	}
	if (parse->at == first || (parse->at < parse->end && *parse->at != ' '))
		refuse_line(parse, "a number is missing or wrong");
	return value;
}

/* Takes the next field, a number of at most max. */
static uint64_t take_number(struct parse *parse, uint64_t max)
{
	skip_space(parse);
	return read_digits(parse, 10, max);
}

static uint64_t take_address(struct parse *parse)
{
	skip_space(parse);
	return read_digits(parse, 16, UINT64_MAX);
}

/* Takes the rest of the line, and decodes its %XX.  The caller frees it. */
static char *take_text(struct parse *parse)
{
	size_t n = 0;
	char *text;

	skip_space(parse);
	text = allocate((size_t)(parse->end - parse->at), 1);
	while (parse->at < parse->end) {
		char c = *parse->at++;

		if (c == '%') {
			int high = parse->end - parse->at < 2 ? -1 : digit_of(parse->at[0], 16);
			int low = high < 0 ? -1 : digit_of(parse->at[1], 16);

			if (low < 0 || !(high | low)) {
				refuse_line(parse, "a '%' has no two digits behind it");
				break;
			}
			c = (char)(high << 4 | low);
			parse->at += 2;
		}
		if (!c)
			refuse_line(parse, "there is a NUL");
		text[n++] = c;
	}
	return text;
}

/* Compares objects for tsearch(3). */
static int compare_objects(const void *a, const void *b)
{
	const struct object *x = a, *y = b;
	int difference = memcmp(x->build_id, y->build_id, sizeof(x->build_id));

	return difference ? difference : strcmp(x->path, y->path);
}

struct object_node { /* a copy for the tree, because samples->object moves */
	struct object object;
	size_t index;
};

static size_t intern_object(struct samples *samples, const struct object *object)
{
	struct object_node *node = allocate(1, sizeof(*node)), **found;

	node->object = *object;
	node->index = samples->n_objects;
	found = tsearch(node, &samples->objects, compare_objects);
	if (!found)
		fail("out of memory");
	if (*found != node) {
		free(node);
		free(object->path);
		return (*found)->index;
	}
	samples->object = grow(samples->object, samples->n_objects, sizeof(*samples->object));
	samples->object[samples->n_objects] = *object;
	return samples->n_objects++;
}

static void take_build_id(struct parse *parse, struct object *object)
{
	skip_space(parse);
	if (parse->at < parse->end && *parse->at == '-') {
		parse->at++;
		return;
	}
	while (parse->end - parse->at >= 2 && *parse->at != ' ') {
		int high = digit_of(parse->at[0], 16), low = digit_of(parse->at[1], 16);

		if (high < 0 || low < 0 || object->build_id_bytes == SAMPLES_MAX_BUILD_ID) {
			refuse_line(parse, "the build-id is wrong");
			return;
		}
		object->build_id[object->build_id_bytes++] = (unsigned char)(high << 4 | low);
		parse->at += 2;
	}
}

static void take_change(struct parse *parse, int kind)
{
	struct samples *samples = parse->samples;
	struct change change = { .kind = kind, .line = parse->line };
	struct object object = { 0 };

	change.time = take_number(parse, UINT64_MAX);
	change.pid = (int)take_number(parse, INT_MAX);
	if (kind == FORK) {
		change.parent = (int)take_number(parse, INT_MAX);
	} else if (kind == MAP) {
		change.mapping.start = take_address(parse);
		change.mapping.end = take_address(parse);
		change.mapping.offset = take_address(parse);
		if (change.mapping.start >= change.mapping.end)
			refuse_line(parse, "a mapping ends before it begins");
		take_build_id(parse, &object);
		object.path = take_text(parse);
		if (parse->good)
			change.mapping.object = intern_object(samples, &object);
		else
			free(object.path);
	} else {
		change.name = take_text(parse);
	}
	samples->change = grow(samples->change, samples->n_changes, sizeof(change));
	samples->change[samples->n_changes++] = change;
}

static void take_name(struct parse *parse)
{
	take_change(parse, NAME);
}

static void take_exec(struct parse *parse)
{
	take_change(parse, EXEC);
}

static void take_fork(struct parse *parse)
{
	take_change(parse, FORK);
}

static void take_map(struct parse *parse)
{
	take_change(parse, MAP);
}

static void take_command(struct parse *parse)
{
	if (parse->samples->command)
		refuse_line(parse, "there are two commands");
	else
		parse->samples->command = take_text(parse);
}

static void take_asked(struct parse *parse)
{
	struct samples *samples = parse->samples;

	if (samples->n)
		refuse_line(parse, "what was asked for comes after samples");
	samples->registers = take_number(parse, 1);
	samples->depth = (unsigned int)take_number(parse, PERFCTR_MAX_DEPTH);
	samples->jitter = (unsigned int)take_number(parse, 100);
}

static void take_event(struct parse *parse)
{
	struct samples *samples = parse->samples;
	uint64_t period = take_number(parse, INT64_MAX);

	if (samples->clock) {
		refuse_line(parse, "there is an event beside a clock");
		return;
	}
	if (samples->n || samples->n_events == PERFCTR_MAX_COUNTERS) {
		refuse_line(parse, "there are too many events, or they come after samples");
		return;
	}
	samples->event = grow(samples->event, samples->n_events, sizeof(*samples->event));
	samples->event[samples->n_events++] =
		(struct sampled_event){ .name = take_text(parse), .period = period };
}

static void take_clock(struct parse *parse)
{
	if (parse->samples->n_events) {
		refuse_line(parse, "there is an event beside a clock");
		return;
	}
	take_event(parse);
	parse->samples->clock = true;
}

static void add_number(struct samples *samples, uint64_t number)
{
	samples->number = grow(samples->number, samples->n_numbers, sizeof(*samples->number));
	samples->number[samples->n_numbers++] = number;
}

static void take_sample(struct parse *parse)
{
	struct samples *samples = parse->samples;
	struct sample_read sample = { .spot.object = NO_OBJECT };

	sample.time = take_number(parse, UINT64_MAX);
	sample.cpu = (unsigned int)take_number(parse, SAMPLES_MAX_CPUS - 1);
	sample.pid = (int)take_number(parse, INT_MAX);
	sample.tid = (int)take_number(parse, INT_MAX);
	sample.event = (uint32_t)take_number(parse, UINT32_MAX);
	sample.flags = (uint32_t)take_number(parse, UINT32_MAX);
	sample.lost = (uint32_t)take_number(parse, UINT32_MAX);
	sample.periods = take_number(parse, MAX_PERIODS);
	sample.late = take_number(parse, UINT64_MAX);
	sample.weight = take_number(parse, UINT64_MAX);
	sample.ip = take_address(parse);
	sample.tsc = take_number(parse, UINT64_MAX);
	if (sample.event >= samples->n_events || !samples->event[sample.event].period) {
		refuse_line(parse, "a sample is of an event that has no period");
		return;
	}
	sample.numbers = samples->n_numbers;
	for (size_t i = 0; parse->good && !samples->clock && i < samples->n_events; i++)
		add_number(samples, take_number(parse, UINT64_MAX));
	for (size_t i = 0; parse->good && samples->registers && i < SAMPLES_REGISTERS; i++)
		add_number(samples, take_address(parse));
	sample.chain = samples->n_numbers;
	if (parse->good && samples->depth)
		sample.depth = (uint32_t)take_number(parse, samples->depth);
	for (uint32_t i = 0; parse->good && i < sample.depth; i++)
		add_number(samples, take_address(parse));
	samples->sample = grow(samples->sample, samples->n, sizeof(*samples->sample));
	samples->sample[samples->n++] = sample;
}

static void take_kernel(struct parse *parse)
{
	struct samples *samples = parse->samples;
	uint64_t start = take_address(parse);

	samples->kernel = grow(samples->kernel, samples->n_kernel, sizeof(*samples->kernel));
	samples->kernel[samples->n_kernel++] =
		(struct kernel_function){ .start = start, .name = take_text(parse) };
}

static void take_total(struct parse *parse)
{
	struct sampled_event *event;

	if (parse->n_totals == parse->samples->n_events) {
		refuse_line(parse, "there are more totals than events");
		return;
	}
	event = &parse->samples->event[parse->n_totals++];
	event->count = take_number(parse, UINT64_MAX);
	event->periods = take_number(parse, UINT64_MAX);
	event->lost_weight = take_number(parse, UINT64_MAX);
}

static void take_end(struct parse *parse)
{
	struct samples *samples = parse->samples;

	samples->n_told = take_number(parse, UINT64_MAX);
	samples->lost = take_number(parse, UINT64_MAX);
	samples->late = take_number(parse, UINT64_MAX);
	samples->ended = take_number(parse, 1);
	samples->maps_lost = take_number(parse, UINT64_MAX);
	if (parse->n_totals != samples->n_events || !samples->n_events)
		refuse_line(parse, "there are not as many totals as events");
	parse->ended = true;
}

static const struct {
	const char *word;
	void (*take)(struct parse *parse);
} lines[] = {
	{ "sample", take_sample }, { "map", take_map },		{ "fork", take_fork },
	{ "name", take_name },	   { "exec", take_exec },	{ "event", take_event },
	{ "total", take_total },   { "command", take_command }, { "asked", take_asked },
	{ "end", take_end },	   { "kernel", take_kernel },	{ "clock", take_clock },
};

static void take_line(struct parse *parse)
{
	if (parse->ended) {
		refuse_line(parse, "there is something behind the end");
		return;
	}
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		size_t length = strlen(lines[i].word);

		if ((size_t)(parse->end - parse->at) <= length ||
		    memcmp(parse->at, lines[i].word, length) != 0 || parse->at[length] != ' ')
			continue;
		parse->at += length;
		lines[i].take(parse);
		if (parse->at != parse->end)
			refuse_line(parse, "the line is too long");
		return;
	}
	refuse_line(parse, "the line begins with no word that is known");
}

static int compare_functions(const void *a, const void *b)
{
	const struct kernel_function *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void take_head(struct parse *parse)
{
	size_t length = strlen(SAMPLES_HEAD);

	if ((size_t)(parse->end - parse->at) < length ||
	    memcmp(parse->at, SAMPLES_HEAD, length) != 0) {
		refuse_line(parse, "these are no samples of a known version");
		return;
	}
	parse->at += length - 1;
	parse->samples->khz = take_number(parse, UINT32_MAX);
	if (parse->at != parse->end)
		refuse_line(parse, "the line is too long");
}

static void drop_kernel(struct samples *samples)
{
	for (size_t i = 0; i < samples->n_kernel; i++)
		free(samples->kernel[i].name);
	samples->n_kernel = 0;
}

struct samples *samples_parse(const char *text, size_t length, struct text_error *error)
{
	struct parse parse = { .error = error, .good = true };
	const char *end = text + length;

	parse.samples = allocate(1, sizeof(*parse.samples));
	for (const char *at = text; parse.good && (at < end || !parse.line); at = parse.end + 1) {
		const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;

		parse.line++;
		parse.at = at;
		parse.end = newline ? newline : end;
		if (parse.line == 1)
			take_head(&parse);
		else if (newline)
			take_line(&parse);
	}
	if (parse.good && !parse.samples->n_events)
		refuse_line(&parse, "the samples have no end: perfex record did not finish");
	parse.samples->cut = !parse.ended;
	/* Some functions may be missing: their samples would seem to be in the function before. */
	if (parse.samples->cut)
		drop_kernel(parse.samples);
	if (parse.good && parse.samples->n_kernel)
		qsort(parse.samples->kernel, parse.samples->n_kernel,
		      sizeof(*parse.samples->kernel), compare_functions);
	if (parse.good)
		return parse.samples;
	samples_free(parse.samples);
	return NULL;
}

struct samples *samples_open(const char *path)
{
	struct text_error error = { 0 };
	struct samples *samples;
	size_t length;
	char *text = textfile_read(path, &length);

	if (!text)
		fail("cannot read '%s': %m%s", path,
		     errno == ENOENT ? "; perfex record makes it" : "");
	samples = samples_parse(text, length, &error);
	if (!samples || !samples_place(samples, &error))
		textfile_fail(path, &error);
	free(text);
	return samples;
}

void samples_free(struct samples *samples)
{
	if (!samples)
		return;
	for (size_t i = 0; i < samples->n_events; i++)
		free(samples->event[i].name);
	for (size_t i = 0; i < samples->n_objects; i++)
		free(samples->object[i].path);
	for (size_t i = 0; i < samples->n_changes; i++)
		free(samples->change[i].name);
	drop_kernel(samples);
	free(samples->kernel);
	for (size_t i = 0; i < samples->n_lives; i++) {
		free(samples->life[i]->mapping);
		free(samples->life[i]);
	}
	tdestroy(samples->objects, free);
	free(samples->life);
	free(samples->command);
	free(samples->event);
	free(samples->object);
	free(samples->change);
	free(samples->sample);
	free(samples->number);
	free(samples);
}
