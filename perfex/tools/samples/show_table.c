// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "shares.h"
#include "show.h"

#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct row {
	uint32_t event;
	const struct life *life; /* NULL: not by process */
	int tid;
	const char *object, *function, *file; /* NULL: not by this */
	int line;
	uint64_t samples;
	uint64_t periods; /* that the samples stand for */
};

struct rows {
	const struct show *show;
	void *tree;
	struct row **row;
	size_t n;
	void *threads; /* tsearch(3) of struct thread */
	/* One for each event: */
	uint64_t *n_samples;
	uint64_t *n_periods; /* of all rows */
	uint64_t *n_late;    /* earlier periods that samples report, in no row */
};

bool show_has_event(const struct show *show, uint32_t event)
{
	return show->samples->event[event].period &&
	       (show->event == ALL_EVENTS || event == show->event);
}

bool show_has(const struct show *show, const struct sample_read *sample)
{
	return show->event == ALL_EVENTS || sample->event == show->event;
}

uint64_t sample_events(const struct samples *samples, const struct sample_read *sample)
{
	return samples->event[sample->event].period;
}

const struct frame *show_frame(const struct show *show, const struct place *place)
{
	return &place->frame[show->outermost ? place->n_frames - 1 : 0];
}

void show_put_count(const struct show *show, const struct sampled_event *event)
{
	if (show->samples->cut)
		fputs(": not counted to the end", show->file);
	else
		fprintf(show->file, ": %" PRIu64 " counted", event->count);
}

const char *life_name(const struct life *life)
{
	return life->name ? life->name : "[unknown]";
}

static int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

/*
 * Compares by pid and name.  Programs of one process with the same name are therefore in one row.
 */
static int compare_lives(const struct life *a, const struct life *b)
{
	if (a == b || !a || !b)
		return 0;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return strcmp(life_name(a), life_name(b));
}

static int compare_keys(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int difference;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	difference = compare_lives(x->life, y->life);
	if (!difference)
		difference = x->tid - y->tid;
	if (!difference)
		difference = compare_texts(x->object, y->object);
	if (!difference)
		difference = compare_texts(x->function, y->function);
	if (!difference)
		difference = compare_texts(x->file, y->file);
	if (!difference)
		difference = x->line - y->line;
	return difference;
}

/* Compares rows of an event so that the one with the most periods comes first. */
static int compare_rows(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->periods != y->periods)
		return x->periods < y->periods ? 1 : -1;
	return compare_keys(x, y);
}

struct thread { /* as it was when this event was last sampled */
	int tid;
	uint32_t event;
	const struct life *life;
};

static int compare_threads(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->event > y->event) - (x->event < y->event);
}

/*
 * Returns true if the thread is in the same life as at its last sample of this event.  At its first
 * sample, returns true if this is the first life of the pid.
 */
static bool has_stayed(struct rows *rows, const struct sample_read *sample)
{
	struct thread *thread = allocate(1, sizeof(*thread)), **found;
	const struct life *before;

	*thread = (struct thread){ sample->tid, sample->event, sample->life };
	found = tsearch(thread, &rows->threads, compare_threads);
	if (!found)
		fail("out of memory");
	if (*found == thread)
		return sample->life->first;
	before = (*found)->life;
	**found = *thread;
	free(thread);
	return before == sample->life;
}

/*
 * A sample shows where its last period ended.  The other periods that it reports belong to the same
 * thread.  They belong to the same program too, unless the thread has executed another program
 * since its last sample.
 */
static void add_periods(struct rows *rows, struct row *row, const struct sample_read *sample)
{
	uint64_t late = sample->periods - (sample->periods != 0), own = 1;

	if (!(rows->show->by & (BY_OBJECT | BY_FUNCTION | BY_LINE)) && has_stayed(rows, sample))
		own += late;
	else
		rows->n_late[sample->event] += late;
	row->samples++;
	row->periods += own;
	rows->n_samples[sample->event]++;
	rows->n_periods[sample->event] += own;
}

static void add_sample(struct rows *rows, const struct sample_read *sample)
{
	unsigned int by = rows->show->by;
	struct row key = { .event = sample->event }, **found, *row;

	if (by & (BY_PROCESS | BY_THREAD))
		key.life = sample->life;
	if (by & BY_THREAD)
		key.tid = sample->tid;
	if (by & (BY_OBJECT | BY_FUNCTION | BY_LINE)) {
		const struct place *place = places_find(rows->show->places, sample, NULL);
		const struct frame *frame = show_frame(rows->show, place);

		if (by & (BY_OBJECT | BY_FUNCTION))
			key.object = place->object_name;
		if (by & BY_FUNCTION)
			key.function = frame->function;
		if (by & BY_LINE) {
			key.file = frame->file ? frame->file : "[unknown]";
			key.line = frame->file ? frame->line : 0;
		}
	}
	found = tfind(&key, &rows->tree, compare_keys);
	if (!found) {
		row = allocate(1, sizeof(*row));
		*row = key;
		found = tsearch(row, &rows->tree, compare_keys);
		if (!found)
			fail("out of memory");
		rows->row = grow(rows->row, rows->n, sizeof(row));
		rows->row[rows->n++] = row;
	}
	add_periods(rows, *found, sample);
}

