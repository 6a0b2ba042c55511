/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forms in which perfex samples shows samples.
 *
 * show_annotate.c	the instructions of a function
 * show_table.c		a table by process, thread, object, function and line
 * show_stacks.c	equal stacks of frames, added up; each is a line of text
 * show_flame.c		a flame graph of these stacks
 * show_callgrind.c	callgrind's format
 * show_pprof.c		pprof's format; wire.c encodes its messages
 * show_raw.c		each sample by itself, as a row or as perf script prints it
 */
#ifndef PERFEX_SHOW_H
#define PERFEX_SHOW_H

#include "places.h"
#include "../../result/table.h"

#define BY_PROCESS (1u << 0)
#define BY_THREAD (1u << 1)
#define BY_OBJECT (1u << 2)
#define BY_FUNCTION (1u << 3)
#define BY_LINE (1u << 4)

#define ALL_EVENTS UINT32_MAX

struct show {
	const char *path; /* of the recording */
	const struct samples *samples;
	struct places *places;
	uint32_t event;	      /* index of the one event to show; ALL_EVENTS: all */
	unsigned int by;      /* BY_* */
	unsigned int top;     /* most rows; 0: all */
	const char *function; /* to annotate */
	bool outermost;	      /* inlined code belongs to the outermost function */
	enum table_format format;
	FILE *file;
};

/* Returns true if samples of the event are shown.  An event without a period has no samples. */
bool show_has_event(const struct show *show, uint32_t event);
/* Returns true if the sample is one of an event that is shown. */
bool show_has(const struct show *show, const struct sample_read *sample);
/*
 * Returns the number of events that a sample stands for: the period of its event.  Earlier periods
 * that the sample reports are left out, because nobody knows where they ended.
 */
uint64_t sample_events(const struct samples *samples, const struct sample_read *sample);
/* Returns the function and the line that are shown for a place. */
const struct frame *show_frame(const struct show *show, const struct place *place);
/*
 * Writes ": N counted" after the event's name, or ": not counted to the end" if the recording is
 * cut off.
 */
void show_put_count(const struct show *show, const struct sampled_event *event);
const char *life_name(const struct life *life);

void show_table(const struct show *show);
void show_annotate(const struct show *show);
/*
 * Add a cell: text from a file, made printable; or a share from 0 to 1, in per cent, which may be
 * NAN.
 */
void show_add_text(struct table *table, const char *text);
void show_add_percent(struct table *table, double share);

struct stack {
	char *text; /* "process;outermost;..;innermost" */
	uint64_t events;
};

struct stacks {
	struct stack *stack; /* sorted by text */
	size_t n;
	uint64_t events;
};

struct stacks stacks_make(const struct show *show);
void stacks_free(struct stacks *stacks);
void show_folded(const struct show *show);
void show_flame(const struct show *show);
void show_callgrind(const struct show *show);
void show_pprof(const struct show *show);
void show_raw(const struct show *show);
void show_delta(const struct show *show);
void show_script(const struct show *show);

#endif
