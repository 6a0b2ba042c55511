/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * regions.c		the regions of a program and of its threads
 * regions_pass.c	what the inline functions leave to the library
 * regions_read.c	results
 * regions_write.c	results as text and CSV, now or at exit
 * regions_json.c	results as JSON
 * regions_outline.c	the inline functions as symbols
 * regions_named.c	regions by their names alone, as the environment asks for them
 *
 * The first three need nothing of the others: without JSON nothing needs json-c.
 */
#ifndef PERFCTR_LIB_REGIONS_H
#define PERFCTR_LIB_REGIONS_H

#include "../internal.h"

#include <pthread.h>
#include <sys/types.h>

#include <perfctr_regions.h>

/* Behind the regions of a thread: those of perfctr_region_empty(). */
#define EMPTY_REGIONS (PERFCTR_REGION_FIRST + 1)

struct perfctr_region_thread {
	struct perfctr_region_thread *next;
	const struct perfctr *context;
	pid_t tid;
	unsigned int n_events;
	unsigned int n_regions;	       /* room for them */
	struct perfctr_region *region; /* wiped in a forked child; of names, 0 until it is used */
};

struct region_event {
	char name[PERFCTR_REQUEST_NAME];
	uint32_t modes; /* PERFCTR_MODE_* */
};

/* What exit() finds.  It outlives the regions, since exit() cannot be told to forget it. */
struct region_exit {
	struct perfctr_regions *regions; /* NULL: closed */
	int fd; /* of the file, unless the program has closed it: it may be another's then */
	dev_t device;
	ino_t inode;
	enum perfctr_regions_format format;
	unsigned int flags;
};

struct perfctr_regions {
	const bool *alive; /* wiped in a forked child */
	struct perfctr_control control;
	struct region_event event[PERFCTR_MAX_COUNTERS];
	unsigned int n_regions, room; /* room: that threads have */
	char **name;		      /* of the regions */
	pthread_mutex_t lock;	      /* of the list of threads, which only grows at its end */
	struct perfctr_region_thread *threads, **last;
	char *refusal;		  /* why a thread cannot count: of the first; NULL: all do */
	struct region_exit *exit; /* NULL: nothing is saved at exit */
};

/* As perfctr_regions_open(), without regions, which perfctr_regions_add() adds: at most room. */
struct perfctr_regions *perfctr_regions_open_empty(const struct perfctr_control *control,
						   const struct perfctr_request *events,
						   unsigned int room);
/* The number of the region of this name, which may be there; -1: there is no room, or memory. */
int perfctr_regions_add(struct perfctr_regions *r, const char *name);
/* Of one that was added: the thread's own, ready to be entered. */
struct perfctr_region *perfctr_regions_prepare(struct perfctr_region_thread *thread,
					       unsigned int number);
struct perfctr_region_thread *perfctr_regions_thread_of(struct perfctr_regions *r,
							const struct perfctr *p);

/* A thread cannot take part: results as JSON say why, of the first. */
void perfctr_regions_refuse(struct perfctr_regions *r, const char *why);

/* The thread, inside of the region, was there when the counts were now.  in_vain: readings. */
void perfctr_region_end_at(struct perfctr_region *region, const struct perfctr_snapshot *now,
			   uint64_t in_vain);
bool perfctr_region_read(const struct perfctr_region_thread *thread, struct perfctr_snapshot *now);

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

/* Is the descriptor still that of the file? */
bool perfctr_regions_has_file(const struct region_exit *at_exit);

/* An exit that would still save: not any more. */
void perfctr_regions_forget_exit(struct perfctr_regions *r);

int perfctr_regions_write_json(struct perfctr_regions *r, FILE *file, unsigned int flags);

#endif
