/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex validate: finds out which counts of this machine can be trusted.
 *
 * kernels.c	programs with counts that are known by hand
 * benchmarks.c	the table of these programs and their counts
 * memory.c	the memory that they walk through
 * partners.c	the processes that some of them need
 * geometry.c	caches, TLBs and pages of this processor
 * meanings.c	the table of events with a known meaning
 * fit.c	fits lines to counts
 * verdict.c	the result of an event in words
 * subjects.c	chooses the events
 * measure.c	counts events while benchmarks run
 * judge.c	compares counts with what was expected
 * result_*.c	writes the result as a text, as JSON and as a picture
 */
#ifndef PERFEX_VALIDATE_H
#define PERFEX_VALIDATE_H

#include "../../perfex.h"
#include "fit.h"

#include <perfctr_events.h>
#include <signal.h>
#include <stdint.h>

/* The quantities that programs show and events count. */
enum quantity {
	INSTRUCTIONS,
	BRANCHES,
	CONDITIONAL,
	TAKEN,
	NOT_TAKEN,
	CALLS,
	RETURNS,
	INDIRECT,
	MISPREDICTED,
	LOADS,
	STORES,
	X87,
	SCALAR_DOUBLE,
	SCALAR_SINGLE,
	PACKED_128_DOUBLE,
	PACKED_128_SINGLE,
	PACKED_256_DOUBLE,
	PACKED_256_SINGLE,
	FLOPS_DOUBLE,
	FLOPS_SINGLE,
	L1D_MISSES,
	L2_MISSES,
	LLC_MISSES,
	DTLB_MISSES,
	L1I_MISSES,
	ITLB_MISSES,
	CYCLES,
	TICKS,
	PAGE_FAULTS,
	SWITCHES,
	SHARED_LINES,
	N_QUANTITIES,
	NO_QUANTITY = N_QUANTITIES,
};

extern const char *const quantity_names[N_QUANTITIES];
/* Returns NO_QUANTITY if there is none of this name. */
enum quantity quantity_find(const char *name);
/*
 * Returns true if the executed instructions alone determine the quantity, so that every program
 * shows it exactly.
 */
bool quantity_is_executed(enum quantity quantity);

/* geometry.c: sizes in bytes, and numbers of entries; 0: the processor does not say */
struct geometry {
	unsigned int line, page;
	size_t l1d, l1i, l2, llc;
	unsigned int dtlb, itlb; /* of the last level, for small pages */
	bool has_avx, has_fma;
};

void geometry_find(struct geometry *geometry);

/*
 * Runs a benchmark of size n with its memory.  All is in user mode, except what it asks of the
 * kernel.
 */
typedef void kernel_function(uint64_t n, void *memory);

/* kernels.c */
kernel_function kernel_empty, kernel_loop, kernel_nops, kernel_alternating, kernel_calls,
	kernel_indirect, kernel_loads, kernel_stores, kernel_updates, kernel_stack, kernel_string,
	kernel_x87, kernel_scalar_double, kernel_scalar_single, kernel_packed_128_double,
	kernel_packed_128_single, kernel_packed_256_double, kernel_packed_256_single,
	kernel_fused_256_double, kernel_calls_of_kernel, kernel_random, kernel_chain, kernel_chase,
	kernel_flush, kernel_jumps, kernel_faults, kernel_switches, kernel_sharing;

/* memory.c, partners.c: what a benchmark works with, from its maker to workplace_release() */
struct workplace {
	const struct geometry *geometry;
	int cpu, other_cpu; /* perfex may run on both; other_cpu -1: there is none */
	void *memory;
	size_t length;
	pid_t partner; /* 0: none */
	int to, from;  /* pipes to the partner and from it; -1 */
};

/* Returns false if it is not possible here. */
typedef bool workplace_maker(struct workplace *workplace);

workplace_maker make_buffer, make_l1_chase, make_l2_chase, make_lines, make_page_chase,
	make_line_jumps, make_page_jumps, make_new_pages, make_echo, make_rival;
void workplace_release(struct workplace *workplace);
/* Gives up the pages that kernel_faults() touches.  It is called before each run. */
void forget_pages(struct workplace *workplace);

/* Returns a random number from 0 to 2^31 - 1.  The sequence is the same each time. */
uint64_t random_next(uint64_t *state);
/* Makes one cycle through all n elements by Sattolo's algorithm: next[i] comes after i. */
void make_cycle(unsigned int *next, unsigned int n);

