// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds what programs need: interpreters, libraries, and programs that their arguments name. */
#define _GNU_SOURCE
#include "../path.h"
#include "../textfile.h"
#include "exact.h"
#include "program.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define USUAL_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool matches_any(const char *const *patterns, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (; *patterns; patterns++)
		if (fnmatch(*patterns, name, 0) == 0)
			return true;
	return false;
}

static const char *const shells[] = { "sh", "ash", "bash", "dash", "ksh*", "mksh", "zsh", NULL };

/* Programs that start a program which their arguments name. */
static const char *const starters[] = { "env",	   "find",    "ionice", "linux32",
					"linux64", "nice",    "nohup",	"perfex",
					"setarch", "setsid",  "stdbuf", "taskset",
					"time",	   "timeout", "xargs",	NULL };

/*
 * Directories without which an interpreter does not start.  %s is the directory above the
 * interpreter's, %b its name.
 */
static const struct {
	const char *program, *directory;
} companions[] = {
	{ "python3.*", "%s/lib/%b" },
	{ "perl*", "%s/lib/*/perl-base" },
	{ "perl*", "%s/lib/*/perl/5.*" },
	{ "perl*", "%s/share/perl/5.*" },
};

static bool is_usual(const char *directory, size_t length)
{
	const char *path = USUAL_PATH, *end;

	for (; *path; path = end + (*end == ':')) {
		end = strchrnul(path, ':');
		if ((size_t)(end - path) == length && strncmp(path, directory, length) == 0)
			return true;
	}
	return false;
}

static bool has_directory(const struct files *files, const char *path, size_t length)
{
	for (size_t i = 0; i < files->directories.n; i++)
		if (strlen(files->directories.word[i]) == length &&
		    strncmp(files->directories.word[i], path, length) == 0)
			return true;
	return false;
}

static void remember_directory(struct files *files, const char *program)
{
	size_t length = (size_t)(strrchr(program, '/') - program);
	char *directory;

	if (is_usual(program, length) || has_directory(files, program, length))
		return;
	directory = strndup(program, length);
	if (!directory)
		fail("out of memory");
	append_word(&files->directories, directory);
}

const char *needs_callers_path(void)
{
	const char *path = getenv("PATH");

	return path ? path : USUAL_PATH;
}

static char *current_directory(void)
{
	char *here = getcwd(NULL, 0);

	if (!here)
		fail("cannot find the current directory: %m");
	return here;
}

/* Returns the absolute path of a program, for free(), or NULL. */
static char *find_program(const char *name)
{
	char *here = current_directory(),
	     *file = path_find_program(needs_callers_path(), here, name);

	free(here);
	return file;
}

/* Directories with programs precede the usual ones, in the order of the caller's PATH. */
char *needs_path(const struct files *files)
{
	char *here = current_directory(), *directory;
	const char *path = needs_callers_path();
	struct text text;

	fputs("PATH=", text_open(&text));
	while ((directory = path_next_directory(&path, here))) {
		if (has_directory(files, directory, strlen(directory))) {
			char *name = names_in_machine(&files->renamed, directory);

			fprintf(text.file, "%s:", name);
			free(name);
		}
		free(directory);
	}
	free(here);
	fputs(USUAL_PATH, text.file);
	return text_close(&text);
}

/* Puts in the program.  Returns false with errno set if it cannot be read. */
static bool add_program(struct files *files, const char *path, enum needing_kind kind)
{
	char *real = files_add(files, path);

	for (size_t i = files->n_needing; real && i-- > files->n_settled;)
		if (strcmp(files->needing[i].path, real) == 0 && files->needing[i].kind < kind)
			files->needing[i].kind = kind;
	free(real);
	return real;
}

