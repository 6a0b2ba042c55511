// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of "perfex run". */
#include "run/perf_options.h"
#include "run/rank.h"
#include "run/run.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void take_pid(void *target, const struct option_row *row, const char *text)
{
	struct options *options = target;
	pid_t process;

	if (strchr(text, ','))
		fail("--pid=%s: give one process; several are counted by perfex mark -p PID -p PID",
		     text);
	process = parse_pid(text);

	if (options->process)
		fail("two processes, %d and %d; give one", options->process, process);
	options->process = process;
}

static void take_action(void *target, const struct option_row *row, const char *unused)
{
	struct options *options = target;

	if (options->action == RUN)
		options->action = row->value;
}

static void take_passes(void *target, const struct option_row *row, const char *text)
{
	struct options *options = target;

	if (strcmp(text, "auto") == 0)
		options->passes = 0;
	else if (!parse_number(text, &options->passes) || !options->passes)
		fail("--passes=%s: give the most passes that the events may take, or auto", text);
}

static void take_syscalls(void *target, const struct option_row *row, const char *text)
{
	struct options *options = target;

	if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
		fail("--syscalls=%s: perfex exact --syscalls counts system calls", text);
	options->counts_syscalls = true;
	options->shows_syscalls = *text == '1';
}

enum { PEBS_ENABLE, PEBS_MATRIX_VERT };

static void set_register(struct options *options, const struct option_row *row, uint64_t value)
{
	if (row->value == PEBS_ENABLE) {
		options->has_pebs_enable = true;
		options->pebs_enable = value;
	} else {
		options->has_pebs_matrix_vert = true;
		options->pebs_matrix_vert = value;
	}
}

static void take_register(void *target, const struct option_row *row, const char *text)
{
	bool hexadecimal = strncasecmp(text, "0x", 2) == 0 && isxdigit((unsigned char)text[2]);
	struct options *options = target;
	unsigned long long value;
	uint64_t old;
	char *end;

	if (options->numbers && old_number(options->numbers, text, &old)) {
		options->wants_number = NULL;
		set_register(options, row, old);
		return;
	}
	errno = 0;
	value = strtoull(text, &end, 16);
	if (*text && !hexadecimal && !text[strspn(text, "0123456789abcdefABCDEF")])
		fail("--%s=%s could be hexadecimal or decimal; write 0x%s for hexadecimal",
		     row->name, text, text);
	if (!hexadecimal || *end || errno)
		fail("--%s=%s: give the register's value like 0x1000001, in 64 bits", row->name,
		     text);
	set_register(options, row, value);
}

/* Refuses an option of perfctr 2.6 that perfctr no longer has. */
static void take_offcore(void *target, const struct option_row *row, const char *text)
{
	fail("--%s=%s: perfctr does not set the registers of offcore responses; leave it out, and the "
	     "events that need it",
	     row->name, text);
}

/* Replaces %r and %h in the path.  The command itself replaces %p by its process number. */
static void take_regions(void *target, const struct option_row *row, const char *path)
{
	struct options *options = target;

	free(options->regions);
	options->regions = rank_file_name(path, "rh");
	options->regions_shared = !rank_has_pattern(path, "rhp");
}

/* perfex system takes the list. */
static void take_cpus(void *target, const struct option_row *row, const char *list)
{
	struct options *options = target;

	options->counts_cpus = true;
}

#define VIEW_OPTION(name_, help_, view_)                                                           \
	CHOICE_OPTION(name_, 0, help_, struct options, view, view_name, view_)

