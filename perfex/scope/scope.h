/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex scope: two events over the time, on a terminal.
 *
 * stream.c	intervals, as perfex run and perfex system write them
 * view.c	what of them is seen: rates, scales, keys
 * screen.c	the terminal
 * signals.c	those that end perfex
 * scope.c	the loop: what comes from the counting and from the keyboard
 */
#ifndef PERFEX_SCOPE_H
#define PERFEX_SCOPE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { N_PANES = 2, MAX_SCOPE_EVENTS = 64 };
enum { INTERRUPT = 3 }; /* Ctrl-C, which the terminal hands on */

/* stream.c */
struct scope_sample {
	uint64_t end_ns, length_ns;
	uint64_t count[MAX_SCOPE_EVENTS];
};

struct stream {
	FILE *lines; /* all that came, to be saved */
	char *name[MAX_SCOPE_EVENTS];
	size_t n_events;
	struct scope_sample *sample;
	size_t n;
	char *rest; /* of a line whose end has not come */
	size_t n_rest;
};

void stream_begin(struct stream *stream);
void stream_take(struct stream *stream, const char *text, size_t length);
/* Copies all that came; false with errno set. */
bool stream_save(const struct stream *stream, const char *path);
void stream_free(struct stream *stream);

/* view.c */
struct pane {
	size_t event;
	double scale; /* per second, of its whole height; 0: as the largest that is seen */
};

struct view {
	const struct stream *stream;
	struct pane pane[N_PANES];
	unsigned int per_column; /* samples */
	bool paused;
	size_t end;	   /* of the samples that are seen, while paused */
	char message[160]; /* below; "": the keys */
	bool asking;	   /* for events, which are typed */
	char answer[128];
};

void view_begin(struct view *view, const struct stream *stream);
/* The rate of the column, counted from the newest, 0; negative: there is none. */
double view_rate(const struct view *view, const struct pane *pane, size_t column);
/* What the pane's height is, where so many columns are seen. */
double view_scale(const struct view *view, const struct pane *pane, size_t n_columns);
/* false: the key means nothing */
bool view_key(struct view *view, int key, size_t n_columns);
/* A key of the answer; true: it is complete, or empty if nothing is wanted. */
bool view_answer(struct view *view, int key);

/* screen.c; where nothing can be drawn, perfex ends */
void screen_begin(void);
void screen_end(void);
/* In a child, which leaves the terminal alone. */
void screen_forget(void);
int screen_input(void); /* descriptor of the keyboard */
int screen_key(void);	/* negative: none is there */
size_t screen_columns(void);
void screen_draw(const struct view *view, const char *title);

/* signals.c: SIGINT, SIGTERM, SIGHUP and SIGQUIT come while signals_poll() waits, and are kept. */
void signals_catch(void);
/* In a child: as before signals_catch(). */
void signals_forget(void);
int signals_poll(struct pollfd *polled, nfds_t n, int timeout_ms);
int signals_caught(void); /* 0: none */
/* Ends perfex by the signal that was caught, if one was. */
void signals_die(void);

/* scope.c */
enum scope_end {
	SCOPE_QUIT,    /* q was typed, or a signal came */
	SCOPE_ENDED,   /* the source has, and q was typed */
	SCOPE_NOTHING, /* the source has, without an interval */
	SCOPE_EVENTS,  /* others were typed, into events */
};

struct scope {
	const char *title;
	const char *output; /* where to save; NULL: a new file */
	int source;	    /* where the intervals come from */
	/* Why no other events can be chosen; NULL: they can. */
	const char *keeps_events;
	char events[128];
	char message[160]; /* to be shown first */
};

/* On the screen. */
enum scope_end scope_show(struct scope *scope);

#endif
