// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of "perfex record". */
#include "sample/record.h"

#include <limits.h>
#include <stdlib.h>

enum { AT = offsetof(struct record_options, run) };

static const struct option_row rows[] = {
	EVENT_OPTION(AT, "sample EVENT, once in each of its periods; may be repeated; default:\n"
			 "instructions, or task-clock where no counter can be sampled"),
	CALL_OPTION("period", 'c', "EVENTS",
		    "the period of the preceding --event options that have none yet; in\n"
		    "front of all, the default; otherwise 1000003",
		    record_take_period, 0),
	CALL_OPTION("beside", 0, "EVENT",
		    "count EVENT without sampling it; the samples of the others have its\n"
		    "count",
		    record_take_beside, 0),
	NUMBER_OPTION("freq", 'F', "N",
		      "choose periods that give N samples of each event in a second of\n"
		      "COMMAND's time on CPUs; except with task-clock, a run of COMMAND without\n"
		      "sampling comes first",
		      struct record_options, frequency, 1, 1000000, " of samples in a second"),
	NUMBER_OPTION("jitter", 0, "PERCENT",
		      "lengthen each period at random by up to PERCENT, so that samples are\n"
		      "out of step with the program; default: 100",
		      struct record_options, jitter, 0, 100, " per cent"),
	FLAG_OPTION("callers", 'g', "record the callers, by frame pointers", struct record_options,
		    callers),
	NUMBER_OPTION("depth", 0, "N", "N callers at most; the default is 127, the maximum",
		      struct record_options, depth, 1, PERFCTR_MAX_DEPTH, " of callers"),
	FLAG_OPTION("registers", 0, "record the registers of user mode", struct record_options,
		    registers),
	NUMBER_OPTION("max", 0, "N", "end sampling after N samples, and fail at the end of COMMAND",
		      struct record_options, max_samples, 1, UINT_MAX, " of samples"),
	NUMBER_OPTION("room", 0, "KB",
		      "the size of each CPU's buffer; the default is 1024, or the most that\n"
		      "the user may have",
		      struct record_options, room_kb, 4, 4096, " of KB"),
	NUMBER_OPTION("seed", 0, "N", "the seed of random periods; by default each run has another",
		      struct record_options, seed, 1, UINT_MAX, " of a seed"),
	MODE_OPTIONS(AT, "; the default", "; this needs CAP_PERFMON", "; this needs CAP_PERFMON"),
	INPUT_OPTION(AT),
	OUTPUT_OPTION(AT, "write to FILE; by default " RECORD_DEFAULT_FILE),
	BACKEND_OPTION(AT),
	REFUSED_OPTION("all-cpus", 'a', NULL,
		       "COMMAND and what it starts are sampled; perfex system counts CPUs"),
	REFUSED_OPTION("cpu", 'C', "LIST",
		       "COMMAND and what it starts are sampled; perfex system counts CPUs"),
	REFUSED_OPTION("pid", 'p', "PID",
		       "COMMAND and what it starts are sampled; perfex -p PID counts a process"),
	REFUSED_OPTION("tid", 't', "TID",
		       "COMMAND and what it starts are sampled; perfex -p PID counts a process"),
	REFUSED_OPTION("call-graph", 0, "HOW", "-g, --callers records callers, by frame pointers"),
	REFUSED_OPTION("all-user", 0, NULL, "--user"),
	REFUSED_OPTION("all-kernel", 0, NULL, "--kernel"),
	REFUSED_OPTION("no-inherit", 'i', NULL, "what COMMAND starts is sampled with it"),
	REFUSED_OPTION("mmap-pages", 'm', "PAGES", "--room=KB"),
	REFUSED_OPTION("data", 'd', NULL, "samples have addresses of instructions, not of data"),
	REFUSED_OPTION("branch-any", 'b', NULL, "samples have no branches; -g records callers"),
	REFUSED_OPTION("delay", 'D', "MS", "sampling begins with the first instruction"),
	{ 0 },
};

static int record_main(int argc, char **argv);

const struct subcommand record_subcommand = {
	.name = "record",
	.summary = "record where the events of a command happen",
	.main = record_main,
	.help = "Usage: perfex record [OPTION].. [--] COMMAND [ARGUMENT]..\n"
		"Run COMMAND, count its events, and record where its processes and threads are at the end\n"
		"of each period of events.  perfex samples shows the recording.\n",
	.options = rows,
	.takes_command = true,
	.notes = "Exit status: as of perfex run.\n",
};

static int record_main(int argc, char **argv)
{
	struct record_options options = {
		.run = { .modes = PERFCTR_MODE_USER, .passes = 1 },
		.depth = PERFCTR_MAX_DEPTH,
		.jitter = RECORD_NO_JITTER,
	};
	int status;

	options.run.command = argv + take_options(&record_subcommand, &options, argc, argv);
	if (!options.run.command[0])
		fail("no command given; see perfex record --help");
	record_settle(&options);
	if (!open_events(&options.run, options.clock ? 0 : PERFCTR_CAN_SAMPLE))
		return EXIT_PERFEX;
	separate_ranks(&options.run, NOT_MERGED);
	status = record_command(&options);
	free(options.period);
	free_options(&options.run);
	return status;
}
