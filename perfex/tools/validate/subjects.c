// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the events to look at, and the backend that counts them. */
#include "validate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct search {
	struct validation *validation;
	struct perfctr_events *database;
	struct known_event known[N_MEANINGS];
	size_t n_known;
	const struct subjects *subjects;
	size_t room;
	char name[PERFCTR_REQUEST_NAME];
};

static void write_registers(struct validated *event, const struct perfctr_pmu_info *info)
{
	struct perfctr_event_control control = { .counter = PERFCTR_ANY,
						 .evntsel = event->request.evntsel,
						 .evntsel2 = event->request.evntsel2 };

	if (is_software(&event->request))
		return;
	/* If only fixed counters count the event, the counter is the event. */
	for (uint32_t i = 0; !event->request.general && i < 64; i++)
		if (event->request.fixed >> i & 1)
			control.counter = PERFCTR_FIXED + i;
	perfctr_evntsel_format(&control, event->registers, sizeof(event->registers));
}

static void add_subject(struct search *search, const char *name,
			const struct perfctr_request *request)
{
	struct validation *validation = search->validation;
	const struct known_event *known =
		meaning_find(search->known, search->n_known, &validation->pmu, request);
	struct validated *event;

	if (validation->n == search->room) {
		search->room = 2 * search->room + 16;
		validation->event =
			realloc(validation->event, search->room * sizeof(*validation->event));
		if (!validation->event)
			fail("out of memory");
	}
	event = &validation->event[validation->n++];
	*event = (struct validated){ .request = *request, .reading = -1, .pair = -1 };
	snprintf(event->name, sizeof(event->name), "%s", name);
	make_printable(event->name);
	write_registers(event, &validation->pmu);
	event->quantity = search->subjects->supposed != NO_QUANTITY ? search->subjects->supposed
			  : known				    ? known->quantity
								    : NO_QUANTITY;
}

/* Returns true if an event with the same registers is there already. */
static bool is_known_already(const struct search *search, const struct perfctr_request *request)
{
	const struct validation *validation = search->validation;

	for (size_t i = 0; i < validation->n; i++) {
		struct known_event other = { .request = validation->event[i].request };

		if (meaning_find(&other, 1, &validation->pmu, request))
			return true;
	}
	return false;
}

static void add_new(struct search *search, const char *name)
{
	struct perfctr_request request;
	char error[256];

	if (perfctr_events_parse(search->database, name, search->subjects->modes, &request, error,
				 sizeof(error)) == 0 &&
	    !is_known_already(search, &request))
		add_subject(search, name, &request);
}

/* Adds an event of the list.  An event that has unit masks need not exist without one. */
static int visit_entry(const struct perfctr_event_entry *entry, void *arg)
{
	struct search *search = arg;

	if (entry->umask)
		snprintf(search->name, sizeof(search->name), "%s:%s", entry->name, entry->umask);
	else
		snprintf(search->name, sizeof(search->name), "%s", entry->name);
	add_new(search, search->name);
	return 0;
}

static bool add_named(struct search *search)
{
	const struct subjects *subjects = search->subjects;
	struct perfctr_request request;
	char error[512];

	for (size_t i = 0; i < subjects->n; i++) {
		if (perfctr_events_parse(search->database, subjects->event[i], subjects->modes,
					 &request, error, sizeof(error)) < 0) {
			complain_of_event(subjects->event[i], error);
			return false;
		}
		add_subject(search, subjects->event[i], &request);
	}
	return true;
}

static bool find_backend(struct search *search)
{
	const struct subjects *subjects = search->subjects;
	struct validation *validation = search->validation;
	const char *const instructions[] = { "instructions" };
	const char *const *specs = subjects->n ? subjects->event : instructions;

	search->database = perfctr_events_open_with(named_or_driver(subjects->backend), specs,
						    subjects->n ? (unsigned int)subjects->n : 1,
						    subjects->modes, 0);
	if (!search->database ||
	    perfctr_backend(perfctr_events_backend(search->database), &validation->backend) < 0) {
		complain_of_open(subjects->backend, errno);
		perfctr_events_close(search->database);
		return false;
	}
	validation->pmu = *perfctr_events_info(search->database);
	search->n_known = meanings_of_machine(search->database, search->known);
	return true;
}

bool subjects_find(struct validation *validation, const struct subjects *subjects)
{
	struct search *search = allocate(1, sizeof(*search));
	bool good;

	search->validation = validation;
	search->subjects = subjects;
	good = find_backend(search) && add_named(search);
	if (good && subjects->all)
		perfctr_events_list(search->database, NULL, visit_entry, search);
	for (size_t i = 0; good && !subjects->all && !subjects->n && i < search->n_known; i++)
		add_new(search, search->known[i].request.name);
	if (good && !validation->n) {
		complain("this machine has no event to validate; see perfex info");
		good = false;
	}
	perfctr_events_close(search->database);
	free(search);
	return good;
}

void validation_free(struct validation *validation)
{
	for (size_t i = 0; i < validation->n; i++) {
		struct validated *event = &validation->event[i];

		for (size_t k = 0; k < event->n_trials; k++)
			free(event->trial[k].sample);
		free(event->trial);
	}
	free(validation->event);
}
