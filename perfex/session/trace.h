/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex trace: which marked thread ran when on which CPU, and what was counted.
 *
 * cmd_trace.c	the command line
 * trace_count.c	the session, and its records into a file
 *
 * ../result/trace_format.h has the format of the file, which ../result/trace_read.h reads.
 */
#ifndef PERFEX_TRACE_H
#define PERFEX_TRACE_H

#include "../run/run.h"
#include "../result/trace_format.h"

struct trace_options {
	struct options run;
	unsigned int ticks; /* a record also every so many; 0: at switches alone */
};

/* trace_count.c; returns perfex's exit status. */
int trace_count(const struct trace_options *options);

#endif
