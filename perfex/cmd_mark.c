// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of "perfex mark". */
#include "session/mark.h"
#include "session/session.h"

#include <stdlib.h>

static void take_process(void *target, const struct option_row *row, const char *text)
{
	mark_add_process(target, text);
}

enum { AT = offsetof(struct mark_options, run) };

static const struct option_row rows[] = {
	EVENT_OPTION(AT, "count EVENT; may be repeated; by default: instructions\n"
			 "and cycles, or page faults and switches without a PMU"),
	BACKEND_OPTION(AT),
	MODE_OPTIONS(AT, "; the default", "; this needs CAP_PERFMON", "; this needs CAP_PERFMON"),
	CALL_OPTION("pid", 'p', "PID", "mark process PID, with all its threads; may be repeated",
		    take_process, 0),
	VALUE_OPTION("tree", 0, "also mark all processes below PID", struct mark_options, scope,
		     PERFCTR_MARK_TREE),
	FLAG_OPTION("no-wait", 0, "end with COMMAND, not with the last process it created",
		    struct mark_options, no_wait),
	DERIVED_OPTIONS(AT),
	FLAG_OPTION("list", 0, "list the marked processes", struct mark_options, list),
	FLAG_OPTION("clear", 0, "remove the mark of PID, or all marks", struct mark_options, clear),
	OUTPUT_OPTION(AT, "write the counts to FILE instead of standard error"),
	APPEND_OPTION(AT),
	FORMAT_OPTIONS(AT, false),
	REFUSED_OPTION("repeat", 'r', "N",
		       "marked processes are counted once; perfex -r N repeats COMMAND"),
	REFUSED_OPTION(
		"interval", 'I', "MS",
		"it counts until nobody bears the mark; perfex -I MS COMMAND writes intervals"),
	{ 0 },
};

static int mark_main(int argc, char **argv);

const struct subcommand mark_subcommand = {
	.name = "mark",
	.summary = "count marked processes",
	.main = mark_main,
	.help = "Usage: perfex mark [OPTION].. [--] COMMAND [ARGUMENT]..\n"
		"       perfex mark [OPTION].. -p PID [-p PID].. [[--] COMMAND [ARGUMENT]..]\n"
		"       perfex mark --list | --clear [-p PID]..\n"
		"Mark COMMAND and all processes it creates, and count them until none is left.  Or mark\n"
		"running processes and count them until all have exited, COMMAND ends or perfex gets\n"
		"SIGINT.  A switch between marked processes reads and writes no counter.\n",
	.options = rows,
	.takes_command = true,
	.notes = "Exit status: as of perfex run.\n",
};

/* Refuses a command and the options for counting beside --list and --clear, which count nothing. */
static void check_plain(const struct mark_options *options, const char *name)
{
	const struct options *run = &options->run;

	if (run->command[0] || run->events.n || run->groups.n || run->rules || run->modes_name ||
	    run->output || run->format_name || run->append || options->no_wait)
		fail("--%s counts nothing: give it neither a command nor options for counting",
		     name);
}

static void check_options(const struct mark_options *options)
{
	if (options->list && options->clear)
		fail("--list and --clear exclude each other; give one");
	if (options->list && options->n_processes)
		fail("--list shows all marked processes; leave out --pid");
	mark_check_processes(options);
	if (options->list || options->clear) {
		check_plain(options, options->list ? "list" : "clear");
		return;
	}
	if (!options->run.command[0] && !options->n_processes)
		fail("no command and no process given; see perfex mark --help");
	check_output(&options->run);
}

static int mark_main(int argc, char **argv)
{
	struct mark_options options = {
		.run = {
			.modes = PERFCTR_MODE_USER,
			.view = MARKED,
			.runs = 1,
			.passes = 1,
			.confidence = 95,
			.log_fd = NO_LOG_FD,
			.format = &text_format,
		},
		.scope = PERFCTR_MARK_PROCESS,
	};
	int status = EXIT_PERFEX;

	options.run.command = argv + take_options(&mark_subcommand, &options, argc, argv);
	check_options(&options);
	if (options.n_processes == 1)
		options.run.process = options.process[0];
	if (options.list) {
		status = mark_list(&options);
	} else if (options.clear) {
		status = mark_clear(&options);
	} else if (add_rules(&options.run) && open_events(&options.run, PERFCTR_CAN_MARK)) {
		if (!options.run.events.n)
			session_add_usual_events(&options.run, options.run.modes, false);
		separate_ranks(&options.run,
			       options.run.format == &json_format ? MERGED : MERGED_AS_JSON);
		status = mark_count(&options);
	}
	free(options.process);
	free_options(&options.run);
	return status;
}
