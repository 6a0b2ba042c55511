// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out what can be counted here, and opens the contexts that the checks count with. */
#include "loop.h"
#include "machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct loop_event loop_events[N_LOOP_EVENTS] = {
	{ "instructions", 2 },
	{ "branches", 1 },
};

static void say_why(struct subject *subject, const char *why)
{
	snprintf(subject->why, sizeof(subject->why), "%s", why);
}

/*
 * Tries to count with the control for a moment.  Returns false, with the reason in subject->why, if
 * that fails.
 */
static bool try_control(struct subject *subject, const char *backend)
{
	struct perfctr *context = perfctr_open_with(backend, 0, PERFCTR_OPEN_CREATE);
	struct perfctr_control control = subject->control;
	char error[256];
	bool good;

	if (!context) {
		perfctr_open_error_with(backend, errno, error, sizeof(error));
		say_why(subject, error);
		return false;
	}
	good = perfctr_set_control(context, &control) == 0;
	if (!good) {
		perfctr_control_error(errno, &control, &subject->pmu, error, sizeof(error));
		say_why(subject, error);
	}
	perfctr_close(context);
	return good;
}

static bool choose_requests(struct subject *subject, struct perfctr_events *events, unsigned int n)
{
	char error[512];

	for (unsigned int i = 0; i < n; i++)
		if (perfctr_events_parse(events, loop_events[i].spec, PERFCTR_MODE_USER,
					 &subject->request[i], error, sizeof(error)) < 0) {
			snprintf(subject->why, sizeof(subject->why), "%s: %.400s",
				 loop_events[i].spec, error);
			return false;
		}
	if (perfctr_requests_assign(&subject->pmu, subject->request, n, &subject->control, error,
				    sizeof(error)) == 0)
		return true;
	say_why(subject, error);
	return false;
}

/*
 * Looks for a backend that counts the first n events.  Returns false, with the reason in
 * subject->why, if there is none.
 */
static bool try_events(struct subject *subject, unsigned int n)
{
	const char *specs[N_LOOP_EVENTS], *named = subject->named_backend;
	struct perfctr_events *events;
	char error[256];
	bool good;

	for (unsigned int i = 0; i < N_LOOP_EVENTS; i++)
		specs[i] = loop_events[i].spec;
	events = perfctr_events_open_with(named, specs, n, PERFCTR_MODE_USER, 0);
	if (!events) {
		perfctr_open_error_with(named, errno, error, sizeof(error));
		say_why(subject, error);
		return false;
	}
	subject->pmu = *perfctr_events_info(events);
	subject->has_backend =
		perfctr_backend(perfctr_events_backend(events), &subject->backend) == 0;
	good = choose_requests(subject, events, n) && try_control(subject, subject->backend.name);
	perfctr_events_close(events);
	if (good)
		subject->n_events = n;
	return good;
}

void subject_find(struct subject *subject, const char *backend, unsigned int phase_ms)
{
	*subject =
		(struct subject){ .named_backend = named_or_driver(backend), .phase_ms = phase_ms };
	find_cpus(&subject->cpus);
	for (unsigned int n = N_LOOP_EVENTS + 1; n--;)
		if (try_events(subject, n))
			break;
	name_commands(subject->why);
}

void subject_free(struct subject *subject)
{
	free(subject->cpus.cpu);
}

static struct perfctr *open_context(const struct subject *subject, struct perfctr_control *control,
				    struct outcome *outcome)
{
	struct perfctr *context = NULL;
	char error[256];

	if (!subject->has_backend)
		end_check(outcome, VERDICT_IMPOSSIBLE, "%s", subject->why);
	context = perfctr_open_with(subject->backend.name, 0, PERFCTR_OPEN_CREATE);
	if (!context) {
		perfctr_open_error_with(subject->backend.name, errno, error, sizeof(error));
		end_check(outcome, VERDICT_IMPOSSIBLE, "%s", error);
	}
	if (perfctr_set_control(context, control) < 0) {
		perfctr_control_error(errno, control, &subject->pmu, error, sizeof(error));
		end_check(outcome, VERDICT_IMPOSSIBLE, "%s", error);
	}
	return context;
}

void need_events(const struct subject *subject, struct outcome *outcome)
{
	if (!subject->n_events)
		end_check(outcome, VERDICT_IMPOSSIBLE, "no event can be counted: see [counters]");
}

struct perfctr *meter_open(const struct subject *subject, uint32_t flags, struct outcome *outcome)
{
	struct perfctr_control control = subject->control;

	need_events(subject, outcome);
	control.flags |= flags;
	return open_context(subject, &control, outcome);
}

struct perfctr *meter_open_time(const struct subject *subject, struct outcome *outcome)
{
	struct perfctr_control control;

	perfctr_control_init(&control);
	return open_context(subject, &control, outcome);
}

void meter_read(const struct perfctr *meter, unsigned int scope, struct perfctr_counts *counts,
		struct outcome *outcome)
{
	if (perfctr_read_scope(meter, scope, counts) < 0)
		end_check(outcome, VERDICT_IMPOSSIBLE, "%s",
			  errno == EBUSY ? "others had the counters meanwhile" : strerror(errno));
	if (counts->flags & PERFCTR_COUNTS_REVOKED)
		end_check(outcome, VERDICT_IMPOSSIBLE,
			  "the administrator took the counters back meanwhile");
	if (counts->flags & PERFCTR_COUNTS_DISTURBED)
		end_check(outcome, VERDICT_FAILED,
			  "another part of the system wrote to the counters meanwhile");
}

void meter_loop(const struct perfctr *meter, unsigned long iterations,
		struct perfctr_counts *counts, struct outcome *outcome)
{
	struct perfctr_counts before;

	meter_read(meter, PERFCTR_SCOPE_SELF, &before, outcome);
	run_loop(iterations);
	meter_read(meter, PERFCTR_SCOPE_SELF, counts, outcome);
	for (unsigned int i = 0; i < counts->n_counters; i++)
		counts->counter[i] -= before.counter[i];
	counts->tsc -= before.tsc;
	counts->switches -= before.switches;
	counts->migrations -= before.migrations;
}

void add_uncounted(const struct subject *subject, struct outcome *outcome)
{
	for (unsigned int i = subject->n_events; i < N_LOOP_EVENTS; i++)
		add_detail(outcome, "%s: not possible: see [counters]", loop_events[i].spec);
}