static size_t make_columns(const struct show *show, struct column column[16])
{
	size_t n = 0;

	if (show->format == TABLE_CSV)
		column[n++] = (struct column){ "event", LEFT };
	column[n++] = (struct column){ "samples", RIGHT };
	column[n++] = (struct column){ "events", RIGHT };
	column[n++] = (struct column){ "share %", RIGHT };
	column[n++] = (struct column){ "from", RIGHT };
	column[n++] = (struct column){ "to", RIGHT };
	if (show->by & (BY_PROCESS | BY_THREAD)) {
		column[n++] = (struct column){ "process", LEFT };
		column[n++] = (struct column){ "pid", RIGHT };
	}
	if (show->by & BY_THREAD)
		column[n++] = (struct column){ "tid", RIGHT };
	if (show->by & (BY_OBJECT | BY_FUNCTION))
		column[n++] = (struct column){ "object", LEFT };
	if (show->by & BY_FUNCTION)
		column[n++] = (struct column){ "function", LEFT };
	if (show->by & BY_LINE)
		column[n++] = (struct column){ "line", LEFT };
	return n;
}

void show_add_text(struct table *table, const char *text)
{
	char *copy = text_print("%s", text);

	make_printable(copy);
	table_add_text(table, copy);
	free(copy);
}

void show_add_percent(struct table *table, double share)
{
	uint64_t millionths = isnan(share) ? 0 : (uint64_t)llround(1e6 * share);

	if (isnan(share))
		table_add_number(table, share);
	else if (table->format == TABLE_CSV) /* a decimal point in every locale */
		table_add(table, "%" PRIu64 ".%04" PRIu64, millionths / 10000, millionths % 10000);
	else
		table_add(table, "%.2f", 100 * share);
}

static void add_numbers(const struct rows *rows, struct table *table, const struct row *row)
{
	const struct sampled_event *event = &rows->show->samples->event[row->event];
	struct share share = share_of(row->periods, rows->n_periods[row->event]);

	if (table->format == TABLE_CSV)
		show_add_text(table, event->name);
	table_add(table, "%" PRIu64, row->samples);
	table_add(table, "%" PRIu64, row->periods * event->period);
	show_add_percent(table, share.value);
	show_add_percent(table, share.low);
	show_add_percent(table, share.high);
}

static void add_row(const struct rows *rows, struct table *table, const struct row *row)
{
	unsigned int by = rows->show->by;

	add_numbers(rows, table, row);
	if (by & (BY_PROCESS | BY_THREAD)) {
		show_add_text(table, life_name(row->life));
		table_add(table, "%d", row->life->pid);
	}
	if (by & BY_THREAD)
		table_add(table, "%d", row->tid);
	if (by & (BY_OBJECT | BY_FUNCTION))
		show_add_text(table, row->object);
	if (by & BY_FUNCTION)
		show_add_text(table, row->function);
	if (by & BY_LINE) {
		char *line = row->line ? text_print("%s:%d", row->file, row->line)
				       : text_print("%s", row->file);

		show_add_text(table, line);
		free(line);
	}
}

static void fill_row(struct table *table, size_t before, size_t n_columns)
{
	while (table->n_cells - before < n_columns)
		table_add_text(table, "");
}

/* Adds one row for all that the top rows leave out. */
static void add_others(const struct rows *rows, struct table *table, const struct row *others,
		       size_t n_columns)
{
	size_t before = table->n_cells;

	if (!others->samples)
		return;
	add_numbers(rows, table, others);
	table_add_text(table, "(others)");
	fill_row(table, before, n_columns);
}

/* Adds a row with a sum, for programs.  For people, sums are written before the table. */
static void add_sum(const struct rows *rows, struct table *table, uint32_t event, const char *name,
		    uint64_t events, size_t n_columns)
{
	size_t before = table->n_cells;

	show_add_text(table, rows->show->samples->event[event].name);
	table_add_text(table, "");
	table_add(table, "%" PRIu64, events);
	for (size_t i = 0; i < 3; i++)
		table_add_text(table, "");
	table_add_text(table, name);
	fill_row(table, before, n_columns);
}

