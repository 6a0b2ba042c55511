/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What counts of programs show whose counts are known: pure functions of numbers.
 *
 * A line is fitted to the runs of one benchmark: counted = a + b expected + c disturbances, by
 * least squares with the weight 1 / (1 + (expected / 10^4)^2): an error of one count is as bad as
 * one of a ten-thousandth.  c is left out where nothing shows that disturbances add anything.
 */
#ifndef PERFEX_VALIDATE_FIT_H
#define PERFEX_VALIDATE_FIT_H

#include <stdbool.h>
#include <stddef.h>

/* One run. */
struct observation {
	double size;	 /* what the benchmark was asked for */
	double expected; /* by hand */
	double counted;
	double disturbances; /* interrupts and page faults meanwhile */
};

/* What is known of the expected count itself. */
struct tolerance {
	double slack;	/* b may be off by as much */
	double scatter; /* it may be off by that, times the root of it */
	double jitter;	/* or by that, as entering the kernel disturbs it */
	/* What each disturbance is known to add, where this benchmark had too few to show it. */
	double disturbance;
};

/* After Maxwell et al., and the thesis on the validity of PAPI's counts. */
enum error_class {
	CLASS_NONE,	      /* fewer than three sizes */
	CLASS_EXACT,	      /* a is 0 and b is 1 */
	CLASS_OVERHEAD,	      /* b is 1: subtract a, and c for each disturbance */
	CLASS_MULTIPLICATIVE, /* b is not 1 */
	CLASS_RANDOM,	      /* equal runs differ */
	CLASS_UNKNOWN,	      /* no line, or one of another thing */
	N_CLASSES,
};

extern const char *const class_names[N_CLASSES];

struct fit {
	enum error_class error;
	unsigned int sizes; /* distinct */
	double a, b, c;
	bool is_flat;	    /* nothing is expected to grow: b is that by size, and should be 0 */
	double residual;    /* the largest of a size, in parts of expected */
	double scatter;	    /* the largest standard deviation of a size, likewise */
	double trust_above; /* expected counts from which a is less than 1 %; 0: any */
};

/* samples: those of a size side by side. */
struct fit fit_line(const struct observation *samples, size_t n, struct tolerance tolerance);

/*
 * Of several benchmarks that all judge one event, MAX_FITS at most: the class that they agree upon;
 * random where some are, and the others agree.
 */
enum { MAX_FITS = 64 };

struct fit join_fits(const struct fit *fits, size_t n);

#endif