char *needs_program(struct files *files, const char *name)
{
	char *path = strchr(name, '/') ? strdup(name) : find_program(name);
	int error;

	if (!path) {
		complain("%s: there is no such program in PATH", name);
		exit(EXIT_NOT_FOUND);
	}
	if (is_executable_file(path) && add_program(files, path, NEEDING_REQUIRED)) {
		if (!strchr(name, '/'))
			remember_directory(files, path);
		return path;
	}
	error = errno;
	complain("%s: %s", path, files_error(error));
	exit(error == ENOENT || error == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* A compiled module of Python has the time of its source, and must keep it. */
static bool is_of_python(const char *path)
{
	static const char *const patterns[] = { "*.py", "*.pyc", NULL };

	return matches_any(patterns, path);
}

bool needs_used(struct files *files, const char *path, bool is_program)
{
	char *real = NULL;
	bool added;

	files->keeps_times = is_of_python(path);
	if (is_program && is_executable_file(path)) {
		added = add_program(files, path, NEEDING_PROGRAM);
		if (added)
			remember_directory(files, path);
	} else {
		real = files_add(files, path);
		added = real;
	}
	files->keeps_times = false;
	free(real);
	return added;
}

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_./+-", c));
}

/* With another name of the current directory, some paths of the host lead nowhere. */
static void tell_of_name(const struct files *files, const char *subject, const char *path)
{
	char *name = names_in_machine(&files->renamed, path);

	if (names_is_renamed(&files->renamed, path))
		complain("warning: %s names %s, which is %s in the machine", subject, path, name);
	else if (names_leads_out(&files->renamed, files->renamed.here, path))
		complain("warning: %s names %s, which leads elsewhere from %s; give an absolute "
			 "path",
			 subject, path, files->renamed.there);
	free(name);
}

static void add_word(struct files *files, const char *word, size_t length)
{
	char *name = text_print("%.*s", (int)length, word);
	bool is_path = strchr(name, '/');
	char *path = is_path ? strdup(name) : find_program(name);

	if (is_path && access(name, F_OK) == 0)
		tell_of_name(files, "a script or command", name);
	if (path && is_executable_file(path)) {
		if (add_program(files, path, NEEDING_PROGRAM) && !is_path)
			remember_directory(files, path);
	} else if (path && *path == '/') {
		free(files_add(files, path));
	}
	free(path);
	free(name);
}

/* Returns the variable's value in the machine, or NULL.  Of several, shells take the last. */
static const char *find_value(const struct files *files, const char *name)
{
	size_t length = strlen(name);
	const char *value = NULL;

	for (char *const *variable = files->environment; *variable; variable++)
		if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=')
			value = *variable + length + 1;
	return value;
}

/*
 * Adds the terminal's description from a directory of terminfo(5).  Returns false if it has none.
 * The machine has neither the caller's TERMINFO nor the caller's HOME: a link leads there from its
 * own HOME, which is /tmp.
 */
static bool add_description(struct files *files, const char *directory, const char *terminal)
{
	char *real = realpath(directory, NULL), *name;
	bool added = false;

	for (int is_hex = 0; real && !added && is_hex <= 1; is_hex++) {
		char *path = text_print(is_hex ? "%s/%02x/%s" : "%s/%c/%s", directory,
					(unsigned char)*terminal, terminal);
		char *file = access(path, R_OK) == 0 ? files_add(files, path) : NULL;

		added = file;
		free(file);
		free(path);
	}
	if (added) {
		name = names_in_machine(&files->renamed, real);
		files_add_link(files, "/tmp/.terminfo", name);
		free(name);
	}
	free(real);
	return added;
}

static void add_terminal(struct files *files)
{
	const char *terminal = find_value(files, "TERM"), *home = getenv("HOME");
	char *own = text_print("%s/.terminfo", home ? home : "");
	const char *const directories[] = { getenv("TERMINFO"), own, "/etc/terminfo",
					    "/lib/terminfo", "/usr/share/terminfo" };
	bool added = !terminal || !*terminal || strchr(terminal, '/');

	for (size_t i = 0; !added && i < sizeof(directories) / sizeof(directories[0]); i++)
		added = directories[i] && add_description(files, directories[i], terminal);
	free(own);
}

char *needs_shell(struct files *files)
{
	static const char *const tools[] = { "cat",  "date",	 "env",	  "find",  "grep",
					     "head", "less",	 "ls",	  "mount", "nproc",
					     "ps",   "readlink", "sleep", "sort",  "stat",
					     "stty", "tail",	 "tr",	  "tty",   "wc" };
	char *shell = find_program("bash"), *path;

	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		path = find_program(tools[i]);
		if (path)
			add_program(files, path, NEEDING_PROGRAM);
		free(path);
	}
	add_terminal(files);
	if (shell && add_program(files, shell, NEEDING_PROGRAM))
		return shell;
	free(shell);
	return text_print("/bin/sh");
}

/*
 * Adds the programs and files that a text for a shell names, but for its comments.  A word that
 * names nothing is no error.
 */
