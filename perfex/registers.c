// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events given by register values, on the lowest counters that are free: until the library has names
 * and assignment, whose functions replace these.
 */
#include "run.h"

#include <errno.h>
#include <string.h>

__attribute__((weak)) int perfctr_request_parse(const struct perfctr_pmu_info *info,
						const char *spec, unsigned int rings,
						struct perfctr_request *request, char *error,
						size_t size)
{
	struct perfctr_event_control event;

	(void)info;
	(void)rings;
	if (perfctr_event_parse(spec, &event, error, size) < 0)
		return -1;
	*request = (struct perfctr_request){
		.counter = event.counter,
		.rings = (unsigned int)(event.evntsel >> 16) & PERFCTR_RING_BOTH,
		.evntsel = event.evntsel,
		.evntsel2 = event.evntsel2,
	};
	snprintf(request->name, sizeof(request->name), "%s", spec);
	return 0;
}

__attribute__((weak)) int perfctr_requests_assign(const struct perfctr_pmu_info *info,
						  const struct perfctr_request *requests, size_t n,
						  struct perfctr_control *control, char *error,
						  size_t size)
{
	perfctr_control_init(control);
	for (size_t i = 0; i < n; i++)
		perfctr_control_add(control, requests[i].counter, requests[i].evntsel,
				    requests[i].evntsel2);
	if (perfctr_control_assign(control, info) == 0)
		return 0;
	perfctr_control_error(errno, control, info, error, size);
	return -1;
}

__attribute__((weak)) int perfctr_requests_plan(const struct perfctr_pmu_info *info,
						const struct perfctr_request *requests, size_t n,
						unsigned int pass[], unsigned int *n_passes,
						char *error, size_t size)
{
	unsigned int at_a_time = info->n_general + info->n_fixed;

	if (n > info->n_general)
		at_a_time = info->n_general;
	(void)requests;
	(void)error;
	(void)size;
	for (size_t i = 0; i < n; i++)
		pass[i] = (unsigned int)i / at_a_time;
	*n_passes = (unsigned int)(n - 1) / at_a_time + 1;
	return 0;
}
