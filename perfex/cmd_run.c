// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of "perfex run". */
#include "run/backend.h"
#include "rules/derive.h"
#include "run/run.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What begins like a number is one: its faults are found without a machine to count on. */
void take_event(void *target, const struct option_rule *rule, const char *spec)
{
	struct options *options = target;
	struct perfctr_event_control event;
	char error[256];

	(void)rule;
	if ((!*spec || isdigit((unsigned char)*spec)) &&
	    perfctr_event_parse(spec, &event, error, sizeof(error)) < 0)
		fail("event '%s': %s", spec, error);
	options->event =
		reallocarray(options->event, options->n_events + 1, sizeof(*options->event));
	if (!options->event)
		fail("out of memory");
	options->event[options->n_events++] = spec;
}

void take_output(void *target, const struct option_rule *rule, const char *path)
{
	struct options *options = target;

	(void)rule;
	if (options->output)
		fail("two output files, '%s' and '%s'; give one", options->output, path);
	options->output = path;
}

pid_t parse_pid(const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || pid < 1 || pid > INT_MAX)
		fail("'%s' is not a process number; give one of /proc, like %d", text, getppid());
	return (pid_t)pid;
}

static void take_pid(void *target, const struct option_rule *rule, const char *text)
{
	struct options *options = target;
	pid_t process = parse_pid(text);

	(void)rule;
	if (options->process)
		fail("two processes, %d and %d; give one", options->process, process);
	options->process = process;
}

/* Of several options that exclude each other one is taken, as often as it comes. */
static void choose(const char **chosen, const struct option_rule *rule)
{
	if (*chosen && strcmp(*chosen, rule->name) != 0)
		fail("--%s and --%s exclude each other; give one", *chosen, rule->name);
	*chosen = rule->name;
}

static void take_view(void *target, const struct option_rule *rule, const char *unused)
{
	struct options *options = target;

	(void)unused;
	choose(&options->view_name, rule);
	options->view = (enum view)rule->value;
}

void take_rings(void *target, const struct option_rule *rule, const char *unused)
{
	struct options *options = target;

	(void)unused;
	choose(&options->rings_name, rule);
	options->rings = (unsigned int)rule->value;
}

void take_format(void *target, const struct option_rule *rule, const char *unused)
{
	struct options *options = target;

	(void)unused;
	choose(&options->format_name, rule);
	options->format = rule->value ? &json_format : &csv_format;
}

static void take_action(void *target, const struct option_rule *rule, const char *unused)
{
	struct options *options = target;

	(void)unused;
	if (options->action == RUN)
		options->action = rule->value;
}

void take_append(void *target, const struct option_rule *rule, const char *unused)
{
	struct options *options = target;

	(void)rule;
	(void)unused;
	options->append = true;
}

/* What perfex does anyway. */
static void take_nothing(void *target, const struct option_rule *rule, const char *unused)
{
	(void)target;
	(void)rule;
	(void)unused;
}

bool parse_number(const char *text, unsigned int *number)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || value > UINT_MAX)
		return false;
	*number = (unsigned int)value;
	return true;
}

enum { REPEAT, WARMUP, INTERVAL, DELAY, TIMEOUT, LOG_FD };

static const struct {
	size_t field; /* an unsigned int of struct options */
	unsigned int min, max;
	const char *unit;
} numbers[] = {
	[REPEAT] = { offsetof(struct options, runs), 1, 1000000, "" },
	[WARMUP] = { offsetof(struct options, warmup), 0, 1000000, "" },
	[INTERVAL] = { offsetof(struct options, interval_ms), 1, 86400000, " of milliseconds" },
	[DELAY] = { offsetof(struct options, delay_ms), 0, 86400000, " of milliseconds" },
	[TIMEOUT] = { offsetof(struct options, timeout_ms), 1, 2000000000, " of milliseconds" },
	[LOG_FD] = { offsetof(struct options, log_fd), 0, 1048575, "" },
};

static void take_number(void *target, const struct option_rule *rule, const char *text)
{
	unsigned int number;

	if (!parse_number(text, &number) || number < numbers[rule->value].min ||
	    number > numbers[rule->value].max)
		fail("--%s=%s: give a number%s from %u to %u", rule->name, text,
		     numbers[rule->value].unit, numbers[rule->value].min, numbers[rule->value].max);
	*(unsigned int *)((char *)target + numbers[rule->value].field) = number;
}

static void take_log_fd(void *target, const struct option_rule *rule, const char *text)
{
	struct options *options = target;

	take_number(target, rule, text);
	options->has_log_fd = true;
}

