// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts into the archive all that the machine has when COMMAND starts, and the job: what it runs. */
#define _GNU_SOURCE
#include "options.h"
#include "syscalls.h"
#include "../textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The machine's names of perfex and of COMMAND's input, and of their directory. */
#define MACHINE "/machine"
#define PERFEX MACHINE "/perfex"
#define INPUT MACHINE "/input"

bool contents_has_variable(const struct word_list *variables, const char *variable)
{
	size_t length = strcspn(variable, "=") + 1;

	for (size_t i = 0; i < variables->n; i++)
		if (strncmp(variables->word[i], variable, length) == 0)
			return true;
	return false;
}

/*
 * Returns the environment of COMMAND, for free().  path: NULL for none.  The strings stay those of
 * the arguments and options.
 */
static char **make_environment(const struct exact_options *options, char *home, char *path)
{
	char *usual[] = { home, "LC_ALL=C.UTF-8", path };
	char **environment = allocate(options->environment.n + 4, sizeof(char *));
	size_t n = 0;

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (usual[i] && !contents_has_variable(&options->environment, usual[i]))
			environment[n++] = usual[i];
	for (size_t i = 0; i < options->environment.n; i++)
		environment[n++] = (char *)options->environment.word[i];
	return environment;
}

/* Newer versions of glibc have it in themselves. */
#define LOCALE "/usr/lib/locale/C.utf8"

/* Every program may expect these. */
static void add_system(struct files *files)
{
	static const struct {
		const char *name;
		mode_t mode;
	} directories[] = {
		{ "/etc", 0755 },  { "/machine", 0755 }, { "/root", 0700 },	{ "/run", 0755 },
		{ "/tmp", 01777 }, { "/var", 0755 },	 { "/var/tmp", 01777 },
	};

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		files_add_directory(files, directories[i].name, directories[i].mode);
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

/* Waiting for a pipe that nobody closes must not look like a machine that hangs. */
static void tell_of_waiting(int fd)
{
	struct pollfd input = { .fd = fd, .events = POLLIN };

	if (poll(&input, 1, 1000) == 0)
		complain(
			"waiting for the end of standard input; with </dev/null COMMAND gets none");
}

/*
 * Returns the descriptor of COMMAND's input, or -1 if there is none.  A terminal is none: the
 * machine takes its input before COMMAND starts.
 */
static int open_input(const char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;

	if (path && fd < 0)
		fail("cannot read --input=%s: %m", path);
	if (path)
		return fd;
	if (fcntl(fd, F_GETFL) < 0 || isatty(fd))
		return -1;
	tell_of_waiting(fd);
	return fd;
}

/* Returns a descriptor of the same input that can be read twice. */
static int keep_input(int fd, size_t room)
{
	int kept = lseek(fd, 0, SEEK_CUR) >= 0 ? fd : memfd_create("perfctr-input", MFD_CLOEXEC);
	static char buffer[65536];
	size_t size = 0;
	ssize_t n;

	if (kept == fd)
		return fd;
	while ((n = read(fd, buffer, sizeof(buffer))) != 0) {
		if (n < 0 && errno == EAGAIN)
			poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0 && errno == EBADF)
			return fd;
		if (n < 0)
			fail("cannot read standard input: %m");
		size += (size_t)n;
		if (size > room)
			fail("standard input does not fit into the machine; give --memory=MB");
		if (!write_all(kept, buffer, (size_t)n))
			fail("no memory is left for standard input: %m");
	}
	lseek(kept, 0, SEEK_SET);
	return kept;
}

/* Returns false if standard input cannot be read: then there is none. */
static bool add_input(struct files *files, const char *path, int fd)
{
	const struct stat status = { .st_mode = 0644 };

	if (fd < 0)
		return false;
	if (!archive_copy(&files->archive, INPUT, &status, fd)) {
		if (!path && errno == EBADF)
			return false;
		fail("cannot read %s: %m", path ? path : "standard input");
	}
	return true;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	remove(path);
	return 0;
}

/*
 * Runs COMMAND on the host.  The machine's HOME is everybody's directory there, where others could
 * leave files that COMMAND obeys: it gets a directory of its own.
 */
