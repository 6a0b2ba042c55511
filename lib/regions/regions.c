// SPDX-License-Identifier: LGPL-2.1-or-later
/* The regions of a program, and the threads that go through them. */
#define _GNU_SOURCE
#include "../backend/backend.h"
#include "regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVNTSEL_USR 0x00010000u
#define EVNTSEL_OS 0x00020000u

bool perfctr_regions_foreign(const struct perfctr_regions *r)
{
	if (*r->alive)
		return false;
	errno = EPERM;
	return true;
}

static void name_event(struct region_event *event, const struct perfctr_event_control *control,
		       const struct perfctr_request *request)
{
	if (request) {
		memcpy(event->name, request->name, sizeof(event->name));
		event->modes = request->modes;
		return;
	}
	perfctr_event_format(control, event->name, sizeof(event->name));
	event->modes = (control->evntsel & EVNTSEL_USR ? PERFCTR_MODE_USER : 0) |
		       (control->evntsel & EVNTSEL_OS ? PERFCTR_MODE_KERNEL : 0);
}

static bool copy_names(struct perfctr_regions *r, const char *const names[], unsigned int n)
{
	r->name = calloc(n, sizeof(*r->name));
	if (!r->name)
		return false;
	for (r->n_regions = 0; r->n_regions < n; r->n_regions++) {
		r->name[r->n_regions] = strdup(names[r->n_regions]);
		if (!r->name[r->n_regions])
			return false;
	}
	return true;
}

struct perfctr_regions *perfctr_regions_open(const struct perfctr_control *control,
					     const struct perfctr_request *events,
					     const char *const regions[], unsigned int n_regions)
{
	struct perfctr_regions *r;
	bool *alive;

	if (!n_regions || control->n_events > PERFCTR_MAX_COUNTERS) {
		errno = EINVAL;
		return NULL;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	pthread_mutex_init(&r->lock, NULL);
	r->last = &r->threads;
	r->control = *control;
	for (uint32_t i = 0; i < control->n_events; i++)
		name_event(&r->event[i], &control->event[i], events ? &events[i] : NULL);
	alive = perfctr_map_wiped(sizeof(*alive));
	r->alive = alive;
	if (!alive || !copy_names(r, regions, n_regions)) {
		perfctr_regions_close(r);
		return NULL;
	}
	*alive = true;
	return r;
}

static size_t region_bytes(unsigned int n_regions)
{
	return (n_regions + EMPTY_REGIONS) * sizeof(struct perfctr_region);
}

static struct perfctr_region_thread *thread_create(const struct perfctr *p, unsigned int n_events,
						   unsigned int n_regions)
{
	struct perfctr_region_thread *thread = calloc(1, sizeof(*thread));
	const struct perfctr_page *page = perfctr_get_page(p);

	if (!thread)
		return NULL;
	thread->region = perfctr_map_wiped(region_bytes(n_regions));
	if (!thread->region) {
		free(thread);
		return NULL;
	}
	thread->context = p;
	thread->tid = gettid();
	thread->n_events = n_events;
	thread->n_regions = n_regions;
	for (unsigned int i = 0; i < n_regions + EMPTY_REGIONS; i++) {
		struct perfctr_region *region = &thread->region[i];

		region->page = page;
		region->thread = thread;
		perfctr_region_reset(region);
	}
	return thread;
}

static void thread_free(struct perfctr_region_thread *thread)
{
	munmap(thread->region, region_bytes(thread->n_regions));
	free(thread);
}

static struct perfctr_region_thread *find_region(struct perfctr_regions *r, const struct perfctr *p)
{
	pid_t tid = gettid();

	for (struct perfctr_region_thread *t = r->threads; t; t = t->next)
		if (t->context == p && t->tid == tid)
			return t;
	return NULL;
}

struct perfctr_region *perfctr_regions_thread(struct perfctr_regions *r, const struct perfctr *p)
{
	struct perfctr_region_thread *thread;
	struct perfctr_counts counts;

	if (perfctr_regions_foreign(r))
		return NULL;
	if (!perfctr_is_owner(p)) {
		errno = EPERM;
		return NULL;
	}
	if (perfctr_read(p, &counts) < 0)
		return NULL;
	if (counts.n_counters != r->control.n_events) {
		errno = EINVAL;
		return NULL;
	}
	pthread_mutex_lock(&r->lock);
	thread = find_region(r, p);
	if (!thread) {
		thread = thread_create(p, r->control.n_events, r->n_regions);
		if (thread) {
			*r->last = thread;
			r->last = &thread->next;
		}
	}
	pthread_mutex_unlock(&r->lock);
	return thread ? thread->region : NULL;
}

const struct perfctr_region_thread *perfctr_regions_next(struct perfctr_regions *r,
							 const struct perfctr_region_thread *thread)
{
	const struct perfctr_region_thread *next;

	pthread_mutex_lock(&r->lock);
	next = thread ? thread->next : r->threads;
	pthread_mutex_unlock(&r->lock);
	return next;
}

void perfctr_regions_forget_exit(struct perfctr_regions *r)
{
	if (!r->exit)
		return;
	close(r->exit->fd);
	r->exit->regions = NULL;
}

void perfctr_regions_close(struct perfctr_regions *r)
{
	struct perfctr_region_thread *thread, *next;
	int error = errno;

	if (!r)
		return;
	perfctr_regions_forget_exit(r);
	for (thread = r->threads; thread; thread = next) {
		next = thread->next;
		thread_free(thread);
	}
	for (unsigned int i = 0; i < r->n_regions; i++)
		free(r->name[i]);
	free(r->name);
	if (r->alive)
		munmap((void *)r->alive, sizeof(*r->alive));
	free(r);
	errno = error;
}

const char *perfctr_modes_text(unsigned int modes)
{
	static const char *const text[] = { "none", "user", "kernel", "user+kernel" };

	return text[modes & PERFCTR_MODE_BOTH];
}
