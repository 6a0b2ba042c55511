// SPDX-License-Identifier: LGPL-2.1-or-later
/* Turns PAPI's native events, which libpfm4 encodes, into a control of perfctr. */
#include "event_set.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The encoding that PAPI's table keeps for an event that libpfm4 refused. */
#define REFUSED 0xffffff

struct perfctr_pmu_info machine;
struct native_event_table_t native_events;
int perfctr_component;
static struct perfctr_events *events; /* under COMPONENT_LOCK */

int events_open(void)
{
	events = perfctr_events_open(&machine);
	return events ? PAPI_OK : PAPI_ENOMEM;
}

void events_close(void)
{
	perfctr_events_close(events);
	events = NULL;
}

static int find_native(unsigned int code)
{
	int place = _papi_hwi_get_ntv_idx(code);

	if (place >= 0)
		return place;
	for (int i = 0; i < native_events.num_native_events; i++)
		if (native_events.native_events[i].papi_event_code == (int)code)
			return i;
	return PAPI_ENOEVNT;
}

/* The modes that the event's name demands (":u=1:k=0"), else those of the domain. */
static unsigned int choose_modes(const struct native_event_t *event, int domain)
{
	int user = domain & PAPI_DOM_USER, kernel = domain & PAPI_DOM_KERNEL;

	if (strstr(event->allocated_name, ":u="))
		user = !event->attr.exclude_user;
	if (strstr(event->allocated_name, ":k="))
		kernel = !event->attr.exclude_kernel;
	return (user ? PERFCTR_MODE_USER : 0) | (kernel ? PERFCTR_MODE_KERNEL : 0);
}

/*
 * If perf_events takes the bits of one register, the code that libpfm4 made from the name is
 * sufficient.  NetBurst has two registers, and the name gives both.
 */
static int write_spec(const struct native_event_t *event, char *spec, size_t size)
{
	const perf_event_attr_t *attr = &event->attr;

	/* perfctr sets no registers beyond the counter's own (PEBS). CPUs: PAPI_CPU_ATTACH. */
	if (attr->config == REFUSED || attr->config1 || attr->config2 || attr->precise_ip ||
	    event->cpu >= 0)
		return PAPI_ENOSUPP;
	if (machine.pmu == PERFCTR_PMU_P4)
		snprintf(spec, size, "%s", event->allocated_name);
	else
		snprintf(spec, size, "r%llx", (unsigned long long)attr->config);
	return PAPI_OK;
}

static int make_request(int place, int domain, struct perfctr_request *request)
{
	const struct native_event_t *event = &native_events.native_events[place];
	char spec[PERFCTR_REQUEST_NAME], reason[256];
	int status = write_spec(event, spec, sizeof(spec));

	if (status != PAPI_OK)
		return status;
	if (perfctr_events_parse(events, spec, choose_modes(event, domain), request, reason,
				 sizeof(reason)) < 0)
		return PAPI_ENOSUPP;
	return PAPI_OK;
}

int events_check(unsigned int code)
{
	struct perfctr_request request;
	int place = find_native(code), status;

	if (place < 0)
		return place;
	_papi_hwi_lock(COMPONENT_LOCK);
	status = make_request(place, PAPI_DOM_USER | PAPI_DOM_KERNEL, &request);
	_papi_hwi_unlock(COMPONENT_LOCK);
	return status;
}

/* The control has changed, with its thresholds. */
static void renew_control(struct event_set *set)
{
	static uint64_t version;

	for (uint32_t i = 0; i < set->control.n_events; i++) {
		struct perfctr_event_control *event = &set->control.event[i];
		int period = set->threshold[i];

		event->period = (uint64_t)period;
		event->signal = period ? (uint32_t)OVERFLOW_SIGNAL : 0;
		event->flags = period ? PERFCTR_EVENT_STOP : 0;
	}
	set->version = ++version;
}

void events_set_threshold(struct event_set *set, int event, int threshold)
{
	/* PAPI says it again at each start. */
	if (set->threshold[event] == threshold)
		return;
	set->overflows += !!threshold - !!set->threshold[event];
	set->threshold[event] = threshold;
	_papi_hwi_lock(COMPONENT_LOCK);
	renew_control(set);
	_papi_hwi_unlock(COMPONENT_LOCK);
}

static int make_control(struct event_set *set, int n, const struct perfctr_pmu_info *info)
{
	struct perfctr_request requests[PERFCTR_MAX_COUNTERS];
	char reason[256];

	for (int i = 0; i < n; i++) {
		int status = make_request(set->native[i], set->domain, &requests[i]);

		if (status != PAPI_OK)
			return status;
	}
	if (perfctr_requests_assign(info, requests, (size_t)n, &set->control, reason,
				    sizeof(reason)) < 0)
		return PAPI_ECNFLCT;
	if (set->inherit)
		set->control.flags |= PERFCTR_CONTROL_INHERIT;
	renew_control(set);
	return PAPI_OK;
}

static int make_control_locked(struct event_set *set, int n, const struct perfctr_pmu_info *info)
{
	int status;

	_papi_hwi_lock(COMPONENT_LOCK);
	status = make_control(set, n, info);
	_papi_hwi_unlock(COMPONENT_LOCK);
	return status;
}

int events_refresh(struct event_set *set)
{
	return make_control_locked(set, (int)set->control.n_events, &machine);
}

int events_avoid_busy(struct event_set *set)
{
	struct perfctr_pmu_info now = { 0 };

	if (perfctr_get_pmu_info_with(BACKEND, &now) < 0)
		return PAPI_ECNFLCT;
	/* Sessions share their counters with nobody, contexts with each other. */
	if (set->cpu >= 0)
		now.session_counters |= now.context_counters;
	return make_control_locked(set, (int)set->control.n_events, &now);
}

int events_replace(struct event_set *set, NativeInfo_t *native, int n)
{
	int same = n == (int)set->control.n_events;

	if (n > PERFCTR_MAX_COUNTERS)
		return PAPI_ECOUNT;
	for (int i = 0; i < n; i++) {
		int place = find_native((unsigned int)native[i].ni_papi_code);

		if (place < 0)
			return PAPI_ENOEVNT;
		same &= place == set->native[i];
		set->native[i] = place;
		native[i].ni_position = i;
	}
	/* PAPI says it again if two sets take turns. */
	if (same)
		return PAPI_OK;
	/* Events have other places now: PAPI says again which of them have thresholds. */
	memset(set->threshold, 0, sizeof(set->threshold));
	set->overflows = 0;
	return make_control_locked(set, n, &machine);
}
