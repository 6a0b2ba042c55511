/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex trace: records which marked thread ran when on which CPU, and the counts.
 *
 * cmd_trace.c	the command line
 * trace_count.c	the session, and the copying of its records to a file
 *
 * ../result/trace_format.h describes the file's format, and ../result/trace_read.h reads it.
 */
#ifndef PERFEX_TRACE_H
#define PERFEX_TRACE_H

#include "../run/run.h"
#include "../result/trace_format.h"

struct trace_options {
	struct options run;
	unsigned int ticks; /* also a record every so many ticks; 0: only at switches */
};

/* trace_count.c; returns perfex's exit status. */
int trace_count(const struct trace_options *options);

#endif