static void add_words(struct files *files, const char *text, size_t size)
{
	for (size_t at = 0; at < size; at++) {
		size_t length = 0;

		while (at + length < size && is_of_word(text[at + length]))
			length++;
		if (length)
			add_word(files, text + at, length);
		at += length;
		if (at < size && text[at] == '#' && (!at || isspace((unsigned char)text[at - 1])))
			while (at < size && text[at] != '\n')
				at++;
	}
}

void needs_of_shell(struct files *files, const char *line)
{
	add_words(files, line, strlen(line));
}

/* Adds the programs that a script names, unless the file is a program. */
static void add_script(struct files *files, int fd)
{
	static char text[1 << 20];
	ssize_t n = pread(fd, text, sizeof(text), 0);

	if (n > 0 && !memchr(text, '\0', (size_t)n))
		add_words(files, text, (size_t)n);
}

static void add_argument(struct files *files, const char *path, bool is_script)
{
	struct stat status;
	bool is_empty;
	char *real;
	int fd;

	if (stat(path, &status) < 0)
		return;
	tell_of_name(files, "an argument", path);
	is_empty = S_ISDIR(status.st_mode) && !files_has(files, path);
	real = files_add(files, path);
	if (real && is_empty && !files->finds_files)
		complain("warning: the directory %s is empty in the machine without --with=%s",
			 path, path);
	free(real);
	fd = is_script && S_ISREG(status.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	add_script(files, fd);
	close(fd);
}

void needs_arguments(struct files *files, char *const *command)
{
	bool is_shell = matches_any(shells, command[0]);
	bool starts = is_shell || matches_any(starters, command[0]);

	for (char *const *argument = command + 1; *argument; argument++) {
		const char *equal = strchr(*argument, '=');

		add_argument(files, *argument, is_shell);
		if (equal)
			add_argument(files, equal + 1, false);
		if (starts)
			needs_of_shell(files, *argument);
	}
}

/*
 * Returns the output of the loader, which lists the program's libraries, for free(); NULL if the
 * host does not execute the loader.
 */
static char *list_libraries(const struct files *files, const char *loader, const char *program)
{
	bool is_musl = strstr(loader, "/ld-musl");
	const char *option = is_musl ? "--list" : "--inhibit-cache";
	struct text text;
	char buffer[4096];
	int ends[2], status = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		fail("cannot execute %s: %m", loader);
	if (!pid) {
		int nowhere = open("/dev/null", O_RDWR);

		dup2(nowhere, STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		dup2(nowhere, STDERR_FILENO);
		environ = (char **)files->environment;
		/* glibc's option --list would end at the first library that is missing. */
		if (is_musl || setenv("LD_TRACE_LOADED_OBJECTS", "1", 1) == 0)
			execl(loader, loader, option, program, NULL);
		_exit(EXIT_NOT_EXECUTABLE);
	}
	close(ends[1]);
	text_open(&text);
	while ((n = read(ends[0], buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			fwrite(buffer, 1, (size_t)n, text.file);
	close(ends[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	text_close(&text);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_EXECUTABLE) {
		free(text.text);
		return NULL;
	}
	return text.text;
}

/* A line is "name => file (address)" for a library, and "file (address)" for the loader. */
static void add_library(struct files *files, const struct needing *needing, char *line)
{
	char *arrow = strstr(line, " => "), *file = arrow ? arrow + 4 : line;
	char *end = strrchr(file, '(');

	line += strspn(line, " \t");
	if (arrow && strncmp(file, "not found", 9) == 0) {
		*arrow = '\0';
		if (needing->kind == NEEDING_REQUIRED)
			fail("%s needs the library %s, which the machine's loader does not find; "
			     "give --env=LD_LIBRARY_PATH=DIRECTORY",
			     needing->path, line);
		return;
	}
	if (!arrow)
		file = line;
	if (!end || *file != '/')
		return;
	while (end > file && end[-1] == ' ')
		end--;
	*end = '\0';
	free(files_add(files, file));
}

static void add_libraries(struct files *files, const struct needing *needing, const char *loader)
{
	char *text = list_libraries(files, loader, needing->path), *rest = text, *line;

	if (!text && needing->kind != NEEDING_FILE && !find_value(files, "LD_LIBRARY_PATH"))
		complain("warning: this host does not execute the loader %s; give the libraries of "
			 "%s by --with=PATH, and their directory by --env=LD_LIBRARY_PATH=",
			 loader, needing->path);
	while ((line = strsep(&rest, "\n")))
		add_library(files, needing, line);
	free(text);
}

static void need_of_program(struct files *files, const struct needing *needing,
			    const struct program *program)
{
	bool fits = program_is_of_machine(program);
	char *loader = fits ? program_loader(program) : NULL;

	if (!fits && needing->kind == NEEDING_REQUIRED)
		fail("%s is a program of neither x86-64 nor i386; the machine executes no other",
		     needing->path);
	if (!loader)
		return;
	if (access(loader, F_OK) < 0) {
		if (needing->kind == NEEDING_REQUIRED)
			fail("%s needs the loader %s, which this host does not have; install it",
			     needing->path, loader);
		free(loader);
		return;
	}
	free(files_add(files, loader));
	if (program_is_loader_of_system(loader))
		add_libraries(files, needing, loader);
	else if (needing->kind != NEEDING_FILE)
		complain("warning: perfex does not execute the loader %s, which is no part of the "
			 "system; give the libraries of %s by --with=PATH",
			 loader, needing->path);
	free(loader);
}

/* Returns the program that env(1) starts with these arguments; "" if there is none. */
static char *find_started(char *arguments)
{
	char *word;

	while ((word = strsep(&arguments, " \t")))
		if (*word && *word != '-' && !strchr(word, '='))
			return word;
	return "";
}

static void need_of_script(struct files *files, const struct needing *needing, int fd, char *line)
{
	char *interpreter = line + strspn(line, " \t"), *arguments;

	interpreter[strcspn(interpreter, "\n")] = '\0';
	arguments = interpreter + strcspn(interpreter, " \t");
	if (*arguments)
		*arguments++ = '\0';
	tell_of_name(files, needing->path, interpreter);
	if (!add_program(files, interpreter, needing->kind)) {
		if (needing->kind == NEEDING_REQUIRED)
			fail("%s needs the interpreter %s: %s", needing->path, interpreter,
			     files_error(errno));
		return;
	}
	needs_of_shell(files, arguments);
	if (matches_any(shells, interpreter) || matches_any(shells, find_started(arguments)))
		add_script(files, fd);
}

/*
 * Adds the directories of companions[] that the interpreter has, unless COMMAND runs on the host to
 * find the files that it uses.
 */
static void need_of_interpreter(struct files *files, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	const char *above = memrchr(path, '/', (size_t)(name - 1 - path));

	for (size_t i = 0; above && i < sizeof(companions) / sizeof(companions[0]); i++) {
		struct text pattern;
		glob_t found;

		if (files->finds_files || fnmatch(companions[i].program, name, 0) != 0)
			continue;
		text_open(&pattern);
		for (const char *c = companions[i].directory; *c; c++) {
			if (c[0] == '%' && c[1] == 's')
				fwrite(path, 1, (size_t)(above - path), pattern.file);
			else if (c[0] == '%')
				fputs(name, pattern.file);
			else
				putc(*c, pattern.file);
			c += *c == '%';
		}
		files->keeps_times = true;
		if (glob(text_close(&pattern), GLOB_ONLYDIR, NULL, &found) == 0)
			for (size_t n = 0; n < found.gl_pathc; n++)
				files_add_tree(files, found.gl_pathv[n]);
		files->keeps_times = false;
		globfree(&found);
		free(pattern.text);
	}
}

static void settle_one(struct files *files, const struct needing *needing)
{
	int fd = open(needing->path, O_RDONLY | O_CLOEXEC);
	struct program program;
	char text[256] = "";

	if (fd < 0)
		return;
	if (program_begin(&program, fd))
		need_of_program(files, needing, &program);
	else if (needing->kind != NEEDING_FILE && read(fd, text, sizeof(text) - 1) > 2 &&
		 memcmp(text, "#!", 2) == 0)
		need_of_script(files, needing, fd, text + 2);
	close(fd);
	if (needing->kind != NEEDING_FILE)
		need_of_interpreter(files, needing->path);
}

void needs_settle(struct files *files)
{
	while (files->n_settled < files->n_needing) {
		/* Files that are added move the array. */
		struct needing needing = files->needing[files->n_settled++];

		settle_one(files, &needing);
	}
}
