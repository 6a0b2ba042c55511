// SPDX-License-Identifier: GPL-2.0-or-later
#include "fit.h"

#include <math.h>

/* docs/man/perfex-validate.1 describes these under CLASSES. */
#define EQUAL 1e-4	   /* factors that differ by no more are the same */
#define NEGLIGIBLE 1e-9	   /* a factor below this is 0 */
#define GOOD_RESIDUAL 0.01 /* parts by which counts may miss a line */
#define SMALL_COUNT 1.0	   /* counts that are no error */
#define HALF 0.5	   /* more than this rounds to another integer */
#define SIGNIFICANT 5	   /* standard errors from which a term is not 0 */
#define DOUBTFUL 10.0	   /* counts that a disturbance at the end of a run may or may not add */
#define TRUSTED 0.01	   /* largest part of a trusted count that is overhead */
#define ROUNDING 1e-9	   /* part of a column that remains if it depends on others */

const char *const class_names[N_CLASSES] = {
	[CLASS_NONE] = "none",	       [CLASS_EXACT] = "exact",
	[CLASS_OVERHEAD] = "overhead", [CLASS_MULTIPLICATIVE] = "multiplicative",
	[CLASS_RANDOM] = "random",     [CLASS_UNKNOWN] = "unknown",
};

/* Two points are always on a line, so three sizes are needed. */
enum { MAX_TERMS = 3, ENOUGH_SIZES = 3 };

/* Least squares: each row has n_terms terms and a value, and is added to a triangular matrix. */
struct squares {
	unsigned int n_terms;
	size_t rows;
	double norm[MAX_TERMS]; /* of the column of each term */
	double triangle[MAX_TERMS + 1][MAX_TERMS + 1];
};

/*
 * Adds a row by Givens rotations.  The line does not explain the rest of the row, and the squares
 * of these rests are added up.
 */
static void add_row(struct squares *squares, const double terms[], double value)
{
	double row[MAX_TERMS + 1];
	unsigned int n = squares->n_terms;

	for (unsigned int i = 0; i < n; i++) {
		row[i] = terms[i];
		squares->norm[i] = hypot(squares->norm[i], terms[i]);
	}
	row[n] = value;
	for (unsigned int i = 0; i < n; i++) {
		double *line = squares->triangle[i];
		double length = hypot(line[i], row[i]), cosine, sine;

		if (length == 0 || row[i] == 0)
			continue;
		cosine = line[i] / length;
		sine = row[i] / length;
		for (unsigned int k = i; k <= n; k++) {
			double kept = cosine * line[k] + sine * row[k];

			row[k] = cosine * row[k] - sine * line[k];
			line[k] = kept;
		}
	}
	squares->triangle[n][n] += row[n] * row[n];
	squares->rows++;
}

/* Returns false if the rows do not determine the solution. */
static bool solve_squares(const struct squares *squares, double solution[MAX_TERMS])
{
	for (unsigned int i = squares->n_terms; i--;) {
		const double *line = squares->triangle[i];
		double value = line[squares->n_terms];

		if (fabs(line[i]) <= ROUNDING * squares->norm[i])
			return false;
		for (unsigned int k = i + 1; k < squares->n_terms; k++)
			value -= line[k] * solution[k];
		solution[i] = value / line[i];
	}
	return true;
}

/* Returns the standard error of the last term.  Returns INFINITY if there are too few rows. */
static double error_of_last(const struct squares *squares)
{
	unsigned int n = squares->n_terms;
	double variance;

	if (squares->rows <= n)
		return INFINITY;
	variance = squares->triangle[n][n] / (double)(squares->rows - n);
	return sqrt(variance) / fabs(squares->triangle[n - 1][n - 1]);
}

static double variable_of(const struct observation *sample, bool is_flat)
{
	return is_flat ? sample->size : sample->expected;
}

/* Returns the scale of an error: one count is as bad as one in ten thousand. */
static double scale_of(const struct observation *sample, bool is_flat)
{
	return hypot(SMALL_COUNT, EQUAL * variable_of(sample, is_flat));
}

