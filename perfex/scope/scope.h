/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex scope: draws two events over the time on a terminal.
 *
 * stream.c	reads intervals that perfex run or perfex system writes
 * view.c	the part of them that is shown: rates, scales, keys
 * screen.c	draws on the terminal
 * signals.c	catches the signals that end perfex
 * scope.c	the loop, which waits for intervals and keys
 */
#ifndef PERFEX_SCOPE_H
#define PERFEX_SCOPE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { N_PANES = 2, MAX_SCOPE_EVENTS = 64 };
enum { INTERRUPT = 3 }; /* Ctrl-C, which sends no signal while the terminal is raw */

/* stream.c */
struct scope_sample {
	uint64_t end_ns, length_ns;
	uint64_t count[MAX_SCOPE_EVENTS];
};

struct stream {
	FILE *lines; /* all text that was read, for stream_save() */
	char *name[MAX_SCOPE_EVENTS];
	size_t n_events;
	struct scope_sample *sample;
	size_t n;
	char *rest; /* the last line, as long as its end is missing */
	size_t n_rest;
};

void stream_begin(struct stream *stream);
/* Takes text that was read, and appends a sample for each whole line that is an interval. */
void stream_take(struct stream *stream, const char *text, size_t length);
/*
 * Writes all whole lines to path.  Returns false with errno set on an error; ENODATA: there is no
 * whole line.
 */
bool stream_save(const struct stream *stream, const char *path);
void stream_free(struct stream *stream);

/* view.c */
struct pane {
	size_t event;
	double scale; /* rate per second at its whole height; 0: by the largest rate shown */
};

struct view {
	const struct stream *stream;
	struct pane pane[N_PANES];
	unsigned int per_column; /* samples in a column */
	bool paused;
	size_t end;	   /* while paused: samples up to the newest one shown */
	char message[160]; /* in the last line; "": the line shows the keys */
	bool asking;	   /* the user types events */
	char answer[128];
};

void view_begin(struct view *view, const struct stream *stream);
/* Returns the rate per second in a column; negative if there is none.  Column 0 is the newest. */
double view_rate(const struct view *view, const struct pane *pane, size_t column);
/* Returns the rate per second at the pane's whole height if so many columns are shown. */
double view_scale(const struct view *view, const struct pane *pane, size_t n_columns);
/* Returns false if the key means nothing. */
bool view_key(struct view *view, int key, size_t n_columns);
/*
 * Takes a key of the answer.  Returns true if the answer is complete.  It is empty if the user
 * wants no other events.
 */
bool view_answer(struct view *view, int key);

/* screen.c: screen_begin() ends perfex if it cannot draw on the terminal */
void screen_begin(void);
void screen_end(void);
/* For a child: its exit leaves the terminal as it is. */
void screen_forget(void);
int screen_input(void); /* descriptor of the keyboard */
int screen_key(void);	/* negative: no key was typed */
size_t screen_columns(void);
void screen_draw(const struct view *view, const char *title);

/*
 * signals.c: from signals_catch() on, SIGINT, SIGTERM, SIGHUP and SIGQUIT are caught, and delivered
 * only while signals_poll() waits.  Signals that were ignored stay ignored.
 */
void signals_catch(void);
/* For a child: restores the mask of signals, and the default actions. */
void signals_forget(void);
/* As poll(2); -1 with EINTR if a signal was caught. */
int signals_poll(struct pollfd *polled, nfds_t n, int timeout_ms);
int signals_caught(void); /* the last one caught; 0: none */
/* Ends perfex by the signal that was caught, if one was. */
void signals_die(void);

/* scope.c */
enum scope_end {
	SCOPE_QUIT,    /* q was typed, or a signal came */
	SCOPE_ENDED,   /* the same, after the source has ended */
	SCOPE_NOTHING, /* the source has ended without an interval */
	SCOPE_EVENTS,  /* other events were typed, and are in scope.events */
};

struct scope {
	const char *title;
	const char *output; /* file to save to; NULL: a new file */
	int source;	    /* descriptor from which intervals are read */
	/* The reason why no other events can be chosen; NULL: they can. */
	const char *keeps_events;
	char events[128];
	char message[160]; /* shown at the beginning */
};

/*
 * Draws the intervals of the source until the user quits or types other events, or until the source
 * ends without an interval.
 */
enum scope_end scope_show(struct scope *scope);

#endif
