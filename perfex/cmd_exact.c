// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex exact: counts a command in an emulated machine, the same each time. */
#define _GNU_SOURCE
#include "exact/options.h"
#include "exact/syscalls.h"
#include "run/options.h"
#include "run/syscalls.h"
#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_MEMORY_MB = 512, MAX_OPTIONS = 128 };

static void take_word(void *list, const struct option_row *row, const char *text)
{
	append_word(list, text_print("%s", text));
}

static void take_variable(void *list, const struct option_row *row, const char *text)
{
	if (*text == '=' || !strchr(text, '='))
		fail("--env=%s: give NAME=VALUE", text);
	take_word(list, row, text);
}

/* Keeps an option of perfex run for perfex in the machine. */
static void take_passed(void *target, const struct option_row *row, const char *argument)
{
	struct exact_options *options = target;

	if (strcmp(row->name, "prepare") == 0)
		options->prepare = argument;
	if (strcmp(row->name, "format") == 0 || strcmp(row->name, "field-separator") == 0)
		options->other_format = row->name;
	options->has_old_format |= strcmp(row->name, "format") == 0 && strcmp(argument, "2.6") == 0;
	if (strcmp(row->name, "rules") == 0)
		append_word(&options->with, text_print("%s", argument));
	append_word(&options->passed, text_print("--%s%s%s", row->name, argument ? "=" : "",
						 argument ? argument : ""));
}

/* The machine takes the options of perfex run, and the comparison has the same confidence. */
static void take_own_confidence(void *target, const struct option_row *row, const char *text)
{
	struct exact_options *options = target;

	take_confidence(&options->baseline.diff.confidence, row, text);
	take_passed(target, row, text);
}

enum { AT_DIFF = offsetof(struct exact_options, baseline.diff) };

static const struct option_row own_rows[] = {
	CALL_AT(offsetof(struct exact_options, with), "with", 0, "PATH",
		"also put PATH, with all that is in it, into the machine; may be repeated",
		take_word, 0),
	CALL_AT(offsetof(struct exact_options, without), "without", 0, "PATH",
		"leave PATH, with all that is in it, out of the machine; may be repeated",
		take_word, 0),
	FLAG_OPTION("find-files", 0,
		    "run COMMAND on the host first, and put the files that it uses into the "
		    "machine, too",
		    struct exact_options, find_files),
	TEXT_OPTION("directory", 0, "PATH", "the current directory's name in the machine",
		    struct exact_options, directory),
	FLAG_OPTION("no-directory", 0, "do not put the current directory into the machine",
		    struct exact_options, no_directory),
	CALL_AT(offsetof(struct exact_options, environment), "env", 0, "NAME=VALUE",
		"set a variable of COMMAND's environment; may be repeated", take_variable, 0),
	TEXT_OPTION("processor", 0, "NAME", "the machine's processor; the default is x86-64-v3",
		    struct exact_options, processor),
	NUMBER_OPTION("memory", 0, "MB", "the machine's memory; the default is 512",
		      struct exact_options, memory_mb, 256, 8192, " of MB"),
	NUMBER_OPTION("cpus", 0, "N",
		      "the machine's number of CPUs; the default is 1, or 2 if the processor's "
		      "cores have 2",
		      struct exact_options, cpus, 1, MACHINE_MAX_CPUS, " of CPUs"),
	TEXT_OPTION("input", 0, "FILE", "COMMAND's standard input, in place of perfex's",
		    struct exact_options, input),
	FLAG_OPTION("syscalls", 0, "also count system calls, by their numbers",
		    struct exact_options, syscalls),
	FLAG_OPTION("shell", 0,
		    "start a shell in the machine of COMMAND, on this terminal, and count nothing",
		    struct exact_options, shell),
	CALL_AT(offsetof(struct exact_options, output), "output", 'o', "FILE",
		"write the counts to FILE, and not to standard error", take_output, 0),
	FLAG_OPTION("append", 0, "append to FILE", struct exact_options, append),
	TEXT_OPTION("regions", 0, "FILE",
		    "let COMMAND count the events in its regions, too, and write them to FILE; "
		    "perfex stat-of FILE shows them",
		    struct exact_options, regions),
	TEXT_OPTION("baseline", 0, "FILE",
		    "write how the counts differ from those in FILE, and not the counts",
		    struct exact_options, baseline.path),
	FLAG_OPTION("update", 0, "then let FILE have the new counts; limits are not checked",
		    struct exact_options, baseline.update),
	LIMIT_OPTION(AT_DIFF),
	CALL_AT(AT_DIFF, "markdown", 0, NULL, "write the comparison as a table of Markdown",
		take_diff_format, 0),
	CALL_AT(AT_DIFF, "csv", 0, NULL, "write comma-separated values (RFC 4180)",
		take_diff_format, 1),
	CALL_AT(AT_DIFF, "json", 'j', NULL, "write JSON, one document a line", take_diff_format, 2),
	CALL_OPTION("confidence", 0, "PERCENT", NULL, take_own_confidence, 0),
	REFUSED_OPTION("pid", 'p', "PID", "the machine has no process but COMMAND"),
	REFUSED_OPTION("log-fd", 0, "N", "--output=FILE"),
	REFUSED_OPTION("backend", 0, "NAME", "the machine counts by the kernel driver"),
	REFUSED_OPTION("info", 'i', NULL, "perfex info"),
	REFUSED_OPTION("list", 'l', NULL, "perfex list"),
	REFUSED_OPTION("long-list", 'L', NULL, "perfex list --long"),
	REFUSED_OPTION("version", 'V', NULL, "perfex --version"),
};