static void find_files(struct files *files, const struct exact_options *options,
		       const char *program, int input)
{
	char home[] = "/tmp/perfctr-home.XXXXXX";
	char *path = text_print("PATH=%s", needs_callers_path()), *variable;
	struct used_command command = { .program = program,
					.command = options->command,
					.input = input };
	int result, error;

	if (!mkdtemp(home))
		fail("cannot make a directory in /tmp: %m");
	command.home = realpath(home, NULL);
	variable = text_print("HOME=%s", home);
	command.environment = make_environment(options, variable, path);
	result = used_add(files, &command);
	error = errno;
	nftw(home, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	if (result > 0)
		exit(exit_as(W_EXITCODE(0, result)));
	errno = error;
	if (result < 0)
		fail("--find-files: cannot follow COMMAND by ptrace(2): %m; give its files by "
		     "--with=PATH");
	free((char *)command.home);
	free((char **)command.environment);
	free(variable);
	free(path);
}

static void write_string(FILE *job, const char *text)
{
	fwrite(text, 1, strlen(text) + 1, job);
}

static void write_path(FILE *job, const struct files *files, const struct exact_options *options)
{
	char *path = needs_path(files);

	if (!contents_has_variable(&options->environment, path))
		fprintf(job, "%s%s%c", path, options->shell ? ":" MACHINE : "", '\0');
	free(path);
}

/* perfex counts COMMAND in the machine. */
static void add_perfex(struct word_list *words, const struct contents *contents,
		       const struct exact_options *options)
{
	append_word(words, text_print("%s", PERFEX));
	append_word(words, text_print("run"));
	if (contents->has_input)
		append_word(words, text_print("--input=%s", INPUT));
	if (contents->has_counters)
		append_word(words, text_print("--syscalls=%d", options->syscalls));
	append_word(words, text_print("--output=%s", MACHINE_COUNTS));
	for (size_t i = 0; i < options->passed.n; i++)
		append_word(words, text_print("%s", options->passed.word[i]));
	append_word(words, text_print("--"));
	for (char **word = options->command; *word; word++)
		append_word(words, text_print("%s", *word));
}

/* Writes the strings that scripts/vm-init.c describes. */
static void write_job(FILE *job, const struct contents *contents,
		      const struct exact_options *options, const struct word_list *words)
{
	struct winsize terminal = { 0 };

	if (contents->shell && (ioctl(STDIN_FILENO, TIOCGWINSZ, &terminal) < 0 || !terminal.ws_row))
		terminal = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	write_string(job, contents->directory);
	write_string(job, "0"); /* user */
	write_string(job, "0"); /* group */
	fprintf(job, "%u%c%u%c%zu%c", terminal.ws_row, '\0', terminal.ws_col, '\0', words->n, '\0');
	for (size_t i = 0; i < words->n; i++)
		write_string(job, words->word[i]);
	for (char *const *variable = contents->files.environment; *variable; variable++)
		write_string(job, *variable);
	write_path(job, &contents->files, options);
}

int contents_add_job(struct contents *contents, const struct exact_options *options)
{
	struct archive *archive = &contents->files.archive;
	struct word_list words = { 0 };
	struct text text;

	if (contents->shell)
		append_word(&words, text_print("%s", contents->shell));
	else
		add_perfex(&words, contents, options);
	write_job(text_open(&text), contents, options, &words);
	text_close(&text);
	archive_text(archive, "/job", 0644, text.text, text.size);
	free(text.text);
	free_words(&words);
	return archive_end(archive);
}

/* Files that perfex itself writes must not change the machine of the next run. */
static void leave_out(struct files *files, const struct exact_options *options)
{
	if (options->output)
		files_leave_out(files, options->output);
	if (options->regions)
		files_leave_out(files, options->regions);
	if (options->baseline.path)
		files_leave_out(files, options->baseline.path);
	for (size_t i = 0; i < options->without.n; i++)
		if (!files_leave_out_name(files, options->without.word[i]))
			fail("--without=%s: %m", options->without.word[i]);
}

/* Gives the current directory the name that the user wants. */
static void name_directory(struct files *files, const char *directory,
			   const struct exact_options *options)
{
	const char *there = options->directory;

	if (!there)
		return;
	if (*there != '/' || strstr(there, "//") || strstr(there, "/.") ||
	    there[strlen(there) - 1] == '/')
		fail("--directory=%s: give an absolute path such as /work", there);
	if (strcmp(directory, "/") == 0)
		fail("--directory=%s: the current directory is /, and keeps its name", there);
	if (files_is_of_machine(there))
		fail("--directory=%s: the machine has this name for itself", there);
	files->renamed = (struct renamed){ .here = text_print("%s", directory), .there = there };
	if (!options->command[0])
		return;
	if (names_is_renamed(&files->renamed, options->command[0]))
		fail("COMMAND is in the current directory, whose name in the machine is %s: give "
		     ".%s",
		     there, options->command[0] + strlen(directory));
	if (strchr(options->command[0], '/') &&
	    names_leads_out(&files->renamed, directory, options->command[0]))
		fail("%s leads elsewhere from %s; give COMMAND an absolute path",
		     options->command[0], there);
}

static void add_directories_above(struct files *files, const char *path)
{
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		char *above = text_print("%.*s", (int)(slash - path), path);

		files_add_directory(files, above, 0755);
		free(above);
	}
}

