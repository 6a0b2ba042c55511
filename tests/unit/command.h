/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex as a user runs it. */
#ifndef COMMAND_H
#define COMMAND_H

struct command_result {
	int status; /* exit status; -1: it did not exit by itself */
	char out[16384], err[4096];
};

/* arguments: behind the name of the program, ended by NULL. */
struct command_result run_perfex(const char *const arguments[]);
#define PERFEX(...) run_perfex((const char *const[]){ __VA_ARGS__, NULL })

/* Writes the file, which is below the working directory of the test. */
void write_text(const char *path, const char *text);
/* A new directory, entered; it is left, and removed, by leave_directory(). */
void enter_directory(void);
void leave_directory(void);

#endif
