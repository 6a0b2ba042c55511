// SPDX-License-Identifier: GPL-2.0-or-later
/* Measures what counting costs here, in ticks of the time stamp counter. */
#define _GNU_SOURCE
#include "machine.h"
#include "ticks.h"

#include <fcntl.h>
#include <unistd.h>

enum { N_SAMPLES = 1000 };

/* An operation to measure.  The argument is what the operation needs. */
typedef void measured_operation(void *argument);

static void measure_operation(const char *what, measured_operation *operation, void *argument,
			      struct outcome *outcome)
{
	static uint64_t sample[N_SAMPLES];
	struct spread spread;

	operation(argument);
	for (unsigned int i = 0; i < N_SAMPLES; i++) {
		uint64_t begin = read_ticks();

		operation(argument);
		sample[i] = read_ticks() - begin;
	}
	spread = find_spread(sample, N_SAMPLES);
	add_detail(outcome, "%-58s %8llu %8llu", what, (unsigned long long)spread.least,
		   (unsigned long long)spread.median);
}

static void do_nothing(void *unused)
{
}

static void read_virtual_time(void *page)
{
	perfctr_read_tsc(page);
}

static void read_first_counter(void *meter)
{
	perfctr_read_counter(meter, 0);
}

static void read_by_call(void *meter)
{
	struct perfctr_counts counts;

	perfctr_read(meter, &counts);
}

/* A second process on the same CPU, and a pipe in each direction. */
struct echo {
	pid_t pid;
	int to, from;
};

static void go_round(void *argument)
{
	struct echo *echo = argument;
	char byte = 0;

	if (write(echo->to, &byte, 1) != 1 || read(echo->from, &byte, 1) != 1)
		_exit(1);
}

__attribute__((noreturn)) static void answer_for_ever(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
	_exit(0);
}

/* counted: the second process counts its own events */
static struct echo start_echo(const struct subject *subject, bool counted, struct outcome *outcome)
{
	int to[2], from[2];
	struct echo echo;

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		end_check(outcome, VERDICT_IMPOSSIBLE, "a pipe cannot be made: %m");
	echo.pid = start_helper(outcome);
	if (echo.pid == 0) {
		close(to[1]);
		close(from[0]);
		if (counted)
			meter_open(subject, 0, outcome);
		answer_for_ever(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	echo.to = to[1];
	echo.from = from[0];
	return echo;
}

static void measure_round(const struct subject *subject, const char *what, bool counted,
			  struct outcome *outcome)
{
	struct echo echo = start_echo(subject, counted, outcome);

	measure_operation(what, go_round, &echo, outcome);
	close(echo.to);
	close(echo.from);
	end_helper(echo.pid);
}

static void measure_reads(struct perfctr *meter, struct outcome *outcome)
{
	struct perfctr_page *page = (struct perfctr_page *)perfctr_tsc_page(meter);

	if (page)
		measure_operation("virtual time, read in user mode", read_virtual_time, page,
				  outcome);
	if (perfctr_capabilities(meter) & PERFCTR_CAN_RDPMC)
		measure_operation("a counter, read in user mode", read_first_counter, meter,
				  outcome);
	measure_operation("all counts, by a system call", read_by_call, meter, outcome);
}

void measure_costs(const struct subject *subject, struct outcome *outcome)
{
	struct perfctr *meter;

	pin_here(outcome);
	add_detail(outcome, "%-58s %8s %8s", "ticks", "least", "median");
	measure_operation("nothing", do_nothing, NULL, outcome);
	measure_round(subject, "there and back between two processes, neither counted", false,
		      outcome);
	if (!subject->has_backend)
		end_check(outcome, VERDICT_MEASURED, "%s", "");
	meter = subject->n_events ? meter_open(subject, 0, outcome)
				  : meter_open_time(subject, outcome);
	measure_reads(meter, outcome);
	measure_round(subject, "there and back, one of them counted", false, outcome);
	if (subject->n_events)
		measure_round(subject, "there and back, both counted", true, outcome);
	end_check(outcome, VERDICT_MEASURED, "%s", "");
}