static bool solve_line(const struct observation *samples, size_t n, bool with_c, struct fit *fit)
{
	struct squares squares = { .n_terms = with_c ? 3 : 2 };
	double solution[MAX_TERMS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		double scale = scale_of(&samples[i], fit->is_flat);
		double constant = fit->is_flat ? samples[i].expected : 0;
		double terms[MAX_TERMS] = { variable_of(&samples[i], fit->is_flat) / scale,
					    1 / scale, samples[i].disturbances / scale };

		add_row(&squares, terms, (samples[i].counted - constant) / scale);
	}
	if (!solve_squares(&squares, solution))
		return false;
	if (with_c &&
	    (fabs(solution[2]) < HALF || fabs(solution[2]) < SIGNIFICANT * error_of_last(&squares)))
		return false;
	/* The rounding error of a subtraction is no factor. */
	fit->b = fabs(solution[0]) < NEGLIGIBLE ? 0 : solution[0];
	fit->a = solution[1];
	fit->c = solution[2];
	return true;
}

static size_t length_of_size(const struct observation *samples, size_t n)
{
	size_t length = 1;

	while (length < n && samples[length].size == samples[0].size)
		length++;
	return length;
}

struct spread {
	double expected, mean, deviation; /* mean, deviation: of counts without disturbances */
	double size;
};

static struct spread spread_of_size(const struct observation *samples, size_t n, double c)
{
	struct spread spread = { .size = samples[0].size };
	double squares = 0;

	for (size_t i = 0; i < n; i++) {
		spread.mean += (samples[i].counted - c * samples[i].disturbances) / (double)n;
		spread.expected += samples[i].expected / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		/* Each run may have an expected count of its own. */
		double beyond = samples[i].counted - c * samples[i].disturbances - spread.mean -
				(samples[i].expected - spread.expected);

		squares += beyond * beyond;
	}
	spread.deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
	return spread;
}

/* Returns by how much a count may be off without showing an error. */
static double known_error(double expected, struct tolerance tolerance)
{
	return SMALL_COUNT + tolerance.jitter + tolerance.scatter * sqrt(expected);
}

/*
 * Returns true if equal runs differ by more than rounding and the uncertainty of the expected count
 * explain.  If a disturbance comes at the end of a run, nobody knows whether the event still
 * counted it, or whether it was noticed.
 */
static bool is_random(const struct spread *spread, double c, struct tolerance tolerance)
{
	return spread->deviation > EQUAL * spread->expected +
					   known_error(spread->expected, tolerance) +
					   fmin(fmax(fabs(c), tolerance.disturbance), DOUBTFUL);
}

/*
 * Returns how much equal runs differ, summed over all sizes, when c is subtracted for each
 * disturbance.
 */
static double sum_of_spreads(const struct observation *samples, size_t n, double c)
{
	double sum = 0;

	for (size_t i = 0; i < n;) {
		size_t length = length_of_size(samples + i, n - i);
		double deviation = spread_of_size(samples + i, length, c).deviation;

		deviation /= scale_of(&samples[i], true);
		sum += deviation * deviation;
		i += length;
	}
	return sum;
}

static bool look_at_sizes(const struct observation *samples, size_t n, struct tolerance tolerance,
			  struct fit *fit)
{
	bool random = false;

	for (size_t i = 0; i < n;) {
		size_t length = length_of_size(samples + i, n - i);
		struct spread spread = spread_of_size(samples + i, length, fit->c);
		double scale = fmax(1, fit->is_flat ? spread.size : spread.expected);
		double line = fit->a + (fit->is_flat ? spread.expected + fit->b * spread.size
						     : fit->b * spread.expected);
		double off = fabs(spread.mean - line);

		random |= is_random(&spread, fit->c, tolerance);
		if (spread.deviation > SMALL_COUNT)
			fit->scatter = fmax(fit->scatter, spread.deviation / scale);
		if (off > known_error(spread.expected, tolerance))
			fit->residual = fmax(fit->residual, off / scale);
		fit->sizes++;
		i += length;
	}
	return random;
}

static bool is_flat(const struct observation *samples, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (samples[i].expected != samples[0].expected)
			return false;
	return true;
}

static enum error_class find_class(const struct fit *fit, bool random, struct tolerance tolerance)
{
	double should = fit->is_flat ? 0 : 1;

