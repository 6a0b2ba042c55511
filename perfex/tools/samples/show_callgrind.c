// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Callgrind's format, version 1: events by object, function and line, with a column for each event.
 * KCachegrind and callgrind_annotate read it.
 */
#define _GNU_SOURCE
#include "show.h"

#include <ctype.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct cost {
	const char *object, *function, *file, *line_file;
	int line;
	uint64_t events[PERFCTR_MAX_COUNTERS];
};

struct costs {
	const struct show *show;
	void *tree;
	struct cost **cost;
	size_t n;
};

static int compare_costs(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;
	int difference = strcmp(x->object, y->object);

	if (!difference)
		difference = strcmp(x->function, y->function);
	if (!difference)
		difference = strcmp(x->file, y->file);
	if (!difference)
		difference = strcmp(x->line_file, y->line_file);
	return difference ? difference : (x->line > y->line) - (x->line < y->line);
}

static int compare_places_of(const void *a, const void *b)
{
	return compare_costs(*(struct cost *const *)a, *(struct cost *const *)b);
}

static const char *file_of(const struct frame *frame)
{
	return frame->file ? frame->file : "???";
}

/*
 * Adds a sample to the cost of its line.  Inlined code belongs to the function around it, in lines
 * of another file.
 */
static void add_cost(struct costs *costs, const struct sample_read *sample)
{
	const struct place *place = places_find(costs->show->places, sample, NULL);
	const struct frame *whole = &place->frame[place->n_frames - 1];
	const struct frame *inner = show_frame(costs->show, place);
	struct cost key = { .object = place->object_name,
			    .function = whole->function,
			    .file = file_of(whole),
			    .line_file = file_of(inner),
			    .line = inner->file ? inner->line : 0 };
	struct cost **found = tfind(&key, &costs->tree, compare_costs);

	if (!found) {
		struct cost *cost = allocate(1, sizeof(*cost));

		*cost = key;
		found = tsearch(cost, &costs->tree, compare_costs);
		if (!found)
			fail("out of memory");
		costs->cost = grow(costs->cost, costs->n, sizeof(cost));
		costs->cost[costs->n++] = cost;
	}
	(*found)->events[sample->event] += sample_events(costs->show->samples, sample);
}

/* Writes the name of an event as one word, which the format needs. */
static void put_word(FILE *file, const char *name)
{
	putc(' ', file);
	for (; *name; name++)
		putc(isalnum((unsigned char)*name) || *name == '-' || *name == '.' ? *name : '_',
		     file);
}

static void put_text(FILE *file, const char *key, const char *text)
{
	char *copy = text_print("%s", text);

	make_printable(copy);
	fprintf(file, "%s=%s\n", key, copy);
	free(copy);
}

static void put_events(const struct show *show, const uint64_t events[])
{
	for (uint32_t i = 0; i < show->samples->n_events; i++)
		if (show_has_event(show, i))
			fprintf(show->file, " %" PRIu64, events[i]);
	putc('\n', show->file);
}

static void put_head(const struct show *show)
{
	const struct samples *samples = show->samples;
	char *command = text_print("%s", samples->command ? samples->command : "");

	make_printable(command);
	fprintf(show->file, "# callgrind format\nversion: 1\ncreator: perfex samples\ncmd: %s\n",
		command);
	fputs("positions: line\nevents:", show->file);
	for (uint32_t i = 0; i < samples->n_events; i++)
		if (show_has_event(show, i))
			put_word(show->file, samples->event[i].name);
	putc('\n', show->file);
	free(command);
}

static void put_costs(const struct costs *costs)
{
	const struct show *show = costs->show;
	const struct cost *before = NULL;
	uint64_t sum[PERFCTR_MAX_COUNTERS] = { 0 };

	for (size_t i = 0; i < costs->n; i++)
		for (uint32_t k = 0; k < show->samples->n_events; k++)
			sum[k] += costs->cost[i]->events[k];
	fputs("summary:", show->file);
	put_events(show, sum);
	for (size_t i = 0; i < costs->n; i++, before = costs->cost[i - 1]) {
		const struct cost *cost = costs->cost[i];
		const char *file = before ? before->line_file : NULL;

		if (!before || strcmp(before->object, cost->object) != 0 ||
		    strcmp(before->function, cost->function) != 0 ||
		    strcmp(before->file, cost->file) != 0) {
			putc('\n', show->file);
			put_text(show->file, "ob", cost->object);
			put_text(show->file, "fl", cost->file);
			put_text(show->file, "fn", cost->function);
			file = cost->file;
		}
		if (strcmp(file, cost->line_file) != 0)
			put_text(show->file, strcmp(cost->line_file, cost->file) ? "fi" : "fe",
				 cost->line_file);
		fprintf(show->file, "%d", cost->line);
		put_events(show, cost->events);
	}
}

void show_callgrind(const struct show *show)
{
	const struct samples *samples = show->samples;
	struct costs costs = { .show = show };

	for (size_t i = 0; i < samples->n; i++)
		if (show_has(show, &samples->sample[i]))
			add_cost(&costs, &samples->sample[i]);
	if (costs.n)
		qsort(costs.cost, costs.n, sizeof(*costs.cost), compare_places_of);
	put_head(show);
	put_costs(&costs);
	tdestroy(costs.tree, free);
	free(costs.cost);
}
