// SPDX-License-Identifier: GPL-2.0-or-later
#include "record.h"
#include "../textfile.h"

#include <stdlib.h>
#include <string.h>

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

static const char *const instructions[] = { "instructions" };

/* Does a backend sample instructions here? */
static bool can_sample(const struct options *options)
{
	struct perfctr_events *events =
		perfctr_events_open_with(options->backend, instructions, 1, options->modes,
					 PERFCTR_CAN_SAMPLE);
	struct perfctr_backend_info info = { 0 };
	struct perfctr_request request;
	char error[256];
	bool can = events &&
		   perfctr_events_parse(events, instructions[0], options->modes, &request, error,
					sizeof(error)) == 0 &&
		   perfctr_backend(perfctr_events_backend(events), &info) == 0 &&
		   info.capabilities & PERFCTR_CAN_SAMPLE;

	perfctr_events_close(events);
	return can;
}

/* Periods below this one would be longer than they say: PERF_COUNT_SW_TASK_CLOCK in the kernel. */
#define LEAST_CLOCK_NS 10000
#define NS_PER_S 1000000000u

static void settle_clock(struct record_options *options)
{
	if (options->run.events.n > 1)
		fail("event '" RECORD_CLOCK
		     "': it is sampled alone; leave out the other events, or "
		     "count them by perfex run");
	if (options->registers)
		fail("--registers: samples of " RECORD_CLOCK " have none");
	if (options->jitter != RECORD_NO_JITTER)
		fail("--jitter: timers of the kernel end the periods of " RECORD_CLOCK
		     ", at random lengths already; leave it out");
	options->jitter = 0;
	if (options->frequency)
		options->period[0] = record_fit_period(NS_PER_S, 1, options->frequency);
	options->frequency = 0;
	if (options->period[0] < LEAST_CLOCK_NS)
		fail("event '" RECORD_CLOCK
		     "': the kernel's timer has no periods below %u ns, which are "
		     "%u in a second",
		     LEAST_CLOCK_NS, NS_PER_S / LEAST_CLOCK_NS);
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
	if (!sampled) {
		options->clock_by_default = !can_sample(&options->run);
		append_events(&options->run.events,
			      options->clock_by_default ? RECORD_CLOCK : instructions[0]);
	}
	extend_periods(options, UNSET);
	for (size_t i = 0; i < options->n_periods; i++)
		options->clock |= strcmp(options->run.events.word[i], RECORD_CLOCK) == 0;
	fill_periods(options, options->default_period ? options->default_period
			      : options->clock	      ? RECORD_CLOCK_PERIOD
						      : RECORD_DEFAULT_PERIOD);
	if (options->clock)
		settle_clock(options);
	else if (options->jitter == RECORD_NO_JITTER)
		options->jitter = RECORD_DEFAULT_JITTER;
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