	if (random)
		return CLASS_RANDOM;
	if (fit->residual > GOOD_RESIDUAL + tolerance.slack)
		return CLASS_UNKNOWN;
	if (fabs(fit->b - should) > EQUAL + tolerance.slack)
		return fit->is_flat || fabs(fit->b) <= EQUAL ? CLASS_UNKNOWN : CLASS_MULTIPLICATIVE;
	/* x86 is known to count one for each interrupt. */
	if (fabs(fit->a) > HALF || fit->c > 1 + HALF || fit->c < -HALF)
		return CLASS_OVERHEAD;
	return CLASS_EXACT;
}

struct fit fit_line(const struct observation *samples, size_t n, struct tolerance tolerance)
{
	struct fit fit = { .is_flat = is_flat(samples, n) };
	bool random;

	/* Subtracting the disturbances must not make equal runs less alike. */
	if (!n || !(solve_line(samples, n, true, &fit) &&
		    sum_of_spreads(samples, n, fit.c) <= sum_of_spreads(samples, n, 0))) {
		fit.c = 0;
		if (!n || !solve_line(samples, n, false, &fit))
			return fit;
	}
	random = look_at_sizes(samples, n, tolerance, &fit);
	if (fit.sizes >= ENOUGH_SIZES)
		fit.error = find_class(&fit, random, tolerance);
	fit.trust_above = fabs(fit.a) > HALF && fit.b != 0 ? fabs(fit.a / fit.b) / TRUSTED : 0;
	return fit;
}

/* Returns true if all fits say that the event counts what is expected, or one multiple of it. */
static bool fits_agree(const struct fit *fits, size_t n)
{
	const struct fit *first = NULL;
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const struct fit *fit = &fits[i];

		if (fit->error == CLASS_UNKNOWN || fit->error == CLASS_RANDOM)
			return false;
		any |= fit->error != CLASS_NONE;
		if (fit->error == CLASS_NONE || fit->is_flat)
			continue;
		if (first &&
		    (first->error == CLASS_MULTIPLICATIVE) != (fit->error == CLASS_MULTIPLICATIVE))
			return false;
		if (first && fit->error == CLASS_MULTIPLICATIVE &&
		    fabs(first->b - fit->b) > GOOD_RESIDUAL * fabs(first->b))
			return false;
		first = fit;
	}
	return any;
}

/*
 * Returns true if fit is worse than the other: a worse class, or the same class and a larger
 * overhead.  A fit that is not flat takes precedence over a flat one of the same class, whatever
 * their overheads are.  A flat fit is never worse than one that is not flat.
 */
static bool is_worse(const struct fit *fit, const struct fit *than)
{
	if (than->is_flat != fit->is_flat)
		return than->is_flat && fit->error >= than->error;
	if (than->error != fit->error)
		return fit->error > than->error;
	return fabs(fit->a) > fabs(than->a);
}

/*
 * Copies the random fits, or else all others but those of CLASS_NONE, to selected.  Returns their
 * number.
 */
static size_t select_fits(const struct fit *fits, size_t n, bool random, struct fit selected[])
{
	size_t n_selected = 0;

	for (size_t i = 0; i < n; i++)
		if (fits[i].error != CLASS_NONE && (fits[i].error == CLASS_RANDOM) == random)
			selected[n_selected++] = fits[i];
	return n_selected;
}

static struct fit worst_fit(const struct fit *fits, size_t n)
{
	struct fit worst = fits[0];

	for (size_t i = 1; i < n; i++)
		if (is_worse(&fits[i], &worst))
			worst = fits[i];
	return worst;
}

struct fit join_fits(const struct fit *fits, size_t n)
{
	struct fit steady[MAX_FITS], random[MAX_FITS], joined = { 0 };
	size_t n_steady = select_fits(fits, n, false, steady);
	size_t n_random = select_fits(fits, n, true, random);

	if (n_steady)
		joined = worst_fit(steady, n_steady);
	if (n_steady && !fits_agree(steady, n_steady))
		joined.error = CLASS_UNKNOWN;
	else if (n_random)
		joined = worst_fit(random, n_random);
	for (size_t i = 0; i < n; i++) {
		joined.residual = fmax(joined.residual, fits[i].residual);
		joined.scatter = fmax(joined.scatter, fits[i].scatter);
		if (fabs(fits[i].c) > fabs(joined.c))
			joined.c = fits[i].c;
	}
	return joined;
}
