// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events that are counted if the command line names none: as many of the usual ones as possible at
 * the same time.
 */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If there are not enough counters, events are left out from the end of the list. */
static const char *const usual[N_USUAL_EVENTS] = {
	"task-clock",	"context-switches", "cpu-migrations", "page-faults",
	"instructions", "cycles",	    "branches",	      "branch-misses",
};

/* Reasons why an event is left out.  With the longest name, a line has at most 80 columns. */
static const char no_counters[] = "the driver knows no counters here";
static const char no_pmu[] = "there are no counters for perf_events";
static const char wrong[] = "the driver refuses the counters";
static const char no_event[] = "the processor has no such event";
static const char no_room[] = "no counter is left for it";
static const char not_free[] = "others have the counters";
static const char forbidden[] = "kernel mode is for the privileged";
static const char filtered[] = "perf_event_open(2) is forbidden here";
static const char not_apart[] = "processes have no counts of their own";
static const char refused[] = "the kernel refuses it";

struct choice {
	struct {
		const char *name;
		struct perfctr_request request;
		const char *lack; /* why the event is left out; NULL: it is not */
	} event[N_USUAL_EVENTS];
	char busy[512]; /* says that others have the counters; "": no event is left out for that */
	bool held;	/* by sessions; name_holders() finds them */
};

/* Why the backend has no name for an event of the processor. */
static const char *lack_of_name(const struct options *options)
{
	const struct perfctr_pmu_info *info = perfctr_events_info(options->database);

	if (info->n_general || info->n_fixed)
		return no_event;
	if (!is_driver(options->backend))
		return no_pmu;
	return strncmp(info->family, "refused:", strlen("refused:")) == 0 ? wrong : no_counters;
}

static void choose_names(struct choice *choice, const struct options *options,
			 bool may_count_kernel)
{
	char error[512];

	for (unsigned int i = 0; i < N_USUAL_EVENTS; i++) {
		const char *name = usual[i];

		if (!may_count_kernel && strcmp(name, "page-faults") == 0)
			name = "page-faults:u";
		choice->event[i].name = name;
		if (perfctr_events_parse(options->database, name, options->modes,
					 &choice->event[i].request, error, sizeof(error)) < 0)
			choice->event[i].lack = lack_of_name(options);
	}
}

static const char *lack_of(int error, uint32_t bad_reason)
{
	if (bad_reason == PERFCTR_BAD_FORBIDDEN)
		return filtered;
	if (bad_reason == PERFCTR_BAD_MEMBER)
		return not_apart;
	return error == ENOSPC ? no_room : error == EACCES ? forbidden : refused;
}

static void leave_out_busy(struct choice *choice, unsigned int i, const char *error)
{
	choice->event[i].lack = not_free;
	if (!*choice->busy)
		snprintf(choice->busy, sizeof(choice->busy), "%s", error);
}

/*
 * Tries the events on perfex itself, which is counted for a moment.  If they cannot be counted at
 * the same time, leaves one out, and returns false.
 */
static bool try_events(struct choice *choice, const struct options *options, struct perfctr *self)
{
	const struct perfctr_pmu_info *info = perfctr_events_info(options->database);
	struct perfctr_request requests[N_USUAL_EVENTS];
	unsigned int tried[N_USUAL_EVENTS], n = 0, last;
	struct perfctr_control control;
	char error[512];

	for (unsigned int i = 0; i < N_USUAL_EVENTS; i++)
		if (!choice->event[i].lack) {
			requests[n] = choice->event[i].request;
			tried[n++] = i;
		}
	if (!n)
		return true;
	last = tried[n - 1];
	if (perfctr_requests_assign(info, requests, n, &control, error, sizeof(error)) < 0) {
		choice->held = info->session_counters;
		if (choice->held)
			leave_out_busy(choice, last, error);
		else
			choice->event[last].lack = no_room;
		return false;
	}
	control.flags = view_flags(options->view);
	if (perfctr_set_control(self, &control) == 0)
		return true;
	if (control.bad_reason)
		last = tried[control.bad_event];
	if (errno == EBUSY && !control.bad_reason) {
		perfctr_control_error(EBUSY, &control, info, error, sizeof(error));
		leave_out_busy(choice, last, error);
	} else {
		choice->event[last].lack = lack_of(errno, control.bad_reason);
	}
	return false;
}

static void complain_of_busy(const struct choice *choice)
{
	char *holders = name_holders(choice->held);
	struct text names;
	FILE *file = text_open(&names);
	const char *between = "";

	for (unsigned int i = 0; i < N_USUAL_EVENTS; i++)
		if (choice->event[i].lack == not_free) {
			fprintf(file, "%s%s", between, choice->event[i].name);
			between = ", ";
		}
	text_close(&names);
	complain("%s%s; left out: %s", choice->busy, holders, names.text);
	free(names.text);
	free(holders);
}

static void keep_countable(struct choice *choice, const struct options *options)
{
	struct perfctr *self = perfctr_open_with(options->backend, 0, PERFCTR_OPEN_CREATE);

	/*
	 * If somebody else counts perfex itself, perfex cannot try the events on itself.  It can
	 * still count the command.
	 */
	if (!self)
		return;
	while (!try_events(choice, options, self))
		;
	perfctr_close(self);
	/* Of a substitute, tell_substitute() says the same. */
	if (*choice->busy && (choice->held || !options->substitute))
		complain_of_busy(choice);
}

void complain_of_left_out(const struct options *options)
{
	const struct left_out *event = options->left_out;

	for (unsigned int i = 0, end; i < options->n_left_out; i = end) {
		struct text names;
		FILE *file = text_open(&names);

		for (end = i; end < options->n_left_out && event[end].reason == event[i].reason;
		     end++)
			fprintf(file, "%s%s", end > i ? ", " : "", event[end].name);
		text_close(&names);
		if (!event[i].told)
			complain("not counted: %s: %s", names.text, event[i].reason);
		free(names.text);
	}
}

void add_usual_events(struct options *options)
{
	struct perfctr_backend_info info = { 0 };
	struct choice choice = { .busy = "" };

	if (perfctr_backend(options->backend, &info) < 0)
		return;
	choose_names(&choice, options, info.capabilities & PERFCTR_CAN_KERNEL);
	keep_countable(&choice, options);
	for (unsigned int i = 0; i < N_USUAL_EVENTS; i++) {
		const struct left_out left_out = {
			.name = choice.event[i].name,
			.reason = choice.event[i].lack,
			.told = choice.event[i].lack == not_free && !options->substitute,
		};

		if (left_out.reason)
			options->left_out[options->n_left_out++] = left_out;
		else
			append_events(&options->events, left_out.name);
	}
}
