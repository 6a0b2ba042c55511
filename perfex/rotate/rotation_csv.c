// SPDX-License-Identifier: GPL-2.0-or-later
/* CSV as in RFC 4180.  A row "slice" has a count, a row "estimate" has none. */
#include "rotate.h"

#include <math.h>

static void put_head(FILE *file)
{
	fputs("row,set,slice,time_ns,event,counter,modes,count,estimate,half_width,share,slices,steady\r\n",
	      file);
}

static void put_slices(FILE *file, const struct recording *recording, unsigned int set,
		       const struct event *event, const struct series *series)
{
	const struct series *start = &rotation_of(recording)->start[set];

	for (size_t i = 0; i < series->n; i++) {
		fprintf(file, "slice,%u,%zu,%llu,", set, i, (unsigned long long)start->value[i]);
		csv_put_event(file, event);
		fprintf(file, "%llu,,,,,\r\n", (unsigned long long)series->value[i]);
	}
}

static void put_real(FILE *file, double value)
{
	if (isnan(value))
		putc(',', file);
	else
		fprintf(file, ",%.17g", value);
}

static void put_csv(FILE *file, const struct style *style, const struct recording *recording)
{
	const struct rotation *rotation = rotation_of(recording);

	(void)style;
	for (unsigned int set = 0; set < recording->events.n_passes; set++) {
		put_slices(file, recording, set, NULL, &recording->pass[set].tsc);
		for (size_t i = 0; i < recording->events.n; i++)
			if (recording->events.event[i].pass == set)
				put_slices(file, recording, set, &recording->events.event[i],
					   &recording->events.event[i].counts);
	}
	fprintf(file, "total,,,,tsc,,,%llu,,,,,\r\n", (unsigned long long)rotation->tsc);
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = &recording->events.event[i];
		struct estimate estimate = rotation_estimate(rotation, event);

		fprintf(file, "estimate,%u,,,", event->pass);
		csv_put_event(file, event);
		put_real(file, estimate.total);
		put_real(file, estimate.half);
		put_real(file, rotation_share(rotation, event->pass));
		fprintf(file, ",%zu,%s\r\n", event->counts.n,
			isnan(estimate.total) ? ""
			: estimate.unsteady   ? "no"
					      : "yes");
	}
	fprintf(file, "total,,,,elapsed_ns,,,%llu,,,,,\r\n",
		(unsigned long long)rotation->elapsed_ns);
	fprintf(file, "backend,,,,%s,,,,,,,,\r\n", recording->backend);
}

const struct format rotation_csv = { .head = put_head, .recording = put_csv };
