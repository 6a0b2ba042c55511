/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex run: counts a command, or a running process, in as many runs as are asked for or needed.
 *
 * options.c	options that all counting commands share: events, modes, backend, output
 * run.c	repetitions and passes, and the progress bar on a terminal
 * numbers.c	numbers without 0x, as perfex of perfctr 2.6 took them
 * usual.c	events that are counted if the command line names none
 * regions.c	tells the command which events to count in its own regions
 * rerun.c	standard input of all runs, and the command before each
 * rank.c	rank of this process in a parallel program
 * count.c	one run, with delay, time limit and intervals
 * events.c	parses events, and assigns them to passes and counters
 * together.c	keeps the events of a rule, and of a share, in one pass
 * shares.c	events that the text shows relative to another one
 * warn.c	warns of events that are known to count wrong on this processor
 * launch.c	starts the command, holds it at its first instruction, waits for it; signals
 * attach.c	contexts for the threads of a running process
 * threads.c	operations on all contexts that perfex has created
 * members.c	counts of each process or thread
 * syscalls.c	system calls of the command in the machine of perfex exact: see syscalls.h
 * recording.c	results of all runs, with means and confidence intervals
 * derived.c	values that rules derive from the counts
 * output.c	opens and writes the output
 * text.c, csv.c, json.c	output formats
 * text_2_6.c	output format of perfctr 2.6
 * text_interval.c	intervals as text
 * host.c	host name, kernel, CPU and rank
 */
#ifndef PERFEX_RUN_H
#define PERFEX_RUN_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "../stats/statistics.h"
#include "../rules/times.h"
#include "options.h"
#include "syscalls.h"

struct recording;

/* run.c */
/*
 * Adds the events of groups and rules to the options, opens the database of events and chooses the
 * backend.  If there is no event, adds the usual ones.  Returns false, after an error message, if
 * the groups or the backend cannot be used.
 */
bool prepare_options(struct options *options);
int run_command(const struct options *options);

/* usual.c: adds the usual events.  Called if the command line names none. */
void add_usual_events(struct options *options);
/* Says which ones are left out, and why: for outputs that have no rows for them. */
void complain_of_left_out(const struct options *options);

/* regions.c */
struct regions {
	struct stat before; /* the file's status before the command; all 0 if there was none */
	/* The environment variables that name the file and the events; NULL at the end */
	char *variable[3];
};

/*
 * Makes the variables by which the command learns the events and the file of its regions.  Returns
 * false, after an error message, if no event can be read in regions.
 */
bool regions_ask(struct regions *regions, const struct recording *recording);
/* Complains if the command has not written the file since regions_ask(). */
void regions_check(const struct regions *regions, const struct options *options);
void regions_free(struct regions *regions);

/* rerun.c: rerun_begin() and rerun_next() return false after an error message */
struct watch;

struct rerun {
	const char *input;   /* --input: the file for standard input; NULL: perfex's own */
	const char *prepare; /* --prepare: command of the shell before each run; NULL: none */
	off_t start;	     /* of standard input in each run, or NO_START; see rerun_begin() */
	bool holds_pipe;     /* standard input is a pipe that rerun_next() has opened */
};

#define NO_START (-1) /* standard input is not rewound */
/*
 * Checks whether the command can be run "runs" times.  If there is more than one run, /dev/null
 * replaces a standard input that only the first one could read.
 */
bool rerun_begin(struct rerun *rerun, unsigned int runs);
/*
 * Called before each run: prepares it, then opens the input, or rewinds standard input if that is a
 * regular file.  Sets watch->stop, and returns false, if a signal comes meanwhile: perfex then ends
 * as the signal would have ended it.
 */
bool rerun_next(struct rerun *rerun, struct watch *watch);
/* Has the command ended with a status other than 0 that --ignore-failure ignores? */
bool failure_is_ignored(const struct options *options, int wait_status);
/* Says how many runs of a command did.  head: begins the line */
void complain_of_ignored(const char *head, unsigned int ignored, unsigned int runs);

/* recording.c: the values of one quantity, one for each run */
struct series {
	uint64_t *value;
	size_t n, room;
};

void series_add(struct series *series, uint64_t value);
void series_free(struct series *series);
struct statistics series_statistics(const struct series *series, double confidence);

/* events.c */
struct event {
	struct perfctr_request request;
	char name[PERFCTR_REQUEST_NAME]; /* as it is shown; see name_event() */
	unsigned int pass;
	unsigned int index; /* in the control of its pass */
	uint32_t counter;   /* RDPMC index */
	struct series counts;
};

struct events {
	struct event *event;
	size_t n;
	struct perfctr_control *control; /* one for each pass */
	unsigned int n_passes;		 /* at least 1 */
};

bool events_plan(struct events *events, const struct options *options,
		 const struct perfctr_pmu_info *info);
/*
 * Assigns counters again after info has changed; all events are in one pass.  Returns false, after
 * an error message, if they do not fit.
 */
