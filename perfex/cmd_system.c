// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of "perfex system". */
#define _GNU_SOURCE
#include "run/backend.h"
#include "session/system.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void take_policy(void *target, const struct option_rule *rule, const char *text)
{
	struct system_options *options = target;

	(void)rule;
	options->policy |= parse_policy(text);
}

/* A number of the list and what follows it; NULL: there is none. */
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

static void take_cpus(void *target, const struct option_rule *rule, const char *text)
{
	struct system_options *options = target;

	(void)rule;
	if (!parse_cpus(text, &options->cpus))
		fail("--cpus=%s: give numbers of CPUs from 0 to %d, like 0,2-3", text,
		     CPU_SETSIZE - 1);
	options->cpu_list = text;
}

static void take_per_cpu(void *target, const struct option_rule *rule, const char *unused)
{
	struct system_options *options = target;

	(void)rule;
	(void)unused;
	options->per_cpu = true;
}

static void take_exclude_self(void *target, const struct option_rule *rule, const char *unused)
{
	struct system_options *options = target;

	(void)rule;
	(void)unused;
	options->exclude_self = true;
}

static void take_time(void *target, const struct option_rule *rule, const char *text)
{
	struct system_options *options = target;

	if (!parse_number(text, &options->run.interval_ms) || !options->run.interval_ms ||
	    options->run.interval_ms > 86400000)
		fail("--%s=%s: give a number of milliseconds from 1 to 86400000", rule->name, text);
}

static void take_count(void *target, const struct option_rule *rule, const char *text)
{
	struct system_options *options = target;

	if (!parse_number(text, &options->count) || !options->count)
		fail("--%s=%s: give how many intervals are to be counted, 1 or more", rule->name,
		     text);
}

static void take_system_format(void *target, const struct option_rule *rule, const char *unused)
{
	struct system_options *options = target;

	take_format(&options->run, rule, unused);
	options->format = rule->value ? SYSTEM_JSON : SYSTEM_CSV;
}

static const struct option_rule rules[] = {
	{ "event", 'e', "EVENT",
	  "count EVENT; may be repeated; without it: time, and where\n"
	  "there is no PMU also page faults and switches",
	  take_event, 0 },
	BACKEND_RULE,
	{ "user", 0, NULL, "count events that say nothing else in user mode", take_rings,
	  PERFCTR_RING_USER },
	{ "kernel", 0, NULL, "count them in kernel mode", take_rings, PERFCTR_RING_KERNEL },
	{ "both", 0, NULL, "count them in both; the default", take_rings, PERFCTR_RING_BOTH },
	{ "policy", 0, "POLICY",
	  "what is counted: marked, unmarked, privileged, not-privileged,\n"
	  "no-idle, or POWER2's bits like dp=1,dmr=1, all that apply;\n"
	  "by default everything",
	  take_policy, 0 },
	{ "cpus", 0, "LIST", "only on these CPUs, like 0,2-3", take_cpus, 0 },
	{ "per-cpu", 0, NULL, "a line for each CPU", take_per_cpu, 0 },
	{ "interval", 'I', "MS",
	  "of one line, in milliseconds; the default is 1000, or with\n"
	  "COMMAND as long as that runs",
	  take_time, 0 },
	{ "count", 0, "N", "end after N intervals", take_count, 0 },
	{ "exclude-self", 0, NULL, "mark perfex itself, and count the unmarked", take_exclude_self,
	  0 },
	{ "output", 'o', "FILE", "write to FILE instead of standard output", take_output, 0 },
	{ "append", 0, NULL, "behind what is in FILE", take_append, 0 },
	{ "csv", 0, NULL, "write comma-separated values (RFC 4180)", take_system_format, 0 },
	{ "json", 0, NULL, "write JSON, a document in a line", take_system_format, 1 },
	{ 0 },
};

static int system_main(int argc, char **argv);

const struct subcommand system_subcommand = {
	.name = "system",
	.summary = "count on CPUs, whoever runs there",
	.main = system_main,
	.help = "Usage: perfex system [OPTION].. [[--] COMMAND [ARGUMENT]..]\n"
		"Count on all CPUs and write what each interval has added, and the rate per second,\n"
		"until COMMAND ends or perfex gets SIGINT.  Where POLICY speaks of marks, COMMAND and\n"
		"what it creates bear them.  This needs CAP_PERFMON.\n",
	.options = rules,
	.takes_command = true,
	.notes = "Exit status: as of perfex run.\n",
};

static void check(const struct system_options *options)
{
	const unsigned int marks = PERFCTR_POLICY_DMS | PERFCTR_POLICY_DMR;

	if (options->count && options->run.command[0])
		fail("--count and a command exclude each other: the end of the command is the end");
	if (options->exclude_self && options->policy & marks)
		fail("--exclude-self is a policy about marks, and --policy has another; give one");
	if (options->policy & marks && !options->run.command[0])
		fail("nobody would bear the mark that --policy speaks of; give a command, which "
		     "gets it");
	check_output(&options->run);
}

static int system_main(int argc, char **argv)
{
	struct system_options options = {
		.run = {
			.rings = PERFCTR_RING_BOTH,
			.view = MARKED,
			.passes = 1,
			.log_fd = STDOUT_FILENO,
		},
	};
	int status;

	options.run.command = argv + take_options(&system_subcommand, &options, argc, argv);
	check(&options);
	if (policy_counts_nothing(options.policy))
		complain("this policy lets nothing be counted");
	if (options.exclude_self)
		options.policy |= PERFCTR_POLICY_DMS;
	if (!options.run.interval_ms && !options.run.command[0])
		options.run.interval_ms = 1000;
	add_default_events(&options.run, PERFCTR_CAN_SESSION);
	status = system_count(&options);
	free(options.run.event);
	return status;
}