enum { N_OWN = sizeof(own_rows) / sizeof(own_rows[0]) };

static struct option_row rows[MAX_OPTIONS];

static int exact_main(int argc, char **argv);

const struct subcommand exact_subcommand = {
	.name = "exact",
	.summary = "count a command in a machine of its own, the same each time",
	.main = exact_main,
	.help = "Usage: perfex exact [OPTION].. [OPTION OF RUN].. [--] COMMAND [ARGUMENT]..\n"
		"Run COMMAND in an emulated machine with exact counters, and count its events.  The\n"
		"same files, options and input give the same counts, in user and kernel mode, on every\n"
		"host.  It needs neither counters nor privileges.\n",
	.options = rows,
	.takes_command = true,
	.notes =
		"The machine has COMMAND with its libraries, its interpreter, the files and programs\n"
		"that its arguments name, and the current directory.  It has no network and no other\n"
		"file of the host.  What COMMAND writes into files there is gone at its end.  Standard\n"
		"input, output and error and the exit status are those of COMMAND.\n"
		"\n"
		"The options of perfex run have their meaning, such as -e, -g, --json and --repeat;\n"
		"see perfex run --help.\n"
		"\n"
		"Exit status: as of perfex run; 1 if a limit is exceeded.\n",
};

static bool is_own(const struct option_row *row)
{
	for (int i = 0; i < N_OWN; i++)
		if (strcmp(own_rows[i].name, row->name) == 0)
			return true;
	return false;
}

/* The options are those of perfex exact, and those of perfex run, which are not in the help. */
static void make_rows(void)
{
	size_t n = N_OWN;

	memcpy(rows, own_rows, sizeof(own_rows));
	for (const struct option_row *row = run_subcommand.options; row->name; row++) {
		if (is_own(row))
			continue;
		if (n == MAX_OPTIONS - 1)
			fail("perfex run has too many options");
		rows[n] = *row;
		rows[n].help = NULL;
		if (row->kind != OPTION_REFUSED) {
			rows[n].kind = OPTION_CALL;
			rows[n].take = take_passed;
			rows[n].field = 0;
		}
		n++;
	}
}

/* Writes the counts, or their comparison.  Returns false after an error message. */
static bool write_counts(const struct exact_options *options, const char *text, size_t size)
{
	bool standard = options->output && is_standard(options->output);
	bool named = options->output && !standard;
	int fd = standard ? STDOUT_FILENO : STDERR_FILENO;
	bool written;

	if (named)
		fd = open(options->output,
			  O_WRONLY | O_CREAT | O_CLOEXEC | (options->append ? O_APPEND : O_TRUNC),
			  0666);
	if (fd < 0) {
		complain("cannot write '%s': %m; the counts follow here", options->output);
		write_all(STDERR_FILENO, text, size);
		return false;
	}
	written = write_all(fd, text, size);
	if (!written && options->output)
		complain("cannot write '%s': %m", options->output);
	if (named)
		close(fd);
	return written;
}

/* Returns false after an error message.  An older file must not pass for this run's. */
static bool write_regions(const struct exact_options *options, const struct machine_text *regions)
{
	if (!regions->size) {
		complain("COMMAND has written no regions; '%s' stays as it was", options->regions);
		return false;
	}
	if (textfile_output(options->regions, regions->text, regions->size))
		return true;
	complain("cannot write '%s': %m", options->regions);
	return false;
}

/*
 * Compares the counts with the baseline, or with themselves if there is none yet, and makes them
 * the new one if that is wanted and nothing has failed.  Returns the exit status of the comparison.
 */
