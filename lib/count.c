// SPDX-License-Identifier: LGPL-2.1-or-later
/* Counts events by their names, in one call. */
#include "count.h"

#include <errno.h>
#include <perfctr_count.h>

static int parse_all(struct counted *counted, struct perfctr_events *events,
		     char (*spec)[PERFCTR_REQUEST_NAME], unsigned int n, const struct line *line)
{
	char why[256];

	for (unsigned int i = 0; i < n; i++)
		if (perfctr_events_parse(events, spec[i], PERFCTR_MODE_USER, &counted->request[i],
					 why, sizeof(why)) < 0)
			return perfctr_line_refuse(line, errno, "event '%s': %s", spec[i], why);
	return perfctr_requests_assign(perfctr_events_info(events), counted->request, n,
				       &counted->control, line->text, line->size);
}

int perfctr_counted_parse(struct counted *counted, const char *list, const struct line *line)
{
	char spec[PERFCTR_MAX_COUNTERS][PERFCTR_REQUEST_NAME];
	const char *name[PERFCTR_MAX_COUNTERS];
	struct perfctr_events *events;
	int n, result, error;

	n = perfctr_events_split(list, spec, PERFCTR_MAX_COUNTERS, line->text, line->size);
	if (n < 0)
		return -1;
	if (n > PERFCTR_MAX_COUNTERS)
		return perfctr_line_refuse(line, EINVAL, "%d events; at most %d can be counted", n,
					   PERFCTR_MAX_COUNTERS);
	for (int i = 0; i < n; i++)
		name[i] = spec[i];
	events = perfctr_events_open_for(name, (unsigned int)n, PERFCTR_MODE_USER, 0);
	if (!events) {
		perfctr_open_error(errno, line->text, line->size);
		return -1;
	}
	counted->backend = perfctr_events_backend(events);
	result = parse_all(counted, events, spec, (unsigned int)n, line);
	if (result < 0)
		perfctr_line_clean(line);
	error = errno;
	perfctr_events_close(events);
	errno = error;
	return result;
}

struct perfctr *perfctr_counted_open(struct counted *counted, pid_t tid, const struct line *line)
{
	struct perfctr *p = perfctr_open_with(counted->backend, tid, PERFCTR_OPEN_CREATE);
	struct perfctr_pmu_info info;
	int error;

	if (!p) {
		error = errno;
		perfctr_open_error_with(counted->backend, error, line->text, line->size);
		errno = error;
		return NULL;
	}
	if (perfctr_set_control(p, &counted->control) == 0)
		return p;
	error = errno;
	perfctr_close(p);
	if (perfctr_get_pmu_info_with(counted->backend, &info) < 0)
		perfctr_open_error_with(counted->backend, errno, line->text, line->size);
	else
		perfctr_control_error(error, &counted->control, &info, line->text, line->size);
	errno = error;
	return NULL;
}

struct perfctr *perfctr_count(const char *events, char *error, size_t size)
{
	const struct line line = { error, size };
	struct counted counted;

	if (perfctr_counted_parse(&counted, events, &line) < 0)
		return NULL;
	return perfctr_counted_open(&counted, 0, &line);
}
