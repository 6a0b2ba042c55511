/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random programs, and the number of instructions that they execute in user mode. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdint.h>
#include <time.h>
#include "steps.h"

struct step {
	uint32_t op;
	uint32_t argument;
	uint64_t address;
};
_Static_assert(sizeof(struct step) == STEP_BYTES, "worker.S counts on it");

#define MAX_STEPS 4096 /* two letters name one */
#define MAX_TIMES 8
#define MAX_EXECS 512
#define N_MARKS 2
#define NO_MARK (-1)

/* The arguments of an executed worker: argv[1] is its first step. */
struct arguments {
	uint64_t argv[3];
	char first[8];
};

/* The memory that workers map. */
struct image {
	struct step step[MAX_STEPS];
	struct timespec time[MAX_TIMES];
	struct arguments arguments[MAX_EXECS];
};
_Static_assert(sizeof(struct image) <= IMAGE_BYTES, "the worker maps all of it");

/* The same seed gives the same programs. */
struct generator {
	uint64_t seed; /* of the next number */
	struct image *image;
	uint32_t steps, execs, threads; /* made until now */
};

uint32_t random_below(struct generator *g, uint32_t n);
/* The two letters that name a step. */
void name_step(uint32_t first, char text[8]);
/* Makes a program with all its children. It begins with a mark, or NO_MARK. */
uint32_t generate(struct generator *g, int mark_number);

struct executed {
	uint64_t instructions, branches;
};

/* The instructions that the threads of a program execute, the first one's first. */
#define MAX_THREADS 256
struct model {
	uint32_t threads;
	struct executed thread[MAX_THREADS];
	struct executed sum;
	struct executed marked[N_MARKS]; /* while they bear the mark */
};

/* Adds a program to a model. It begins with step first, and with a mark, or NO_MARK. */
void model_add(struct model *model, const struct image *image, uint32_t first, int mark_number);

#endif
