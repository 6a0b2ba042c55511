// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "scope.h"
#include "../perfex.h"
#include "../textfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the first name perfex-scope-N.json that no file has, for free(). */
static char *free_name(void)
{
	for (unsigned int i = 1;; i++) {
		char *name = text_print("perfex-scope-%u.json", i);

		if (access(name, F_OK) < 0)
			return name;
		free(name);
	}
}

static void save_stream(const struct scope *scope, struct view *view)
{
	char *name = scope->output ? text_print("%s", scope->output) : free_name();

	if (stream_save(view->stream, name))
		snprintf(view->message, sizeof(view->message), "saved: perfex report --html %s",
			 name);
	else if (errno == ENODATA)
		snprintf(view->message, sizeof(view->message),
			 "there is nothing to save yet: no interval has ended");
	else
		snprintf(view->message, sizeof(view->message), "cannot write '%s': %m", name);
	make_printable(view->message);
	free(name);
}

static void ask_events(const struct scope *scope, struct view *view)
{
	if (scope->keeps_events) {
		snprintf(view->message, sizeof(view->message), "%s", scope->keeps_events);
		return;
	}
	view->asking = true;
	view->answer[0] = '\0';
	view_answer(view, -1);
}

/* Returns false if the user has typed other events. */
static bool take_answer(struct scope *scope, struct view *view, int key)
{
	if (!view_answer(view, key))
		return true;
	view->asking = false;
	view->message[0] = '\0';
	strcpy(scope->events, view->answer);
	return !*scope->events;
}

static bool take_key(struct scope *scope, struct view *view, int key)
{
	if (view->asking)
		return take_answer(scope, view, key);
	if (key == 'q' || key == INTERRUPT)
		return false;
	view->message[0] = '\0';
	if (key == 's')
		save_stream(scope, view);
	else if (key == 'e')
		ask_events(scope, view);
	else
		view_key(view, key, screen_columns());
	return true;
}

/* Returns false if the user quits or has typed other events, or if a signal was caught. */
static bool take_keys(struct scope *scope, struct view *view)
{
	for (int key; (key = screen_key()) >= 0;)
		if (!take_key(scope, view, key))
			return false;
	return !signals_caught();
}

/* Reads from the source.  Returns false at its end, or on an error. */
static bool take_intervals(int source, struct stream *stream)
{
	char text[65536];
	ssize_t n = read(source, text, sizeof(text));

	if (n > 0)
		stream_take(stream, text, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

static enum scope_end watch_stream(struct scope *scope, struct stream *stream, struct view *view)
{
	struct pollfd polled[] = {
		{ .fd = screen_input(), .events = POLLIN },
		{ .fd = scope->source, .events = POLLIN },
	};

	do {
		if (polled[1].revents && !take_intervals(scope->source, stream)) {
			polled[1].fd = -1;
			polled[1].revents = 0;
			if (!stream->n)
				return SCOPE_NOTHING;
			snprintf(view->message, sizeof(view->message),
				 "it has ended: q quits, s saves");
		}
		screen_draw(view, scope->title);
		/* A change of the terminal's size interrupts it, and leaves revents undefined. */
		if (signals_poll(polled, 2, -1) < 0)
			polled[0].revents = polled[1].revents = 0;
	} while (!(polled[0].revents & (POLLHUP | POLLERR)) && take_keys(scope, view));
	if (*scope->events)
		return SCOPE_EVENTS;
	return polled[1].fd < 0 ? SCOPE_ENDED : SCOPE_QUIT;
}

enum scope_end scope_show(struct scope *scope)
{
	struct stream stream;
	struct view view;
	enum scope_end end;

	stream_begin(&stream);
	view_begin(&view, &stream);
	strcpy(view.message, scope->message);
	scope->events[0] = '\0';
	end = watch_stream(scope, &stream, &view);
	stream_free(&stream);
	return end;
}
