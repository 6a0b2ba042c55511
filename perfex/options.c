// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfex.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Behind all characters: options without a short name. */
#define VIEW	256

static const struct option long_options[] = {
	{ "event",   required_argument, NULL, 'e' },
	{ "output",  required_argument, NULL, 'o' },
	{ "pid",     required_argument, NULL, 'p' },
	{ "tree",    no_argument,       NULL, VIEW + TREE },
	{ "self",    no_argument,       NULL, VIEW + SELF },
	{ "per-process", no_argument,   NULL, VIEW + PER_PROCESS },
	{ "per-thread",  no_argument,   NULL, VIEW + PER_THREAD },
	{ "info",    no_argument,       NULL, 'i' },
	{ "help",    no_argument,       NULL, 'h' },
	{ "version", no_argument,       NULL, 'V' },
	{ NULL,      0,                 NULL, 0 },
};

void print_help(void)
{
	fputs("Usage: perfex [OPTION].. [--] COMMAND [ARGUMENT]..\n"
	      "       perfex [OPTION].. -p PID [[--] COMMAND [ARGUMENT]..]\n"
	      "       perfex -i | -h | -V\n"
	      "Run COMMAND and count the events of all its processes and threads, exactly; or count\n"
	      "those of a running process, until it exits, COMMAND ends or perfex gets SIGINT.\n"
	      "\n"
	      "  -e, --event=EVENT   count EVENT; may be repeated; without it: the time stamp alone\n"
	      "  -o, --output=FILE   write the counts to FILE instead of standard error\n"
	      "  -p, --pid=PID       count process PID from now on, with all its threads\n"
	      "      --tree          count also what is created on the way; this is the default\n"
	      "      --self          do not: the first thread of COMMAND, the threads that PID has\n"
	      "      --per-process   like --tree, and show the counts of each process\n"
	      "      --per-thread    like --tree, and show the counts of each thread\n"
	      "  -i, --info          show what this machine can count\n"
	      "  -h, --help          show this\n"
	      "  -V, --version       show the version\n"
	      "\n"
	      "EVENT is evntsel[/evntsel2][@pmc]: the event select register in hexadecimal, a second\n"
	      "word where the machine has one, and the counter (default: the lowest that is free).\n"
	      "  0x004100c0@0        instructions in user mode, counter 0\n"
	      "  0x004200c0          instructions in kernel mode\n"
	      "  0x00430000@0x40000000  fixed counter 0, user and kernel mode\n"
	      "\n"
	      "Exit status: that of COMMAND; 128+N if it died of signal N; 125 if perfex failed;\n"
	      "126 if COMMAND cannot be executed; 127 if it was not found.\n", stdout);
}

static void add_event(struct perfctr_control *control, const char *spec)
{
	struct perfctr_event_control event;
	char error[256];

	if (perfctr_event_parse(spec, &event, error, sizeof(error)) < 0)
		fail("event '%s': %s", spec, error);
	if (perfctr_control_add(control, event.counter, event.evntsel, event.evntsel2) < 0)
		fail("event '%s': there are %d events already, more cannot be counted at a time",
		     spec, PERFCTR_MAX_COUNTERS);
}

/* getopt has skipped the option that it does not know, or that lacks its argument. */
static const char *bad_option(char **argv, char *text)
{
	if (!optopt || strncmp(argv[optind - 1], "--", 2) == 0)
		return argv[optind - 1];
	text[0] = '-';
	text[1] = (char)optopt;
	text[2] = '\0';
	return text;
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

static void set_process(struct options *options, const char *text)
{
	pid_t process = parse_pid(text);

	if (options->process)
		fail("two processes, %d and %d; give one", options->process, process);
	options->process = process;
}

/* given: the option that was there before, or NULL. */
static const struct option *set_view(struct options *options, const struct option *given,
				     const struct option *option)
{
	if (given && given != option)
		fail("--%s and --%s exclude each other; give one", given->name, option->name);
	options->view = (enum view)(option->val - VIEW);
	return option;
}

static void set_action(struct options *options, int action)
{
	if (options->action == RUN)
		options->action = action;
}

void parse_options(struct options *options, int argc, char **argv)
{
	const struct option *view = NULL;
	char text[3];
	int option, index;

	*options = (struct options){ .action = RUN };
	perfctr_control_init(&options->control);
	while ((option = getopt_long(argc, argv, "+:e:o:p:ihV", long_options, &index)) != -1) {
		if (option >= VIEW) {
			view = set_view(options, view, &long_options[index]);
			continue;
		}
		switch (option) {
		case 'e':
			add_event(&options->control, optarg);
			break;
		case 'o':
			if (options->output)
				fail("two output files, '%s' and '%s'; give one", options->output,
				     optarg);
			options->output = optarg;
			break;
		case 'p':
			set_process(options, optarg);
			break;
		case 'i':
			set_action(options, INFO);
			break;
		case 'h':
			set_action(options, HELP);
			break;
		case 'V':
			set_action(options, VERSION);
			break;
		case ':':
			fail("option '%s' needs an argument; see perfex --help",
			     bad_option(argv, text));
		default:
			fail("unknown option '%s'; see perfex --help", bad_option(argv, text));
		}
	}
	options->command = argv + optind;
	if (options->action == RUN && !options->command[0] && !options->process)
		fail("no command given; see perfex --help");
	if (options->action == INFO &&
	    (options->command[0] || options->control.n_events || options->output ||
	     options->process || view))
		fail("--info takes neither a command nor another option");
}
