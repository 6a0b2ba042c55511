/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of source, and inlined functions.  lines_dw.c reads them with elfutils' libdw.
 * lines_none.c takes its place if perfex is built without libdw.
 */
#ifndef PERFEX_LINES_H
#define PERFEX_LINES_H

#include "elf_file.h"

struct lines;

/*
 * A function at an address, and the place in its source.  Inlined functions have a frame each, the
 * innermost first.
 */
struct frame {
	const char *function; /* NULL: that of the symbol */
	const char *file;     /* NULL: not known */
	int line;
};

#define MAX_FRAMES 32

/* True if perfex is built with libdw. */
extern const bool lines_known;
/* Returns NULL if the file has no lines.  elf must outlive the result. */
struct lines *lines_open(const struct elf_file *elf);
void lines_close(struct lines *lines);
/*
 * Returns the number of frames, or 0 if nothing is known.  The frames point to memory that is valid
 * until lines_close().
 */
size_t lines_find(struct lines *lines, uint64_t address, struct frame frame[MAX_FRAMES]);

#endif
