// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "show.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Writes a frame into a line.  Replaces characters that would end the frame or the line. */
static void put_frame(FILE *file, const char *name)
{
	for (; *name; name++)
		putc(*name == ';'				   ? ':'
		     : (unsigned char)*name < ' ' || *name == 0x7f ? '?'
								   : *name,
		     file);
}

/* Writes the frames of a place, outermost first. */
static void put_place(const struct show *show, FILE *file, const struct place *place)
{
	size_t i = place->n_frames;

	do {
		putc(';', file);
		put_frame(file, place->frame[--i].function);
	} while (i && !show->outermost);
}

static char *make_stack(const struct show *show, const struct sample_read *sample)
{
	const uint64_t *chain = &show->samples->number[sample->chain];
	struct text text;
	FILE *file = text_open(&text);

	put_frame(file, life_name(sample->life));
	for (uint32_t i = sample->depth; i-- > 0;)
		put_place(show, file, places_find(show->places, sample, &chain[i]));
	put_place(show, file, places_find(show->places, sample, NULL));
	return text_close(&text);
}

static int compare_stacks(const void *a, const void *b)
{
	return strcmp(((const struct stack *)a)->text, ((const struct stack *)b)->text);
}

static void free_stack(void *stack)
{
	free(((struct stack *)stack)->text);
	free(stack);
}

/* Returns the stacks sorted by text: stacks that begin with the same frames are side by side. */
struct stacks stacks_make(const struct show *show)
{
	const struct samples *samples = show->samples;
	struct stacks stacks = { 0 };
	void *tree = NULL;

	for (size_t i = 0; i < samples->n; i++) {
		const struct sample_read *sample = &samples->sample[i];
		struct stack *stack, **found;

		if (!show_has(show, sample))
			continue;
		stack = allocate(1, sizeof(*stack));
		stack->text = make_stack(show, sample);
		found = tsearch(stack, &tree, compare_stacks);
		if (!found)
			fail("out of memory");
		if (*found != stack)
			free_stack(stack);
		else
			stacks.n++;
		(*found)->events += sample_events(samples, sample);
		stacks.events += sample_events(samples, sample);
	}
	stacks.stack = allocate(stacks.n, sizeof(*stacks.stack));
	for (size_t i = 0; i < stacks.n; i++) {
		/* Takes any stack that is left: the root of the tree. */
		struct stack *first = *(struct stack **)tree;

		stacks.stack[i] = *first;
		tdelete(first, &tree, compare_stacks);
		free(first);
	}
	if (stacks.n)
		qsort(stacks.stack, stacks.n, sizeof(*stacks.stack), compare_stacks);
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->n; i++)
		free(stacks->stack[i].text);
	free(stacks->stack);
}

void show_folded(const struct show *show)
{
	struct stacks stacks = stacks_make(show);

	for (size_t i = 0; i < stacks.n; i++)
		fprintf(show->file, "%s %" PRIu64 "\n", stacks.stack[i].text,
			stacks.stack[i].events);
	stacks_free(&stacks);
}
