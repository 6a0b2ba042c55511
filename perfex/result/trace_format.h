/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of perfex trace.  It has a line of its version and the rate of the time stamp, a line
 * with the names of the columns, a line for each record, and at the end one with the session's
 * totals:
 *	# perfctr-trace 1 KHZ
 *	cpu,time,type,pid,tid,lost,tsc,EVENT..
 */
#ifndef PERFEX_TRACE_FORMAT_H
#define PERFEX_TRACE_FORMAT_H

#define TRACE_HEAD	"# perfctr-trace 1 "
#define TRACE_COLUMNS	"cpu,time,type,pid,tid,lost,tsc"
#define TRACE_N_COLUMNS 7
#define TRACE_TOTAL	"total"

#endif
