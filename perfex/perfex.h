/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex: run a command under performance counters.
 *
 * main.c	what happens in which order
 * options.c	the command line
 * launch.c	the command: started, held at its first instruction, waited for
 * output.c	the file for the counts, and the counts
 * info.c	-i
 * error.c	refusals
 */
#ifndef PERFEX_H
#define PERFEX_H

#include <perfctr.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* As for env(1), nice(1) and timeout(1); 128 + N for a command that died of signal N. */
enum {
	EXIT_PERFEX = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/* options.c */
struct options {
	enum { RUN, INFO, HELP, VERSION } action;
	struct perfctr_control control;
	const char *output;	/* NULL: standard error */
	char **command;		/* argv of the command, NULL-terminated */
};

void parse_options(struct options *options, int argc, char **argv);
void print_help(void);

/* launch.c */
struct command {
	pid_t pid;
	int go;			/* close it: the command is executed */
	int failure;		/* errno comes out of it when it cannot be executed */
};

void command_fork(struct command *command, char **argv);
int command_exec(struct command *command);
void command_resume(struct command *command);
int command_wait(struct command *command);
void command_kill(struct command *command);
int exit_as(int wait_status);

/* output.c */
struct output {
	const char *path;	/* NULL: standard error */
	FILE *file;
	bool created;
};

int output_open(struct output *output, const char *path);
void output_begin(struct output *output);
void output_discard(struct output *output);
int output_counts(struct output *output, const struct perfctr_control *control,
		  const struct perfctr_counts *counts);

/* info.c */
void print_info(const struct perfctr_pmu_info *info);

/* error.c: one line to standard error, "perfex: ..." */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...);

#endif