static int compare_counts(struct exact_options *options, const struct machine *machine,
			  const struct machine_result *result, bool has_failed)
{
	struct baseline *baseline = &options->baseline;
	struct text_error error;
	struct document *new = document_parse(result->counts.text, result->counts.size, &error);
	int status = 0;
	struct text text;

	if (!new) {
		complain("the counts cannot be compared: %s", error.text);
		return EXIT_PERFEX;
	}
	baseline_add_machine(new, machine, &options->environment);
	status = baseline_compare(baseline, new, text_open(&text));
	text_close(&text);
	if (!write_counts(options, text.text, text.size))
		status = EXIT_PERFEX;
	free(text.text);
	has_failed |= status == EXIT_PERFEX;
	if (baseline->update && has_failed)
		complain("the run has failed: %s stays as it was", baseline->path);
	else if (baseline->update)
		status = baseline_update(baseline, new) ? 0 : EXIT_PERFEX;
	document_free(new);
	return status;
}

static void explain_end(const struct machine *machine, const struct machine_result *result)
{
	int status = result->wait_status;

	if (result->out_of_memory)
		complain("the machine has no memory left of %u MB, which also keeps the outputs, and "
			 "has killed a process; give --memory=MB",
			 machine->memory_mb);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGILL)
		complain("COMMAND has executed an instruction that the processor %s does not have",
			 machine->processor.name);
}

/*
 * Writes all that can be written, also if one of the files fails.  Returns the exit status.  It is
 * that of SIGPIPE if the reader of standard output has gone.
 */
static int write_result(struct exact_options *options, const struct machine *machine,
			const struct machine_result *result)
{
	int status = result->wait_status, compared = 0;
	bool failed = false;

	signal(SIGPIPE, SIG_IGN);
	write_all(STDERR_FILENO, result->error.text, result->error.size);
	if (result->output.size &&
	    !write_all(STDOUT_FILENO, result->output.text, result->output.size)) {
		failed = errno != EPIPE;
		if (failed)
			complain("cannot write to standard output: %m");
		else
			status = W_EXITCODE(0, SIGPIPE);
	}
	if (options->regions && !status)
		failed |= !write_regions(options, &result->regions);
	if (result->counts.size && options->baseline.path)
		compared = compare_counts(options, machine, result, status || failed);
	else if (result->counts.size)
		failed |= !write_counts(options, result->counts.text, result->counts.size);
	else if (!status && !options->shell) {
		complain("COMMAND has ended, but the machine has sent no counts");
		failed = true;
	}
	explain_end(machine, result);
	if (failed || compared == EXIT_PERFEX)
		return EXIT_PERFEX;
	return status ? exit_as(status) : compared;
}

/*
 * Ends perfex if a limit is on a system call that Linux does not have: a call that COMMAND does not
 * make is in no recording.
 */
static void check_limits(const struct exact_options *options, const struct machine *machine)
{
	const struct limits *limits = &options->baseline.diff.limits;

	for (size_t i = 0; i < limits->n; i++) {
		const char *name = limits->limit[i].name, *call = document_syscall(name);

		if ((call || strcmp(name, SYSCALLS) == 0) && !options->syscalls)
			fail("--limit=%s needs --syscalls", name);
		if (call && !syscalls_has_name(machine, call))
			fail("--limit=%s: perfex shows no system call by this name", name);
	}
}

static int run_exactly(struct exact_options *options)
{
	struct machine machine = { .memory_mb = options->memory_mb, .cpus = options->cpus };
	struct contents contents;
	struct machine_result result;
	int status = EXIT_PERFEX, archive, ended_by = 0;

	machine.has_terminal = options->shell;
	machine_find(&machine, options->processor);
	check_limits(options, &machine);
	if (options->syscalls && !machine_has_counters(&machine))
		fail("--syscalls needs a processor with counters, and %s has none",
		     machine.processor.name);
	contents_gather(&contents, options, &machine);
	archive = contents_add_job(&contents, options);
	if (options->shell)
		fputs("perfex: a shell in the machine; perfex counts there, and exit ends it\n",
		      stderr);
	if (machine_run(&machine, archive, &result, &ended_by))
		status = write_result(options, &machine, &result);
	else
		explain_end(&machine, &result);
	machine_result_free(&result);
	if (ended_by)
		status = exit_as(W_EXITCODE(0, ended_by));
	contents_free(&contents);
	free(machine.directory);
	return status;
}

