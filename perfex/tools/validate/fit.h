/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges the counts of programs with known counts.  The functions depend on their arguments only.
 *
 * A line is fitted to the runs of one benchmark: counted = a + b expected + c disturbances, by
 * least squares with the weight 1 / (1 + (expected / 10^4)^2): an error of one count is as bad as
 * an error of one ten-thousandth.  c is left out unless the runs show that disturbances add
 * something.
 */
#ifndef PERFEX_VALIDATE_FIT_H
#define PERFEX_VALIDATE_FIT_H

#include <stdbool.h>
#include <stddef.h>

/* One run of a benchmark. */
struct observation {
	double size;	 /* the size of the benchmark */
	double expected; /* as counted by hand */
	double counted;
	double disturbances; /* interrupts and page faults during the run */
};

/* How uncertain the expected count is. */
struct tolerance {
	double slack;	/* b may be off by this */
	double scatter; /* the expected count may be off by this times its square root */
	double jitter;	/* and by this, as entering the kernel disturbs it */
	/*
	 * The count that each disturbance is known to add, for benchmarks that had too few to show
	 * it.
	 */
	double disturbance;
};

/* The classes follow Maxwell et al., and the thesis on the validity of PAPI's counts. */
enum error_class {
	CLASS_NONE,	      /* fewer than three sizes */
	CLASS_EXACT,	      /* a is 0 and b is 1 */
	CLASS_OVERHEAD,	      /* b is 1: subtract a, and c for each disturbance */
	CLASS_MULTIPLICATIVE, /* b is not 1 */
	CLASS_RANDOM,	      /* equal runs differ */
	CLASS_UNKNOWN,	      /* no line, or the line of another quantity */
	N_CLASSES,
};

extern const char *const class_names[N_CLASSES];

struct fit {
	enum error_class error;
	unsigned int sizes; /* number of distinct sizes */
	double a, b, c;
	bool is_flat;	    /* the expected count is constant: b is per size, and should be 0 */
	/* The largest of all sizes, in parts of expected, or of size if is_flat: */
	double residual;    /* distance of the mean count from the line */
	double scatter;	    /* standard deviation of the counts */
	double trust_above; /* a is less than 1 % of expected counts above this; 0: of all */
};

/* samples: runs of the same size must be side by side */
struct fit fit_line(const struct observation *samples, size_t n, struct tolerance tolerance);

/*
 * Joins the fits of several benchmarks, MAX_FITS at most, that all judge one event.  The class is
 * the one that they agree upon.  It is random if some are random and the others agree, and unknown
 * if they do not agree.
 */
enum { MAX_FITS = 64 };

struct fit join_fits(const struct fit *fits, size_t n);

#endif
