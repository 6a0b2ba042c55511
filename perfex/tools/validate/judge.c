// SPDX-License-Identifier: GPL-2.0-or-later
/* Judges the counts of an event against those that its quantity makes expect. */
#include "validate.h"

#include <math.h>

bool event_needs(const struct validated *event, const struct benchmark *benchmark)
{
	if (benchmark == &benchmarks[EMPTY])
		return true;
	if (benchmark->user_only && event->request.modes & PERFCTR_MODE_KERNEL &&
	    event->registers[0])
		return false;
	if (event->quantity != NO_QUANTITY && !event->is_found)
		return benchmark_expects(benchmark, event->quantity);
	for (const struct expectation *e = benchmark->expect; e->quantity != NO_QUANTITY; e++)
		if (quantity_is_executed(e->quantity))
			return true;
	return false;
}

/* In kernel mode, a program is expected to do nothing. */
static void expect_samples(const struct validated *event, struct trial *trial,
			   const struct expectation *expectation)
{
	bool is_there = event->request.modes & PERFCTR_MODE_USER || !event->registers[0];

	if (expectation->quantity == TICKS)
		return;
	for (size_t i = 0; i < trial->n; i++)
		trial->sample[i].expected =
			is_there ? expectation->per_size * trial->sample[i].size +
					   expectation->offset
				 : 0;
}

/*
 * Fits a line to each trial.  disturbance: the counts that a disturbance is known to add.  Returns
 * the most counts that any trial shows a disturbance to add.
 */
static double fit_trials(struct validated *event, enum quantity quantity, double disturbance)
{
	double most = 0;

	for (size_t i = 0; i < event->n_trials; i++) {
		struct trial *trial = &event->trial[i];
		const struct expectation *expectation =
			benchmark_expects(&benchmarks[trial->benchmark], quantity);
		struct tolerance tolerance;

		trial->fit = (struct fit){ 0 };
		if (!expectation)
			continue;
		tolerance = expectation->tolerance;
		tolerance.disturbance = disturbance;
		expect_samples(event, trial, expectation);
		trial->fit = fit_line(trial->sample, trial->n, tolerance);
		most = fmax(most, fabs(trial->fit.c));
	}
	return most;
}

static size_t judge_trials(struct validated *event, enum quantity quantity,
			   struct fit fits[N_BENCHMARKS])
{
	double disturbance = fit_trials(event, quantity, 0);
	bool any = false;
	size_t n = 0;

	if (disturbance > 0)
		fit_trials(event, quantity, disturbance);
	event->least_b = event->most_b = 0;
	for (size_t i = 0; i < event->n_trials; i++) {
		struct trial *trial = &event->trial[i];

		if (trial->fit.error == CLASS_NONE)
			continue;
		fits[n++] = trial->fit;
		if (trial->fit.is_flat)
			continue;
		event->least_b = any ? fmin(event->least_b, trial->fit.b) : trial->fit.b;
		event->most_b = any ? fmax(event->most_b, trial->fit.b) : trial->fit.b;
		any = true;
	}
	return n;
}

/*
 * Returns the quantity that all benchmarks agree upon, to the instruction.  Returns NO_QUANTITY if
 * there is none, or more than one.
 */
static enum quantity find_quantity(struct validated *event)
{
	struct fit fits[N_BENCHMARKS];
	enum quantity found = NO_QUANTITY;

	for (unsigned int q = 0; q < N_QUANTITIES; q++) {
		size_t n;
		struct fit fit;

		if (!quantity_is_executed(q))
			continue;
		n = judge_trials(event, q, fits);
		fit = join_fits(fits, n);
		if ((fit.error != CLASS_EXACT && fit.error != CLASS_OVERHEAD) || event->most_b == 0)
			continue;
		if (found != NO_QUANTITY)
			return NO_QUANTITY;
		found = q;
	}
	return found;
}

/*
 * Returns false if the fits show nothing.  If the time was over, perhaps only benchmarks were
 * measured for which the expected count is constant: such fits show nothing of an event that counts
 * user mode.  An event that counts only kernel mode has no others, and they count.
 */
static bool shows_anything(const struct validated *event, const struct fit *fits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!fits[i].is_flat)
			return true;
	return !(event->request.modes & PERFCTR_MODE_USER);
}

void judge_event(struct validated *event)
{
	struct fit fits[N_BENCHMARKS];
	enum quantity quantity = event->quantity;
	size_t n;

	if (quantity == NO_QUANTITY || event->is_found) {
		quantity = event->quantity = find_quantity(event);
		event->is_found = quantity != NO_QUANTITY;
	}
	event->fit = (struct fit){ .error = event->n_trials ? CLASS_UNKNOWN : CLASS_NONE };
	if (quantity == NO_QUANTITY)
		return;
	n = judge_trials(event, quantity, fits);
	event->fit = shows_anything(event, fits, n) ? join_fits(fits, n) : (struct fit){ 0 };
}
