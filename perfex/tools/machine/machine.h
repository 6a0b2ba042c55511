/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex report-machine: describes a machine, and checks its counters.
 *
 * checks.c	the table of checks, and running each in a process of its own
 * check_*.c	the checks
 * outcome.c	the outcome of a check
 * verdict.c	judges numbers
 * meter.c	what can be counted here, and contexts that count it
 * loop.h	a loop with instructions that are counted by hand
 * ticks.h	the time stamp counter
 * helper.c	the processes that a check starts
 * document.c	the report as a text
 *
 * ../host/host.h describes the machine itself, ../../info/pmu.h its counters.
 */
#ifndef PERFEX_MACHINE_H
#define PERFEX_MACHINE_H

#include "../../perfex.h"
#include "../host/host.h"
#include "verdict.h"

#include <perfctr_events.h>

/* The events that are known for each loop, in the order of a meter's counters. */
enum { N_LOOP_EVENTS = 2 };

struct loop_event {
	const char *spec;
	unsigned int per_iteration;
};

extern const struct loop_event loop_events[N_LOOP_EVENTS];

/* meter.c: what the checks count, and where */
struct subject {
	const char *named_backend; /* NULL: the library chooses */
	struct perfctr_backend_info backend;
	struct perfctr_pmu_info pmu;
	bool has_backend;      /* backend and pmu are valid */
	unsigned int n_events; /* loop_events[0] to [n_events - 1] can be counted at once */
	struct perfctr_request request[N_LOOP_EVENTS];
	struct perfctr_control control; /* of the n_events requests */
	char why[512];			/* why not all events can be counted; "": they can */
	struct cpu_list cpus;		/* the CPUs that perfex may run on */
	unsigned int phase_ms;		/* length of a phase of a check */
};

/* Finds out what can be counted.  backend: the named one; NULL: any */
void subject_find(struct subject *subject, const char *backend, unsigned int phase_ms);
void subject_free(struct subject *subject);

/* outcome.c */
enum verdict {
	VERDICT_UNFINISHED,
	VERDICT_PASSED,
	VERDICT_FAILED,
	VERDICT_IMPOSSIBLE, /* it cannot be checked here */
	VERDICT_MEASURED,   /* a measurement, which cannot fail */
	N_VERDICTS,
};

extern const char *const verdict_names[N_VERDICTS];

/* The outcome of a check, in memory that the check's process shares with perfex. */
struct outcome {
	enum verdict verdict;
	char why[512];	    /* the reason for the verdict, or "" */
	char details[4096]; /* lines, each with its newline */
};

__attribute__((format(printf, 2, 3))) void add_detail(struct outcome *outcome, const char *format,
						      ...);
__attribute__((format(printf, 3, 4))) void
give_verdict(struct outcome *outcome, enum verdict verdict, const char *format, ...);
/*
 * As give_verdict(), and ends the calling process.  That is a check, or a helper with an outcome of
 * its own.
 */
__attribute__((format(printf, 3, 4), noreturn)) void
end_check(struct outcome *outcome, enum verdict verdict, const char *format, ...);

/* checks.c */
struct check {
	const char *name, *shows;
	void (*run)(const struct subject *subject, struct outcome *outcome);
};

enum { N_CHECKS = 10 };

extern const struct check checks[N_CHECKS];

/* Blocks SIGCHLD and the terminating signals; run_checks() handles them. */
void hold_signals(void);

/*
 * Runs the checks until the deadline, in nanoseconds of CLOCK_MONOTONIC.  progress: names each
 * check on standard error.  Returns the signal that stopped the checks, or 0.
 */
int run_checks(const struct subject *subject, uint64_t deadline_ns, bool progress,
	       struct outcome outcomes[N_CHECKS]);

/* The checks */
void check_loops(const struct subject *subject, struct outcome *outcome);
void check_migration(const struct subject *subject, struct outcome *outcome);
void check_inheritance(const struct subject *subject, struct outcome *outcome);
void check_isolation(const struct subject *subject, struct outcome *outcome);
void check_counter_reads(const struct subject *subject, struct outcome *outcome);
void check_time_reads(const struct subject *subject, struct outcome *outcome);
void check_time_stamp(const struct subject *subject, struct outcome *outcome);
void check_virtual_time(const struct subject *subject, struct outcome *outcome);
void measure_events(const struct subject *subject, struct outcome *outcome);
void measure_costs(const struct subject *subject, struct outcome *outcome);

/* meter.c: contexts of the calling thread.  The functions end the check if they cannot count. */
struct perfctr *meter_open(const struct subject *subject, uint32_t flags, struct outcome *outcome);
struct perfctr *meter_open_time(const struct subject *subject, struct outcome *outcome);
void meter_read(const struct perfctr *meter, unsigned int scope, struct perfctr_counts *counts,
		struct outcome *outcome);
/* Sets counts to what the loop has counted, with the reads around it. */
void meter_loop(const struct perfctr *meter, unsigned long iterations,
		struct perfctr_counts *counts, struct outcome *outcome);
/* Ends the check if no event can be counted. */
void need_events(const struct subject *subject, struct outcome *outcome);
/* Adds a detail for each loop event that cannot be counted. */
void add_uncounted(const struct subject *subject, struct outcome *outcome);

/* helper.c */
void sleep_ms(unsigned int ms);
void pin_to(pid_t pid, int cpu, struct outcome *outcome); /* pid 0: the caller */
int pin_here(struct outcome *outcome);			  /* to its present CPU; returns it */
/* Starts a child that dies with its parent.  Returns the child's pid, and 0 in the child. */
pid_t start_helper(struct outcome *outcome);
void end_helper(pid_t pid);
/*
 * Starts a helper that computes on a CPU until it is killed.  It counts itself if that is possible.
 */
pid_t start_competitor(const struct subject *subject, int cpu, struct outcome *outcome);
void *share_memory(size_t size, struct outcome *outcome);
/* Returns how many iterations of the loop take ms milliseconds here. */
unsigned long find_iterations(unsigned int ms);

/* A child that runs one loop.  The child and the check share this memory. */
struct looper {
	pid_t pid;
	unsigned long iterations;
	int step;
	struct outcome outcome;		  /* of the child, if it fails */
	uint64_t overhead[N_LOOP_EVENTS]; /* counts of an empty loop */
	struct perfctr_counts counts;
	uint64_t faults, preemptions; /* of the child during its loop */
};

struct looper *start_looper(const struct subject *subject, int cpu, unsigned long iterations,
			    struct outcome *outcome);
/* Waits until all loopers are ready, and then starts their loops. */
void release_loopers(struct looper *const loopers[], unsigned int n, struct outcome *outcome);
bool is_looping(const struct looper *looper);
void await_looper(struct looper *looper, struct outcome *outcome);
/* Adds a detail for each event.  Ends the check if a count is wrong. */
void judge_looper(const struct subject *subject, const struct looper *looper, const char *what,
		  struct surroundings surroundings, struct outcome *outcome);

/* document.c */
struct machine_report {
	const struct identity *identity;
	const struct subject *subject;
	const struct outcome *outcomes;
	int signal; /* that stopped the checks; 0: none */
	uint64_t elapsed_ns;
};

void write_machine_report(FILE *file, const struct machine_report *report);
/* Writes a line like "8 passed, 0 failed, ...". */
void write_machine_summary(FILE *file, const struct machine_report *report);
/* Sets n to how often each verdict was given. */
void count_verdicts(const struct outcome outcomes[N_CHECKS], unsigned int n[N_VERDICTS]);

#endif
