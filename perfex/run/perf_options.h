/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of perf stat: those that perfex spells otherwise, and those that it answers. */
#ifndef PERFEX_PERF_OPTIONS_H
#define PERFEX_PERF_OPTIONS_H

#include "options.h"

#define SYSTEM "perfex system counts on CPUs, whoever runs there: perfex system "
#define NO_AGGREGATION SYSTEM "--per-cpu; rules of perfex-rules(5) add"
#define METRICS                                                                                    \
	"a value is derived by a rule: --derive 'ipc = instructions / cycles', or --rules=FILE"
#define DETAILS                                                                                    \
	"name the events: -e L1-dcache-loads,L1-dcache-load-misses; perfex list cache shows this " \
	"machine's"
#define TERMINAL "perfex groups the digits on a terminal, as the locale has it, and nowhere else"

#define PERF_OPTIONS                                                                               \
	CALL_OPTION("json-output", 0, NULL, NULL, take_format, 1),                                 \
		CALL_OPTION("all-user", 0, NULL, NULL, take_modes, PERFCTR_MODE_USER),             \
		CALL_OPTION("all-kernel", 0, NULL, NULL, take_modes, PERFCTR_MODE_KERNEL),         \
		REFUSED_OPTION("all-cpus", 'a', NULL, SYSTEM "[COMMAND]"),                         \
		REFUSED_OPTION("cpu", 'C', "LIST", SYSTEM "--cpus=LIST"),                          \
		REFUSED_OPTION("no-aggr", 'A', NULL, SYSTEM "--per-cpu"),                          \
		REFUSED_OPTION("per-core", 0, NULL, NO_AGGREGATION),                               \
		REFUSED_OPTION("per-socket", 0, NULL, NO_AGGREGATION),                             \
		REFUSED_OPTION("per-die", 0, NULL, NO_AGGREGATION),                                \
		REFUSED_OPTION("per-node", 0, NULL, NO_AGGREGATION),                               \
		REFUSED_OPTION(                                                                    \
			"tid", 't', "TID",                                                         \
			"-p PID --per-thread counts all threads of a process, each by itself"),    \
		REFUSED_OPTION("detailed", 0, NULL, DETAILS),                                      \
		REFUSED_OPTION("big-num", 'B', NULL, TERMINAL),                                    \
		REFUSED_OPTION("no-big-num", 0, NULL, TERMINAL),                                   \
		REFUSED_OPTION("null", 'n', NULL,                                                  \
			       "without -e it counts little; time(1) counts nothing"),             \
		REFUSED_OPTION("verbose", 'v', NULL,                                               \
			       "perfex encode -e EVENT shows registers, perfex info the machine"), \
		REFUSED_OPTION("metrics", 'M', "NAMES", METRICS),                                  \
		REFUSED_OPTION("metric-only", 0, NULL, METRICS),                                   \
		REFUSED_OPTION("topdown", 0, NULL, METRICS),                                       \
		REFUSED_OPTION("no-inherit", 0, NULL,                                              \
			       "--self counts COMMAND's first thread, and none that it creates"),  \
		REFUSED_OPTION("interval-print", 0, "MS", "-I MS, --interval=MS"),                 \
		REFUSED_OPTION("interval-count", 0, "N",                                           \
			       "--timeout=MS ends the counting after MS milliseconds"),            \
		REFUSED_OPTION(                                                                    \
			"cgroup", 'G', "NAME",                                                     \
			"a group of processes is counted by perfex mark COMMAND, or -p PID"),      \
		REFUSED_OPTION("scale", 'c', NULL, "counts are never scaled; leave it out"),       \
		REFUSED_OPTION("sync", 'S', NULL, "type sync in front of perfex"),                 \
		REFUSED_OPTION("transaction", 'T', NULL,                                           \
			       "name the events; perfex list tx shows this machine's"),            \
		REFUSED_OPTION("pre", 0, "COMMAND", "--warmup=N runs COMMAND itself before"),      \
		REFUSED_OPTION("post", 0, "COMMAND", "type it behind perfex, after a ;")

#endif
