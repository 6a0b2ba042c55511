/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of perf stat: synonyms of perfex's options, and options that are refused with advice. */
#ifndef PERFEX_PERF_OPTIONS_H
#define PERFEX_PERF_OPTIONS_H

#include "options.h"

#define SYSTEM "perfex system counts all that runs on CPUs: perfex system "
#define NO_AGGREGATION SYSTEM "--per-cpu; rules of perfex-rules(5) add"
#define METRICS                                                                                    \
	"-g GROUP counts a group and derives its values, perfex list --groups shows them; or "     \
	"--derive 'ipc = instructions / cycles'"
#define DETAILS                                                                                    \
	"name the events: -e L1-dcache-loads,L1-dcache-load-misses; perfex list cache shows this " \
	"machine's"
#define TERMINAL "perfex groups the digits on a terminal, as the locale has it, and nowhere else"
#define KINDS "events of one kind of core are named like core::r20c4, perfex info shows the kinds"
#define BY_BPF "--backend=bpf counts by BPF, see perfctr-bpfd(8)"
#define NO_PROGRAMS "programs of BPF are not counted; those of the system are: " SYSTEM "[COMMAND]"
#define CGROUPS "a group of processes is counted by perfex mark COMMAND, or -p PID"
#define UNSCALED "counts are never scaled; leave it out"
#define UNSAMPLED "perfex counts, and perfex record takes samples; leave it out"
#define FROM_INSIDE                                                                                \
	"a program says itself what to count: perfctr_region_begin(3), --regions=FILE; "            \
	"--delay=MS begins later"

#define PERF_OPTIONS                                                                               \
	CALL_OPTION("json-output", 0, NULL, NULL, take_format, 1),                                 \
		MODE_OPTION(0, "all-user", NULL, PERFCTR_MODE_USER),                               \
		MODE_OPTION(0, "all-kernel", NULL, PERFCTR_MODE_KERNEL),                           \
		REFUSED_OPTION("per-core", 0, NULL, NO_AGGREGATION),                               \
		REFUSED_OPTION("per-socket", 0, NULL, NO_AGGREGATION),                             \
		REFUSED_OPTION("per-die", 0, NULL, NO_AGGREGATION),                                \
		REFUSED_OPTION("per-node", 0, NULL, NO_AGGREGATION),                               \
		REFUSED_OPTION("per-cluster", 0, NULL, NO_AGGREGATION),                            \
		REFUSED_OPTION("per-cache", 0, NULL, NO_AGGREGATION),                              \
		REFUSED_OPTION("percore-show-thread", 0, NULL, NO_AGGREGATION),                    \
		REFUSED_OPTION(                                                                    \
			"tid", 't', "TID",                                                         \
			"-p PID --per-thread counts all threads of a process, each by itself"),    \
		REFUSED_OPTION("detailed", 0, NULL, DETAILS),                                      \
		REFUSED_OPTION("big-num", 'B', NULL, TERMINAL),                                    \
		REFUSED_OPTION("no-big-num", 0, NULL, TERMINAL),                                   \
		REFUSED_OPTION("null", 'n', NULL,                                                  \
			       "without -e it counts little; time(1) counts nothing"),             \
		REFUSED_OPTION("table", 0, NULL,                                                   \
			       "-r N --csv has a row for each run, perfex report --html a dot"),   \
		REFUSED_OPTION("verbose", 'v', NULL,                                               \
			       "perfex encode -e EVENT shows registers, perfex info the machine"), \
		REFUSED_OPTION("quiet", 0, NULL, "-o /dev/null"),                                  \
		REFUSED_OPTION("metrics", 'M', "NAMES", METRICS),                                  \
		REFUSED_OPTION("metric-only", 0, NULL, METRICS),                                   \
		REFUSED_OPTION("metric-no-group", 0, NULL, METRICS),                               \
		REFUSED_OPTION("metric-no-merge", 0, NULL, METRICS),                               \
		REFUSED_OPTION("metric-no-threshold", 0, NULL, METRICS),                           \
		REFUSED_OPTION("topdown", 0, NULL, METRICS),                                       \
		REFUSED_OPTION("td-level", 0, "N", METRICS),                                       \
		REFUSED_OPTION("pfm-events", 0, "EVENTS", "-e takes libpfm4's names, too"),        \
		REFUSED_OPTION("no-merge", 0, NULL, KINDS),                                        \
		REFUSED_OPTION("hybrid-merge", 0, NULL, KINDS),                                    \
		REFUSED_OPTION("cputype", 0, "KIND", KINDS),                                       \
		REFUSED_OPTION("no-inherit", 0, NULL,                                              \
			       "--self counts COMMAND's first thread, and none that it creates"),  \
		REFUSED_OPTION("interval-print", 0, "MS", "-I MS, --interval=MS"),                 \
		REFUSED_OPTION("interval-count", 0, "N",                                           \
			       "--timeout=MS ends the counting after MS milliseconds"),            \
		REFUSED_OPTION("interval-clear", 0, NULL, "perfex scope draws on the terminal"),   \
		REFUSED_OPTION("summary", 0, NULL, "sums follow the intervals; leave it out"),     \
		REFUSED_OPTION("no-csv-summary", 0, NULL,                                          \
			       "each row of --csv says what it is of; leave it out"),              \
		REFUSED_OPTION("cgroup", 'G', "NAME", CGROUPS),                                    \
		REFUSED_OPTION("for-each-cgroup", 0, "NAMES", CGROUPS),                            \
		REFUSED_OPTION("bpf-prog", 'b', "ID", NO_PROGRAMS),                                \
		REFUSED_OPTION("bpf-counters", 0, NULL, BY_BPF),                                   \
		REFUSED_OPTION("bpf-attr-map", 0, "FILE", BY_BPF),                                 \
		REFUSED_OPTION("control", 0, "FIFO", FROM_INSIDE),                                 \
		REFUSED_OPTION("scale", 'c', NULL, UNSCALED),                                      \
		REFUSED_OPTION("no-scale", 0, NULL, UNSCALED),                                     \
		REFUSED_OPTION("record-tpebs", 0, NULL, UNSAMPLED),                                \
		REFUSED_OPTION("smi-cost", 0, NULL,                                                \
			       "interrupts of system management are not counted"),                 \
		REFUSED_OPTION("sync", 'S', NULL, "--prepare=sync"),                 \
		REFUSED_OPTION("transaction", 'T', NULL,                                           \
			       "name the events; perfex list tx shows this machine's"),            \
		REFUSED_OPTION("pre", 0, "COMMAND", "--prepare=COMMAND"),                          \
		REFUSED_OPTION("post", 0, "COMMAND", "type it behind perfex, after a ;")

#endif
