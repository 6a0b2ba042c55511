// SPDX-License-Identifier: LGPL-2.1-or-later
/* The regions of a program, and the threads that go through them. */
#define _GNU_SOURCE
#include "../backend/backend.h"
#include "regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
	perfctr_evntsel_format(control, event->name, sizeof(event->name));
	event->modes = (control->evntsel & EVNTSEL_USR ? PERFCTR_MODE_USER : 0) |
		       (control->evntsel & EVNTSEL_OS ? PERFCTR_MODE_KERNEL : 0);
}

static bool add_name(struct perfctr_regions *r, const char *name)
{
	r->name[r->n_regions] = strdup(name);
	if (!r->name[r->n_regions])
		return false;
	__atomic_store_n(&r->n_regions, r->n_regions + 1, __ATOMIC_RELEASE);
	return true;
}

struct perfctr_regions *perfctr_regions_open_empty(const struct perfctr_control *control,
						   const struct perfctr_request *events,
						   unsigned int room)
{
	struct perfctr_regions *r = calloc(1, sizeof(*r));
	bool *alive;

	if (!r)
		return NULL;
	pthread_mutex_init(&r->lock, NULL);
	r->last = &r->threads;
	r->control = *control;
	for (uint32_t i = 0; i < control->n_events; i++)
		name_event(&r->event[i], &control->event[i], events ? &events[i] : NULL);
	r->room = room;
	r->name = calloc(room, sizeof(*r->name));
	alive = perfctr_map_wiped(sizeof(*alive));
	r->alive = alive;
	if (!alive || !r->name) {
		perfctr_regions_close(r);
		return NULL;
	}
	*alive = true;
	return r;
}

struct perfctr_regions *perfctr_regions_open(const struct perfctr_control *control,
					     const struct perfctr_request *events,
					     const char *const regions[], unsigned int n_regions)
{
	struct perfctr_regions *r;

	if (!n_regions || control->n_events > PERFCTR_MAX_COUNTERS) {
		errno = EINVAL;
		return NULL;
	}
	r = perfctr_regions_open_empty(control, events, n_regions);
	for (unsigned int i = 0; r && i < n_regions; i++)
		if (!add_name(r, regions[i])) {
			perfctr_regions_close(r);
			r = NULL;
		}
	return r;
}

static int find_name(const struct perfctr_regions *r, const char *name)
{
	for (unsigned int i = 0; i < r->n_regions; i++)
		if (strcmp(r->name[i], name) == 0)
			return (int)i;
	return -1;
}

int perfctr_regions_add(struct perfctr_regions *r, const char *name)
{
	int number;

	pthread_mutex_lock(&r->lock);
	number = find_name(r, name);
	if (number < 0 && r->n_regions < r->room && add_name(r, name))
		number = (int)r->n_regions - 1;
	pthread_mutex_unlock(&r->lock);
	return number;
}

/* The size of a thread's regions, and of the sums of their cut passes. */
static size_t region_bytes(unsigned int n_regions)
{
	return 2 * (n_regions + EMPTY_REGIONS) * sizeof(struct perfctr_region);
}

struct perfctr_region *perfctr_regions_prepare(struct perfctr_region_thread *thread,
					       unsigned int number)
{
	struct perfctr_region *region = &thread->region[number];

	region->page = thread->page;
	region->thread = thread;
	perfctr_region_reset(region);
	return region;
}

/* The page has no counters for events of the operating system. */
static const struct perfctr_page *page_with(const struct perfctr *p, unsigned int n_events)
{
	const struct perfctr_page *page = perfctr_get_page(p);

	return page && page->n_counters >= n_events ? page : NULL;
}

static struct perfctr_region_thread *thread_create(const struct perfctr *p,
						   const struct perfctr_regions *r)
{
	struct perfctr_region_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->region = perfctr_map_wiped(region_bytes(r->room));
	if (!thread->region) {
		free(thread);
		return NULL;
	}
	thread->context = p;
	thread->serial = p->serial;
	thread->tid = gettid();
	thread->n_events = r->control.n_events;
	thread->page = page_with(p, thread->n_events);
	thread->n_regions = r->room;
	for (unsigned int i = 0; i < r->n_regions; i++)
		perfctr_regions_prepare(thread, i);
	for (unsigned int i = 0; i < EMPTY_REGIONS; i++)
		perfctr_regions_prepare(thread, r->room + i);
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
		if (t->serial == p->serial && t->tid == tid)
			return t;
	return NULL;
}

struct perfctr_region_thread *perfctr_regions_thread_of(struct perfctr_regions *r,
							const struct perfctr *p)
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
		thread = thread_create(p, r);
		if (thread) {
			*r->last = thread;
			r->last = &thread->next;
		}
	}
	pthread_mutex_unlock(&r->lock);
	return thread;
}

void perfctr_regions_refuse(struct perfctr_regions *r, const char *why)
{
	pthread_mutex_lock(&r->lock);
	if (!r->refusal)
		__atomic_store_n(&r->refusal, strdup(why), __ATOMIC_RELEASE);
	pthread_mutex_unlock(&r->lock);
}

struct perfctr_region *perfctr_regions_thread(struct perfctr_regions *r, const struct perfctr *p)
{
	struct perfctr_region_thread *thread = perfctr_regions_thread_of(r, p);

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

bool perfctr_regions_has_file(const struct region_exit *at_exit)
{
	struct stat file;

	return fstat(at_exit->fd, &file) == 0 && file.st_dev == at_exit->device &&
	       file.st_ino == at_exit->inode;
}

void perfctr_regions_forget_exit(struct perfctr_regions *r)
{
	if (!r->exit)
		return;
	if (perfctr_regions_has_file(r->exit))
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
	free(r->refusal);
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
