/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs and libraries: ELF files of x86-64 and i386, which the machine can execute. */
#ifndef PERFEX_EXACT_PROGRAM_H
#define PERFEX_EXACT_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct architecture;

struct program {
	int fd;
	bool is_64;
	const struct architecture *architecture; /* NULL: none that the machine has */
	uint16_t type;				 /* as of elf(5) */
	uint64_t segments;			 /* offset of their headers */
	unsigned int n_segments;
};

/* Returns false if the file is neither a program nor a library.  fd has to stay open. */
bool program_begin(struct program *program, int fd);
bool program_is_of_machine(const struct program *program);
/* Returns the loader of a dynamic program or library, for free(); NULL for a static program. */
char *program_loader(const struct program *program);
/* perfex executes no other loaders: any file may name any program as its loader. */
bool program_is_loader_of_system(const char *loader);

#endif
