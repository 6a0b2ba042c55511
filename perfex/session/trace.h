/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex trace: which marked thread ran when on which CPU, and what was counted.
 *
 * cmd_trace.c	the command line
 * trace_count.c	the session, and its records into a file
 * trace_read.c	the file, record by record
 * trace_sum.c	its counts by thread and by process, as perfex report shows them
 *
 * The file has a line of its version and the rate of the time stamp, a line with the names of the
 * columns, a line for each record, and at the end one with the session's totals:
 *	# perfctr-trace 1 KHZ
 *	cpu,time,type,pid,tid,lost,tsc,EVENT..
 */
#ifndef PERFEX_TRACE_H
#define PERFEX_TRACE_H

#include "../run/run.h"

#define TRACE_HEAD	"# perfctr-trace 1 "
#define TRACE_COLUMNS	"cpu,time,type,pid,tid,lost,tsc"
#define TRACE_N_COLUMNS 7
#define TRACE_TOTAL	"total"

struct trace_options {
	struct options run;
	unsigned int ticks; /* a record also every so many; 0: at switches alone */
};

/* trace_count.c; returns perfex's exit status. */
int trace_count(const struct trace_options *options);

#endif
