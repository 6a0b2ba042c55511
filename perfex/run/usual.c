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
static const char *const usual[] = {
	"task-clock",	"context-switches", "cpu-migrations", "page-faults",
	"instructions", "cycles",	    "branches",	      "branch-misses",
};

enum { N_USUAL = sizeof(usual) / sizeof(usual[0]) };

struct choice {
	const char *name[N_USUAL];
	struct perfctr_request request[N_USUAL];
	unsigned int n;
};

static void choose_name(struct choice *choice, const struct options *options, const char *name)
{
	char error[512];

	if (perfctr_events_parse(options->database, name, options->modes,
				 &choice->request[choice->n], error, sizeof(error)) == 0)
		choice->name[choice->n++] = name;
}

static void leave_out(struct choice *choice, unsigned int i)
{
	choice->n--;
	memmove(&choice->name[i], &choice->name[i + 1], (choice->n - i) * sizeof(choice->name[0]));
	memmove(&choice->request[i], &choice->request[i + 1],
		(choice->n - i) * sizeof(choice->request[0]));
}

/*
 * Says which events are left out because others hold the counters, and why.  text is "" if no event
 * is left out for that reason.
 */
struct reason {
	char text[512];
	char names[128]; /* of the events that are left out */
	bool held;	 /* sessions hold counters; name_holders() finds them */
};

static void add_reason(struct reason *reason, const char *text, const char *name)
{
	char behind[sizeof(reason->names)];

	if (!*reason->text)
		snprintf(reason->text, sizeof(reason->text), "%s", text);
	strcpy(behind, reason->names);
	/* Events are left out from the last to the first: puts the name in front. */
	snprintf(reason->names, sizeof(reason->names), "%s%s%.64s", name, *behind ? ", " : "",
		 behind);
}

/*
 * Tries the events on perfex itself, which is counted for a moment.  Returns the index of an event
 * that cannot be counted, or choice->n if all can.
 */
static unsigned int find_refused(const struct choice *choice, const struct options *options,
				 struct perfctr *self, struct reason *reason)
{
	const struct perfctr_pmu_info *info = perfctr_events_info(options->database);
	struct perfctr_control control;
	unsigned int last = choice->n - 1;
	char error[512];

	if (perfctr_requests_assign(info, choice->request, choice->n, &control, error,
				    sizeof(error)) < 0) {
		if (info->session_counters) {
			add_reason(reason, error, choice->name[last]);
			reason->held = true;
		}
		return last;
	}
	control.flags = view_flags(options->view);
	if (perfctr_set_control(self, &control) == 0)
		return choice->n;
	if (control.bad_reason)
		return control.bad_event;
	if (errno == EBUSY) {
		perfctr_control_error(EBUSY, &control, info, error, sizeof(error));
		add_reason(reason, error, choice->name[last]);
	}
	return last;
}

static void complain_of_reason(const struct reason *reason)
{
	char *holders = name_holders(reason->held);

	if (*reason->text)
		complain("%s%s; left out: %s", reason->text, holders, reason->names);
	free(holders);
}

static void keep_countable(struct choice *choice, const struct options *options)
{
	struct perfctr *self = perfctr_open_with(options->backend, 0, PERFCTR_OPEN_CREATE);
	struct reason reason = { .text = "" };

	/*
	 * If somebody else counts perfex itself, perfex cannot try the events on itself.  It can
	 * still count the command.
	 */
	if (!self)
		return;
	while (choice->n) {
		unsigned int refused = find_refused(choice, options, self, &reason);

		if (refused >= choice->n)
			break;
		leave_out(choice, refused);
	}
	perfctr_close(self);
	complain_of_reason(&reason);
}

void add_usual_events(struct options *options)
{
	struct perfctr_backend_info info = { 0 };
	struct choice choice = { .n = 0 };

	if (perfctr_backend(options->backend, &info) < 0)
		return;
	for (unsigned int i = 0; i < N_USUAL; i++)
		choose_name(&choice, options,
			    strcmp(usual[i], "page-faults") == 0 &&
					    !(info.capabilities & PERFCTR_CAN_KERNEL)
				    ? "page-faults:u"
				    : usual[i]);
	keep_countable(&choice, options);
	for (unsigned int i = 0; i < choice.n; i++)
		append_events(&options->events, choice.name[i]);
}
