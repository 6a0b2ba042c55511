// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of "perfex system". */
#define _GNU_SOURCE
#include "session/session.h"
#include "session/system.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void take_policy(void *target, const struct option_row *row, const char *text)
{
	struct system_options *options = target;

	options->policy |= parse_policy(text);
}

/*
 * Sets *cpu to the number that text begins with, and returns the text behind it.  Returns NULL if
 * there is no number, or if it is CPU_SETSIZE or more.
 */
static const char *take_cpu(const char *text, unsigned int *cpu)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	value = strtoul(text, &end, 10);
	*cpu = (unsigned int)value;
	return value < CPU_SETSIZE ? end : NULL;
}

static bool parse_cpus(const char *text, cpu_set_t *cpus)
{
	unsigned int first, last;

	CPU_ZERO(cpus);
	for (;; text++) {
		text = take_cpu(text, &first);
		last = first;
		if (text && *text == '-')
			text = take_cpu(text + 1, &last);
		if (!text || first > last || (*text && *text != ','))
			return false;
		for (; first <= last; first++)
			CPU_SET(first, cpus);
		if (!*text)
			return true;
	}
}

static void take_cpus(void *target, const struct option_row *row, const char *text)
{
	struct system_options *options = target;

	if (!parse_cpus(text, &options->cpus))
		fail("--%s=%s: give numbers of CPUs from 0 to %d, like 0,2-3", row->name, text,
		     CPU_SETSIZE - 1);
	options->cpu_list = text;
}

enum { AT = offsetof(struct system_options, run) };

static const struct option_row rows[] = {
	EVENT_OPTION(AT, "count EVENT; may be repeated; by default: instructions\n"
			 "and cycles, or page faults and switches without a PMU"),
	BACKEND_OPTION(AT),
	MODE_OPTIONS(AT, "", "", "; the default"),
	DERIVED_OPTIONS(AT),
	CALL_OPTION("policy", 0, "POLICY",
		    "count only: marked, unmarked, privileged, not-privileged,\n"
		    "no-idle, or POWER2's bits like dp=1,dmr=1; may be combined;\n"
		    "by default everything",
		    take_policy, 0),
	CALL_OPTION("cpus", 0, "LIST", "count only on these CPUs, like 0,2-3", take_cpus, 0),
	FLAG_OPTION("per-cpu", 0, "write a line for each CPU", struct system_options, per_cpu),
	NUMBER_OPTION("interval", 'I', "MS",
		      "the length of an interval; the default is 1000, or with\n"
		      "COMMAND as long as it runs",
		      struct system_options, run.interval_ms, 1, 86400000, " of milliseconds"),
	NUMBER_OPTION("count", 0, "N", "end after N intervals", struct system_options, count, 1,
		      UINT_MAX, " of intervals"),
	FLAG_OPTION("exclude-self", 0, "do not count perfex itself", struct system_options,
		    exclude_self),
	OUTPUT_OPTION(AT, "write to FILE instead of standard output"),
	APPEND_OPTION(AT),
	FORMAT_OPTIONS(AT, false),
	TEXT_OPTION("openmetrics", 0, "FILE",
		    "write the sums to FILE as OpenMetrics text, instead of lines; each\n"
		    "interval replaces the whole file, as node_exporter wants it",
		    struct system_options, metrics),
	/* The names of perf's options. */
	FLAG_OPTION("all-cpus", 'a', NULL, struct system_options, all_cpus),
	CALL_OPTION("cpu", 'C', "LIST", NULL, take_cpus, 0),
	FLAG_OPTION("no-aggr", 'A', NULL, struct system_options, per_cpu),
	REFUSED_OPTION("repeat", 'r', "N", "CPUs are counted once; perfex -r N repeats COMMAND"),
	REFUSED_OPTION("pid", 'p', "PID", "perfex -p PID counts a process, on whichever CPU"),
	REFUSED_OPTION("interval-count", 0, "N", "--count=N"),
	REFUSED_OPTION("timeout", 0, "MS", "give sleep(1) as COMMAND, or --interval=MS --count=1"),
	{ 0 },
};

static int system_main(int argc, char **argv);

const struct subcommand system_subcommand = {
	.name = "system",
	.summary = "count all that runs on CPUs",
	.main = system_main,
	.help = "Usage: perfex system [OPTION].. [[--] COMMAND [ARGUMENT]..]\n"
		"Count on all CPUs, and write the counts and rates of each interval, until COMMAND ends\n"
		"or, without one, perfex gets SIGINT.  If POLICY distinguishes marked threads, COMMAND is\n"
		"marked, with the processes that it creates.  This needs CAP_PERFMON.\n",
	.options = rows,
	.takes_command = true,
	.notes = "Exit status: as of perfex run.\n",
};

static void check_options(const struct system_options *options)
{
	const unsigned int marks = PERFCTR_EXCLUDE_MARKED | PERFCTR_EXCLUDE_UNMARKED;

	if (options->count && options->run.command[0])
		fail("--count and a command exclude each other: the end of the command is the end");
	if (options->exclude_self && options->policy & marks)
		fail("--exclude-self is a policy about marks, and --policy has another; give one");
	if (options->policy & marks && !options->run.command[0])
		fail("nobody would bear the mark that --policy speaks of; give a command, which "
		     "gets it");
	if (options->metrics && (options->run.output || options->run.append || options->run.format))
		fail("--openmetrics writes no lines: leave out --output, --append, --csv and --json");
	if (options->metrics && (options->run.rules || options->run.groups.n))
		fail("--openmetrics writes counts, and its readers derive values from them: leave out "
		     "--derive, --rules and --group");
	check_output(&options->run);
}

static int system_main(int argc, char **argv)
{
	struct system_options options = {
		.run = {
			.modes = PERFCTR_MODE_BOTH,
			.view = MARKED,
			.passes = 1,
			.log_fd = NO_LOG_FD,
		},
	};
	unsigned int modes;
	int status;

	options.run.command = argv + take_options(&system_subcommand, &options, argc, argv);
	check_options(&options);
	if (policy_counts_nothing(options.policy))
		complain("this policy lets nothing be counted");
	if (!options.run.output)
		options.run.log_fd = STDOUT_FILENO;
	if (options.exclude_self)
		options.policy |= PERFCTR_EXCLUDE_MARKED;
	if (!options.run.interval_ms && !options.run.command[0])
		options.run.interval_ms = 1000;
	options.run.driver_alone =
		options.policy & ~(PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_USER);
	if (!add_rules(&options.run) || !open_events(&options.run, PERFCTR_CAN_SESSION))
		return EXIT_PERFEX;
	modes = options.run.modes;
	if (options.policy & PERFCTR_EXCLUDE_KERNEL)
		modes &= ~PERFCTR_MODE_KERNEL;
	if (options.policy & PERFCTR_EXCLUDE_USER)
		modes &= ~PERFCTR_MODE_USER;
	if (!options.run.events.n && modes)
		session_add_usual_events(&options.run, modes, options.cpu_list);
	separate_ranks(&options.run, NOT_MERGED);
	status = system_count(&options);
	free_options(&options.run);
	return status;
}
