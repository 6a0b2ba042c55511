// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the events of the command line, and assigns them to passes and counters. */
#define _GNU_SOURCE
#include "run.h"
#include "together.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PERFCTR_PROCESSORS_DIRECTORY
#define PERFCTR_PROCESSORS_DIRECTORY "/usr/local/share/perfctr/processors"
#endif

/*
 * Returns false, after an error message, if a named event asks for kernel mode and the backend
 * cannot count there.  Without this check, the error message of the kernel's refusal would name
 * register values, which the user did not type.
 */
static bool may_count(const struct options *options, const struct perfctr_request *request)
{
	struct perfctr_backend_info info = { 0 };

	if (!(request->modes & PERFCTR_MODE_KERNEL) || !(request->general | request->fixed) ||
	    isdigit((unsigned char)request->name[0]) ||
	    !(options->modes & PERFCTR_MODE_KERNEL || strpbrk(request->name, ":/")) ||
	    perfctr_backend(options->backend, &info) < 0 || info.capabilities & PERFCTR_CAN_KERNEL)
		return true;
	complain("event '%s': counting in kernel mode needs CAP_PERFMON or sysctl "
		 "kernel.perf_event_paranoid=1; without them write it with ':u' for user mode",
		 request->name);
	return false;
}

static bool has_place(const struct options *options, const struct perfctr_request *request)
{
	if (!options->format || !options->format->one_run || request->general | request->fixed)
		return true;
	complain("event '%s': --format=2.6 has events of the processor alone; leave it out, or the "
		 "format",
		 request->name);
	return false;
}

void warn_of_event(struct perfctr_events *events, const struct perfctr_request *request)
{
	const struct perfctr_pmu_info *info = perfctr_events_info(events);
	const struct perfctr_event_control event = {
		.counter = request->counter,
		.evntsel = request->evntsel,
		.evntsel2 = request->evntsel2,
	};
	char text[512];

	/*
	 * Other events need no warning.  They have names, or the processor has the same events on
	 * each counter, or they will be refused.
	 */
	if (!isdigit((unsigned char)request->name[0]) || !perfctr_family_route(info, &event) ||
	    event.evntsel & ~info->evntsel_allowed || event.evntsel2 & ~info->evntsel2_allowed)
		return;
	if (perfctr_events_name(events, &event, text, sizeof(text)) < 0 && errno == ENOENT)
		complain("warning: event '%s': %s", request->name, text);
}

static bool parse_events(struct events *events, const struct options *options)
{
	char error[512];

	events->event = allocate(options->events.n, sizeof(*events->event));
	for (size_t i = 0; i < options->events.n; i++) {
		if (perfctr_events_parse(options->database, options->events.word[i], options->modes,
					 &events->event[i].request, error, sizeof(error)) < 0) {
			complain_of_event(options->events.word[i], error);
			return false;
		}
		if (!may_count(options, &events->event[i].request) ||
		    !has_place(options, &events->event[i].request))
			return false;
		warn_of_event(options->database, &events->event[i].request);
		events->n++;
	}
	return true;
}

/*
 * Fills in the control of one pass: its events in the order of the options.  Returns false if they
 * do not fit; error then says why.
 */
static bool assign_counters(struct events *events, unsigned int pass, const struct options *options,
			    const struct perfctr_pmu_info *info, char *error, size_t size)
{
	struct perfctr_request *requests = allocate(events->n, sizeof(*requests));
	struct perfctr_control *control = &events->control[pass];
	unsigned int n = 0;
	int result;

	for (size_t i = 0; i < events->n; i++)
		if (events->event[i].pass == pass) {
			events->event[i].index = n;
			requests[n++] = events->event[i].request;
		}
	result = perfctr_requests_assign(info, requests, n, control, error, size);
	free(requests);
	if (result < 0)
		return false;
	for (size_t i = 0; i < events->n; i++)
		if (events->event[i].pass == pass)
			events->event[i].counter = control->event[events->event[i].index].counter;
	if (options->has_pebs_enable)
		control->p4_pebs_enable = options->pebs_enable;
	if (options->has_pebs_matrix_vert)
		control->p4_pebs_matrix_vert = options->pebs_matrix_vert;
	return true;
}

/* Says why the events do not fit, and names the holders of counters that are missing. */
static void complain_of_plan(const char *error, const struct perfctr_pmu_info *info)
{
	char *holders = name_holders(info->session_counters);

	complain("%s%s", error, holders);
	free(holders);
}

static bool plan_passes(struct events *events, const struct options *options,
			const struct perfctr_pmu_info *info)
{
	struct perfctr_request *requests = allocate(events->n, sizeof(*requests));
	unsigned int *pass = allocate(events->n, sizeof(*pass));
	char error[512];
	int result;

	for (size_t i = 0; i < events->n; i++)
		requests[i] = events->event[i].request;
	result = together_plan(info, requests, events->n, options->rules, pass, &events->n_passes,
			       error, sizeof(error));
	for (size_t i = 0; result == 0 && i < events->n; i++)
		events->event[i].pass = pass[i];
	free(requests);
	free(pass);
	if (result < 0)
		complain_of_plan(error, info);
	return result == 0;
}

/*
 * Sets the name that is shown: of register values, as the library writes them, with the counter;
 * otherwise as the user gave it.
 */
static void name_event(struct event *event)
{
	const struct perfctr_event_control control = {
		.counter = event->counter,
		.evntsel = event->request.evntsel,
		.evntsel2 = event->request.evntsel2,
	};

	if (isdigit((unsigned char)event->request.name[0]))
		perfctr_evntsel_format(&control, event->name, sizeof(event->name));
	else
		strcpy(event->name, event->request.name);
}