static const struct option_row rows[] = {
	EVENT_OPTION(0, "count EVENT; may be repeated; the default is that of perf stat, as far\n"
			"as one run can count it here"),
	BACKEND_OPTION(0),
	MODE_OPTIONS(0, "; the default", "", ""),
	CALL_OPTION("pid", 'p', "PID", "count process PID from now on, with all its threads",
		    take_pid, 0),
	VIEW_OPTION("tree", "also count the processes and threads it creates; the default", TREE),
	VIEW_OPTION("self", "count only COMMAND's first thread, or PID's present threads", SELF),
	VIEW_OPTION("per-process", "like --tree, and show the counts of each process", PER_PROCESS),
	VIEW_OPTION("per-thread", "like --tree, and show the counts of each thread", PER_THREAD),
	NUMBER_OPTION("repeat", 'r', "N",
		      "run COMMAND N times; show mean, confidence interval, extremes",
		      struct options, runs, 1, 1000000, ""),
	NUMBER_OPTION("warmup", 0, "N", "run COMMAND N times first, without counting",
		      struct options, warmup, 0, 1000000, ""),
	CALL_AT(offsetof(struct options, confidence), "confidence", 0, "PERCENT",
		"confidence of the interval (Student's t); default: 95", take_confidence, 0),
	CALL_OPTION("passes", 0, "auto|N",
		    "more events than counters: run COMMAND up to N times for each\n"
		    "repetition, or (auto) as often as it takes; default: 1",
		    take_passes, 0),
	DERIVED_OPTIONS(0),
	NUMBER_OPTION("interval", 'I', "MS", "also write the counts of every MS milliseconds",
		      struct options, interval_ms, 1, 86400000, " of milliseconds"),
	NUMBER_OPTION("delay", 'D', "MS", "start counting MS milliseconds after COMMAND",
		      struct options, delay_ms, 0, 86400000, " of milliseconds"),
	NUMBER_OPTION("timeout", 0, "MS",
		      "stop counting after MS milliseconds; end COMMAND by SIGTERM", struct options,
		      timeout_ms, 1, 2000000000, " of milliseconds"),
	CALL_OPTION("regions", 0, "FILE",
		    "let COMMAND count the events in its regions too, and write them to FILE;\n"
		    "perfex stat-of FILE shows them",
		    take_regions, 0),
	FLAG_OPTION("all-cpus", 'a', "count all that runs on CPUs: perfex system", struct options,
		    counts_cpus),
	CALL_OPTION("cpu", 'C', "LIST", "the same on these CPUs, like 0,2-3", take_cpus, 0),
	FLAG_OPTION("no-aggr", 'A', NULL, struct options, counts_cpus),
	FLAG_OPTION("rotate", 0,
		    "estimate more events than fit together, in one run: perfex rotate",
		    struct options, rotates),
	FLAG_OPTION("wait", 0, "also wait for processes that outlive COMMAND", struct options, wait),
	/* For perfex exact. */
	CALL_OPTION("syscalls", 0, "0|1", NULL, take_syscalls, 0),
	RERUN_OPTIONS(0),
	CALL_OPTION("output", 'o', "FILE",
		    "write the counts to FILE instead of standard error;\n"
		    "%r, %h and %p in its name: MPI rank, host, process",
		    take_output_of_ranks, 0),
	APPEND_OPTION(0),
	NUMBER_OPTION("log-fd", 0, "N", "write the counts to descriptor N", struct options, log_fd,
		      0, 1048575, ""),
	FORMAT_OPTIONS(0, true),
	CALL_OPTION("format", 0, "text|csv|json|2.6",
		    "write the counts in this format; 2.6: as perfctr 2.6's perfex,\n"
		    "and take numbers without 0x as hexadecimal",
		    take_named_format, 0),
	CALL_OPTION("decimal", 'd', NULL, "take numbers without 0x in the following options as decimal",
		    take_numbers, NUMBERS_DECIMAL),
	CALL_OPTION("hex", 0, NULL,
		    "take them as hexadecimal; -x in front of another option does too",
		    take_numbers, NUMBERS_HEX),
	CALL_OPTION("p4pe", 0, "V", "Pentium 4: the value of IA32_PEBS_ENABLE", take_register,
		    PEBS_ENABLE),
	CALL_OPTION("p4pmv", 0, "V", "Pentium 4: the value of MSR_PEBS_MATRIX_VERT", take_register,
		    PEBS_MATRIX_VERT),
	CALL_OPTION("p4_pebs_enable", 0, "V", NULL, take_register, PEBS_ENABLE),
	CALL_OPTION("p4_pebs_matrix_vert", 0, "V", NULL, take_register, PEBS_MATRIX_VERT),
	CALL_OPTION("nhlm_offcore_rsp_0", 0, "V", NULL, take_offcore, 0),
	CALL_OPTION("nhlm_offcore_rsp_1", 0, "V", NULL, take_offcore, 0),
	FLAG_OPTION("no-shell", 0, "accepted for compatibility: COMMAND never goes through a shell",
		    struct options, no_shell),
	CALL_OPTION("info", 'i', NULL, "show what this machine can count: perfex info", take_action,
		    INFO),
	CALL_OPTION("list", 'l', NULL, "show the names of events: perfex list", take_action, LIST),
	CALL_OPTION("long-list", 'L', NULL, "show them with their codes: perfex list --long",
		    take_action, LONG_LIST),
	CALL_OPTION("version", 'V', NULL, "show the version", take_action, VERSION),
	PERF_OPTIONS,
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
		"Run COMMAND and count the events of all its processes and threads, exactly.  Or count\n"
		"a running process until it exits, COMMAND ends or perfex gets SIGINT.\n",
	.options = rows,
	.takes_command = true,
	.is_default = true,
	.notes =
		"EVENT is a name, like instructions, cycles:u or branches:u:k (see perfex list), or\n"
		"evntsel[/evntsel2][@pmc]: the event select register in hexadecimal, a second word\n"
		"where the machine has one, and the counter (default: the lowest free one).\n"
		"Several may stand in one -e: instructions,branches or {instructions,branches}:u.\n"
		"  0x004100c0@0        instructions in user mode, counter 0\n"
		"  0x004200c0          instructions in kernel mode\n"
		"  0x00430000@0x40000000  fixed counter 0, user and kernel mode\n"
		"\n"
		"Exit status: that of COMMAND; 128+N if it died of signal N; 125 if perfex failed;\n"
		"126 if COMMAND cannot be executed; 127 if it was not found.\n",
};