/* Adds the files that COMMAND's arguments and the options name. */
static void add_named(struct files *files, const struct exact_options *options,
		      const char *directory)
{
	for (size_t i = 0; i < options->with.n; i++)
		if (!files_add_tree(files, options->with.word[i]))
			fail("cannot put %s into the machine: %s", options->with.word[i],
			     files_error(errno));
	if (!options->no_directory && !files_add_tree(files, directory))
		fail("cannot read the current directory: %m");
	if (options->command[0])
		needs_arguments(files, options->command);
	if (options->prepare)
		needs_of_shell(files, options->prepare);
}

/* Adds COMMAND's input, and what COMMAND uses on the host.  Returns true if there is an input. */
static bool add_used(struct files *files, const struct exact_options *options, const char *program)
{
	int input = open_input(options->input);
	bool has_input;
	off_t start;

	if (options->find_files && input >= 0)
		input = keep_input(input, files->archive.room);
	start = lseek(input, 0, SEEK_CUR);
	has_input = add_input(files, options->input, input);
	if (options->find_files) {
		/* COMMAND may change files: the archive has its input and directory by now. */
		lseek(input, start, SEEK_SET);
		find_files(files, options, program, input);
	}
	if (input > STDERR_FILENO)
		close(input);
	return has_input;
}

void contents_gather(struct contents *contents, const struct exact_options *options,
		     const struct machine *machine)
{
	char *directory = getcwd(NULL, 0), *here, *program;
	struct files *files = &contents->files;

	if (!directory)
		fail("cannot find the current directory: %m");
	*contents = (struct contents){ .has_counters = machine_has_counters(machine) };
	files->environment = make_environment(options, "HOME=/tmp", NULL);
	files->finds_files = options->find_files;
	name_directory(files, directory, options);
	archive_begin(&files->archive, machine_files_size(machine));
	add_system(files);
	machine_add(&files->archive, machine, "perfex", PERFEX);
	syscalls_add_names(&files->archive, machine);
	if (options->directory)
		add_directories_above(files, options->directory);
	here = files_add(files, directory);
	if (!here)
		fail("the current directory cannot be in the machine: %s", files_error(errno));
	free(here);
	leave_out(files, options);
	files_add_tree(files, LOCALE);
	program = options->command[0] ? needs_program(files, options->command[0]) : NULL;
	/* It may be left out.  If it cannot be there for another reason, COMMAND may fail. */
	if (access("/bin/sh", X_OK) == 0 && !needs_used(files, "/bin/sh", true) && errno != ENOENT)
		free(needs_program(files, "/bin/sh"));
	add_named(files, options, directory);
	needs_settle(files);
	contents->has_input = add_used(files, options, program);
	if (options->shell)
		contents->shell = needs_shell(files);
	needs_settle(files);
	add_users(files);
	contents->directory = names_in_machine(&files->renamed, directory);
	free(program);
	free(directory);
}

void contents_free(struct contents *contents)
{
	fclose(contents->files.archive.file);
	files_free(&contents->files);
	free(contents->directory);
	free(contents->shell);
}