/* Lists the events that each pass would count, as the user gave them. */
static void list_passes(const struct events *events, char *text, size_t size)
{
	size_t n = 0;

	for (unsigned int pass = 0; pass < events->n_passes; pass++)
		for (size_t i = 0, in_pass = 0; i < events->n && n < size; i++)
			if (events->event[i].pass == pass)
				n += (size_t)snprintf(text + n, size - n, "%s%s",
						      in_pass++ ? " "
						      : pass	? ", then "
								: "",
						      events->event[i].request.name);
	if (n >= size)
		strcpy(text + size - sizeof(" .."), " ..");
}

/*
 * Returns a text that says why one pass is not enough, and names the holders of counters that are
 * missing.  The caller frees it.
 */
static char *explain_passes(const struct events *events, const struct perfctr_pmu_info *info)
{
	struct perfctr_request requests[PERFCTR_MAX_COUNTERS];
	struct perfctr_control control;
	char why[512] = "", *holders;
	struct text text;

	for (size_t i = 0; i < events->n && i < PERFCTR_MAX_COUNTERS; i++)
		requests[i] = events->event[i].request;
	if (events->n > PERFCTR_MAX_COUNTERS ||
	    perfctr_requests_assign(info, requests, events->n, &control, why, sizeof(why)) == 0)
		snprintf(why, sizeof(why), "%zu events do not fit together", events->n);
	holders = name_holders(info->session_counters);
	fprintf(text_open(&text), "%s%s", why, holders);
	free(holders);
	return text_close(&text);
}

static void complain_of_passes(const struct events *events, const struct options *options,
			       const struct perfctr_pmu_info *info)
{
	char *why = explain_passes(events, info), plan[512];

	list_passes(events, plan, sizeof(plan));
	if (options->view == MARKED)
		complain("%s; a session counts all events at once: leave some out", why);
	else if (options->process && !options->command[0])
		complain("%s: leave some out, or let the process be counted %u times, each for the "
			 "time of --timeout=MS, by --passes=auto (%s)",
			 why, events->n_passes, plan);
	else if (options->process)
		complain("%s: leave some out, or let the process be counted while the command runs "
			 "%u times by --passes=auto (%s)",
			 why, events->n_passes, plan);
	else
		complain("%s: leave some out, or let the command be run %u times for all of them "
			 "by --passes=auto (%s)",
			 why, events->n_passes, plan);
	free(why);
}

/*
 * Tries the control of each pass on perfex itself: what the kernel would refuse in a later run is
 * refused before the first.
 */
static bool try_controls(struct events *events, const struct options *options,
			 const struct perfctr_pmu_info *info)
{
	struct perfctr *self = perfctr_open_with(options->backend, 0, PERFCTR_OPEN_CREATE);
	bool good = true;

	/*
	 * If somebody else counts perfex itself, perfex cannot try the controls on itself.  It can
	 * still count the command.
	 */
	if (!self)
		return true;
	for (unsigned int pass = 0; good && pass < events->n_passes; pass++) {
		events->control[pass].flags = PERFCTR_CONTROL_STOPPED;
		good = perfctr_set_control(self, &events->control[pass]) == 0;
		if (!good)
			complain_of_control(options->backend, errno, &events->control[pass], info);
	}
	perfctr_close(self);
	return good;
}

/* Divides events that do not fit in one pass among several. */
static bool assign_passes(struct events *events, const struct options *options,
			  const struct perfctr_pmu_info *info)
{
	char error[512];

	if (!plan_passes(events, options, info))
		return false;
	if (options->passes && events->n_passes > options->passes) {
		complain_of_passes(events, options, info);
		return false;
	}
	free(events->control);
	events->control = allocate(events->n_passes, sizeof(*events->control));
	for (unsigned int pass = 0; pass < events->n_passes; pass++)
		if (!assign_counters(events, pass, options, info, error, sizeof(error))) {
			complain_of_plan(error, info);
			return false;
		}
	return true;
}

bool events_try_assign(struct events *events, const struct options *options,
		       const struct perfctr_pmu_info *info, char *error, size_t size)
{
	if (!assign_counters(events, 0, options, info, error, size))
		return false;
	for (size_t i = 0; i < events->n; i++)
		name_event(&events->event[i]);
	return true;
}

bool events_assign(struct events *events, const struct options *options,
		   const struct perfctr_pmu_info *info)
{
	char error[512];

	if (events_try_assign(events, options, info, error, sizeof(error)))
		return true;
	complain_of_plan(error, info);
	return false;
}

bool events_plan(struct events *events, const struct options *options,
		 const struct perfctr_pmu_info *info)
{
	char error[512];

	*events = (struct events){ .n_passes = 1 };
	if (!parse_events(events, options))
		return false;
	events->control = allocate(1, sizeof(*events->control));
	if (!assign_counters(events, 0, options, info, error, sizeof(error)) &&
	    !assign_passes(events, options, info))
		return false;
	for (size_t i = 0; i < events->n; i++)
		name_event(&events->event[i]);
	return events->n_passes == 1 || try_controls(events, options, info);
}

/* If no validation results are installed, this costs one access(). */
void warn_of_events(const struct events *events, const struct perfctr_pmu_info *info)
{
	const char *directory = secure_getenv("PERFCTR_PROCESSORS");

	if (!directory)
		directory = PERFCTR_PROCESSORS_DIRECTORY;
	if (*directory && (access(directory, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR)))
		look_up_events(directory, events, info);
}

void events_free(struct events *events)
{
	free(events->event);
	free(events->control);
	*events = (struct events){ 0 };
}
