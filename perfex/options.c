// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of "perfex run". */
#include "perfex.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static void take_event(void *target, const struct option_rule *rule, const char *spec)
{
	struct options *options = target;
	struct perfctr_control *control = &options->control;
	struct perfctr_event_control event;
	char error[256];

	(void)rule;
	if (perfctr_event_parse(spec, &event, error, sizeof(error)) < 0)
		fail("event '%s': %s", spec, error);
	if (perfctr_control_add(control, event.counter, event.evntsel, event.evntsel2) < 0)
		fail("event '%s': there are %d events already, more cannot be counted at a time",
		     spec, PERFCTR_MAX_COUNTERS);
}

static void take_output(void *target, const struct option_rule *rule, const char *path)
{
	struct options *options = target;

	(void)rule;
	if (options->output)
		fail("two output files, '%s' and '%s'; give one", options->output, path);
	options->output = path;
}

static pid_t parse_pid(const char *text)
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

static void take_view(void *target, const struct option_rule *rule, const char *unused)
{
	struct options *options = target;

	(void)unused;
	if (options->view_name && options->view != (enum view)rule->value)
		fail("--%s and --%s exclude each other; give one", options->view_name, rule->name);
	options->view_name = rule->name;
	options->view = (enum view)rule->value;
}

static void take_action(void *target, const struct option_rule *rule, const char *unused)
{
	struct options *options = target;

	(void)unused;
	if (options->action == RUN)
		options->action = rule->value;
}

static const struct option_rule rules[] = {
	{ "event", 'e', "EVENT", "count EVENT; may be repeated; without it: the time stamp alone",
	  take_event, 0 },
	{ "output", 'o', "FILE", "write the counts to FILE instead of standard error",
	  take_output, 0 },
	{ "pid", 'p', "PID", "count process PID from now on, with all its threads", take_pid, 0 },
	{ "tree", 0, NULL, "count also what is created on the way; this is the default",
	  take_view, TREE },
	{ "self", 0, NULL, "do not: the first thread of COMMAND, the threads that PID has",
	  take_view, SELF },
	{ "per-process", 0, NULL, "like --tree, and show the counts of each process",
	  take_view, PER_PROCESS },
	{ "per-thread", 0, NULL, "like --tree, and show the counts of each thread",
	  take_view, PER_THREAD },
	{ "info", 'i', NULL, "show what this machine can count: perfex info", take_action, INFO },
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
		"       perfex -i | -h | -V\n"
		"Run COMMAND and count the events of all its processes and threads, exactly; or count\n"
		"those of a running process, until it exits, COMMAND ends or perfex gets SIGINT.\n",
	.options = rules,
	.takes_command = true,
	.notes = "EVENT is evntsel[/evntsel2][@pmc]: the event select register in hexadecimal, a second\n"
		 "word where the machine has one, and the counter (default: the lowest that is free).\n"
		 "  0x004100c0@0        instructions in user mode, counter 0\n"
		 "  0x004200c0          instructions in kernel mode\n"
		 "  0x00430000@0x40000000  fixed counter 0, user and kernel mode\n"
		 "\n"
		 "Exit status: that of COMMAND; 128+N if it died of signal N; 125 if perfex failed;\n"
		 "126 if COMMAND cannot be executed; 127 if it was not found.\n",
};

static void parse(struct options *options, int argc, char **argv)
{
	*options = (struct options){ .action = RUN };
	perfctr_control_init(&options->control);
	options->command = argv + take_options(&run_subcommand, options, argc, argv);
	if (options->action == RUN && !options->command[0] && !options->process)
		fail("no command given; see perfex --help");
	if (options->action == INFO &&
	    (options->command[0] || options->control.n_events || options->output ||
	     options->process || options->view_name))
		fail("--info takes neither a command nor another option");
}

static int run_main(int argc, char **argv)
{
	struct options options;

	parse(&options, argc, argv);
	switch (options.action) {
	case INFO:
		return info();
	case VERSION:
		puts("perfex (perfctr) " PERFCTR_VERSION);
		return 0;
	case RUN:
		break;
	}
	return run(&options);
}
