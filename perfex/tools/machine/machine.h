/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex report-machine: what a machine is, and what checks show of its counters.
 *
 * checks.c	the table of checks, each run in a process of its own
 * check_*.c	these checks
 * outcome.c	what one has found
 * verdict.c	what numbers show
 * meter.c	what can be counted here, and a context that counts it
 * loop.h	a loop whose instructions are counted by hand
 * ticks.h	the time stamp counter
 * helper.c	the processes that a check starts
 * document.c	all of it as a text
 *
 * The machine itself is described by ../host/host.h, its counters by ../../info/pmu.h.
 */
#ifndef PERFEX_MACHINE_H
#define PERFEX_MACHINE_H

#include "../../perfex.h"
#include "../host/host.h"
#include "verdict.h"

#include <perfctr_events.h>

/* The events of known loops, in the order of meters. */
enum { N_LOOP_EVENTS = 2 };

struct loop_event {
	const char *spec;
	unsigned int per_iteration;
};

extern const struct loop_event loop_events[N_LOOP_EVENTS];

/* meter.c: what is checked */
struct subject {
	const char *named_backend; /* NULL: none was named */
	struct perfctr_backend_info backend;
	struct perfctr_pmu_info pmu;
	bool has_backend;      /* and pmu */
	unsigned int n_events; /* of loop_events, that can be counted at once */
	struct perfctr_request request[N_LOOP_EVENTS];
	struct perfctr_control control; /* of them */
	char why[512];			/* not all of them; "" */
	struct cpu_list cpus;		/* that perfex may run on */
	unsigned int phase_ms;		/* of what takes as long as one likes */
};

/* backend: the one that was named, or NULL */
void subject_find(struct subject *subject, const char *backend, unsigned int phase_ms);
void subject_free(struct subject *subject);

/* outcome.c */
enum verdict {
	VERDICT_UNFINISHED,
	VERDICT_PASSED,
	VERDICT_FAILED,
	VERDICT_IMPOSSIBLE, /* it shows nothing here */
	VERDICT_MEASURED,   /* there is nothing that could be wrong */
	N_VERDICTS,
};

extern const char *const verdict_names[N_VERDICTS];

/* In memory that the check's process shares with perfex. */
struct outcome {
	enum verdict verdict;
	char why[512];	    /* not passed; "" */
	char details[4096]; /* lines */
};

__attribute__((format(printf, 2, 3))) void add_detail(struct outcome *outcome, const char *format,
						      ...);
__attribute__((format(printf, 3, 4))) void
give_verdict(struct outcome *outcome, enum verdict verdict, const char *format, ...);
/* ... and the calling process ends, which is a check or a helper; a helper has an own outcome. */
__attribute__((format(printf, 3, 4), noreturn)) void
end_check(struct outcome *outcome, enum verdict verdict, const char *format, ...);

/* checks.c */
struct check {
	const char *name, *shows;
	void (*run)(const struct subject *subject, struct outcome *outcome);
};

enum { N_CHECKS = 10 };

extern const struct check checks[N_CHECKS];

/* From now on those that end perfex are run_checks()'s. */
void hold_signals(void);

/* Runs them until the deadline, of CLOCK_MONOTONIC; the signal that came, or 0. */
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

/* meter.c: of the calling thread.  They end the check where they cannot. */
struct perfctr *meter_open(const struct subject *subject, uint32_t flags, struct outcome *outcome);
struct perfctr *meter_open_time(const struct subject *subject, struct outcome *outcome);
void meter_read(const struct perfctr *meter, unsigned int scope, struct perfctr_counts *counts,
		struct outcome *outcome);
/* What a loop counts, and reading around it. */
void meter_loop(const struct perfctr *meter, unsigned long iterations,
		struct perfctr_counts *counts, struct outcome *outcome);
/* Ends the check unless there is an event. */
void need_events(const struct subject *subject, struct outcome *outcome);
/* A detail for each event that is not counted. */
void add_uncounted(const struct subject *subject, struct outcome *outcome);

/* helper.c */
void sleep_ms(unsigned int ms);
void pin_to(pid_t pid, int cpu, struct outcome *outcome); /* 0: the caller */
int pin_here(struct outcome *outcome);			  /* where it runs */
/* A child that dies with its parent; 0 in the child. */
pid_t start_helper(struct outcome *outcome);
void end_helper(pid_t pid);
/* One that computes on a CPU without end, and counts where it can. */
pid_t start_competitor(const struct subject *subject, int cpu, struct outcome *outcome);
void *share_memory(size_t size, struct outcome *outcome);
/* Of the loop, that take so long here. */
unsigned long find_iterations(unsigned int ms);

/* A child that runs one loop, in memory that it shares. */
struct looper {
	pid_t pid;
	unsigned long iterations;
	int step;
	struct outcome outcome;		  /* where it cannot */
	uint64_t overhead[N_LOOP_EVENTS]; /* of reading */
	struct perfctr_counts counts;
	uint64_t faults, preemptions; /* meanwhile */
};

struct looper *start_looper(const struct subject *subject, int cpu, unsigned long iterations,
			    struct outcome *outcome);
/* All at once, when all are ready. */
void release_loopers(struct looper *const loopers[], unsigned int n, struct outcome *outcome);
bool is_looping(const struct looper *looper);
void await_looper(struct looper *looper, struct outcome *outcome);
/* Adds a detail for each event. */
void judge_looper(const struct subject *subject, const struct looper *looper, const char *what,
		  struct surroundings surroundings, struct outcome *outcome);

/* document.c */
struct machine_report {
	const struct identity *identity;
	const struct subject *subject;
	const struct outcome *outcomes;
	int signal; /* that cut it short; 0: none */
	uint64_t elapsed_ns;
};

void write_machine_report(FILE *file, const struct machine_report *report);
/* "8 passed, 0 failed, ..." */
void write_machine_summary(FILE *file, const struct machine_report *report);
/* For each verdict, how often. */
void count_verdicts(const struct outcome outcomes[N_CHECKS], unsigned int n[N_VERDICTS]);

#endif
