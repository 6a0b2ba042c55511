/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex samples: the file of perfex record (samples_format.h), read.
 *
 * samples_read.c	the text becomes numbers; what is no such text is refused
 * spaces.c		which process, and which part of which file, each sample is in
 */
#ifndef PERFEX_SAMPLES_H
#define PERFEX_SAMPLES_H

#include "../../result/samples_format.h"
#include "../../perfex.h"
#include "../../textfile.h"

struct sampled_event {
	char *name;
	uint64_t period; /* 0: it was counted beside */
	uint64_t count, periods, lost_weight;
};

/* What has been mapped from a file, or under a name in brackets. */
struct object {
	char *path;
	unsigned char build_id[SAMPLES_MAX_BUILD_ID];
	size_t build_id_bytes; /* 0: not known */
};

struct mapping {
	uint64_t start, end, offset;
	size_t object;
};

/* A process from its birth or an exec to the next: its name at last, and what it has mapped. */
struct life {
	int pid;
	bool first; /* of this pid */
	char *name;
	struct mapping *mapping; /* by address; none overlap */
	size_t n;
};

/* A function of the kernel, or of a module of it. */
struct kernel_function {
	uint64_t start;
	char *name;
};

struct change {
	uint64_t time;
	size_t line;
	enum { NAME, EXEC, FORK, MAP } kind;
	int pid, parent;
	char *name;
	struct mapping mapping;
};

/* Where an address is: in an object, at an offset of its file. */
struct spot {
	size_t object;	 /* NO_OBJECT: not known */
	uint64_t offset; /* then the address */
};

#define NO_OBJECT SIZE_MAX

struct sample_read {
	uint64_t time;
	int pid, tid;
	unsigned int cpu;
	uint32_t event, flags, lost;
	uint64_t periods, late, weight, ip, tsc;
	/* Into samples.number: */
	size_t numbers; /* counts, then registers */
	size_t chain;
	uint32_t depth;
	/* By samples_place(): */
	const struct life *life;
	struct spot spot;
};

struct samples {
	uint64_t khz; /* of the time stamp; 0: unknown */
	char *command;
	bool registers;
	unsigned int depth; /* of callers; 0: none were asked for */
	unsigned int jitter;
	struct sampled_event *event;
	size_t n_events;
	struct object *object;
	size_t n_objects;
	struct change *change;
	size_t n_changes;
	struct kernel_function *kernel; /* by address; those that samples are in */
	size_t n_kernel;
	struct sample_read *sample; /* by time, once it is placed */
	size_t n;
	uint64_t *number;
	size_t n_numbers;
	struct life **life;
	size_t n_lives;
	/* As the kernel told at the end: */
	uint64_t n_told, lost, late, maps_lost;
	bool ended;    /* by --max */
	bool cut;      /* the file ends before that, and there are no totals */
	void *objects; /* tsearch(3) */
};

/* NULL: error says why.  text need not end. */
struct samples *samples_parse(const char *text, size_t length, struct text_error *error);
/* From a file; what is none ends perfex. */
struct samples *samples_open(const char *path);
void samples_free(struct samples *samples);

/* spaces.c: life and spot of each sample.  False: error says why. */
bool samples_place(struct samples *samples, struct text_error *error);
/* Of another address of the same process. */
struct spot life_spot(const struct life *life, uint64_t address);

#endif
