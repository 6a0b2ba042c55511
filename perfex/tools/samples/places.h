/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds what is at an address of a process: object, function and line. */
#ifndef PERFEX_PLACES_H
#define PERFEX_PLACES_H

#include "lines.h"
#include "samples.h"

struct place {
	size_t object;		 /* index in samples->object; NO_OBJECT */
	const char *object_name; /* its path, "[kernel]" or "[unknown]" */
	uint64_t address;	 /* as in the object's file */
	const char *symbol;	 /* as in the source; "[unknown]": none */
	const char *linked;	 /* as in the object's file */
	uint64_t symbol_start;	 /* 0: none */
	/* Innermost first; the last frame is that of the symbol.  Every frame has a function. */
	size_t n_frames;
	struct frame frame[];
};

struct places;

/*
 * debug_directory: has the separate debugging information; NULL: the system's.  samples and
 * debug_directory must outlive the result.
 */
struct places *places_open(const struct samples *samples, const char *debug_directory);
void places_free(struct places *places);
/*
 * Returns the place of a sample if call is NULL, or else the place of the call with this return
 * address.  The place is valid until places_free().
 */
const struct place *places_find(struct places *places, const struct sample_read *sample,
				const uint64_t *call);
/* Returns the place at an address of an object's file. */
const struct place *places_at(struct places *places, size_t object, uint64_t address);
/* Returns the end of the symbol that contains the address, or 0 if there is none. */
uint64_t places_symbol_end(struct places *places, size_t object, uint64_t address);
/* Complains of each object that has no names of functions: one line each, with the reason. */
void places_complain(const struct places *places);
/*
 * Returns the file of an object, or NULL if it is not there or is not the recorded one.  places
 * owns it.
 */
struct elf_file *places_file(struct places *places, size_t object);

#endif
