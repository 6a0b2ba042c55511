/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a file of the counts in the regions of a program: docs/regions.schema.json. */
#ifndef PERFEX_REGIONS_FILE_H
#define PERFEX_REGIONS_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <json-c/json.h>

struct regions_file {
	const char *path;
	json_object *root, *events, *threads;
	size_t n_events, n_threads, n_regions;
};

/*
 * Reads the file at path.  Ends perfex if it is no file of regions, or if no thread could count.
 * Complains if some thread could not.
 */
void regions_file_open(struct regions_file *file, const char *path);
/*
 * The same for root, the JSON that was read from path.  Takes ownership of root; NULL means that
 * the file was no JSON.
 */
void regions_file_take(struct regions_file *file, const char *path, json_object *root);
void regions_file_close(struct regions_file *file);

/* Passes of one thread or several through one region. */
struct passes {
	const char *name;	  /* of the region */
	uint64_t threads, thread; /* how many threads were added; number of the last one */
	uint64_t entries, exits, passes, retried;
	uint64_t corrected; /* number of threads that had the counts of an empty pass subtracted */
};

/* Counts of one event, or ticks of the time stamp, in the passes through one region. */
struct sums {
	long double total, min, max; /* min, max: of a pass; NAN before the first pass */
};

/*
 * Both functions add the passes or counts of one thread to the struct.  number is that of the
 * event, from 1; 0: the time stamp.  Both end perfex if the file is wrong.
 */
void regions_file_add_passes(const struct regions_file *file, size_t thread, size_t region,
			     struct passes *p);
void regions_file_add_sums(const struct regions_file *file, size_t thread, size_t region,
			   size_t number, struct sums *sums);

/* Return the name and the modes of event number, from 1; 0: of the time stamp. */
const char *regions_file_event(const struct regions_file *file, size_t number);
const char *regions_file_modes(const struct regions_file *file, size_t number);

#endif