static void take_passes(void *target, const struct option_rule *rule, const char *text)
{
	struct options *options = target;

	(void)rule;
	if (strcmp(text, "auto") == 0)
		options->passes = 0;
	else if (!parse_number(text, &options->passes) || !options->passes)
		fail("--passes=%s: give the most runs that the events may take, or auto", text);
}

static void take_confidence(void *target, const struct option_rule *rule, const char *text)
{
	struct options *options = target;
	char *end;

	(void)rule;
	options->confidence = strtod(text, &end);
	if (!isdigit((unsigned char)text[0]) || *end || options->confidence < 50 ||
	    options->confidence > 99.99)
		fail("--confidence=%s: give per cent, from 50 to 99.99; 95 and 99 are usual", text);
}

enum { PEBS_ENABLE, PEBS_MATRIX_VERT };

static void take_register(void *target, const struct option_rule *rule, const char *text)
{
	bool hexadecimal = strncasecmp(text, "0x", 2) == 0 && isxdigit((unsigned char)text[2]);
	struct options *options = target;
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 16);
	if (*text && !hexadecimal && !text[strspn(text, "0123456789abcdefABCDEF")])
		fail("--%s=%s could be hexadecimal or decimal; write 0x%s for hexadecimal",
		     rule->name, text, text);
	if (!hexadecimal || *end || errno)
		fail("--%s=%s: give the register's value like 0x1000001, in 64 bits", rule->name,
		     text);
	if (rule->value == PEBS_ENABLE) {
		options->has_pebs_enable = true;
		options->pebs_enable = value;
	} else {
		options->has_pebs_matrix_vert = true;
		options->pebs_matrix_vert = value;
	}
}

static void take_rule(void *target, const struct option_rule *rule, const char *text)
{
	struct options *options = target;

	(void)rule;
	derive_take(&options->rules, text);
}

static void take_rules(void *target, const struct option_rule *rule, const char *path)
{
	struct options *options = target;

	(void)rule;
	derive_take_file(&options->rules, path);
}

static const struct option_rule rules[] = {
	{ "event", 'e', "EVENT",
	  "count EVENT; may be repeated; without it: time, and where\n"
	  "there is no PMU also page faults and switches",
	  take_event, 0 },
	BACKEND_RULE,
	{ "user", 0, NULL, "count events that say nothing else in user mode; the default",
	  take_rings, PERFCTR_RING_USER },
	{ "kernel", 0, NULL, "count them in kernel mode", take_rings, PERFCTR_RING_KERNEL },
	{ "both", 0, NULL, "count them in both", take_rings, PERFCTR_RING_BOTH },
	{ "pid", 'p', "PID", "count process PID from now on, with all its threads", take_pid, 0 },
	{ "tree", 0, NULL, "count also what is created on the way; this is the default", take_view,
	  TREE },
	{ "self", 0, NULL, "do not: the first thread of COMMAND, the threads that PID has",
	  take_view, SELF },
	{ "per-process", 0, NULL, "like --tree, and show the counts of each process", take_view,
	  PER_PROCESS },
	{ "per-thread", 0, NULL, "like --tree, and show the counts of each thread", take_view,
	  PER_THREAD },
	{ "repeat", 'r', "N", "run COMMAND N times: mean, confidence interval, deviation, extremes",
	  take_number, REPEAT },
	{ "warmup", 0, "N", "run it N times before, without counting", take_number, WARMUP },
	{ "confidence", 0, "PERCENT", "of the interval, by Student's t; the default is 95",
	  take_confidence, 0 },
	{ "passes", 0, "auto|N",
	  "more events than counters: run COMMAND up to N times for each\n"
	  "repetition, by default (auto) as often as it takes",
	  take_passes, 0 },
	{ "derive", 0, "RULE", "show a value like 'cpi = cycles / instructions'; may be repeated",
	  take_rule, 0 },
	{ "rules", 0, "FILE", "show the values of the rules in FILE", take_rules, 0 },
	{ "interval", 'I', "MS", "write what was counted every MS milliseconds as well",
	  take_number, INTERVAL },
	{ "delay", 0, "MS", "begin to count MS milliseconds after the start", take_number, DELAY },
	{ "timeout", 0, "MS", "end the counting, and COMMAND by SIGTERM, MS milliseconds later",
	  take_number, TIMEOUT },
	{ "output", 'o', "FILE", "write the counts to FILE instead of standard error", take_output,
	  0 },
	{ "append", 0, NULL, "behind what is in FILE", take_append, 0 },
	{ "log-fd", 0, "N", "write the counts to descriptor N", take_log_fd, LOG_FD },
	{ "csv", 0, NULL, "write comma-separated values (RFC 4180)", take_format, 0 },
	{ "json", 0, NULL, "write JSON, a document in a line", take_format, 1 },
	{ "p4pe", 0, "V", "Pentium 4: the value of IA32_PEBS_ENABLE", take_register, PEBS_ENABLE },
	{ "p4pmv", 0, "V", "Pentium 4: the value of MSR_PEBS_MATRIX_VERT", take_register,
	  PEBS_MATRIX_VERT },
	{ "p4_pebs_enable", 0, "V", NULL, take_register, PEBS_ENABLE },
	{ "p4_pebs_matrix_vert", 0, "V", NULL, take_register, PEBS_MATRIX_VERT },
	{ "no-shell", 0, NULL, "execute COMMAND as it is given; always so", take_nothing, 0 },
	{ "info", 'i', NULL, "show what this machine can count: perfex info", take_action, INFO },
	{ "list", 'l', NULL, "show the names of events: perfex list", take_action, LIST },
	{ "long-list", 'L', NULL, "likewise, with codes: perfex list --long", take_action,
	  LONG_LIST },
	{ "version", 'V', NULL, "show the version", take_action, VERSION },
	{ 0 },
};