/* Ends perfex if the options of the comparison do not fit together. */
static void check_comparison(struct exact_options *options)
{
	struct baseline *baseline = &options->baseline;
	const char *format = baseline->diff.format_name;

	if (!baseline->path) {
		if (baseline->update || baseline->diff.limits.n)
			fail("%s needs --baseline=FILE", baseline->update ? "--update" : "--limit");
		if (baseline->diff.write == diff_write_markdown)
			fail("--markdown needs --baseline=FILE");
		if (format)
			append_word(&options->passed, text_print("--%s", format));
		return;
	}
	if (!*baseline->path || is_standard(baseline->path))
		fail("--baseline=%s: give the name of a file", baseline->path);
	if (options->other_format)
		fail("--%s does not go with --baseline; give --csv, --json or --markdown",
		     options->other_format);
	if (baseline->update)
		limits_free(&baseline->diff.limits);
	append_word(&options->passed, text_print("--json"));
}

/* Returns true if both paths lead to one file, or to one that does not exist yet. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat status_a, status_b;

	if (stat(a, &status_a) < 0 || stat(b, &status_b) < 0)
		return strcmp(a, b) == 0;
	return status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino &&
	       S_ISREG(status_a.st_mode);
}

/* Each file that perfex writes would replace the other one. */
static void check_files(const struct exact_options *options)
{
	const struct {
		const char *name, *path;
	} files[] = {
		{ "output", options->output },
		{ "regions", options->regions },
		{ "baseline", options->baseline.path },
	};
	size_t n = sizeof(files) / sizeof(files[0]);

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (files[i].path && files[k].path &&
			    is_same_file(files[i].path, files[k].path))
				fail("--%s=%s and --%s=%s are one file; give two", files[i].name,
				     files[i].path, files[k].name, files[k].path);
}

/* The shell has the caller's kind of terminal, unless the user names another. */
static void choose_terminal(struct word_list *environment)
{
	char *terminal = text_print("TERM=%s", getenv("TERM") ?: "dumb");

	if (contents_has_variable(environment, terminal))
		free(terminal);
	else
		append_word(environment, terminal);
}

/* A shell takes the place of COMMAND: nothing is counted, and the terminal is its input. */
static void check_shell(struct exact_options *options)
{
	const struct {
		const char *name;
		bool given;
	} others[] = {
		{ "append", options->append },
		{ "baseline", options->baseline.path },
		{ "input", options->input },
		{ "limit", options->baseline.diff.limits.n },
		{ "output", options->output },
		{ "regions", options->regions },
		{ "syscalls", options->syscalls },
		{ "update", options->baseline.update },
		{ options->baseline.diff.format_name, options->baseline.diff.format_name },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].given)
			fail("--%s does not go with --shell, which counts nothing", others[i].name);
	if (options->passed.n)
		fail("%s does not go with --shell, which counts nothing; give it to perfex there",
		     options->passed.word[0]);
	if (options->find_files && !options->command[0])
		fail("--find-files needs a COMMAND");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		fail("--shell needs a terminal as standard input and output; without one give "
		     "COMMAND, such as -- sh -c 'ls -l'");
	choose_terminal(&options->environment);
}

/* COMMAND learns of its regions by the machine's own perfex. */
static void pass_regions(struct exact_options *options)
{
	if (options->regions)
		append_word(&options->passed, text_print("--regions=" MACHINE_REGIONS));
}

static int exact_main(int argc, char **argv)
{
	struct exact_options options = {
		.processor = "x86-64-v3",
		.memory_mb = DEFAULT_MEMORY_MB,
		.baseline.diff = { .confidence = 95, .write = diff_write_text },
	};
	int status;

	make_rows();
	options.command = argv + take_options(&exact_subcommand, &options, argc, argv);
	if (options.shell)
		check_shell(&options);
	else if (!options.command[0])
		fail("no command given; see perfex exact --help");
	if (options.append && !options.output)
		fail("--append needs a file to append to; give --output=FILE");
	if (options.prepare && options.find_files)
		fail("--prepare does not go with --find-files, which runs COMMAND without it");
	if (options.syscalls && options.has_old_format)
		fail("--syscalls does not go with --format=2.6, which has no rows for them");
	check_comparison(&options);
	check_files(&options);
	pass_regions(&options);
	if (options.baseline.path && !baseline_read(&options.baseline))
		exit(EXIT_PERFEX);
	status = run_exactly(&options);
	baseline_free(&options.baseline);
	free_words(&options.with);
	free_words(&options.without);
	free_words(&options.environment);
	free_words(&options.passed);
	free(options.output);
	return status;
}
