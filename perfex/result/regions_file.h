/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program counted in its regions: docs/regions.schema.json. */
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

/* What is none ends perfex; a thread that is missing is told. */
void regions_file_open(struct regions_file *file, const char *path);
/* The same of what has been read from path, and is taken over; NULL: it was no JSON. */
void regions_file_take(struct regions_file *file, const char *path, json_object *root);
void regions_file_close(struct regions_file *file);

/* Passes through one region, by all threads or one, whose number is thread then. */
struct passes {
	const char *name;
	uint64_t threads, thread;
	uint64_t entries, exits, passes, retried;
	uint64_t corrected; /* threads */
};

/* What they counted, by one event or in ticks. */
struct sums {
	long double total, min, max; /* min, max: NAN without a pass */
};

/* Both add one thread's to what is there; number: of the event from 1 on, 0: the time stamp. */
void regions_file_add_passes(const struct regions_file *file, size_t thread, size_t region,
			     struct passes *p);
void regions_file_add_sums(const struct regions_file *file, size_t thread, size_t region,
			   size_t number, struct sums *sums);

/* Of the event, or of the time stamp. */
const char *regions_file_event(const struct regions_file *file, size_t number);
const char *regions_file_modes(const struct regions_file *file, size_t number);

#endif
