// SPDX-License-Identifier: GPL-2.0-or-later
#include "rotate.h"

#include <stddef.h>
#include <stdlib.h>

const struct rotation *rotation_of(const struct recording *recording)
{
	return (const struct rotation *)((const char *)recording -
					 offsetof(struct rotation, recording));
}

double rotation_share(const struct rotation *rotation, unsigned int set)
{
	const struct series *tsc = &rotation->recording.pass[set].tsc;
	double sum = 0;

	for (size_t i = 0; i < tsc->n; i++)
		sum += (double)tsc->value[i];
	return rotation->tsc ? sum / (double)rotation->tsc : 0;
}

double rotation_gaps(const struct rotation *rotation)
{
	double rest = 1;

	for (unsigned int set = 0; set < rotation->recording.events.n_passes; set++)
		rest -= rotation_share(rotation, set);
	return rest > 0 ? rest : 0;
}

struct estimate rotation_estimate(const struct rotation *rotation, const struct event *event)
{
	struct estimate estimate =
		estimate_of(event->counts.value, rotation->recording.pass[event->pass].tsc.value,
			    event->counts.n, (double)rotation->tsc,
			    rotation->recording.options->confidence);

	/* It matters if it makes the estimate uncertain. */
	estimate.unsteady &= estimate.half > estimate.total / 100;
	/* The change of sets is perfex's doing: its rate may be 0, or twice that of the rest. */
	estimate.half += rotation_gaps(rotation) * estimate.total;
	return estimate;
}

void rotation_shuffle(unsigned int *order, unsigned int n, unsigned short random[3])
{
	for (unsigned int i = 0; i < n; i++) {
		/* The remainder favours small numbers, by at most n in 2^31. */
		unsigned int j = (unsigned int)nrand48(random) % (i + 1);

		order[i] = order[j];
		order[j] = i;
	}
}
