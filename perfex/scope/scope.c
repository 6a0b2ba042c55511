// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "scope.h"
#include "../perfex.h"
#include "../textfile.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define INTERRUPT 3 /* Ctrl-C, which the terminal hands on */

/* Names that no file has. */
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
	else
		snprintf(view->message, sizeof(view->message), "cannot write '%s': %m", name);
	make_printable(view->message);
	free(name);
}

/* False: it is enough. */
static bool take_keys(const struct scope *scope, struct view *view)
{
	for (int key; (key = screen_key()) >= 0;) {
		if (key == 'q' || key == INTERRUPT)
			return false;
		view->message[0] = '\0';
		if (key == 's')
			save_stream(scope, view);
		else
			view_key(view, key, screen_columns());
	}
	return true;
}

/* False: nothing more will come. */
static bool take_intervals(int source, struct stream *stream)
{
	char text[65536];
	ssize_t n = read(source, text, sizeof(text));

	if (n > 0)
		stream_take(stream, text, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

/* False: q was typed before the end. */
static bool watch_stream(const struct scope *scope, struct stream *stream, struct view *view)
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
				return true;
			snprintf(view->message, sizeof(view->message),
				 "it has ended: q quits, s saves");
		}
		screen_draw(view, scope->title);
		/* A change of size interrupts it. */
		if (poll(polled, 2, -1) < 0)
			polled[0].revents = polled[1].revents = 0;
	} while (!(polled[0].revents & (POLLHUP | POLLERR)) && take_keys(scope, view));
	return polled[1].fd < 0;
}

bool scope_show(const struct scope *scope)
{
	struct stream stream;
	struct view view;
	bool ended;

	stream_begin(&stream);
	view_begin(&view, &stream);
	ended = watch_stream(scope, &stream, &view);
	stream_free(&stream);
	return ended;
}
