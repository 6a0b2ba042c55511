/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex run: a command, or a running process, counted as often as it takes.
 *
 * options.c	options of all that counts a command
 * run.c	repetitions and passes
 * count.c	one run
 * events.c	what to count, in how many passes
 * launch.c	the command: started, held at its first instruction, waited for
 * attach.c	the threads of a running process
 * threads.c	the contexts that perfex made, as one
 * watch.c	waiting for the end, with a delay, a limit and intervals
 * members.c	what each process or thread counted
 * recording.c	all that was counted
 * statistics.c	mean and confidence
 * output.c	where it is written
 * text.c, csv.c, json.c	how it is written
 * backend.c	what counts: the patch, or other parts of a kernel without it
 * progress.c	what a terminal shows meanwhile
 */
#ifndef PERFEX_RUN_H
#define PERFEX_RUN_H

#include <perfctr_events.h>
#include <signal.h>
#include <sys/types.h>
#include "../perfex.h"

/* options.c */
enum { NO_LOG_FD = -1u };
enum view { TREE, SELF, PER_PROCESS, PER_THREAD, MARKED };

struct format;

struct options {
	enum { RUN, INFO, LIST, LONG_LIST, VERSION } action;
	const char **event; /* specifications */
	size_t n_events;
	unsigned int modes; /* PERFCTR_RING_*, of events that name none */
	bool has_pebs_enable, has_pebs_matrix_vert;
	uint64_t pebs_enable, pebs_matrix_vert;
	enum view view;
	/* Of options that exclude each other, the one that was given; NULL: none */
	const char *view_name, *modes_name, *format_name;
	pid_t process; /* to attach to; 0: none */
	unsigned int runs;
	unsigned int warmup; /* runs before them */
	unsigned int passes; /* the most of a run; 0: as many as needed */
	double confidence;   /* per cent */
	unsigned int interval_ms, delay_ms, timeout_ms; /* 0: none */
	struct rules *rules; /* of derived values; NULL: none */
	const char *output;				/* NULL: log_fd */
	unsigned int log_fd;				/* NO_LOG_FD: none was given */
	bool append, no_shell;
	const struct format *format;
	char **command; /* argv of the command, NULL-terminated; empty: none */
};

/* What other subcommands have too; their target begins with a struct options. */
void take_event(void *target, const struct option_rule *rule, const char *spec);
void take_modes(void *target, const struct option_rule *rule, const char *unused);
void take_output(void *target, const struct option_rule *rule, const char *path);
void take_format(void *target, const struct option_rule *rule, const char *unused);
void check_output(const struct options *options);

/* run.c */
int run_command(const struct options *options);

/* statistics.c */
struct series {
	uint64_t *value;
	size_t n, room;
};

/* Of n values: mean from 1 on, stddev, low and high from 2 on; NAN where there is none. */
struct statistics {
	double mean, stddev;
	double low, high; /* the confidence interval of the mean */
	uint64_t min, max;
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
void events_free(struct events *events);
const char *mode_name(unsigned int modes);

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
void warn_of_disturbance(const struct perfctr_counts *counts);

/* watch.c */
struct counting;
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
void watch_counting(struct watch *watch, struct counting *counting);
void counting_interval(struct counting *counting, const struct perfctr_counts *sums);
uint64_t now_ns(void);

/* launch.c */
struct command {
	pid_t pid; /* 0: there is none */
	/* -1: not open */
	int process; /* pidfd */
	int go;	     /* close it: the command is executed */
	int failure; /* errno comes out of it when it cannot be executed */
};

bool command_fork(struct command *command, char **argv, const struct watch *watch);
int command_exec(struct command *command, char **argv);
void command_resume(struct command *command);
void command_end(struct command *command);
int command_wait(struct command *command);
void command_kill(struct command *command);
int exit_as(int wait_status);

/* attach.c */
int attach_find(pid_t pid);
bool attach(struct threads *threads, pid_t pid, struct perfctr_control *control,
	    const struct perfctr_pmu_info *info);

/* members.c */
struct member {
	struct perfctr_record record; /* per process: the sums over its threads */
	unsigned int run, pass;
	struct member *next;
};

struct members {
	enum view view;
	unsigned int run, pass;	      /* of the members that come now */
	struct member *first, **last; /* in the order of their ends */
	size_t n;
	void *by_process; /* tsearch(3) */
	unsigned long lost;
};

void members_begin(struct members *members, enum view view);
void members_next_run(struct members *members, unsigned int run, unsigned int pass);
void members_free(struct members *members);
bool members_wanted(const struct members *members);
void members_take(struct members *members, const struct perfctr *context);
void members_add_running(struct members *members, const struct threads *threads, pid_t pid);
void member_name(const struct member *member, char *name, size_t size);

/* recording.c */
struct sample { /* what one run has given */
	struct perfctr_counts total;
	uint64_t elapsed_ns; /* while it was counted */
	int wait_status;     /* of the command; 0 without one */
	bool timed_out;
};

struct recording {
	const struct options *options;
	const struct perfctr_pmu_info *info;
	struct events events;
	struct pass {
		struct series tsc;     /* ticks */
		struct series elapsed; /* ns */
		struct series kind_tsc[PERFCTR_MAX_KINDS]; /* of tsc, on each kind of core */
	} * pass;
	struct members members;
	unsigned long intervals; /* lines written */
	unsigned int running;	 /* threads that still ran at the end of the last run */
	int wait_status;	 /* of the last run */
	bool consistent;
	char date[32], *directory;
	char backend[16]; /* that counted */
};

bool recording_begin(struct recording *recording, const struct options *options,
		     const struct perfctr_pmu_info *info);
void recording_add(struct recording *recording, unsigned int pass, const struct sample *sample,
		   bool succeeded);
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
	/* In front of everything, and of the intervals of a run; both may be NULL. */
	void (*head)(FILE *file);
	void (*begin)(FILE *file, const struct recording *recording,
		      const struct interval *interval);
	void (*interval)(FILE *file, const struct style *style, const struct recording *recording,
			 const struct interval *interval);
	void (*recording)(FILE *file, const struct style *style, const struct recording *recording);
};

extern const struct format text_format, csv_format, json_format;
extern const char *const view_names[];

/* output.c: what cannot be written is said once, and the recording goes to standard error then */
struct output {
	const struct format *format;
	const char *path; /* NULL: a descriptor that perfex was given */
	int fd;
	bool created, append, begun, broken;
	struct style style;
};

bool output_open(struct output *output, const struct options *options);
void output_discard(struct output *output);
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
	struct members *members;
	struct interval interval;	 /* the last one */
	struct perfctr_counts last;	 /* sums at its end */
	uint64_t started_ns, stopped_ns; /* CLOCK_MONOTONIC */
	bool timed_out;
};

int count_run(struct watch *watch, struct counting *counting, struct perfctr_control *control,
	      struct sample *sample);

/* progress.c: on a terminal only */
struct progress {
	bool shown;
	unsigned int done, all;
};

void progress_begin(struct progress *progress, unsigned int all);
void progress_step(struct progress *progress);
void progress_end(const struct progress *progress);

#endif