/* benchmarks.c */
struct expectation {
	enum quantity quantity;
	double per_size, offset; /* beyond the empty benchmark; 0 for TICKS: see struct trial */
	struct tolerance tolerance;
};

enum { MAX_EXPECTATIONS = 20 };

struct benchmark {
	const char *name;
	const char *what;
	kernel_function *run;
	workplace_maker *make; /* NULL: make_buffer() */
	uint64_t last_size;    /* sizes are powers of ten from 10 to this */
	bool user_only;	       /* its counts in kernel mode are not known */
	bool needs_avx, needs_fma;
	struct expectation expect[MAX_EXPECTATIONS + 1]; /* ends with NO_QUANTITY */
};

enum { N_BENCHMARKS = 31, EMPTY = 0 };

extern const struct benchmark benchmarks[N_BENCHMARKS];
/* Returns NULL if the benchmark says nothing about the quantity. */
const struct expectation *benchmark_expects(const struct benchmark *benchmark,
					    enum quantity quantity);

/* One event, and its results. */
struct trial { /* the runs of one benchmark */
	unsigned int benchmark;
	struct observation *sample; /* judge_event() sets expected, except for TICKS */
	size_t n, room;
	struct fit fit;
};

struct validated {
	char name[PERFCTR_REQUEST_NAME];
	struct perfctr_request request;
	char registers[PERFCTR_EVNTSEL_TEXT]; /* "": the operating system counts it */
	enum quantity quantity;		    /* NO_QUANTITY: not known */
	bool is_found; /* the quantity was found from the counts, not known before */
	char why[256]; /* why it could not be counted; "" */
	struct trial *trial;
	size_t n_trials;	/* at most N_BENCHMARKS */
	struct fit fit;		/* of all trials */
	double least_b, most_b; /* of trials that are not flat; 0: there are none */
	double reading;		/* what the empty benchmark counts; -1: not measured */
	double pair;		/* largest difference of two counters of it; -1: not measured */
};

struct validation {
	struct perfctr_backend_info backend;
	struct perfctr_pmu_info pmu;
	struct geometry geometry;
	struct validated *event;
	size_t n;
	unsigned int runs;    /* of each size */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	bool progress;
	bool cut_short; /* by the deadline, or by a signal */
	double elapsed; /* seconds */
};

/* subjects.c: the events that are asked for */
struct subjects {
	const char *backend; /* NULL: any backend that counts them */
	const char *const *event; /* if n is 0 and all is false: the events of known meaning */
	size_t n;
	bool all;
	unsigned int modes;
	enum quantity supposed; /* of all events; NO_QUANTITY: what the table says */
};

/*
 * Returns false, after an error message, if the events cannot be counted here, or if there are
 * none.
 */
bool subjects_find(struct validation *validation, const struct subjects *subjects);
void validation_free(struct validation *validation);

/* measure.c: measures until the deadline or until *stop, and judges the events */
void validation_measure(struct validation *validation, const volatile sig_atomic_t *stop);

/* judge.c */
/*
 * Returns true if the event needs the benchmark.  Every event needs the empty benchmark.  A counter
 * that counts in kernel mode does not need a benchmark that is user_only.  Otherwise an event of
 * known quantity needs the benchmarks that expect counts of this quantity.  Any other event needs
 * the benchmarks that expect a quantity of executed instructions.
 */
bool event_needs(const struct validated *event, const struct benchmark *benchmark);
void judge_event(struct validated *event);

/* meanings.c */
enum { N_MEANINGS = 84 };

struct known_event {
	struct perfctr_request request;
	enum quantity quantity;
};

/* Sets known to the meanings that this machine has.  Returns their number. */
size_t meanings_of_machine(struct perfctr_events *events, struct known_event known[N_MEANINGS]);
/*
 * Returns the meaning of an event with the same registers, under any name.  Returns NULL if there
 * is none.
 */
const struct known_event *meaning_find(const struct known_event *known, size_t n,
				       const struct perfctr_pmu_info *info,
				       const struct perfctr_request *request);

/* verdict.c: returns some words, on one line, for free() */
char *verdict_text(const struct validated *event);

/* result_text.c, result_json.c, result_picture.c */
void write_validation_text(FILE *file, const struct validation *validation);
void write_validation_json(FILE *file, const struct validation *validation);
void write_validation_picture(FILE *file, const struct validation *validation);

#endif
