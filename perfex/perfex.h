/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex: count commands and processes.
 *
 * main.c	where it begins
 * subcommands.c	the table of subcommands
 * arguments.c	their command lines and their help
 * options.c	run: the command line
 * run.c	run: what happens in which order
 * launch.c	the command: started, held at its first instruction, waited for
 * attach.c	the threads of a running process
 * threads.c	the contexts that perfex made, as one
 * watch.c	waiting for the end
 * members.c	what each process or thread counted
 * output.c	the file for the counts, and the counts
 * info.c	info
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

/*
 * subcommands.c: a subcommand has one file, which defines it with its options, and a line in the
 * table there.
 */
struct option_rule {
	const char *name;
	char letter;		/* 0: it has none */
	const char *argument;	/* its name in the help; NULL: it takes none */
	const char *help;	/* lines separated by \n, the last not ended */
	/* target: that of take_options(); value: the argument or NULL */
	void (*take)(void *target, const struct option_rule *rule, const char *value);
	int value;		/* take()'s own */
};

struct subcommand {
	const char *name;
	const char *summary;		/* for the list of subcommands */
	int (*main)(int argc, char **argv);	/* argv[0]: its name; returns the exit status */
	const char *help;		/* usage and purpose, before the options */
	const struct option_rule *options; /* without --help; ended by an empty one; NULL: none */
	const char *notes;		/* behind the options; NULL: none */
	bool takes_command;		/* options end where the first argument begins */
};

extern const struct subcommand *const default_subcommand;
extern const struct subcommand run_subcommand;
extern const struct subcommand info_subcommand;
extern const struct subcommand diff_subcommand;

const struct subcommand *find_subcommand(const char *name);
void print_subcommands(void);

/* arguments.c: bad options are refused, --help is answered; returns the index of the first argument */
int take_options(const struct subcommand *subcommand, void *target, int argc, char **argv);
void print_help(const struct subcommand *subcommand);

/* options.c */
enum view { TREE, SELF, PER_PROCESS, PER_THREAD };

struct options {
	enum { RUN, INFO, VERSION } action;
	struct perfctr_control control;
	enum view view;
	const char *view_name;	/* the option; NULL: none was given */
	pid_t process;		/* to attach to; 0: none */
	const char *output;	/* NULL: standard error */
	char **command;		/* argv of the command, NULL-terminated; empty: none */
};

/* run.c */
int run(struct options *options);

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
int info(void);

/* error.c: one line to standard error, "perfex: ..." */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);
void complain_of_open(int error);
void complain_of_control(int error, const struct perfctr_control *control,
			 const struct perfctr_pmu_info *info);
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...);

#endif
