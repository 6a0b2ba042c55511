// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex exact: counts a command in an emulated machine, the same each time. */
#define _GNU_SOURCE
#include "exact/exact.h"
#include "run/options.h"
#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The machine's names of perfex, of COMMAND's input, and of the file with the counts. */
#define PERFEX "/machine/perfex"
#define INPUT "/machine/input"
#define RESULT "/machine/result"

enum { DEFAULT_MEMORY_MB = 512, MAX_OPTIONS = 128 };

struct exact_options {
	struct word_list with, environment;
	struct word_list passed; /* options of perfex run */
	const char *processor, *input, *prepare;
	char *output;
	unsigned int memory_mb;
	bool no_directory, append;
	char **command;
};

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
	if (strcmp(row->name, "rules") == 0)
		append_word(&options->with, text_print("%s", argument));
	append_word(&options->passed, text_print("--%s%s%s", row->name, argument ? "=" : "",
						 argument ? argument : ""));
}

static const struct option_row own_rows[] = {
	CALL_AT(offsetof(struct exact_options, with), "with", 0, "PATH",
		"also put PATH, with all that is in it, into the machine; may be repeated",
		take_word, 0),
	FLAG_OPTION("no-directory", 0, "do not put the current directory into the machine",
		    struct exact_options, no_directory),
	CALL_AT(offsetof(struct exact_options, environment), "env", 0, "NAME=VALUE",
		"set a variable of COMMAND's environment; may be repeated", take_variable, 0),
	TEXT_OPTION("processor", 0, "NAME", "the machine's processor; the default is x86-64-v3",
		    struct exact_options, processor),
	NUMBER_OPTION("memory", 0, "MB", "the machine's memory; the default is 512",
		      struct exact_options, memory_mb, 256, 8192, " of MB"),
	TEXT_OPTION("input", 0, "FILE", "COMMAND's standard input, in place of perfex's",
		    struct exact_options, input),
	CALL_AT(offsetof(struct exact_options, output), "output", 'o', "FILE",
		"write the counts to FILE, and not to standard error", take_output, 0),
	FLAG_OPTION("append", 0, "append to FILE", struct exact_options, append),
	REFUSED_OPTION("pid", 'p', "PID", "the machine has no process but COMMAND"),
	REFUSED_OPTION("regions", 0, "FILE",
		       "the machine sends no file of regions; count the regions by perfex run"),
	REFUSED_OPTION("log-fd", 0, "N", "--output=FILE"),
	REFUSED_OPTION("backend", 0, "NAME", "the machine counts by the patch"),
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
		"file of the host.  What COMMAND writes into files is gone at its end.  Standard\n"
		"input, output and error and the exit status are those of COMMAND.\n"
		"\n"
		"The options of perfex run have their meaning, such as -e, -g, --json and --repeat;\n"
		"see perfex run --help.\n"
		"\n"
		"Exit status: as of perfex run.\n",
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

static bool is_set(const struct word_list *variables, const char *variable)
{
	size_t length = strcspn(variable, "=") + 1;

	for (size_t i = 0; i < variables->n; i++)
		if (strncmp(variables->word[i], variable, length) == 0)
			return true;
	return false;
}

/* Returns the environment of all programs in the machine but for PATH, for free(). */
static char **make_environment(const struct exact_options *options)
{
	static const char *const usual[] = { "HOME=/tmp", "LC_ALL=C.UTF-8" };
	char **environment = allocate(options->environment.n + 2, sizeof(char *));
	size_t n = 0;

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (!is_set(&options->environment, usual[i]))
			environment[n++] = (char *)usual[i];
	for (size_t i = 0; i < options->environment.n; i++)
		environment[n++] = (char *)options->environment.word[i];
	return environment;
}

#define LOCALE "/usr/lib/locale/C.utf8"

/* Every program may expect these.  Newer versions of glibc have the locale in themselves. */
static void add_system(struct files *files)
{
	static const struct {
		const char *name;
		mode_t mode;
	} directories[] = {
		{ "/dev", 0755 },  { "/etc", 0755 },	  { "/machine", 0755 }, { "/proc", 0755 },
		{ "/root", 0700 }, { "/run", 0755 },	  { "/sys", 0755 },	{ "/tmp", 01777 },
		{ "/var", 0755 },  { "/var/tmp", 01777 },
	};

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		files_add_directory(files, directories[i].name, directories[i].mode);
	files_add_tree(files, LOCALE);
}

/* Called after the files that the user and COMMAND name were added: those stay as they are. */
static void add_users(struct files *files)
{
	static const char users[] = "root:x:0:0:root:/root:/bin/sh\n"
				    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
	static const char groups[] = "root:x:0:\nnogroup:x:65534:\n";

	files_add_text(files, "/etc/passwd", 0644, users, sizeof(users) - 1);
	files_add_text(files, "/etc/group", 0644, groups, sizeof(groups) - 1);
}

/* Copies a file of the machine's own under another name. */
static void add_own(struct files *files, const struct machine *machine, const char *file,
		    const char *name)
{
	char *path = machine_file(machine, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		fail("cannot read %s: %m", path);
	status.st_mtime = 0;
	if (!archive_copy(&files->archive, name, &status, fd))
		fail("cannot read %s: %m", path);
	close(fd);
	free(path);
}

/* Waiting for a pipe that nobody closes must not look like a machine that hangs. */
static void tell_of_waiting(int fd)
{
	struct pollfd input = { .fd = fd, .events = POLLIN };

	if (poll(&input, 1, 1000) == 0)
		complain(
			"waiting for the end of standard input; with </dev/null COMMAND gets none");
}

/*
 * Returns false if there is no input.  A terminal is none: the machine takes its input before
 * COMMAND starts.
 */
static bool add_input(struct files *files, const char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	struct stat status;

	if (fd < 0)
		fail("cannot read --input=%s: %m", path);
	if ((!path && isatty(fd)) || fstat(fd, &status) < 0)
		return false;
	if (!path)
		tell_of_waiting(fd);
	status.st_mode = 0644;
	status.st_mtime = 0;
	if (!archive_copy(&files->archive, INPUT, &status, fd)) {
		if (!path && errno == EBADF)
			return false;
		fail("cannot read %s: %m", path ? path : "standard input");
	}
	if (path)
		close(fd);
	return true;
}

static void write_string(FILE *job, const char *text)
{
	fwrite(text, 1, strlen(text) + 1, job);
}

static void write_strings(FILE *job, const struct word_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		write_string(job, list->word[i]);
}

static size_t count_words(char **word)
{
	size_t n = 0;

	while (word[n])
		n++;
	return n;
}

/* Tells process 1 of the machine what to run: the strings that scripts/vm-init.c describes. */
static void add_job(struct files *files, const struct exact_options *options, const char *directory,
		    bool has_input)
{
	static const char *const perfex[] = { PERFEX, "run", "--output=" RESULT, "--input=" INPUT };
	size_t n_perfex = sizeof(perfex) / sizeof(perfex[0]) - !has_input;
	struct text job;
	char *path;

	text_open(&job);
	write_string(job.file, directory);
	for (int zero = 0; zero < 4; zero++) /* user, group, rows and columns */
		write_string(job.file, "0");
	fprintf(job.file, "%zu%c", n_perfex + options->passed.n + 1 + count_words(options->command),
		'\0');
	for (size_t i = 0; i < n_perfex; i++)
		write_string(job.file, perfex[i]);
	write_strings(job.file, &options->passed);
	write_string(job.file, "--");
	for (char **word = options->command; *word; word++)
		write_string(job.file, *word);
	for (char *const *variable = files->environment; *variable; variable++)
		write_string(job.file, *variable);
	path = needs_path(files);
	if (!is_set(&options->environment, path))
		write_string(job.file, path);
	free(path);
	text_close(&job);
	archive_text(&files->archive, "/job", 0644, job.text, job.size);
	free(job.text);
}

static int make_archive(const struct exact_options *options, const struct machine *machine,
			struct files *files)
{
	char *directory = getcwd(NULL, 0), *here;

	if (!directory)
		fail("cannot find the current directory: %m");
	archive_begin(&files->archive, (uint64_t)machine->memory_mb * 1024 * 1024 / 4);
	add_own(files, machine, "init", "/init");
	add_system(files);
	add_own(files, machine, "perfex", PERFEX);
	here = files_add(files, directory);
	if (!here)
		fail("the current directory cannot be in the machine: %s", files_error(errno));
	free(here);
	if (options->output)
		files_leave_out(files, options->output);
	free(needs_program(files, options->command[0]));
	if (access("/bin/sh", X_OK) == 0)
		free(needs_program(files, "/bin/sh"));
	for (size_t i = 0; i < options->with.n; i++)
		if (!files_add_tree(files, options->with.word[i]))
			fail("cannot put %s into the machine: %s", options->with.word[i],
			     files_error(errno));
	if (!options->no_directory && !files_add_tree(files, directory))
		fail("cannot read the current directory: %m");
	needs_arguments(files, options->command);
	if (options->prepare)
		needs_of_shell(files, options->prepare);
	needs_settle(files);
	add_users(files);
	add_job(files, options, directory, add_input(files, options->input));
	free(directory);
	return archive_end(&files->archive);
}

/* Writes the counts.  Returns false after an error message. */
static bool write_counts(const struct exact_options *options, const struct machine_result *result)
{
	int fd = STDERR_FILENO;
	bool written;

	if (options->output)
		fd = open(options->output,
			  O_WRONLY | O_CREAT | O_CLOEXEC | (options->append ? O_APPEND : O_TRUNC),
			  0666);
	if (fd < 0) {
		complain("cannot write '%s': %m; the counts follow here", options->output);
		write_all(STDERR_FILENO, result->file, result->file_size);
		return false;
	}
	written = write_all(fd, result->file, result->file_size);
	if (!written && options->output)
		complain("cannot write '%s': %m", options->output);
	if (options->output)
		close(fd);
	return written;
}

static void explain_end(const struct machine *machine, const struct machine_result *result)
{
	int status = result->wait_status;

	if (result->out_of_memory)
		complain("the machine has no memory left of %u MB, and has killed a process; give "
			 "--memory=MB",
			 machine->memory_mb);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGILL)
		complain("COMMAND has executed an instruction that the processor %s does not have",
			 machine->processor.name);
}

/*
 * Writes all that can be written, also if one of the files fails.  Returns the exit status.  It is
 * that of SIGPIPE if the reader of standard output has gone.
 */
static int write_result(const struct exact_options *options, const struct machine *machine,
			const struct machine_result *result)
{
	int status = result->wait_status;
	bool failed = false;

	signal(SIGPIPE, SIG_IGN);
	write_all(STDERR_FILENO, result->error, result->error_size);
	if (result->output_size && !write_all(STDOUT_FILENO, result->output, result->output_size)) {
		failed = errno != EPIPE;
		if (failed)
			complain("cannot write to standard output: %m");
		else
			status = W_EXITCODE(0, SIGPIPE);
	}
	if (result->file_size)
		failed |= !write_counts(options, result);
	explain_end(machine, result);
	return failed ? EXIT_PERFEX : exit_as(status);
}

static int run_exactly(const struct exact_options *options)
{
	struct machine machine = { .memory_mb = options->memory_mb };
	struct files files = { 0 };
	struct machine_result result;
	int archive, status, ended_by;
	char **environment;

	machine_find(&machine, options->processor);
	environment = make_environment(options);
	files.environment = environment;
	archive = make_archive(options, &machine, &files);
	if (machine_run(&machine, archive, &result, &ended_by))
		status = write_result(options, &machine, &result);
	else
		status = ended_by ? exit_as(W_EXITCODE(0, ended_by)) : EXIT_PERFEX;
	machine_result_free(&result);
	files_free(&files);
	fclose(files.archive.file);
	free(environment);
	free(machine.directory);
	return status;
}

static int exact_main(int argc, char **argv)
{
	struct exact_options options = {
		.processor = "x86-64-v3",
		.memory_mb = DEFAULT_MEMORY_MB,
	};
	int status;

	make_rows();
	options.command = argv + take_options(&exact_subcommand, &options, argc, argv);
	if (!options.command[0])
		fail("no command given; see perfex exact --help");
	if (options.append && !options.output)
		fail("--append needs a file to append to; give --output=FILE");
	status = run_exactly(&options);
	free_words(&options.with);
	free_words(&options.environment);
	free_words(&options.passed);
	free(options.output);
	return status;
}
