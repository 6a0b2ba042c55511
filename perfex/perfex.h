/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex: run a command, or watch a process, under performance counters.
 *
 * main.c	what happens in which order
 * options.c	the command line
 * launch.c	the command: started, held at its first instruction, waited for
 * attach.c	the threads of a running process
 * threads.c	the contexts that perfex made, as one
 * watch.c	waiting for the end
 * members.c	what each process or thread counted
 * output.c	the file for the counts, and the counts
 * info.c	-i
 * error.c	refusals
 */
#ifndef PERFEX_H
#define PERFEX_H

#include <perfctr.h>
#include <signal.h>
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
enum view { TREE, SELF, PER_PROCESS, PER_THREAD };

struct options {
	enum { RUN, INFO, HELP, VERSION } action;
	struct perfctr_control control;
	enum view view;
	pid_t process;		/* to attach to; 0: none */
	const char *output;	/* NULL: standard error */
	char **command;		/* argv of the command, NULL-terminated; empty: none */
};

void parse_options(struct options *options, int argc, char **argv);
void print_help(void);

/* threads.c: errors are said; ESRCH is none, a thread may end at any time */
struct threads {
	struct thread {
		pid_t tid;
		struct perfctr *context;
	} *thread;
	size_t n;
};

bool threads_know(const struct threads *threads, pid_t tid);
void threads_add(struct threads *threads, pid_t tid, struct perfctr *context);
bool threads_control(struct threads *threads, size_t first, struct perfctr_control *control,
		     const struct perfctr_pmu_info *info);
size_t threads_start(struct threads *threads);
void threads_stop(struct threads *threads);
void threads_read(const struct threads *threads, unsigned int scope, struct perfctr_counts *sum);
void threads_close(struct threads *threads);
void add_counts(struct perfctr_counts *sum, const struct perfctr_counts *counts);

/* watch.c */
struct watch {
	int signals;		/* signalfd */
	sigset_t before;	/* the mask that the command gets */
};

struct members;
struct command;

void watch_begin(struct watch *watch, bool with_command);
void watch_end(const struct watch *watch, int process, const struct command *command,
	       const struct threads *threads, struct members *members);

/* launch.c */
struct command {
	pid_t pid;		/* 0: there is none */
	int process;		/* pidfd */
	int go;			/* close it: the command is executed */
	int failure;		/* errno comes out of it when it cannot be executed */
};

void command_fork(struct command *command, char **argv, const sigset_t *mask);
int command_exec(struct command *command);
void command_resume(struct command *command);
int command_wait(struct command *command);
void command_kill(struct command *command);
int exit_as(int wait_status);

/* attach.c */
int attach_find(pid_t pid);
bool attach(struct threads *threads, pid_t pid, struct perfctr_control *control,
	    const struct perfctr_pmu_info *info);

/* members.c */
struct member {
	struct perfctr_record record;	/* per process: the sums over its threads */
	struct member *next;
};

struct members {
	enum view view;
	struct member *first, **last;	/* in the order of their ends */
	size_t n;
	void *by_process;		/* tsearch(3) */
	unsigned long lost;
};

void members_begin(struct members *members, enum view view);
bool members_wanted(const struct members *members);
void members_take(struct members *members, const struct perfctr *context);
void members_add_running(struct members *members, const struct threads *threads, pid_t pid);

/* output.c */
struct output {
	const char *path;	/* NULL: standard error */
	FILE *file;
	bool created;
};

bool output_open(struct output *output, const char *path);
void output_begin(struct output *output);
void output_discard(struct output *output);
void output_counts(struct output *output, const struct perfctr_control *control,
		   const struct members *members, const struct perfctr_counts *total);

/* info.c */
void print_info(const struct perfctr_pmu_info *info);

/* error.c: one line to standard error, "perfex: ..." */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);
void complain_of_open(int error);
void complain_of_control(int error, const struct perfctr_control *control,
			 const struct perfctr_pmu_info *info);
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...);

#endif
