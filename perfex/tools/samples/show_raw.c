// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shows each sample by itself: as a row with all counts of its thread then, or since the thread's
 * last sample; or as text like perf script's, which other tools read.
 */
#define _GNU_SOURCE
#include "show.h"

#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct thread_before {
	int tid;
	const struct sample_read *sample;
};

static int compare_tids(const void *a, const void *b)
{
	const struct thread_before *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/*
 * Returns the last sample of the same thread, and keeps this one.  Returns NULL if the thread had
 * no sample before.
 */
static const struct sample_read *take_before(void **tree, const struct sample_read *sample)
{
	struct thread_before *entry = allocate(1, sizeof(*entry)), **found;
	const struct sample_read *before;

	*entry = (struct thread_before){ sample->tid, sample };
	found = tsearch(entry, tree, compare_tids);
	if (!found)
		fail("out of memory");
	if (*found == entry)
		return NULL;
	before = (*found)->sample;
	(*found)->sample = sample;
	free(entry);
	/* The tsc of a thread never goes back.  If this one did, a new thread got the tid. */
	return before->tsc > sample->tsc ? NULL : before;
}

/* Adds the virtual time stamp and the counts, which samples of a clock do not have. */
static void put_counts(const struct samples *samples, const struct sample_read *sample,
		       const struct sample_read *before, struct table *table)
{
	if (samples->clock) {
		table_add_number(table, NAN);
		table_add_number(table, NAN);
		return;
	}
	table_add(table, "%" PRIu64, sample->tsc - (before ? before->tsc : 0));
	for (size_t i = 0; i < samples->n_events; i++)
		table_add(table, "%" PRIu64,
			  samples->number[sample->numbers + i] -
				  (before ? samples->number[before->numbers + i] : 0));
}

static void put_row(const struct show *show, const struct sample_read *sample,
		    const struct sample_read *before, struct table *table)
{
	const struct samples *samples = show->samples;
	const struct place *place = places_find(show->places, sample, NULL);
	char *name;

	table_add(table, "%" PRIu64, sample->time);
	table_add(table, "%u", sample->cpu);
	table_add(table, "%d", sample->pid);
	table_add(table, "%d", sample->tid);
	name = text_print("%s", samples->event[sample->event].name);
	make_printable(name);
	table_add_text(table, name);
	free(name);
	table_add(table, "%" PRIu64, sample->periods);
	table_add(table, "%" PRIu64, sample->late);
	table_add(table, "0x%" PRIx64, sample->ip);
	name = text_print("%s", show_frame(show, place)->function);
	make_printable(name);
	table_add_text(table, name);
	free(name);
	put_counts(samples, sample, before, table);
}

static void put_rows(const struct show *show, bool delta)
{
	static const char *const titles[] = { "time",	 "cpu",	 "pid", "tid",	    "event",
					      "periods", "late", "ip",	"function", "tsc" };
	enum { FIXED = sizeof(titles) / sizeof(titles[0]) };
	const struct samples *samples = show->samples;
	struct column column[FIXED + PERFCTR_MAX_COUNTERS];
	void *tree = NULL;
	struct table table;

	for (size_t i = 0; i < FIXED; i++)
		column[i] = (struct column){ titles[i], i == 4 || i == 8 ? LEFT : RIGHT };
	for (size_t i = 0; i < samples->n_events; i++)
		column[FIXED + i] = (struct column){ samples->event[i].name, RIGHT };
	table_begin(&table, show->format, column, FIXED + samples->n_events);
	for (size_t i = 0; i < samples->n; i++) {
		const struct sample_read *sample = &samples->sample[i];
		const struct sample_read *before = delta ? take_before(&tree, sample) : NULL;

		if (show_has(show, sample))
			put_row(show, sample, before, &table);
	}
	table_end(&table, show->file);
	tdestroy(tree, free);
}

void show_raw(const struct show *show)
{
	put_rows(show, false);
}

void show_delta(const struct show *show)
{
	put_rows(show, true);
}

static void put_clean(FILE *file, const char *text)
{
	char *copy = text_print("%s", text);

	make_printable(copy);
	fputs(copy, file);
	free(copy);
}

static void put_line(const struct show *show, const struct place *place, uint64_t address)
{
	fprintf(show->file, "\t%16" PRIx64 " ", address);
	put_clean(show->file, place->symbol);
	if (place->symbol_start)
		fprintf(show->file, "+0x%" PRIx64, place->address - place->symbol_start);
	fputs(" (", show->file);
	put_clean(show->file, place->object_name);
	fputs(")\n", show->file);
}

/*
 * Writes for each sample: COMM PID/TID [CPU] SECONDS: PERIOD EVENT:, a line for the address, a line
 * for each caller, and an empty line.
 */
void show_script(const struct show *show)
{
	const struct samples *samples = show->samples;

	for (size_t i = 0; i < samples->n; i++) {
		const struct sample_read *sample = &samples->sample[i];
		const uint64_t *chain = &samples->number[sample->chain];
		uint64_t khz = samples->khz ? samples->khz : 1000000, ms = sample->time / khz;

		if (!show_has(show, sample))
			continue;
		put_clean(show->file, life_name(sample->life));
		fprintf(show->file, " %d/%d [%03u] %" PRIu64 ".%06" PRIu64 ": %" PRIu64 " ",
			sample->pid, sample->tid, sample->cpu, ms / 1000,
			ms % 1000 * 1000 + sample->time % khz * 1000 / khz,
			sample_events(samples, sample));
		put_clean(show->file, samples->event[sample->event].name);
		fputs(":\n", show->file);
		put_line(show, places_find(show->places, sample, NULL), sample->ip);
		for (uint32_t k = 0; k < sample->depth; k++)
			put_line(show, places_find(show->places, sample, &chain[k]), chain[k]);
		putc('\n', show->file);
	}
}
