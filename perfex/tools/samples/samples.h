/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex samples: reads the file of perfex record (samples_format.h).
 *
 * samples_read.c	parses the text, and refuses other texts
 * spaces.c		finds the process of each sample, and the file and offset that it is in
 */
#ifndef PERFEX_SAMPLES_H
#define PERFEX_SAMPLES_H

#include "../../result/samples_format.h"
#include "../../perfex.h"
#include "../../textfile.h"

struct sampled_event {
	char *name;
	uint64_t period; /* 0: counted beside, without samples */
	uint64_t count, periods, lost_weight;
};

/* A file that was mapped, or memory under a name in brackets. */
struct object {
	char *path;
	unsigned char build_id[SAMPLES_MAX_BUILD_ID];
	size_t build_id_bytes; /* 0: not known */
};

struct mapping {
	uint64_t start, end, offset;
	size_t object;
};

/*
 * A process from its birth or an exec to the next exec: its last name, and all that it has mapped.
 */
struct life {
	int pid;
	bool first; /* the first life of this pid */
	char *name;
	struct mapping *mapping; /* by address; they do not overlap */
	size_t n;
};

/* A function of the kernel, or of a kernel module. */
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

/* The place of an address: an object, and an offset in its file. */
struct spot {
	size_t object;	 /* NO_OBJECT: not known */
	uint64_t offset; /* with NO_OBJECT, the address */
};

#define NO_OBJECT SIZE_MAX

struct sample_read {
	uint64_t time;
	int pid, tid;
	unsigned int cpu;
	uint32_t event, flags, lost;
	uint64_t periods, late, weight, ip, tsc;
	/* Indices in samples.number: */
	size_t numbers; /* counts, unless of a clock; then registers */
	size_t chain;
	uint32_t depth;
	/* Set by samples_place(): */
	const struct life *life;
	struct spot spot;
};

struct samples {
	uint64_t khz; /* rate of the time stamp counter; 0: unknown */
	char *command;
	bool registers;
	unsigned int depth; /* most callers of a sample; 0: none were asked for */
	unsigned int jitter;
	struct sampled_event *event;
	size_t n_events;
	bool clock; /* the only event is time in ns; samples have neither counts nor tsc */
	struct object *object;
	size_t n_objects;
	struct change *change;
	size_t n_changes;
	struct kernel_function *kernel; /* by address; only those with samples */
	size_t n_kernel;
	struct sample_read *sample; /* by time, after samples_place() */
	size_t n;
	uint64_t *number;
	size_t n_numbers;
	struct life **life;
	size_t n_lives;
	/* As the kernel reported at the end: */
	uint64_t n_told, lost, late, maps_lost;
	bool ended;    /* --max ended the sampling */
	bool cut;      /* the file is not complete, and has no totals */
	void *objects; /* tsearch(3) of struct object_node */
};

/*
 * Returns NULL if the text is refused; error then says why.  The text may be cut off, and need not
 * end with a NUL.  samples_free() frees the result.
 */
struct samples *samples_parse(const char *text, size_t length, struct text_error *error);
/* Reads a file, and places its samples.  Ends perfex if it is no recording. */
struct samples *samples_open(const char *path);
void samples_free(struct samples *samples);

/*
 * spaces.c: sets life and spot of each sample.  Returns false if that fails; error then says why.
 */
bool samples_place(struct samples *samples, struct text_error *error);
/* Returns the spot of an address in a life. */
struct spot life_spot(const struct life *life, uint64_t address);

#endif
