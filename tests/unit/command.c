// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "unit.h"
#include "command.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[64];

static void contents(FILE *file, char *text, size_t size)
{
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
}

/* PERFEX may be relative to the directory in which the tests were started. */
static char *program(void)
{
	static char *path;

	if (!path)
		path = realpath(getenv("PERFEX"), NULL);
	ck_assert_ptr_nonnull(path);
	return path;
}

struct command_result run_perfex(const char *const arguments[])
{
	const char *argv[32] = { "perfex" };
	FILE *out = tmpfile(), *err = tmpfile();
	struct command_result result;
	int status;
	pid_t pid;

	for (int i = 0; arguments[i]; i++)
		argv[i + 1] = arguments[i];
	ck_assert(out && err);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		dup2(fileno(out), 1);
		dup2(fileno(err), 2);
		execv(program(), (char **)argv);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	contents(out, result.out, sizeof(result.out));
	contents(err, result.err, sizeof(result.err));
	return result;
}

void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

void enter_directory(void)
{
	program();
	strcpy(directory, "/tmp/perfex-unit-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

void leave_directory(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}
