// SPDX-License-Identifier: GPL-2.0-or-later
#include "record.h"
#include "../textfile.h"

#include <stdlib.h>

static uint64_t read_period(const char *text)
{
	uint64_t period;

	if (!parse_period(text, &period))
		fail("--period=%s: that is no number of events from 1 to 2^63 - 1", text);
	return period;
}

#define UNSET UINT64_MAX

/* Gives the period to all events that were added since the last call. */
static void extend_periods(struct record_options *options, uint64_t period)
{
	while (options->n_periods < options->run.events.n) {
		options->period =
			grow(options->period, options->n_periods, sizeof(*options->period));
		options->period[options->n_periods++] = period;
	}
}

static bool fill_periods(struct record_options *options, uint64_t period)
{
	bool any = false;

	for (size_t i = 0; i < options->n_periods; i++)
		if (options->period[i] == UNSET) {
			options->period[i] = period;
			any = true;
		}
	return any;
}

void record_take_period(void *target, const struct option_row *row, const char *text)
{
	struct record_options *options = target;
	uint64_t period = read_period(text);

	extend_periods(options, UNSET);
	if (fill_periods(options, period))
		return;
	if (options->run.events.n || options->default_period)
		fail("--period=%s: there is no --event before it that has none; put it behind the "
		     "event",
		     text);
	options->default_period = period;
}

void record_take_beside(void *target, const struct option_row *row, const char *list)
{
	struct record_options *options = target;

	extend_periods(options, UNSET);
	take_event(&options->run, row, list);
	extend_periods(options, 0);
}

void record_settle(struct record_options *options)
{
	bool given = options->default_period, sampled = false;

	extend_periods(options, UNSET);
	for (size_t i = 0; i < options->n_periods; i++) {
		given |= options->period[i] && options->period[i] != UNSET;
		sampled |= options->period[i] != 0;
	}
	if (options->frequency && given)
		fail("--freq and --period exclude each other; give one");
	if (!sampled)
		append_events(&options->run.events, "instructions");
	extend_periods(options, UNSET);
	fill_periods(options,
		     options->default_period ? options->default_period : RECORD_DEFAULT_PERIOD);
	if (!options->run.output) {
		options->run.output = text_print("%s", RECORD_DEFAULT_FILE);
		options->run.output_shared = true;
	}
	check_recording(&options->run);
}

static bool is_prime(uint64_t n)
{
	if (n % 2 == 0)
		return n == 2;
	for (uint64_t i = 3; i <= n / i; i += 2)
		if (n % i == 0)
			return false;
	return n > 1;
}

uint64_t record_fit_period(uint64_t events, double seconds, unsigned int frequency)
{
	double period = (double)events / (seconds * frequency);
	uint64_t n;

	/* Up to 2^40, is_prime() takes less than 10^6 steps. */
	if (!(period >= 2) || period > 0x1p40)
		return 0;
	for (n = (uint64_t)period; !is_prime(n); n++)
		;
	return n;
}
