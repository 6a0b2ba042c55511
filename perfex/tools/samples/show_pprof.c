// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pprof's format: a message Profile of its profile.proto, not compressed.  Addresses are those in
 * the objects' files, so that processes that have mapped an object at different addresses are added
 * up.
 */
#define _GNU_SOURCE
#include "show.h"
#include "wire.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of the fields in profile.proto. */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, PERIOD_TYPE = 11, PERIOD };
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum {
	MAPPING_ID = 1,
	MAPPING_LIMIT = 3,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILES,
	MAPPING_HAS_LINES,
	MAPPING_HAS_INLINE
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

/* Keys, numbered in the order in which they came. */
struct numbered {
	uint64_t number;
	size_t n;
	const void *key;
};

struct numbers {
	struct numbered **item;
	size_t n;
	void *tree;
};

struct profile {
	const struct show *show;
	FILE *file;
	/* The first string, number 0, is empty.  The numbers of all others begin with 1. */
	struct numbers strings, functions, locations, stacks;
	uint64_t (*events)[PERFCTR_MAX_COUNTERS]; /* one row for each stack */
	uint64_t *limit;			  /* of each object, its highest address plus one */
};

static int compare_keys(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return memcmp(x->key, y->key, x->n);
}

/* Sets *number to the number of the key, counted from 0.  Returns true if the key is new. */
static bool number_key(struct numbers *numbers, const void *key, size_t n, uint64_t *number)
{
	const struct numbered wanted = { .key = key, .n = n };
	struct numbered **found = tfind(&wanted, &numbers->tree, compare_keys), *item;
	char *copy;

	if (found) {
		*number = (*found)->number;
		return false;
	}
	item = allocate(1, sizeof(*item) + n);
	copy = (char *)(item + 1);
	memcpy(copy, key, n);
	*item = (struct numbered){ .key = copy, .n = n, .number = numbers->n };
	if (!tsearch(item, &numbers->tree, compare_keys))
		fail("out of memory");
	numbers->item = grow(numbers->item, numbers->n, sizeof(*numbers->item));
	numbers->item[numbers->n++] = item;
	*number = item->number;
	return true;
}

static void free_numbers(struct numbers *numbers)
{
	tdestroy(numbers->tree, free);
	free(numbers->item);
}

static uint64_t number_text(struct profile *profile, const char *text)
{
	uint64_t number;

	if (number_key(&profile->strings, text, strlen(text), &number))
		wire_bytes(profile->file, STRING, text, strlen(text));
	return number;
}

static void put_message(FILE *file, unsigned int field, struct text *message)
{
	text_close(message);
	wire_bytes(file, field, message->text, message->size);
	free(message->text);
}

static uint64_t number_function(struct profile *profile, const struct frame *frame)
{
	const uint64_t key[] = { number_text(profile, frame->function),
				 number_text(profile, frame->file ? frame->file : "") };
	struct text message;
	uint64_t number;
	FILE *file;

	if (!number_key(&profile->functions, key, sizeof(key), &number))
		return number + 1;
	file = text_open(&message);
	wire_number(file, FUNCTION_ID, number + 1);
	wire_number(file, FUNCTION_NAME, key[0]);
	wire_number(file, FUNCTION_SYSTEM_NAME, key[0]);
	wire_number(file, FUNCTION_FILE, key[1]);
	put_message(profile->file, FUNCTION, &message);
	return number + 1;
}

static void put_line(struct profile *profile, FILE *to, const struct frame *frame)
{
	uint64_t function = number_function(profile, frame);
	struct text message;
	FILE *file = text_open(&message);

	wire_number(file, LINE_FUNCTION, function);
	if (frame->file)
		wire_number(file, LINE_NUMBER, (uint64_t)frame->line);
	put_message(to, LOCATION_LINE, &message);
}

/* Returns the number of a location.  Its first line is that of the innermost function. */
static uint64_t number_location(struct profile *profile, const struct place *place)
{
	size_t first = profile->show->outermost ? place->n_frames - 1 : 0;
	struct text message;
	uint64_t number;
	FILE *file;

	if (!number_key(&profile->locations, &place, sizeof(place), &number))
		return number + 1;
	file = text_open(&message);
	wire_number(file, LOCATION_ID, number + 1);
	if (place->object != NO_OBJECT) {
		wire_number(file, LOCATION_MAPPING, place->object + 1);
		if (place->address >= profile->limit[place->object])
			profile->limit[place->object] = place->address + 1;
	}
	wire_number(file, LOCATION_ADDRESS, place->address);
	for (size_t i = first; i < place->n_frames; i++)
		put_line(profile, file, &place->frame[i]);
	put_message(profile->file, LOCATION, &message);
	return number + 1;
}

static void put_label(struct profile *profile, FILE *to, const char *key, const char *text,
		      uint64_t value)
{
	struct text message;
	FILE *file = text_open(&message);

	wire_number(file, LABEL_KEY, number_text(profile, key));
	if (text)
		wire_number(file, LABEL_TEXT, number_text(profile, text));
	else
		wire_number(file, LABEL_NUMBER, value);
	put_message(to, SAMPLE_LABEL, &message);
}

/*
 * Writes the place, the process and the thread of a sample as fields of a Sample.  Samples with
 * equal fields are added up.
 */
static void put_stack(struct profile *profile, FILE *file, const struct sample_read *sample)
{
	const struct show *show = profile->show;
	const uint64_t *chain = &show->samples->number[sample->chain];
	struct text locations;
	FILE *to = text_open(&locations);

	wire_bare(to, number_location(profile, places_find(show->places, sample, NULL)));
	for (uint32_t i = 0; i < sample->depth; i++)
		wire_bare(to,
			  number_location(profile, places_find(show->places, sample, &chain[i])));
	put_message(file, SAMPLE_LOCATIONS, &locations);
	put_label(profile, file, "process", life_name(sample->life), 0);
	put_label(profile, file, "pid", NULL, (uint64_t)sample->pid);
	put_label(profile, file, "tid", NULL, (uint64_t)sample->tid);
}

static void add_sample(struct profile *profile, const struct sample_read *sample)
{
	struct text stack;
	uint64_t number;

	put_stack(profile, text_open(&stack), sample);
	text_close(&stack);
	if (number_key(&profile->stacks, stack.text, stack.size, &number))
		profile->events = grow(profile->events, number, sizeof(*profile->events));
	profile->events[number][sample->event] += sample_events(profile->show->samples, sample);
	free(stack.text);
}

static void put_stacks(struct profile *profile)
{
	const struct show *show = profile->show;

	for (size_t i = 0; i < profile->stacks.n; i++) {
		const struct numbered *stack = profile->stacks.item[i];
		struct text message, values;
		FILE *file = text_open(&message), *to = text_open(&values);

		fwrite(stack->key, 1, stack->n, file);
		for (uint32_t k = 0; k < show->samples->n_events; k++)
			if (show_has_event(show, k))
				wire_bare(to, profile->events[i][k]);
		put_message(file, SAMPLE_VALUES, &values);
		put_message(profile->file, SAMPLE, &message);
	}
}

static void put_type(struct profile *profile, unsigned int field, const char *name)
{
	const char *unit = profile->show->samples->clock ? "nanoseconds" : "count";
	struct text message;
	FILE *file = text_open(&message);

	wire_number(file, VALUE_TYPE, number_text(profile, name));
	wire_number(file, VALUE_UNIT, number_text(profile, unit));
	put_message(profile->file, field, &message);
}

static void put_events(struct profile *profile)
{
	const struct samples *samples = profile->show->samples;
	const struct sampled_event *only = NULL;
	unsigned int n = 0;

	for (uint32_t i = 0; i < samples->n_events; i++) {
		if (!show_has_event(profile->show, i))
			continue;
		only = &samples->event[i];
		put_type(profile, SAMPLE_TYPE, only->name);
		n++;
	}
	if (n != 1)
		return;
	put_type(profile, PERIOD_TYPE, only->name);
	wire_number(profile->file, PERIOD, only->period);
}

/*
 * Says that all names are there, so that pprof looks up none itself: it would not know separate
 * debugging information.
 */
static void put_mapping(struct profile *profile, size_t i)
{
	const struct object *object = &profile->show->samples->object[i];
	char id[2 * SAMPLES_MAX_BUILD_ID + 1] = "";
	struct text message;
	FILE *file = text_open(&message);

	for (size_t k = 0; k < object->build_id_bytes; k++)
		snprintf(id + 2 * k, 3, "%02x", object->build_id[k]);
	wire_number(file, MAPPING_ID, i + 1);
	wire_number(file, MAPPING_LIMIT, profile->limit[i]);
	wire_number(file, MAPPING_FILE, number_text(profile, object->path));
	wire_number(file, MAPPING_BUILD_ID, number_text(profile, id));
	for (unsigned int has = MAPPING_HAS_FUNCTIONS; has <= MAPPING_HAS_INLINE; has++)
		wire_number(file, has, 1);
	put_message(profile->file, MAPPING, &message);
}

void show_pprof(const struct show *show)
{
	const struct samples *samples = show->samples;
	struct profile profile = { .show = show, .file = show->file };

	profile.limit = allocate(samples->n_objects, sizeof(*profile.limit));
	number_text(&profile, "");
	put_events(&profile);
	for (size_t i = 0; i < samples->n; i++)
		if (show_has(show, &samples->sample[i]))
			add_sample(&profile, &samples->sample[i]);
	put_stacks(&profile);
	for (size_t i = 0; i < samples->n_objects; i++)
		if (profile.limit[i])
			put_mapping(&profile, i);
	free_numbers(&profile.strings);
	free_numbers(&profile.functions);
	free_numbers(&profile.locations);
	free_numbers(&profile.stacks);
	free(profile.events);
	free(profile.limit);
}