bool events_assign(struct events *events, const struct options *options,
		   const struct perfctr_pmu_info *info);
/* The same, but returns false with a message in error. */
bool events_try_assign(struct events *events, const struct options *options,
		       const struct perfctr_pmu_info *info, char *error, size_t size);
void events_free(struct events *events);
/* Warns of register values that are no event on their counter. */
void warn_of_event(struct perfctr_events *events, const struct perfctr_request *request);
/* Warns of events that do not count what they should on this processor. */
void warn_of_events(const struct events *events, const struct perfctr_pmu_info *info);
/*
 * warn.c, for warn_of_events().  directory: validation results, in a file for each known model of
 * processors; this model may not be known.
 */
void look_up_events(const char *directory, const struct events *events,
		    const struct perfctr_pmu_info *info);

/*
 * threads.c: the functions report their errors.  ESRCH is no error: a thread may end at any time.
 */
struct threads {
	struct thread {
		pid_t tid;
		struct perfctr *context;
	} * thread;
	size_t n;
	bool refused; /* a thread could not be started, which has been reported */
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

/* launch.c */
struct command;

struct watch {
	int signals; /* signalfd */
	/* The state before watch_begin(), restored for the command: */
	sigset_t before;       /* the signal mask */
	bool ignored_children; /* SIGCHLD was ignored */
	int stop;	       /* the signal that has come: make no further run; 0: none */
};

void watch_begin(struct watch *watch, bool with_command);
bool watch_signal(struct watch *watch, const struct command *command);
/* Restores the state before watch_begin(), in a child that executes a program. */
void restore_signals(const struct watch *watch);

struct command {
	pid_t pid; /* 0: there is none */
	/* File descriptors; -1: not open */
	int process; /* pidfd */
	int go;	     /* pipe; when it is closed, the child executes the command */
	int failure; /* pipe; the child writes errno if it cannot execute the command */
};

/* variables: environment variables for the command alone, as for putenv(3); NULL: none */
bool command_fork(struct command *command, const struct options *options,
		  char *const *variables, const struct watch *watch);
int command_exec(struct command *command, char **argv);
void command_resume(struct command *command);
void command_end(struct command *command);
/*
 * Waits for the end of the command and returns its wait status.  *usage: resources that it and the
 * children that it has waited for have used.  usage may be NULL.
 */
int command_wait(struct command *command, struct rusage *usage);
void command_kill(struct command *command);

/* attach.c */
int attach_find(pid_t pid);
bool attach(struct threads *threads, const struct options *options, struct perfctr_control *control,
	    const struct perfctr_pmu_info *info);

/*
 * members.c: members_begin() initializes struct members, and is called only if members are wanted
 */
struct member {
	struct perfctr_exit_record record; /* of a process: the sums over its threads */
	unsigned int run, pass;
	struct member *next;
};

struct members {
	bool wanted;
	enum view view;
	unsigned int run, pass;	      /* of the members that are added now */
	struct member *first, **last; /* in the order of their first records */
	struct member **before;	      /* link to the first of this run and pass */
	size_t n, n_before;	      /* number of all members; of those before this run and pass */
	void *by_process;	      /* tsearch(3), of this run and pass */
	unsigned long lost;
};

void members_begin(struct members *members, enum view view);
void members_next_run(struct members *members, unsigned int run, unsigned int pass);
/*
 * members_forget_run() drops the members recorded since members_next_run().  members_forget_from()
 * drops the members of this run and of all later ones.
 */
void members_forget_run(struct members *members);
void members_forget_from(struct members *members, unsigned int run);
void members_free(struct members *members);
void members_take(struct members *members, const struct perfctr *context);
void members_add_running(struct members *members, const struct threads *threads, pid_t pid);
void member_name(const struct member *member, char *name, size_t size);

/* recording.c */

struct sample { /* the result of one run */
	struct perfctr_counts total;
	/*
	 * Elapsed time of the counting; user and system time of the command and of the children
	 * that it has waited for.
	 */
	uint64_t time_ns[N_TIMES];
	bool has_cpu_time; /* of a command from its start; false: only TIME_ELAPSED is valid */
	pid_t pid;	  /* of the command; 0 without one */
	int wait_status;  /* of the command; 0 without one */
	bool timed_out;
	bool cut_short; /* counting did not begin; or no command, and no time limit ended it */
};

struct recording {
	const struct options *options;
	const struct perfctr_pmu_info *info;
	struct events events;
	struct pass {
		struct series tsc;			   /* ticks */
		struct series time[N_TIMES];		   /* ns; of a process only TIME_ELAPSED */
		struct series kind_tsc[PERFCTR_MAX_KINDS]; /* tsc on each kind of core */
	} * pass;
	struct members members;
	struct syscalls syscalls;
	unsigned long intervals; /* intervals written */
	unsigned int running;	 /* threads that still ran at the end of the last run */
	int wait_status;	 /* of the last run */
	pid_t pid;		 /* of the command of the last run; 0: it had none */
	bool failed;		 /* the last run failed, and its counts are left out */
	unsigned int failed_run, failed_pass;
	bool consistent;
	char date[32]; /* with --json */
	char *directory;
	char backend[16]; /* the name of the backend */
	struct host {
		char name[65], kernel[65], cpu[128]; /* empty: unknown */
		bool has_rank;
		unsigned int rank;
	} host; /* with --json */
};

/* host.c */
void host_find(struct host *host);

/* recording.c */
/* Warns if the counts are disturbed, but only once. */
void warn_of_disturbance(const struct perfctr_counts *counts);
/* Complains if a part of the counts is missing. */
void complain_of_loss(const struct perfctr_counts *counts);

bool recording_begin(struct recording *recording, const struct options *options,
		     const struct perfctr_pmu_info *info);
/* Adds the result of one run.  Returns false if the run failed and its counts are left out. */
bool recording_add(struct recording *recording, unsigned int pass, const struct sample *sample,
		   bool succeeded);
/* Drops a repetition that lacks a pass, unless it is the first. */
void recording_end(struct recording *recording);
/* Writes the name of the time stamp count on a kind of core, such as "tsc.core". */
void recording_kind_name(const struct recording *recording, uint32_t kind, char *text, size_t size);
unsigned int recording_runs(const struct recording *recording);
void recording_free(struct recording *recording);

/* One interval of one run. */
struct interval {
	unsigned int run, pass;
	uint64_t time_ns;	      /* from the start of the counting to the interval's end */
	uint64_t length_ns;	      /* of the interval */
	struct perfctr_counts counts; /* tsc and counter[]: within the interval */
};

/* text.c, csv.c, json.c */
struct style { /* what the output device can show */
	bool colour;
	bool grouping;	 /* group thousands as the locale does */
	bool plus_minus; /* U+00B1 instead of "+-" */
};

struct format {
	bool names_host;
	bool one_run; /* only one run, and only events of the processor */
	/* Written before everything else, and before the intervals of a run.  Both may be NULL. */
	void (*head)(FILE *file);
	void (*begin)(FILE *file, const struct recording *recording,
		      const struct interval *interval);
	void (*interval)(FILE *file, const struct style *style, const struct recording *recording,
			 const struct interval *interval);
	void (*recording)(FILE *file, const struct style *style, const struct recording *recording);
};

extern const struct format text_format, csv_format, json_format, format_2_6;
extern const char *const view_names[];

/* csv.c: writes the columns event, counter and modes.  event NULL: the time stamp. */
void csv_put_event(FILE *file, const struct event *event);

/* output.c: the first write error is reported; from then on the output goes to standard error */
struct output {
	const struct format *format;
	const char *path; /* NULL: fd was open when perfex was started */
	int fd;
	bool created, append, begun, broken;
	struct style style;
	char *heading; /* of the lines that follow; NULL: none */
	size_t heading_size;
};

bool output_open(struct output *output, const struct options *options);
void output_discard(struct output *output);
/*
 * Empties an old file, unless the output is appended.  Returns false if it is appended to a file
 * that is not empty, and so needs no heading.
 */
bool output_begin(struct output *output);
/*
 * Takes ownership of heading, and keeps it for a change to standard error.  wanted: also writes it
 * now.
 */
void output_heading(struct output *output, char *heading, size_t size, bool wanted);
/* Writes the text.  After an error, removes what was written of it from a regular file. */
void output_put(struct output *output, const char *text, size_t size);
/* Closes the output.  Returns false if something could not be written to it. */
bool output_close(struct output *output);
void output_run(struct output *output, const struct recording *recording,
		const struct interval *interval);
void output_interval(struct output *output, struct recording *recording,
		     const struct interval *interval);
bool output_recording(struct output *output, const struct recording *recording);

/* count.c */
struct counting { /* one run in progress */
	const struct options *options;
	char *const *variables; /* for command_fork() */
	struct command command;
	struct threads threads;
	unsigned int scope;    /* PERFCTR_SCOPE_* of the sums */
	int process;	       /* pidfd; the run ends with this process */
	struct output *output; /* NULL: a warm-up */
	struct recording *recording;
	struct members *members;	 /* NULL: not wanted */
	struct interval interval;	 /* the last one */
	struct perfctr_counts last;	 /* sums at the end of the last interval */
	uint64_t started_ns, stopped_ns; /* CLOCK_MONOTONIC */
	uint64_t used_ns;		 /* CPU time of the command at started_ns */
	unsigned int outliving_ms;	 /* ms until has_outlived() is called again */
	bool timed_out;
};

uint32_t view_flags(enum view view); /* PERFCTR_CONTROL_* */
int count_run(struct watch *watch, struct counting *counting, struct perfctr_control *control,
	      struct sample *sample);

#endif
