// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which backend counts these events; apart, as who names none needs no names of events. */
#include "backend/backend.h"

#include <perfctr_events.h>

struct events {
	const char *const *spec;
	unsigned int n;
	unsigned int modes;
};

static bool counts_all(const struct perfctr_backend *backend, void *arg)
{
	const struct events *events = arg;
	struct perfctr_request requests[PERFCTR_MAX_COUNTERS];
	struct perfctr_pmu_info info;
	struct perfctr_control control;
	char error[256];

	if (events->n > PERFCTR_MAX_COUNTERS || backend->pmu_info(&info) < 0)
		return false;
	for (unsigned int i = 0; i < events->n; i++)
		if (perfctr_request_parse(&info, events->spec[i], events->modes, &requests[i],
					  error, sizeof(error)) < 0)
			return false;
	if (!backend->check)
		return true;
	return perfctr_requests_assign(&info, requests, events->n, &control, error,
				       sizeof(error)) == 0 &&
	       backend->check(&control) == 0;
}

const char *perfctr_backend_for(const char *const specs[], unsigned int n, unsigned int modes,
				uint32_t capabilities)
{
	struct events events = { specs, n, modes };
	const struct perfctr_backend *backend =
		n ? perfctr_choose_of(capabilities, counts_all, &events) : perfctr_choose(NULL);

	return backend ? backend->name : NULL;
}
