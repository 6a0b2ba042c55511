/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex validate: which counts of this machine can be trusted.
 *
 * kernels.c	programs whose counts are known by hand
 * benchmarks.c	the table of them: what each counts
 * memory.c	the memory that they walk through
 * partners.c	the processes that some of them need
 * geometry.c	caches, TLBs and pages of this processor
 * meanings.c	the table of events whose meaning is known
 * fit.c	what counts show
 * verdict.c	the same in words
 * subjects.c	which events
 * measure.c	events counted while benchmarks run
 * judge.c	what was counted against what was expected
 * result_*.c	what was found, as a text, as JSON and as a picture
 */
#ifndef PERFEX_VALIDATE_H
#define PERFEX_VALIDATE_H

#include "../../perfex.h"
#include "fit.h"

#include <perfctr_events.h>
#include <signal.h>
#include <stdint.h>

/* What programs do, and events count. */
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
/* NO_QUANTITY: there is none of this name. */
enum quantity quantity_find(const char *name);
/* Does every program show it, exactly? */
bool quantity_is_executed(enum quantity quantity);

/* geometry.c: bytes and entries; 0: the processor does not say */
struct geometry {
	unsigned int line, page;
	size_t l1d, l1i, l2, llc;
	unsigned int dtlb, itlb; /* of the last level, for small pages */
	bool has_avx, has_fma;
};

void geometry_find(struct geometry *geometry);

/* Size n, and the memory of the benchmark; all in user mode but what it asks the kernel for. */
typedef void kernel_function(uint64_t n, void *memory);

/* kernels.c */
kernel_function kernel_empty, kernel_loop, kernel_nops, kernel_alternating, kernel_calls,
	kernel_indirect, kernel_loads, kernel_stores, kernel_updates, kernel_stack, kernel_string,
	kernel_x87, kernel_scalar_double, kernel_scalar_single, kernel_packed_128_double,
	kernel_packed_128_single, kernel_packed_256_double, kernel_packed_256_single,
	kernel_fused_256_double, kernel_calls_of_kernel, kernel_random, kernel_chain, kernel_chase,
	kernel_flush, kernel_jumps, kernel_faults, kernel_switches, kernel_sharing;

/* memory.c, partners.c: what a benchmark works with; from make to release */
struct workplace {
	const struct geometry *geometry;
	int cpu, other_cpu; /* that perfex may run on; -1: there is no other */
	void *memory;
	size_t length;
	pid_t partner; /* 0: none */
	int to, from;  /* pipes to it; -1 */
};

/* False: it cannot be had here. */
typedef bool workplace_maker(struct workplace *workplace);

workplace_maker make_buffer, make_l1_chase, make_l2_chase, make_lines, make_page_chase,
	make_line_jumps, make_page_jumps, make_new_pages, make_echo, make_rival;
void workplace_release(struct workplace *workplace);
/* Of the memory that kernel_faults() touches, before each run. */
void forget_pages(struct workplace *workplace);

/* Random, the same each time. */
uint64_t random_next(uint64_t *state);
/* One cycle through all n, by Sattolo's algorithm: next[i] comes after i. */
void make_cycle(unsigned int *next, unsigned int n);

/* benchmarks.c */
struct expectation {
	enum quantity quantity;
	double per_size, offset; /* more than the empty benchmark; of TICKS: as many as it took */
	struct tolerance tolerance;
};

enum { MAX_EXPECTATIONS = 20 };

struct benchmark {
	const char *name;
	const char *what;
	kernel_function *run;
	workplace_maker *make; /* NULL: a buffer */
	uint64_t last_size;    /* of powers of ten from 10 on */
	bool user_only;	       /* what it does in kernel mode is not known */
	bool needs_avx, needs_fma;
	struct expectation expect[MAX_EXPECTATIONS + 1]; /* ended by one of NO_QUANTITY */
};

enum { N_BENCHMARKS = 31, EMPTY = 0 };

extern const struct benchmark benchmarks[N_BENCHMARKS];
/* NULL: it says nothing of the quantity. */
const struct expectation *benchmark_expects(const struct benchmark *benchmark,
					    enum quantity quantity);

/* One event, and what was found of it. */
struct trial { /* by one benchmark */
	unsigned int benchmark;
	struct observation *sample; /* of which expected is judge_event()'s, but of TICKS */
	size_t n, room;
	struct fit fit;
};

struct validated {
	char name[PERFCTR_REQUEST_NAME];
	struct perfctr_request request;
	char registers[PERFCTR_EVNTSEL_TEXT]; /* "": the operating system counts it */
	enum quantity quantity;		    /* NO_QUANTITY: not known */
	bool is_found; /* the quantity is what its counts are like, not what it is said to be */
	char why[256]; /* it could not be counted; "" */
	struct trial *trial;
	size_t n_trials;	/* of N_BENCHMARKS */
	struct fit fit;		/* of all of them */
	double least_b, most_b; /* of those that expect more with the size; else 0 */
	double reading;		/* what the empty benchmark counts; -1: not measured */
	double pair;		/* by how much two counters of it differed; -1: not measured */
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
	bool cut_short; /* by the time, or a signal */
	double elapsed; /* s */
};

/* subjects.c: what is asked for */
struct subjects {
	const char *backend; /* NULL: what counts them */
	const char *const *event; /* n 0 and not all: those of known meaning */
	size_t n;
	bool all;
	unsigned int modes;
	enum quantity supposed; /* of all of them; NO_QUANTITY: what the table says */
};

/* False: it cannot, and has said why. */
bool subjects_find(struct validation *validation, const struct subjects *subjects);
void validation_free(struct validation *validation);

/* measure.c: until the deadline, or *stop */
void validation_measure(struct validation *validation, const volatile sig_atomic_t *stop);

/* judge.c */
/* Does the event's quantity, or that of one whose quantity is not known, need the benchmark? */
bool event_needs(const struct validated *event, const struct benchmark *benchmark);
void judge_event(struct validated *event);

/* meanings.c */
enum { N_MEANINGS = 84 };

struct known_event {
	struct perfctr_request request;
	enum quantity quantity;
};

/* Those that this machine has; their number. */
size_t meanings_of_machine(struct perfctr_events *events, struct known_event known[N_MEANINGS]);
/* The one with these registers, whatever its name; NULL: there is none. */
const struct known_event *meaning_find(const struct known_event *known, size_t n,
				       const struct perfctr_pmu_info *info,
				       const struct perfctr_request *request);

/* verdict.c: some words, of one line, for free() */
char *verdict_text(const struct validated *event);

/* result_text.c, result_json.c, result_picture.c */
void write_validation_text(FILE *file, const struct validation *validation);
void write_validation_json(FILE *file, const struct validation *validation);
void write_validation_picture(FILE *file, const struct validation *validation);

#endif
