// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shows the instructions of a function, each with the events of its samples and with its line of
 * source.
 */
#define _GNU_SOURCE
#include "../../by_address.h"
#include "disassembly.h"
#include "show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A function of the wanted name, in one object. */
struct function {
	size_t object;
	uint64_t start;
	uint64_t samples;
};

struct annotated {
	const struct show *show;
	struct function function;
	struct disassembly code;
	uint64_t *samples; /* one number for each instruction */
	struct table table;
};

/*
 * Returns the place of a sample that is shown and is in a function of the wanted name.  Returns
 * NULL for other samples.
 */
static const struct place *place_in(const struct show *show, const struct sample_read *sample)
{
	const struct place *place;

	if (!show_has(show, sample))
		return NULL;
	place = places_find(show->places, sample, NULL);
	if (place->object == NO_OBJECT || !place->symbol_start ||
	    (strcmp(place->symbol, show->function) != 0 &&
	     strcmp(place->linked, show->function) != 0))
		return NULL;
	return place;
}

/*
 * Finds the function of the wanted name; of several, the one with the most samples.  Returns false
 * if none has samples.
 */
static bool find_function(const struct show *show, struct function *most)
{
	const struct samples *samples = show->samples;
	struct function *function = NULL;
	size_t n = 0, k;

	*most = (struct function){ 0 };
	for (size_t i = 0; i < samples->n; i++) {
		const struct place *place = place_in(show, &samples->sample[i]);

		if (!place)
			continue;
		for (k = 0; k < n && (function[k].object != place->object ||
				      function[k].start != place->symbol_start);)
			k++;
		if (k == n) {
			function = grow(function, n++, sizeof(*function));
			function[k].object = place->object;
			function[k].start = place->symbol_start;
		}
		if (++function[k].samples > most->samples)
			*most = function[k];
	}
	free(function);
	return most->samples;
}

/* Counts a sample for the last instruction that begins at the address or before it. */
static void add_sample(struct annotated *annotated, uint64_t address)
{
	const struct disassembly *code = &annotated->code;
	size_t n = COUNT_UP_TO(code->instruction, code->n, address, address);

	annotated->samples[n ? n - 1 : 0]++;
}

static void add_samples(struct annotated *annotated)
{
	const struct show *show = annotated->show;
	const struct samples *samples = show->samples;

	for (size_t i = 0; i < samples->n; i++) {
		const struct place *place = place_in(show, &samples->sample[i]);

		if (place && place->object == annotated->function.object &&
		    place->symbol_start == annotated->function.start)
			add_sample(annotated, place->address);
	}
}

/* Returns a line of a file, for free().  Returns "" if it cannot be read. */
static char *read_source(const char *path, int line)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	while (file && line > 0 && getline(&text, &size, file) > 0)
		line--;
	if (file)
		fclose(file);
	if (text && line == 0) {
		text[strcspn(text, "\n")] = '\0';
		return text;
	}
	free(text);
	return text_print("%s", "");
}

static void add_source(struct table *table, const struct frame *frame)
{
	const char *slash = strrchr(frame->file, '/');
	char *source = read_source(frame->file, frame->line);
	char *line = text_print("%s:%d %s", slash ? slash + 1 : frame->file, frame->line,
				source + strspn(source, " \t"));

	show_add_text(table, line);
	free(source);
	free(line);
}

static void add_line(struct table *table, const struct frame *frame)
{
	char *line = text_print("%s:%d", frame->file, frame->line);

	show_add_text(table, line);
	free(line);
}

/*
 * For people, a line of source is beside its first instruction.  In CSV, file and line are beside
 * each instruction.
 */
static void add_rows(struct annotated *annotated)
{
	const struct show *show = annotated->show;
	uint64_t period = show->samples->event[show->event].period;
	const struct frame *before = NULL;
	struct table *table = &annotated->table;

	for (size_t i = 0; i < annotated->code.n; i++) {
		const struct instruction *instruction = &annotated->code.instruction[i];
		const struct frame *frame =
			show_frame(show, places_at(show->places, annotated->function.object,
						   instruction->address));
		uint64_t n = annotated->samples[i];

		if (n || show->format == TABLE_CSV) {
			table_add(table, "%" PRIu64, n * period);
			show_add_percent(table, (double)n / (double)annotated->function.samples);
		} else {
			table_add_text(table, "");
			table_add_text(table, "");
		}
		table_add(table, "%" PRIx64, instruction->address);
		show_add_text(table, instruction->text);
		if (frame->file && show->format == TABLE_CSV)
			add_line(table, frame);
		else if (frame->file && (!before || before->line != frame->line ||
					 strcmp(before->file, frame->file) != 0))
			add_source(table, frame);
		else
			table_add_text(table, "");
		before = frame->file ? frame : NULL;
	}
}

static void put_head(const struct annotated *annotated, const char *path)
{
	const struct show *show = annotated->show;
	const struct sampled_event *event = &show->samples->event[show->event];
	char *head = text_print("%s in %s: %" PRIu64 " of %s, by %" PRIu64 " samples",
				show->function, path, annotated->function.samples * event->period,
				event->name, annotated->function.samples);

	make_printable(head);
	fprintf(show->file, "%s\n", head);
	free(head);
}

void show_annotate(const struct show *show)
{
	static const struct column column[] = {
		{ "events", RIGHT },	 { "share %", RIGHT }, { "address", RIGHT },
		{ "instruction", LEFT }, { "line", LEFT },
	};
	struct annotated annotated = { .show = show };
	const char *path;

	if (!find_function(show, &annotated.function))
		fail("'%s' has no samples in a function '%s' of a file; what was put into others "
		     "has no instructions of its own: see --no-inline",
		     show->path, show->function);
	path = show->samples->object[annotated.function.object].path;
	annotated.code = disassembly_make(path, annotated.function.start,
					  places_symbol_end(show->places, annotated.function.object,
							    annotated.function.start));
	annotated.samples = allocate(annotated.code.n, sizeof(*annotated.samples));
	add_samples(&annotated);
	if (show->format != TABLE_CSV)
		put_head(&annotated, path);
	table_begin(&annotated.table, show->format, column, sizeof(column) / sizeof(column[0]));
	add_rows(&annotated);
	table_end(&annotated.table, show->file);
	disassembly_free(&annotated.code);
	free(annotated.samples);
}
