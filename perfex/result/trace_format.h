/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of a file of perfex trace.  The first line has the version and the rate of the time
 * stamp counter in kHz.  The second line has the names of the columns.  Each record has a line.
 * The last line has the totals of the session.
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
