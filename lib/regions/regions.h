/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * regions.c		the regions of a program and of its threads
 * regions_pass.c	the parts of a pass that the inline functions leave to the library
 * regions_read.c	results
 * regions_write.c	results as text and CSV, now or at exit
 * regions_json.c	results as JSON
 * regions_outline.c	the inline functions as symbols
 * regions_named.c	regions by their names alone, as the environment asks for them
 *
 * The first three files use none of the others, so that programs without JSON do not need json-c.
 */
#ifndef PERFCTR_LIB_REGIONS_H
#define PERFCTR_LIB_REGIONS_H

#include "../internal.h"

#include <pthread.h>
#include <sys/types.h>

#include <perfctr_regions.h>

/* The regions that measure empty passes follow the regions of a thread. */
/* Named regions have two more: around an empty pass, and around an end that ends nothing. */
#define AROUND_PASS (PERFCTR_REGION_FIRST + 1)
#define AROUND_END (PERFCTR_REGION_FIRST + 2)
#define EMPTY_REGIONS (AROUND_END + 1)

/* The counts as begin and end of a named region read them. */
struct region_reading {
	struct perfctr_snapshot counts;
	uint64_t in_vain; /* reads that were repeated */
	bool running;	  /* the counters were; false: they stood still */
};

struct perfctr_region_thread {
	struct perfctr_region_thread *next;
	const struct perfctr *context;
	const struct perfctr_page *page; /* with all events; NULL: system calls read them */
	unsigned long serial; /* of the context: a context that is opened later has another one */
	pid_t tid;
	unsigned int n_events;
	unsigned int n_regions;	       /* the size of region[] */
	struct perfctr_region *region; /* wiped in a forked child; named ones are 0 until used */
};

/*
 * Returns the sums of the cut passes of a thread's region, or of a region that measures empty
 * passes.  A named region's pass is cut if the counters stood still at its begin or at its end: an
 * empty pass of that kind counts nothing or a part, so the counts of cut passes stay uncorrected.
 * All are 0 until used.  state is PERFCTR_REGION_INSIDE in a pass that began with counters that
 * stood still.
 */
static inline struct perfctr_region *cut_passes(const struct perfctr_region_thread *thread,
						struct perfctr_region *region)
{
	return region + thread->n_regions + EMPTY_REGIONS;
}

/* i: the number of an event, or -1 for the time stamp */
static inline const struct perfctr_region_sum *region_sum(const struct perfctr_region *region,
							  int i)
{
	return i < 0 ? &region->tsc : &region->counter[i];
}

struct region_event {
	char name[PERFCTR_REQUEST_NAME];
	uint32_t modes; /* PERFCTR_MODE_* */
};

/*
 * The argument of the exit handler.  It outlives the regions, because the handler cannot be
 * removed.
 */
struct region_exit {
	struct perfctr_regions *regions; /* NULL: the regions are closed */
	int fd; /* the file's; once the program has closed it, perhaps another file's */
	dev_t device;
	ino_t inode;
	enum perfctr_regions_format format;
	unsigned int flags;
};

struct perfctr_regions {
	const bool *alive; /* wiped in a forked child */
	struct perfctr_control control;
	struct region_event event[PERFCTR_MAX_COUNTERS];
	unsigned int n_regions, room; /* room: regions for which each thread has space */
	char **name;		      /* of the regions */
	pthread_mutex_t lock;	      /* of name[], refusal and threads */
	/* A list that only grows at its end. */
	struct perfctr_region_thread *threads, **last;
	char *refusal;		  /* why the first thread that cannot count cannot; NULL: all can */
	struct region_exit *exit; /* NULL: nothing is saved at exit */
};

/*
 * As perfctr_regions_open(), but without regions.  perfctr_regions_add() adds them, at most room.
 */
struct perfctr_regions *perfctr_regions_open_empty(const struct perfctr_control *control,
						   const struct perfctr_request *events,
						   unsigned int room);
/*
 * Returns the number of the region of this name, and adds the region if there is none.  -1: there
 * is no room, or no memory.
 */
int perfctr_regions_add(struct perfctr_regions *r, const char *name);
/* Returns the thread's own part of a region that was added, ready to be entered. */
struct perfctr_region *perfctr_regions_prepare(struct perfctr_region_thread *thread,
					       unsigned int number);
struct perfctr_region_thread *perfctr_regions_thread_of(struct perfctr_regions *r,
							const struct perfctr *p);

/*
 * Remembers why a thread cannot take part.  Results as JSON give the reason of the first such
 * thread.
 */
void perfctr_regions_refuse(struct perfctr_regions *r, const char *why);

/* Begins or ends a pass with the counts in *now, which were read before. */
void perfctr_region_begin_at(struct perfctr_region *region, const struct region_reading *now);
void perfctr_region_end_at(struct perfctr_region *region, const struct region_reading *now);
/* Reads the counts by a system call.  False: they cannot be read. */
bool perfctr_region_read(const struct perfctr_region_thread *thread, struct region_reading *now);

/* Resets the region to the state before its first pass. */
void perfctr_region_reset(struct perfctr_region *region);

/* True in a forked child, with errno = EPERM. */
bool perfctr_regions_foreign(const struct perfctr_regions *r);

/* Returns the thread after this one; after NULL, the first.  NULL: there is no further thread. */
const struct perfctr_region_thread *
perfctr_regions_next(struct perfctr_regions *r, const struct perfctr_region_thread *thread);
void perfctr_regions_result(const struct perfctr_regions *r,
			    const struct perfctr_region_thread *thread, unsigned int number,
			    unsigned int flags, struct perfctr_region_result *result);

/* "user", "kernel", "user+kernel". */
const char *perfctr_modes_text(unsigned int modes);

/* Is the descriptor still that of the file? */
bool perfctr_regions_has_file(const struct region_exit *at_exit);

/* Makes sure that exit does not save the regions any more. */
void perfctr_regions_forget_exit(struct perfctr_regions *r);

int perfctr_regions_write_json(struct perfctr_regions *r, FILE *file, unsigned int flags);

#endif
