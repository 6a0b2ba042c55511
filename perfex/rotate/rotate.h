/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex rotate: counts marked processes by sets of events that take turns, in one run, and
 * estimates how many each event has in all of it.
 *
 * ../cmd_rotate.c	the command line
 * rotate_run.c		the run: its slices, in which the sets take turns
 * rotation.c		the order of the sets, and the estimates
 * rotation_text.c, rotation_csv.c, rotation_json.c	output formats
 *
 * A set is a pass of ../run/events.c.  A slice is what ../run/recording.c keeps as a run of one
 * pass: its counts are exact.  ../stats/estimate.h estimates from them.
 */
#ifndef PERFEX_ROTATE_H
#define PERFEX_ROTATE_H

#include "../session/mark.h"
#include "../stats/estimate.h"

#define ROTATE_DEFAULT_MS 10

struct rotate_options {
	struct mark_options mark; /* events, processes, output */
	unsigned int slice_ms;
	unsigned int seed; /* of the order of the sets; 0: another one in each run */
};

struct rotation {
	const struct rotate_options *options;
	struct recording recording;
	struct marking marking;		 /* its session counts the time, and nothing else */
	struct perfctr_session *session; /* of the set in turn */
	uint64_t started_ns;		 /* of the present slice, CLOCK_MONOTONIC */
	uint64_t elapsed_ns;
	uint64_t tsc;	      /* ticks of the time stamp, in slices and between them */
	struct series *start; /* of each set's slices, in ns */
	unsigned int *order;  /* of the sets in the present round */
	unsigned int turn;    /* index of the present set in order */
	unsigned int seed;
	unsigned short random[3]; /* state of nrand48(3) */
	uint32_t flags;		  /* PERFCTR_COUNTS_* of all slices */
	bool failed;		  /* the next set was refused, which has been reported */
};

/* rotate_run.c */
/*
 * Counts the processes, and returns perfex's exit status.  If all events fit together, that is
 * perfex mark: nothing is estimated.
 */
int rotate_command(struct rotate_options *options);

/* rotation.c */
/* Puts n sets into a random order: each set has the same chance at each place. */
void rotation_shuffle(unsigned int *order, unsigned int n, unsigned short random[3]);
/* Returns the rotation that the recording is part of. */
const struct rotation *rotation_of(const struct recording *recording);
/* Returns the part of the processes' time in which the set was counted. */
double rotation_share(const struct rotation *rotation, unsigned int set);
/* Returns the part of the processes' time between slices, in which no set was counted. */
double rotation_gaps(const struct rotation *rotation);
/*
 * The interval allows for gaps between slices with a rate from 0 to twice the estimated one.  An
 * event is unsteady only if the interval is wider than 1 % of the estimate without the gaps.
 */
struct estimate rotation_estimate(const struct rotation *rotation, const struct event *event);

extern const struct format rotation_text, rotation_csv, rotation_json;

#endif
