/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples, shown.
 *
 * show_annotate.c	a function's instructions
 * show_table.c		by process, thread, object, function and line
 * show_stacks.c	equal stacks of frames, added up; as text, each on a line
 * show_flame.c		as a picture
 * show_callgrind.c	in callgrind's format
 * show_pprof.c		in pprof's, of messages that wire.c encodes
 * show_raw.c		each by itself, as rows and as perf script prints it
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
	const char *path; /* of the samples */
	const struct samples *samples;
	struct places *places;
	uint32_t event;	      /* ALL_EVENTS; of pictures and stacks one */
	unsigned int by;      /* BY_* */
	unsigned int top;     /* rows; 0: all */
	const char *function; /* to annotate */
	bool outermost;	      /* what was put into a function is its own */
	enum table_format format;
	FILE *file;
};

/* Is an event shown, which has a period?  Is this sample? */
bool show_has_event(const struct show *show, uint32_t event);
bool show_has(const struct show *show, const struct sample_read *sample);
/* What it stands for: one period; it may tell of others, which ended before, wherever that was. */
uint64_t sample_events(const struct samples *samples, const struct sample_read *sample);
/* The function and the line that a place is told of. */
const struct frame *show_frame(const struct show *show, const struct place *place);
/* Behind the event's name: its exact count, which a recording that is cut off has not. */
void show_put_count(const struct show *show, const struct sampled_event *event);
const char *life_name(const struct life *life);

void show_table(const struct show *show);
void show_annotate(const struct show *show);
/* Cells: text from a file, and a share of 1, which may be NAN, in per cent. */
void show_add_text(struct table *table, const char *text);
void show_add_percent(struct table *table, double share);

struct stack {
	char *text; /* "process;outermost;..;innermost" */
	uint64_t events;
};

struct stacks {
	struct stack *stack; /* by text */
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
