// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Chooses a backend that counts given events.  This is a file of its own, because a program that
 * names no events does not need the names of events.
 */
#include "backend/backend.h"
#include "event/tables.h"

struct wanted {
	const char *const *spec;
	unsigned int n;
	unsigned int modes;
	uint32_t capabilities;
	struct perfctr_events *events; /* of the backend that counts them; NULL: none found yet */
};

static struct perfctr_events *events_of(const struct perfctr_backend *backend,
					const struct perfctr_pmu_info *info)
{
	struct perfctr_events *events = perfctr_events_open(info);

	if (events)
		events->backend = perfctr_shown_name(backend);
	return events;
}

/* The kernel gives the processor's counters to perf_events, which shares them, or to the driver. */
static bool is_held(const struct perfctr_pmu_info *info, const struct perfctr_request *request)
{
	return info->holder == PERFCTR_HOLDER_OTHER && request->general | request->fixed;
}

static bool counts_all(const struct perfctr_backend *backend, const struct wanted *wanted)
{
	struct perfctr_request requests[PERFCTR_MAX_COUNTERS];
	struct perfctr_control control;
	char error[256];

	for (unsigned int i = 0; i < wanted->n; i++)
		if (perfctr_events_parse(wanted->events, wanted->spec[i], wanted->modes,
					 &requests[i], error, sizeof(error)) < 0 ||
		    is_held(&wanted->events->info, &requests[i]) ||
		    (wanted->capabilities & backend->hardware_alone &&
		     perfctr_is_software(requests[i].counter)))
			return false;
	if (!backend->check)
		return true;
	return perfctr_requests_assign(&wanted->events->info, requests, wanted->n, &control, error,
				       sizeof(error)) == 0 &&
	       backend->check(&control) == 0;
}

static bool fits_wanted(const struct perfctr_backend *backend, const struct perfctr_pmu_info *info,
			void *arg)
{
	struct wanted *wanted = arg;

	if (wanted->n > PERFCTR_MAX_COUNTERS)
		return false;
	wanted->events = events_of(backend, info);
	if (wanted->events && counts_all(backend, wanted))
		return true;
	perfctr_events_close(wanted->events);
	wanted->events = NULL;
	return false;
}

static bool has_capabilities(const struct perfctr_backend *backend, const struct wanted *wanted)
{
	struct perfctr_backend_info info = { 0 };

	/* A backend that cannot be used is kept, so that the user is told why. */
	return !wanted->capabilities || !backend || perfctr_backend(backend->name, &info) < 0 ||
	       (info.capabilities & wanted->capabilities) == wanted->capabilities;
}

static const struct perfctr_backend *choose_for(const char *name, struct wanted *wanted)
{
	/*
	 * Without events, each backend with the capabilities will do, preferably the default one.
	 */
	if (!wanted->n && has_capabilities(perfctr_choose(name), wanted))
		return perfctr_choose(name);
	return perfctr_choose_of(name, wanted->capabilities, fits_wanted, wanted);
}

struct perfctr_events *perfctr_events_open_with(const char *name, const char *const specs[],
						unsigned int n, unsigned int modes,
						uint32_t capabilities)
{
	struct wanted wanted = { specs, n, modes, capabilities, NULL };
	const struct perfctr_backend *backend = choose_for(name, &wanted);
	struct perfctr_pmu_info info;

	if (wanted.events)
		return wanted.events;
	return backend && backend->pmu_info(&info) == 0 ? events_of(backend, &info) : NULL;
}

struct perfctr_events *perfctr_events_open_for(const char *const specs[], unsigned int n,
					       unsigned int modes, uint32_t capabilities)
{
	return perfctr_events_open_with(NULL, specs, n, modes, capabilities);
}

const char *perfctr_backend_for(const char *const specs[], unsigned int n, unsigned int modes,
				uint32_t capabilities)
{
	struct wanted wanted = { specs, n, modes, capabilities, NULL };
	const struct perfctr_backend *backend = choose_for(NULL, &wanted);

	perfctr_events_close(wanted.events);
	return backend ? perfctr_shown_name(backend) : NULL;
}