/* Returns the part of a clock's time that no sample stands for, not even a lost one. */
static uint64_t unsampled_time(const struct samples *samples, uint32_t i)
{
	const struct sampled_event *event = &samples->event[i];
	uint64_t sampled = samples->n * event->period + event->lost_weight;

	return samples->clock && !samples->cut && event->count > sampled ? event->count - sampled
									 : 0;
}

static void add_sums(const struct rows *rows, struct table *table, uint32_t i, size_t n_columns)
{
	const struct sampled_event *event = &rows->show->samples->event[i];

	add_sum(rows, table, i, "(late)", rows->n_late[i] * event->period, n_columns);
	if (rows->show->samples->cut)
		return;
	add_sum(rows, table, i, "(lost)", event->lost_weight, n_columns);
	if (rows->show->samples->clock)
		add_sum(rows, table, i, "(no sample)", unsampled_time(rows->show->samples, i),
			n_columns);
	add_sum(rows, table, i, "(counted)", event->count, n_columns);
}

static void print_rows(const struct rows *rows, uint32_t event, struct table *table,
		       size_t n_columns)
{
	struct row others = { .event = event };
	size_t shown = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct row *row = rows->row[i];

		if (row->event != event)
			continue;
		if (!rows->show->top || shown++ < rows->show->top) {
			add_row(rows, table, row);
			continue;
		}
		others.samples += row->samples;
		others.periods += row->periods;
	}
	add_others(rows, table, &others, n_columns);
}

/* Writes the exact count, and how many events the samples stand for. */
static void print_event(const struct rows *rows, uint32_t i)
{
	const struct sampled_event *event = &rows->show->samples->event[i];
	uint64_t rest = unsampled_time(rows->show->samples, i);
	char *name = text_print("%s", event->name);
	FILE *file = rows->show->file;

	make_printable(name);
	fputs(name, file);
	show_put_count(rows->show, event);
	if (event->period)
		fprintf(file,
			"; %" PRIu64 " samples, one for each %" PRIu64 ", stand for %" PRIu64 "%s",
			rows->n_samples[i], event->period, rows->n_periods[i] * event->period,
			rows->n_periods[i] > rows->n_samples[i] ? " with what they found late"
								: "");
	putc('\n', file);
	if (rows->n_late[i])
		fprintf(file, "  %" PRIu64 " more were found late, and are in no row\n",
			rows->n_late[i] * event->period);
	if (event->lost_weight)
		fprintf(file, "  %" PRIu64 " more are of samples that were lost\n",
			event->lost_weight);
	if (rest)
		fprintf(file,
			"  %" PRIu64
			" more have no sample: of short threads, late timers, or another "
			"mode\n",
			rest);
	free(name);
}

static bool is_shown(const struct show *show, uint32_t event)
{
	return show->event == ALL_EVENTS || show->event == event;
}

static void print_all(const struct rows *rows)
{
	const struct show *show = rows->show;
	struct column column[16];
	size_t n_columns = make_columns(show, column);
	bool csv = show->format == TABLE_CSV;
	struct table table;

	if (csv)
		table_begin(&table, show->format, column, n_columns);
	for (uint32_t i = 0; i < show->samples->n_events; i++) {
		if (!is_shown(show, i))
			continue;
		if (!csv)
			print_event(rows, i);
		if (!show->samples->event[i].period) {
			if (csv && !show->samples->cut)
				add_sum(rows, &table, i, "(counted)", show->samples->event[i].count,
					n_columns);
			continue;
		}
		if (!csv)
			table_begin(&table, show->format, column, n_columns);
		print_rows(rows, i, &table, n_columns);
		if (csv)
			add_sums(rows, &table, i, n_columns);
		else
			table_end(&table, show->file);
	}
	if (csv)
		table_end(&table, show->file);
}

void show_table(const struct show *show)
{
	const struct samples *samples = show->samples;
	struct rows rows = { .show = show };

	rows.n_late = allocate(samples->n_events, sizeof(*rows.n_late));
	rows.n_samples = allocate(samples->n_events, sizeof(*rows.n_samples));
	rows.n_periods = allocate(samples->n_events, sizeof(*rows.n_periods));
	for (size_t i = 0; i < samples->n; i++)
		if (show_has(show, &samples->sample[i]))
			add_sample(&rows, &samples->sample[i]);
	if (rows.n)
		qsort(rows.row, rows.n, sizeof(*rows.row), compare_rows);
	print_all(&rows);
	tdestroy(rows.tree, free);
	tdestroy(rows.threads, free);
	free(rows.row);
	free(rows.n_late);
	free(rows.n_samples);
	free(rows.n_periods);
}
