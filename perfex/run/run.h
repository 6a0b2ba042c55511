/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex run: a command, or a running process, counted as often as it takes.
 *
 * options.c	options of all that counts a command, and by what it is counted
 * run.c	repetitions and passes, and what a terminal shows of them
 * numbers.c	numbers of perfctr 2.6
 * usual.c	what is counted when nothing is asked for
 * regions.c	what the command counts by itself, in its regions
 * rerun.c	what stands against more than one run
 * rank.c	which process of a parallel program it is
 * count.c	one run, with a delay, a limit and intervals
 * events.c	what to count, in how many passes
 * warn.c	what is known of these events on this processor
 * launch.c	the command: started, held at its first instruction, waited for; signals meanwhile
 * attach.c	the threads of a running process
 * threads.c	the contexts that perfex made, as one
 * members.c	what each process or thread counted
 * recording.c	all that was counted, with mean and confidence
 * derived.c	what rules say of it
 * output.c	where it is written
 * text.c, csv.c, json.c	how it is written
 * text_2_6.c	likewise, as perfctr 2.6 did
 * text_interval.c	likewise, each interval for people
 * host.c	where it was counted
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

struct recording;

/* run.c */
/* What to count, and by what, of a command.  False: it cannot be, which has been said. */
bool prepare_options(struct options *options);
int run_command(const struct options *options);

/* usual.c: what is counted when no event is asked for */
void add_usual_events(struct options *options);

/*
 * regions.c: the command's environment says what and whereto.  before: what is there already.
 * False: it cannot be; it was said.
 */
bool regions_ask(const struct recording *recording, struct stat *before);
/* A command that has no regions writes none, which is said. */
void regions_check(const struct options *options, const struct stat *before);

/* rerun.c; what stands against it is said */
#define NO_START (-1) /* standard input is not to be rewound */
/* More than one; start, NO_START before: where standard input is a file. */
bool rerun_check(unsigned int runs, off_t *start);
/* Before each run, where there is a start. */
bool rerun_rewind(off_t start);

/* recording.c: the values of a series */
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
	char name[PERFCTR_REQUEST_NAME]; /* as it was asked for, on one line */
	unsigned int pass;
	unsigned int index; /* in the control of its pass */
	uint32_t counter;   /* RDPMC index */
	struct series counts;
};

struct events {
	struct event *event;
	size_t n;
	struct perfctr_control *control; /* of each pass */
	unsigned int n_passes;		 /* at least 1 */
};

bool events_plan(struct events *events, const struct options *options,
		 const struct perfctr_pmu_info *info);
/* Other counters for what is counted in one pass.  False: there are none, which has been said. */
bool events_assign(struct events *events, const struct options *options,
		   const struct perfctr_pmu_info *info);
void events_free(struct events *events);
/* Of register values on a counter where they are no event. */
void warn_of_event(struct perfctr_events *events, const struct perfctr_request *request);
/* Of those that do not count what they should on this processor. */
void warn_of_events(const struct events *events, const struct perfctr_pmu_info *info);
/* warn.c, for it; directory: of files that say so, in which this processor's may be */
void look_up_events(const char *directory, const struct events *events,
		    const struct perfctr_pmu_info *info);

/* threads.c: errors are said; ESRCH is none, a thread may end at any time */
struct threads {
	struct thread {
		pid_t tid;
		struct perfctr *context;
	} * thread;
	size_t n;
	bool refused; /* some could not be started, which was told */
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
	/* What the command gets: */
	sigset_t before;       /* the signal mask */
	bool ignored_children; /* SIGCHLD */
	bool stop;	       /* a signal says that it is enough */
};

void watch_begin(struct watch *watch, bool with_command);
bool watch_signal(struct watch *watch, const struct command *command);

struct command {
	pid_t pid; /* 0: there is none */
	/* -1: not open */
	int process; /* pidfd */
	int go;	     /* close it: the command is executed */
	int failure; /* errno comes out of it when it cannot be executed */
};

bool command_fork(struct command *command, const struct options *options,
		  const struct watch *watch);
int command_exec(struct command *command, char **argv);
void command_resume(struct command *command);
void command_end(struct command *command);
/* The wait status; *usage is of it and of the children that it has waited for. */
int command_wait(struct command *command, struct rusage *usage);
void command_kill(struct command *command);

/* attach.c */
int attach_find(pid_t pid);
bool attach(struct threads *threads, const struct options *options, struct perfctr_control *control,
	    const struct perfctr_pmu_info *info);

/* members.c: begun if they are wanted */
struct member {
	struct perfctr_exit_record record; /* per process: the sums over its threads */
	unsigned int run, pass;
	struct member *next;
};

struct members {
	bool wanted;
	enum view view;
	unsigned int run, pass;	      /* of the members that come now */
	struct member *first, **last; /* in the order of their ends */
	struct member **before;	      /* where those of this run begin */
	size_t n, n_before;	      /* all, and of the runs before */
	void *by_process;	      /* tsearch(3) */
	unsigned long lost;
};

void members_begin(struct members *members, enum view view);
void members_next_run(struct members *members, unsigned int run, unsigned int pass);
/* What came since then; what came in this repetition and later. */
void members_forget_run(struct members *members);
void members_forget_from(struct members *members, unsigned int run);
void members_free(struct members *members);
void members_take(struct members *members, const struct perfctr *context);
void members_add_running(struct members *members, const struct threads *threads, pid_t pid);
void member_name(const struct member *member, char *name, size_t size);

