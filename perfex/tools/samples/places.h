/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is at an address of a process: object, function, line. */
#ifndef PERFEX_PLACES_H
#define PERFEX_PLACES_H

#include "lines.h"
#include "samples.h"

struct place {
	size_t object;		 /* of samples; NO_OBJECT */
	const char *object_name; /* its path, "[kernel]" or "[unknown]" */
	uint64_t address;	 /* as the object's file has it */
	const char *symbol;	 /* as the source has it; "[unknown]": none */
	const char *linked;	 /* as the file has it */
	uint64_t symbol_start;	 /* 0: none */
	/* Innermost first; the last is of the symbol.  Every one has a function. */
	size_t n_frames;
	struct frame frame[];
};

struct places;

/* debug_directory: of separate debugging information; NULL: the system's */
struct places *places_open(const struct samples *samples, const char *debug_directory);
void places_free(struct places *places);
/* Where a sample is; where it was called from: call NULL: its ip, else a return address. */
const struct place *places_find(struct places *places, const struct sample_read *sample,
				const uint64_t *call);
/* What is at an address of an object's file, as that has it. */
const struct place *places_at(struct places *places, size_t object, uint64_t address);
/* Where the symbol that it is in ends; 0: there is none. */
uint64_t places_symbol_end(struct places *places, size_t object, uint64_t address);
/* Whose places could not be named, and why: a line each. */
void places_complain(const struct places *places);
/* The file of an object, if it is there and is the one. */
struct elf_file *places_file(struct places *places, size_t object);

#endif
