/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs perfex as a user does. */
#ifndef COMMAND_H
#define COMMAND_H

struct command_result {
	int status; /* exit status; -1: a signal ended it */
	char out[16384], err[4096];
};

/* arguments: without the name of the program, terminated by NULL. */
struct command_result run_perfex(const char *const arguments[]);
#define PERFEX(...) run_perfex((const char *const[]){ __VA_ARGS__, NULL })

/* Writes a file below the working directory of the test. */
void write_text(const char *path, const char *text);
/* Creates a directory and enters it; leave_directory() leaves and removes it. */
void enter_directory(void);
void leave_directory(void);

#endif
