// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of "perfex rotate". */
#include "rotate/rotate.h"

#include <limits.h>
#include <stdlib.h>

enum { AT = offsetof(struct rotate_options, mark.run) };

static void take_process(void *target, const struct option_row *row, const char *text)
{
	struct rotate_options *options = target;

	mark_add_process(&options->mark, text);
}

static const struct option_row rows[] = {
	EVENT_OPTION(AT, "estimate EVENT; may be repeated"),
	NUMBER_OPTION("slice", 0, "MS", "count each set for MS milliseconds at a time; default: 10",
		      struct rotate_options, slice_ms, 1, 3600000, " of milliseconds"),
	NUMBER_OPTION("seed", 0, "N",
		      "the seed of the order of the sets; by default each run has another",
		      struct rotate_options, seed, 1, UINT_MAX, " of a seed"),
	CALL_AT(AT + offsetof(struct options, confidence), "confidence", 0, "PERCENT",
		"confidence of the intervals; default: 95", take_confidence, 0),
	BACKEND_OPTION(AT),
	MODE_OPTIONS(AT, "; the default", "; this needs CAP_PERFMON", "; this needs CAP_PERFMON"),
	CALL_OPTION("pid", 'p', "PID", "mark process PID, with all its threads; may be repeated",
		    take_process, 0),
	VALUE_OPTION("tree", 0, "also mark all processes below PID", struct rotate_options,
		     mark.scope, PERFCTR_MARK_TREE),
	FLAG_OPTION("no-wait", 0, "end with COMMAND, not with the last process it created",
		    struct rotate_options, mark.no_wait),
	OUTPUT_OPTION(AT, "write the estimates to FILE instead of standard error"),
	APPEND_OPTION(AT),
	FORMAT_OPTIONS(AT, false),
	/* perfex run hands its command line over if it has this option. */
	FLAG_OPTION("rotate", 0, NULL, struct rotate_options, mark.run.rotates),
	REFUSED_OPTION("derive", 0, "RULE",
		       "values are derived from counts, not from estimates; perfex --passes=auto"),
	REFUSED_OPTION("rules", 0, "FILE",
		       "values are derived from counts, not from estimates; perfex --passes=auto"),
	REFUSED_OPTION("group", 'g', "GROUP",
		       "values are derived from counts, not from estimates; perfex --passes=auto"),
	REFUSED_OPTION(
		"repeat", 'r', "N",
		"one run is estimated; perfex --passes=auto -r N counts all in each repetition"),
	REFUSED_OPTION("passes", 0, "N",
		       "one run is estimated; perfex --passes=auto counts in several"),
	REFUSED_OPTION("interval", 'I', "MS", "the estimates are of the whole run; --slice=MS"),
	REFUSED_OPTION(
		"all-cpus", 'a', NULL,
		"marked processes are estimated; perfex system counts all that runs on CPUs"),
	REFUSED_OPTION(
		"cpu", 'C', "LIST",
		"marked processes are estimated; perfex system counts all that runs on CPUs"),
	{ 0 },
};

static int rotate_main(int argc, char **argv);

const struct subcommand rotate_subcommand = {
	.name = "rotate",
	.summary = "estimate more events than fit together, in one run",
	.main = rotate_main,
	.help = "Usage: perfex rotate -e EVENT.. [OPTION].. [--] COMMAND [ARGUMENT]..\n"
		"       perfex rotate -e EVENT.. [OPTION].. -p PID.. [[--] COMMAND [ARGUMENT]..]\n"
		"Mark COMMAND and all processes it creates, or running processes, as perfex mark does.\n"
		"Count sets of events in turn, and estimate the count of each event in all of the time.\n"
		"This is for what cannot run again: perfex --passes=auto counts all events exactly.\n",
	.options = rows,
	.takes_command = true,
	.notes = "Exit status: as of perfex run.\n",
};

static void check_options(const struct rotate_options *options)
{
	const struct mark_options *mark = &options->mark;

	if (!mark->run.command[0] && !mark->n_processes)
		fail("no command and no process given; see perfex rotate --help");
	if (!mark->run.events.n)
		fail("no event given; name those that take turns by --event=EVENT");
	mark_check_processes(mark);
	check_output(&mark->run);
}

static int rotate_main(int argc, char **argv)
{
	struct rotate_options options = {
		.mark = {
			.run = {
				.modes = PERFCTR_MODE_USER,
				.view = MARKED,
				.runs = 1,
				.confidence = 95,
				.log_fd = NO_LOG_FD,
				.format = &text_format,
			},
			.scope = PERFCTR_MARK_PROCESS,
		},
		.slice_ms = ROTATE_DEFAULT_MS,
	};
	struct mark_options *mark = &options.mark;
	int status = EXIT_PERFEX;

	mark->run.command = argv + take_options(&rotate_subcommand, &options, argc, argv);
	check_options(&options);
	if (mark->n_processes == 1)
		mark->run.process = mark->process[0];
	if (open_events(&mark->run, PERFCTR_CAN_MARK)) {
		separate_ranks(&mark->run, NOT_MERGED);
		status = rotate_command(&options);
	}
	free(mark->process);
	free_options(&mark->run);
	return status;
}