/* Checks the options of perfctr 2.6, of which -d and -x are other options in perf. */
static void check_old_options(const struct options *options)
{
	const struct option_row *row = options->wants_number;

	if (row && row->letter == 'd')
		fail("-d, --decimal is for events that are numbers, and none follows; what perf's -d "
		     "counts: " DETAILS);
	if (row)
		fail("--%s is for events that are numbers, and none follows; write them like -e "
		     "4100c0@0, or separate columns by -x,",
		     row->letter == 'x' ? "hex (-x)" : row->name);
	if (!options->format->one_run)
		return;
	if (options->runs > 1 || options->passes != 1)
		fail("--format=2.6 has no place for more than one run; leave out --repeat and --passes");
	if (options->interval_ms || options->rules || options->groups.n ||
	    options->view == PER_PROCESS || options->view == PER_THREAD)
		fail("--format=2.6 has the sums of the run and no more; leave out --interval, "
		     "--per-process, --per-thread, --derive, --rules and --group");
}

static void check_regions(const struct options *options)
{
	if (!options->regions)
		return;
	if (options->process)
		fail("--regions is for a command, not for process %d, which has begun",
		     options->process);
	if (options->runs != 1 || options->warmup || options->passes != 1)
		fail("--regions is for one run: leave out --repeat, --warmup and --passes");
	if (options->modes != PERFCTR_MODE_USER)
		fail("--regions: say the mode of each event instead, as in instructions:k");
}

static void check_options(const struct options *options, int argc)
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
	if (options->wait && options->view == SELF)
		fail("--wait and --self exclude each other: --self counts nothing that outlives "
		     "the command");
	if (!options->command[0] && (options->input || options->prepare || options->ignore_failure))
		fail("--input, --prepare and --ignore-failure are for a command, not for process %d",
		     options->process);
	check_regions(options);
	check_output(options);
	check_old_options(options);
}

static void parse_options(struct options *options, int argc, char **argv)
{
	*options = (struct options){
		.action = RUN,
		.modes = PERFCTR_MODE_USER,
		.runs = 1,
		.passes = 1,
		.confidence = 95,
		.log_fd = NO_LOG_FD,
		.format = &text_format,
	};
	options->command = argv + take_options(&run_subcommand, options, argc, argv);
	if (options->counts_cpus && options->rotates)
		fail("--rotate is for processes; perfex system counts CPUs, and estimates nothing");
	if (!options->counts_cpus && !options->rotates)
		check_options(options, argc);
}

static int run_main(int argc, char **argv)
{
	struct options options;
	int status = EXIT_PERFEX;

	parse_options(&options, argc, argv);
	if (options.counts_cpus || options.rotates) {
		free_options(&options);
		optind = 1;
		return options.rotates ? rotate_subcommand.main(argc, argv)
				       : system_subcommand.main(argc, argv);
	}
	switch (options.action) {
	case INFO:
		return show_info(options.backend);
	case LIST:
	case LONG_LIST:
		return show_events(options.action == LONG_LIST);
	case VERSION:
		puts("perfex (perfctr) " PERFCTR_VERSION);
		return 0;
	case RUN:
		break;
	}
	if (prepare_options(&options)) {
		separate_ranks(&options, options.format == &json_format ? MERGED : MERGED_AS_JSON);
		status = run_command(&options);
	}
	free_options(&options);
	return status;
}
