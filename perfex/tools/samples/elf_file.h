/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What samples need of an ELF file, of 32 or 64 bits; anything may be in the file. */
#ifndef PERFEX_ELF_FILE_H
#define PERFEX_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

/* NULL with errno set; EINVAL: it is no ELF file of x86. */
struct elf_file *elf_file_open(const char *path);
void elf_file_close(struct elf_file *elf);
/* Bytes of the build-id, the first size of which are in id; 0: it has none. */
size_t elf_file_build_id(const struct elf_file *elf, unsigned char *id, size_t size);
/* Where what is at an offset of the file is executed, before it is relocated. */
bool elf_file_address(const struct elf_file *elf, uint64_t offset, uint64_t *address);
/* The name of the file of separate debugging information (.gnu_debuglink); NULL: none. */
const char *elf_file_debug_link(const struct elf_file *elf);
/* Has it a table of all symbols, not only of those that are linked to? */
bool elf_file_has_symbols(const struct elf_file *elf);
/* All of it. */
const void *elf_file_image(const struct elf_file *elf, size_t *size);

struct elf_symbol {
	const char *name;
	uint64_t start, end; /* end start: its size is not known */
};

/* That the address is in. */
bool elf_file_symbol(struct elf_file *elf, uint64_t address, struct elf_symbol *symbol);
/* Its end; if its size is not known, the next symbol or the end of its section. */
uint64_t elf_file_symbol_end(const struct elf_file *elf, const struct elf_symbol *symbol);

#endif
