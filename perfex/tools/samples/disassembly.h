/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions of a file, as binutils' objdump writes them. */
#ifndef PERFEX_DISASSEMBLY_H
#define PERFEX_DISASSEMBLY_H

#include <stddef.h>
#include <stdint.h>

struct instruction {
	uint64_t address; /* as in the file */
	char *text;
};

struct disassembly {
	struct instruction *instruction; /* sorted by address */
	size_t n;
};

/*
 * Disassembles from start up to, but without, end.  Ends perfex if objdump fails, or is not
 * installed.
 */
struct disassembly disassembly_make(const char *path, uint64_t start, uint64_t end);
void disassembly_free(struct disassembly *disassembly);

#endif
