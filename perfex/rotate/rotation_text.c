// SPDX-License-Identifier: GPL-2.0-or-later
#include "rotate.h"
#include "../run/text.h"

#include <math.h>
#include <string.h>

/* A line has at most 80 columns, unless it has a long name. */
enum { TOTAL_WIDTH = 16, HALF_WIDTH = 10, SHARE_WIDTH = 7, SLICES_WIDTH = 6 };

/* A number that is too wide for its column keeps six digits. */
static void format_number(char *text, size_t size, const struct style *style, int width,
			  double value)
{
	if (snprintf(text, size, style->grouping ? "%'.0f" : "%.0f", value) > width)
		snprintf(text, size, "%.6g", value);
}

/* "~" tells estimates from counts. */
static void put_estimate(FILE *file, const struct style *style, const struct estimate *estimate)
{
	char total[512] = "~ ", half[512] = "";

	if (isnan(estimate->total)) {
		strcpy(total, "?");
	} else {
		format_number(total + 2, sizeof(total) - 2, style, TOTAL_WIDTH - 2,
			      estimate->total);
		format_number(half, sizeof(half), style, HALF_WIDTH, estimate->half);
	}
	fprintf(file, " %s%*s%s %*s", text_colour(style, BOLD), TOTAL_WIDTH, total,
		text_colour(style, PLAIN), HALF_WIDTH, half);
}

static void put_head(FILE *file, const struct style *style, const struct recording *recording,
		     int width)
{
	char interval[32];

	snprintf(interval, sizeof(interval), "%s%g %%", style->plus_minus ? "±" : "+-",
		 recording->options->confidence);
	/* The sign takes one column, but two bytes. */
	fprintf(file, "%s%-*s %*s %*s %*s %*s  %s%s\n", text_colour(style, BOLD), width, "",
		TOTAL_WIDTH, "estimate", HALF_WIDTH + style->plus_minus, interval, SHARE_WIDTH,
		"of time", SLICES_WIDTH, "slices", "modes", text_colour(style, PLAIN));
}

static void put_event(FILE *file, const struct style *style, const struct recording *recording,
		      const struct event *event, int width)
{
	const struct rotation *rotation = rotation_of(recording);
	struct estimate estimate = rotation_estimate(rotation, event);

	fprintf(file, "%-*s", width, event->name);
	put_estimate(file, style, &estimate);
	fprintf(file, " %*.1f %% %*zu  %s%s%s\n", SHARE_WIDTH - 2,
		100 * rotation_share(rotation, event->pass), SLICES_WIDTH, event->counts.n,
		text_colour(style, DIM), mode_name(event->request.modes),
		text_colour(style, PLAIN));
	if (estimate.unsteady)
		fprintf(file, "  not steady\n");
}

static void put_text(FILE *file, const struct style *style, const struct recording *recording)
{
	const struct rotation *rotation = rotation_of(recording);
	int width = text_name_width(recording);
	double share = 0;
	size_t slices = 0;

	for (unsigned int set = 0; set < recording->events.n_passes; set++) {
		share += rotation_share(rotation, set);
		slices += recording->pass[set].tsc.n;
	}
	put_head(file, style, recording, width);
	fprintf(file, "%-*s", width, "tsc");
	putc(' ', file);
	text_put_count(file, style, TOTAL_WIDTH, rotation->tsc);
	fprintf(file, " %*s %*.1f %% %*zu\n", HALF_WIDTH, "", SHARE_WIDTH - 2, 100 * share,
		SLICES_WIDTH, slices);
	for (size_t i = 0; i < recording->events.n; i++)
		put_event(file, style, recording, &recording->events.event[i], width);
	fprintf(file, "%-*s %*.6f  seconds\n", width, "elapsed", TEXT_COUNT_WIDTH,
		(double)rotation->elapsed_ns / 1e9);
	fprintf(file, "%-*s %*u  in turn, each for %u ms\n", width, "sets", TEXT_COUNT_WIDTH,
		recording->events.n_passes, rotation->options->slice_ms);
	if (recording->running)
		fprintf(file, "%-*s %*u\n", width, "members", TEXT_COUNT_WIDTH, recording->running);
	fprintf(file, "%-*s %*s\n", width, "backend", TEXT_COUNT_WIDTH, recording->backend);
}

const struct format rotation_text = { .recording = put_text };