static int run_main(int argc, char **argv);

const struct subcommand run_subcommand = {
	.name = "run",
	.summary = "count a command or a running process; this is the default",
	.main = run_main,
	.help = "Usage: perfex [run] [OPTION].. [--] COMMAND [ARGUMENT]..\n"
		"       perfex [run] [OPTION].. -p PID [[--] COMMAND [ARGUMENT]..]\n"
		"       perfex SUBCOMMAND [OPTION].. [ARGUMENT]..\n"
		"       perfex -i | -l | -L | -h | -V\n"
		"Run COMMAND and count the events of all its processes and threads, exactly; or count\n"
		"those of a running process, until it exits, COMMAND ends or perfex gets SIGINT.\n",
	.options = rules,
	.takes_command = true,
	.is_default = true,
	.notes =
		"EVENT is a name, like instructions, cycles:u or branches:u:k, see perfex list; or\n"
		"evntsel[/evntsel2][@pmc]: the event select register in hexadecimal, a second word\n"
		"where the machine has one, and the counter (default: the lowest that is free).\n"
		"  0x004100c0@0        instructions in user mode, counter 0\n"
		"  0x004200c0          instructions in kernel mode\n"
		"  0x00430000@0x40000000  fixed counter 0, user and kernel mode\n"
		"\n"
		"Exit status: that of COMMAND; 128+N if it died of signal N; 125 if perfex failed;\n"
		"126 if COMMAND cannot be executed; 127 if it was not found.\n",
};

void check_output(const struct options *options)
{
	if (options->output && options->has_log_fd)
		fail("--output and --log-fd exclude each other; give one");
	if (options->append && !options->output)
		fail("--append needs a file to append to; give --output=FILE");
}

static void check(const struct options *options, int argc)
{
	if (options->action == INFO && argc > 2)
		fail("--info takes neither a command nor another option");
	if ((options->action == LIST || options->action == LONG_LIST) && argc > 2)
		fail("--%s takes neither a command nor another option; see perfex list --help",
		     options->action == LIST ? "list" : "long-list");
	if (options->action != RUN)
		return;
	if (!options->command[0] && !options->process)
		fail("no command given; see perfex --help");
	check_output(options);
}

static void parse(struct options *options, int argc, char **argv)
{
	*options = (struct options){
		.action = RUN,
		.rings = PERFCTR_RING_USER,
		.runs = 1,
		.confidence = 95,
		.log_fd = STDERR_FILENO,
		.format = &text_format,
	};
	options->command = argv + take_options(&run_subcommand, options, argc, argv);
	check(options, argc);
}

static int run_main(int argc, char **argv)
{
	struct options options;
	int status;

	parse(&options, argc, argv);
	switch (options.action) {
	case INFO:
		return show_info();
	case LIST:
	case LONG_LIST:
		return show_events(options.action == LONG_LIST);
	case VERSION:
		puts("perfex (perfctr) " PERFCTR_VERSION);
		return 0;
	case RUN:
		break;
	}
	add_default_events(&options, 0);
	derive_link(options.rules);
	status = run(&options);
	rules_free(options.rules);
	free(options.event);
	return status;
}
