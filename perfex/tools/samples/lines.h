/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of source, and functions that the compiler has put into others: lines_dw.c has them of
 * elfutils' libdw; lines_none.c stands in where that is not linked.
 */
#ifndef PERFEX_LINES_H
#define PERFEX_LINES_H

#include "elf_file.h"

struct lines;

/* A function at an address, the innermost first, and where in the source it is there. */
struct frame {
	const char *function; /* NULL: the symbol's */
	const char *file;     /* NULL: not known */
	int line;
};

#define MAX_FRAMES 32

/* Is libdw linked? */
extern const bool lines_known;
/* NULL: the file has none.  elf must outlive it. */
struct lines *lines_open(const struct elf_file *elf);
void lines_close(struct lines *lines);
/* How many frames there are; 0: nothing is known.  What they point to lives as long as lines. */
size_t lines_find(struct lines *lines, uint64_t address, struct frame frame[MAX_FRAMES]);

#endif
