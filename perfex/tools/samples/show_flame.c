// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A flame graph: each function is drawn on top of its caller, as wide as its own events and those
 * of all functions that it called.  The page runs no script and loads nothing.
 */
#include "show.h"
#include "../../result/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1200.0
#define ROW 18
#define NARROWEST 0.3 /* of WIDTH; narrower frames are not drawn */

static const char head[] =
	"<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n"
	"<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src "
	"'unsafe-inline'\">\n"
	"<meta name=viewport content=\"width=device-width\"><title>perfex samples</title>\n<style>\n"
	":root{color-scheme:light dark}\n"
	"body{font:15px sans-serif;margin:1em;background:Canvas;color:CanvasText}\n"
	"code{overflow-wrap:anywhere}\n"
	".flame{width:100%;font:11px sans-serif}.flame rect{stroke:Canvas;stroke-width:.5}\n"
	".flame text{fill:#000}\n"
	".c0{fill:#f2a65a}.c1{fill:#f4c06a}.c2{fill:#ee8b60}.c3{fill:#f7d488}\n"
	".c4{fill:#e9a178}.c5{fill:#f1b24a}.c6{fill:#e8c07d}.c7{fill:#f0916c}\n"
	"</style></head><body>\n<h1>perfex samples</h1>\n";

struct flame {
	FILE *file;
	const struct stacks *stacks;
	unsigned int height, deepest;
	bool draws; /* false: only finds the depth */
};

static unsigned int colour_of(const char *name, size_t length)
{
	unsigned int hash = 5381;

	for (size_t i = 0; i < length; i++)
		hash = hash * 33 + (unsigned char)name[i];
	return hash % 8;
}

static void draw_frame(struct flame *flame, unsigned int depth, uint64_t before, uint64_t events,
		       const char *name, size_t length)
{
	double all = (double)flame->stacks->events, width = (double)events / all * WIDTH;
	double left = (double)before / all * WIDTH;
	char *text;

	if (width < NARROWEST)
		return;
	if (depth >= flame->deepest)
		flame->deepest = depth + 1;
	if (!flame->draws)
		return;
	text = text_print("%.*s", (int)length, name);
	fprintf(flame->file, "<svg x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\"><title>", left,
		flame->height - (depth + 1) * ROW, width, ROW);
	html_text(flame->file, text);
	fprintf(flame->file,
		": %" PRIu64
		" events, %.2f %%</title><rect class=c%u width=\"100%%\" height=\"%d\"/>",
		events, 100 * (double)events / all, colour_of(name, length), ROW);
	if (width > 20) {
		fputs("<text x=2 y=13>", flame->file);
		html_text(flame->file, text);
		fputs("</text>", flame->file);
	}
	fputs("</svg>\n", flame->file);
	free(text);
}

static size_t frame_length(const char *text)
{
	return strcspn(text, ";");
}

/*
 * Draws the stacks from first to end.  Their texts are equal up to the place at.  They are divided
 * into runs with the same next frame.  The recursion is as deep as the deepest stack.
 */
static void draw_level(struct flame *flame, size_t first, size_t end, size_t at, unsigned int depth,
		       uint64_t before)
{
	const struct stack *stack = flame->stacks->stack;

	while (first < end) {
		const char *name = stack[first].text + at;
		size_t length = frame_length(name), next = first;
		uint64_t events = 0;

		while (next < end && frame_length(stack[next].text + at) == length &&
		       strncmp(stack[next].text + at, name, length) == 0)
			events += stack[next++].events;
		draw_frame(flame, depth, before, events, name, length);
		/* A stack that ends with this frame is the first of the run. */
		if (name[length])
			draw_level(flame, first, next, at + length + 1, depth + 1, before);
		else if (next > first + 1)
			draw_level(flame, first + 1, next, at + length + 1, depth + 1,
				   before + stack[first].events);
		before += events;
		first = next;
	}
}

void show_flame(const struct show *show)
{
	const struct sampled_event *event = &show->samples->event[show->event];
	struct stacks stacks = stacks_make(show);
	struct flame flame = { .file = show->file, .stacks = &stacks };

	if (stacks.n)
		draw_level(&flame, 0, stacks.n, 0, 0, 0);
	flame.height = flame.deepest * ROW;
	flame.draws = true;
	fputs(head, show->file);
	fputs("<p><code>", show->file);
	html_text(show->file, show->samples->command ? show->samples->command : "");
	fputs("</code></p>\n<p>", show->file);
	html_text(show->file, event->name);
	show_put_count(show, event);
	fprintf(show->file,
		"; the samples stand for %" PRIu64
		". A frame is as wide as its events and those of what it called; what is narrower "
		"than %.3f %% is not drawn.</p>\n<svg class=flame viewBox=\"0 0 %.0f %u\">\n",
		stacks.events, 100 * NARROWEST / WIDTH, WIDTH, flame.height);
	if (stacks.n)
		draw_level(&flame, 0, stacks.n, 0, 0, 0);
	fputs("</svg></body></html>\n", show->file);
	stacks_free(&stacks);
}
