/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * count.c	counts events by their names in this thread
 * spawn.c	counts them in the program of a child process
 */
#ifndef PERFCTR_LIB_COUNT_H
#define PERFCTR_LIB_COUNT_H

#include <perfctr_events.h>
#include "line.h"

/* The events of a list of names, their control, and the backend that counts them. */
struct counted {
	struct perfctr_request request[PERFCTR_MAX_COUNTERS];
	struct perfctr_control control;
	const char *backend;
};

int perfctr_counted_parse(struct counted *counted, const char *events, const struct line *line);

/* Opens a context of thread tid, 0 for the caller, with the control installed. */
struct perfctr *perfctr_counted_open(struct counted *counted, pid_t tid, const struct line *line);

#endif