/* recording.c */

struct sample { /* what one run has given */
	struct perfctr_counts total;
	/* Of the counting; of the command and the children that it has waited for. */
	uint64_t time_ns[N_TIMES];
	bool has_command; /* without one the first is all */
	pid_t pid;	  /* of the command; 0 without one */
	int wait_status;  /* of the command; 0 without one */
	bool timed_out;
	bool cut_short; /* it did not begin, or ended before its limit */
};

struct recording {
	const struct options *options;
	const struct perfctr_pmu_info *info;
	struct events events;
	struct pass {
		struct series tsc;			   /* ticks */
		struct series time[N_TIMES];		   /* ns; of a process, the first alone */
		struct series kind_tsc[PERFCTR_MAX_KINDS]; /* of tsc, on each kind of core */
	} * pass;
	struct members members;
	unsigned long intervals; /* lines written */
	unsigned int running;	 /* threads that still ran at the end of the last run */
	int wait_status;	 /* of the last run */
	pid_t pid;		 /* of its command; 0: it had none */
	bool failed;		 /* it did, and its counts are left out: this one */
	unsigned int failed_run, failed_pass;
	bool consistent;
	char date[32]; /* with --json */
	char *directory;
	char backend[16]; /* that counted */
	struct host {
		char name[65], kernel[65], cpu[128]; /* empty: unknown */
		bool has_rank;
		unsigned int rank;
	} host; /* with --json */
};

/* host.c */
void host_find(struct host *host);

/* recording.c */
/* Once: somebody else has written to the counters. */
void warn_of_disturbance(const struct perfctr_counts *counts);
/* Of a part of the counts, if any is missing. */
void complain_of_loss(const struct perfctr_counts *counts);

bool recording_begin(struct recording *recording, const struct options *options,
		     const struct perfctr_pmu_info *info);
/* False: it failed, and was left out. */
bool recording_add(struct recording *recording, unsigned int pass, const struct sample *sample,
		   bool succeeded);
/* A repetition that lacks a pass is left out, unless it is the first. */
void recording_end(struct recording *recording);
/* "tsc.core", for the time on a kind of core */
void recording_kind_name(const struct recording *recording, uint32_t kind, char *text, size_t size);
unsigned int recording_runs(const struct recording *recording);
void recording_free(struct recording *recording);

/* One interval, of one run. */
struct interval {
	unsigned int run, pass;
	uint64_t time_ns;	      /* of its end, since the start of the counting */
	struct perfctr_counts counts; /* since the interval before */
};

/* text.c, csv.c, json.c */
struct style { /* what the reader can see */
	bool colour;
	bool grouping;	 /* thousands, as the locale has them */
	bool plus_minus; /* the character */
};

struct format {
	bool names_host;
	bool one_run; /* it has room for the processor's events of one run, and no more */
	/* In front of everything, and of the intervals of a run; both may be NULL. */
	void (*head)(FILE *file);
	void (*begin)(FILE *file, const struct recording *recording,
		      const struct interval *interval);
	void (*interval)(FILE *file, const struct style *style, const struct recording *recording,
			 const struct interval *interval);
	void (*recording)(FILE *file, const struct style *style, const struct recording *recording);
};

extern const struct format text_format, csv_format, json_format, format_2_6;
extern const char *const view_names[];

/*
 * output.c: what cannot be written is said once, and goes to standard error with all that follows
 */
struct output {
	const struct format *format;
	const char *path; /* NULL: a descriptor that perfex was given */
	int fd;
	bool created, append, begun, broken;
	struct style style;
	char *heading; /* of the lines that come now; NULL: none */
	size_t heading_size;
};

bool output_open(struct output *output, const struct options *options);
void output_discard(struct output *output);
/* Empties an old file.  False: it is not empty, and has had its heading. */
bool output_begin(struct output *output);
/* It is kept, for standard error; wanted: and put. */
void output_heading(struct output *output, char *heading, size_t size, bool wanted);
/* All or, of a file, nothing. */
void output_put(struct output *output, const char *text, size_t size);
/* False: it is not where it should be. */
bool output_close(struct output *output);
void output_run(struct output *output, const struct recording *recording,
		const struct interval *interval);
void output_interval(struct output *output, struct recording *recording,
		     const struct interval *interval);
bool output_recording(struct output *output, const struct recording *recording);

/* count.c */
struct counting { /* one run under way */
	const struct options *options;
	struct command command;
	struct threads threads;
	unsigned int scope;    /* PERFCTR_SCOPE_* of the sums */
	int process;	       /* pidfd: its end is the end */
	struct output *output; /* NULL: a warm-up */
	struct recording *recording;
	struct members *members;	 /* NULL: they are not wanted */
	struct interval interval;	 /* the last one */
	struct perfctr_counts last;	 /* sums at its end */
	uint64_t started_ns, stopped_ns; /* CLOCK_MONOTONIC */
	unsigned int outliving_ms;	 /* to the next look at what outlives the process */
	bool timed_out;
};

uint32_t view_flags(enum view view); /* PERFCTR_CONTROL_* */
int count_run(struct watch *watch, struct counting *counting, struct perfctr_control *control,
	      struct sample *sample);

#endif
