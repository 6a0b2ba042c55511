// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the subcommand and runs it.  Answers for subcommands of perf that perfex lacks. */
#include "path.h"
#include "perfex.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct subcommand *const subcommands[] = {
	&run_subcommand,
	&info_subcommand,
	&list_subcommand,
	&check_subcommand,
	&encode_subcommand,
	&exact_subcommand,
	&compare_subcommand,
	&diff_subcommand,
	&stat_of_subcommand,
	&merge_subcommand,
	&experiment_subcommand,
	&mark_subcommand,
	&system_subcommand,
	&scope_subcommand,
	&trace_subcommand,
	&record_subcommand,
	&samples_subcommand,
	&rotate_subcommand,
	&report_subcommand,
	&report_machine_subcommand,
	&validate_subcommand,
	&revoke_subcommand,
};

static void print_table(void)
{
	for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
		printf("  %-14s %s\n", subcommands[i]->name, subcommands[i]->summary);
}

static const struct subcommand *find_subcommand(const char *name)
{
	/* perf calls perfex run "stat". */
	if (strcmp(name, "stat") == 0)
		return &run_subcommand;
	for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
		if (strcmp(subcommands[i]->name, name) == 0)
			return subcommands[i];
	return NULL;
}

static bool names_subcommand(const char *name)
{
	return find_subcommand(name);
}

/* "perfex help NAME" is "perfex NAME --help". */
static int show_help(int argc, char **argv)
{
	const struct subcommand *subcommand = argc > 1 ? find_subcommand(argv[1]) : &run_subcommand;
	char option[] = "--help", *arguments[] = { argv[0], option, NULL };

	if (argc > 2)
		fail("perfex help takes one subcommand, '%s' is another", argv[2]);
	if (!subcommand)
		fail("there is no subcommand '%s'; perfex help shows all", argv[1]);
	return subcommand->main(2, arguments);
}

#define SAMPLES "perfex record takes samples, perfex samples shows where they are"

#define NO_DATA "perfex samples addresses of instructions, and not of data"

/* Subcommands of perf that perfex lacks. */
static const struct perf_command {
	const char *name, *answer;
	/*
	 * First arguments that show that perf's subcommand is meant, for names that are also
	 * programs on most machines.
	 */
	const char *options[6];
	bool alone; /* without arguments, perf's subcommand is meant too */
} perf_commands[] = {
	{ .name = "annotate",
	  .answer = "perfex record takes samples, perfex samples --annotate=FUNCTION shows them by "
		    "instruction" },
	{ .name = "top", .answer = SAMPLES, .options = { "-e", "--event", "-a", "-F", "-g" } },
	{ .name = "script",
	  .answer = "perfex report shows what perfex trace has recorded, perfex samples what perfex "
		    "record has",
	  .options = { "-F", "-i" },
	  .alone = true },
	{ .name = "sched", .answer = "perfex trace records when each process ran" },
	{ .name = "probe", .answer = "perfex counts what processors count, and places no probes" },
	{ .name = "mem", .answer = NO_DATA },
	{ .name = "c2c", .answer = NO_DATA },
};

static bool is_program(const char *name)
{
	char *file = path_find_program(getenv("PATH"), ".", name);
	bool found = file;

	free(file);
	return found;
}

static bool is_meant(const struct perf_command *command, const char *argument)
{
	if (!argument && command->alone)
		return true;
	for (const char *const *option = command->options; argument && *option; option++)
		if (strncmp(argument, *option, strlen(*option)) == 0)
			return true;
	return !is_program(command->name);
}

/*
 * Ends perfex, with what to type instead, if command is a subcommand of perf and not a program: if
 * no program has the name, or if the first argument is one that only perf's subcommand takes.
 */
static void check_perf_command(char **command)
{
	for (size_t i = 0; i < sizeof(perf_commands) / sizeof(perf_commands[0]); i++) {
		const struct perf_command *known = &perf_commands[i];

		if (strcmp(known->name, command[0]) == 0 && is_meant(known, command[1]))
			fail("%s; to count a program of the name '%s', type perfex run %s",
			     known->answer, known->name, known->name);
	}
}

/*
 * Ends perfex, with what to type instead, for "stat record" and "stat report", which perf has as
 * subcommands of two words.  Does nothing if a program has the name record or report.
 */
static void check_perf_stat(char **argument)
{
	const char *name = argument[0];

	if (name && (strcmp(name, "record") == 0 || strcmp(name, "report") == 0) &&
	    !is_program(name))
		fail("perfex -j -o FILE COMMAND keeps the counts, perfex diff compares them; to "
		     "count a program of the name '%s', type perfex run %s",
		     name, name);
}

/*
 * Opens /dev/null for each standard descriptor that is closed.  Otherwise one of perfex's own files
 * or events would get its number, and be written into.  Each is opened for the wrong direction, so
 * that reading standard input, and writing standard output and error, still fail with EBADF.
 * COMMAND does not inherit them.
 */
static void fill_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) != fd)
			fail("descriptor %d is closed, and /dev/null cannot be opened: %m", fd);
}

/*
 * Only the first argument can name a subcommand: "perfex -- list" runs a program of the name list.
 */
int main(int argc, char **argv)
{
	const struct subcommand *subcommand = argc > 1 ? find_subcommand(argv[1]) : NULL;

	fill_standard();
	print_subcommands = print_table;
	atexit(flush_output);
	if (subcommand && strcmp(argv[1], "stat") == 0)
		check_perf_stat(argv + 2);
	if (subcommand)
		return subcommand->main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "help") == 0)
		return show_help(argc - 1, argv + 1);
	if (argc > 1)
		check_perf_command(argv + 1);
	is_subcommand = names_subcommand;
	return run_subcommand.main(argc, argv);
}
