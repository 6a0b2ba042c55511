/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * count.c	events by names: in this thread
 * spawn.c	... in a program of a child process
 */
#ifndef PERFCTR_LIB_COUNT_H
#define PERFCTR_LIB_COUNT_H

#include <perfctr_events.h>
#include "line.h"

/* What a list of names asks for, and of whom. */
struct counted {
	struct perfctr_request request[PERFCTR_MAX_COUNTERS];
	struct perfctr_control control;
	const char *backend;
};

int perfctr_counted_parse(struct counted *counted, const char *events, const struct line *line);

/* The context of thread tid, 0 for the caller, with the control installed. */
struct perfctr *perfctr_counted_open(struct counted *counted, pid_t tid, const struct line *line);

#endif
