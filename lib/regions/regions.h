/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * regions.c		the regions of a program and of its threads
 * regions_pass.c	what the inline functions leave to the library
 * regions_read.c	results
 * regions_write.c	results as text and CSV, now or at exit
 * regions_json.c	results as JSON
 * regions_outline.c	the inline functions as symbols
 *
 * The first three need neither of the last two: without JSON nothing needs json-c.
 */
#ifndef PERFCTR_LIB_REGIONS_H
#define PERFCTR_LIB_REGIONS_H

#include "../internal.h"

#include <pthread.h>

#include <perfctr_regions.h>

/* Behind the regions of a thread: those of perfctr_region_empty(). */
#define EMPTY_REGIONS (PERFCTR_REGION_FIRST + 1)

struct perfctr_region_thread {
	struct perfctr_region_thread *next;
	const struct perfctr *context;
	pid_t tid;
	unsigned int n_events;
	unsigned int n_regions;
	struct perfctr_region *region; /* wiped in a forked child */
};

struct region_event {
	char name[PERFCTR_REQUEST_NAME];
	uint32_t modes; /* PERFCTR_MODE_* */
};

/* What exit() finds.  It outlives the regions, since exit() cannot be told to forget it. */
struct region_exit {
	struct perfctr_regions *regions;	/* NULL: closed */
	int fd;
	enum perfctr_regions_format format;
	unsigned int flags;
};

struct perfctr_regions {
	const bool *alive; /* wiped in a forked child */
	struct perfctr_control control;
	struct region_event event[PERFCTR_MAX_COUNTERS];
	unsigned int n_regions;
	char **name;	      /* of the regions */
	pthread_mutex_t lock; /* of the list of threads, which only grows at its end */
	struct perfctr_region_thread *threads, **last;
	struct region_exit *exit; /* NULL: nothing is saved at exit */
};

/* As if nothing had passed yet. */
void perfctr_region_reset(struct perfctr_region *region);

/* True in a forked child, with errno = EPERM. */
bool perfctr_regions_foreign(const struct perfctr_regions *r);

/* The next thread, or the first after NULL; NULL: that was the last. */
const struct perfctr_region_thread *
perfctr_regions_next(struct perfctr_regions *r, const struct perfctr_region_thread *thread);
void perfctr_regions_result(const struct perfctr_regions *r,
			    const struct perfctr_region_thread *thread, unsigned int number,
			    unsigned int flags, struct perfctr_region_result *result);

/* "user", "kernel", "user+kernel". */
const char *perfctr_modes_text(unsigned int modes);

/* An exit that would still save: not any more. */
void perfctr_regions_forget_exit(struct perfctr_regions *r);

int perfctr_regions_write_json(struct perfctr_regions *r, FILE *file, unsigned int flags);

#endif
