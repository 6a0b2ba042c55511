// SPDX-License-Identifier: GPL-2.0-or-later
#include "fit.h"

#include <math.h>

/* docs/man/perfex-validate.1, CLASSES, names them. */
#define EQUAL 1e-4	   /* two factors are the same */
#define NEGLIGIBLE 1e-9	   /* a factor that is 0 */
#define GOOD_RESIDUAL 0.01 /* of a line */
#define SMALL_COUNT 1.0	   /* no error */
#define HALF 0.5	   /* rounds to another integer */
#define SIGNIFICANT 5	   /* standard errors */
#define DOUBTFUL 10.0	   /* counts that a disturbance at the end of a run may add or not */
#define TRUSTED 0.01	   /* parts of a count that its overhead may be */
#define ROUNDING 1e-9	   /* parts of a column that are left of it when others say the same */

const char *const class_names[N_CLASSES] = {
	[CLASS_NONE] = "none",	       [CLASS_EXACT] = "exact",
	[CLASS_OVERHEAD] = "overhead", [CLASS_MULTIPLICATIVE] = "multiplicative",
	[CLASS_RANDOM] = "random",     [CLASS_UNKNOWN] = "unknown",
};

/* Any two are on a line. */
enum { MAX_TERMS = 3, ENOUGH_SIZES = 3 };

/* Least squares of rows of n_terms terms and their value, made triangular row by row. */
struct squares {
	unsigned int n_terms;
	size_t rows;
	double norm[MAX_TERMS]; /* of each term's column */
	double triangle[MAX_TERMS + 1][MAX_TERMS + 1];
};

/* By Givens' rotations; what is left of the row is no part of the line, and its square is kept. */
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

/* False: the rows do not determine them. */
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

/* The standard error of the last term. */
static double error_of_last(const struct squares *squares)
{
	unsigned int n = squares->n_terms;
	double variance;

	if (squares->rows <= n)
		return INFINITY;
	variance = squares->triangle[n][n] / (double)(squares->rows - n);
	return sqrt(variance) / fabs(squares->triangle[n - 1][n - 1]);
}

/* An error of one count, and of one in ten thousand. */
static double scale_of(const struct observation *sample, bool is_flat)
{
	return hypot(SMALL_COUNT, EQUAL * (is_flat ? sample->size : sample->expected));
}

static double variable_of(const struct observation *sample, bool is_flat)
{
	return is_flat ? sample->size : sample->expected;
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
	/* What is left of a subtraction is no factor. */
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
	double expected, mean, deviation; /* of the counts without disturbances */
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
		/* The expected count of each run may be its own. */
		double beyond = samples[i].counted - c * samples[i].disturbances - spread.mean -
				(samples[i].expected - spread.expected);

		squares += beyond * beyond;
	}
	spread.deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
	return spread;
}

/* What a count may be off by, and shows nothing. */
static double known_error(double expected, struct tolerance tolerance)
{
	return SMALL_COUNT + tolerance.jitter + tolerance.scatter * sqrt(expected);
}

/*
 * True: it is more than the rounding of counts, and what is known of the expected count. Of a
 * disturbance at the end of a run nobody knows whether it was still counted, or known.
 */
static bool is_random(const struct spread *spread, double c, struct tolerance tolerance)
{
	return spread->deviation > EQUAL * spread->expected +
					   known_error(spread->expected, tolerance) +
					   fmin(fmax(fabs(c), tolerance.disturbance), DOUBTFUL);
}

/* Of all sizes, how much equal runs differ once the disturbances are taken off. */
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
	/* One for each interrupt is what x86 is known to count. */
	if (fabs(fit->a) > HALF || fit->c > 1 + HALF || fit->c < -HALF)
		return CLASS_OVERHEAD;
	return CLASS_EXACT;
}

struct fit fit_line(const struct observation *samples, size_t n, struct tolerance tolerance)
{
	struct fit fit = { .is_flat = is_flat(samples, n) };
	bool random;

	/* What disturbances add must make equal runs more alike. */
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

/* Do all of them say that the event counts what is expected, once or by one factor? */
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

/* Of two that say the same, the one that says it of the larger overhead. */
static bool is_worse(const struct fit *fit, const struct fit *than)
{
	if (than->is_flat != fit->is_flat)
		return than->is_flat && fit->error >= than->error;
	if (than->error != fit->error)
		return fit->error > than->error;
	return fabs(fit->a) > fabs(than->a);
}

/* Those of a class, in front. */
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
