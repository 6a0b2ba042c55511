// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of subcommands, where they begin, and what is none. */
#define _GNU_SOURCE
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
	/* As in perf. */
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
	/* First arguments that only perf's takes, of a name that most machines have a program of */
	const char *options[6];
	bool alone; /* without arguments, too */
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
	const char *path = getenv("PATH");
	bool found = false;
	char *file;

	for (path = path ? path : "/bin:/usr/bin"; !found; path++) {
		size_t length = strcspn(path, ":");

		if (asprintf(&file, "%.*s%s%s", (int)length, path, length ? "/" : "", name) < 0)
			fail("out of memory");
		found = access(file, X_OK) == 0;
		free(file);
		path += length;
		if (!*path)
			break;
	}
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

/* Who types such a one is told so, unless it is a program. */
static void check_perf_command(char **command)
{
	for (size_t i = 0; i < sizeof(perf_commands) / sizeof(perf_commands[0]); i++) {
		const struct perf_command *known = &perf_commands[i];

		if (strcmp(known->name, command[0]) == 0 && is_meant(known, command[1]))
			fail("%s; to count a program of the name '%s', type perfex run %s",
			     known->answer, known->name, known->name);
	}
}

/* "perf stat record" and "perf stat report" are commands of two words. */
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
 * The number of a closed descriptor would become that of a file or an event of perfex's own, and be
 * written into.  What is there instead is read and written as little, and COMMAND does not get it.
 */
static void fill_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) != fd)
			fail("descriptor %d is closed, and /dev/null cannot be opened: %m", fd);
}

/*
 * The name of a subcommand counts as such in the first place alone: "perfex -- list" runs a list.
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
