/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the parts of an ELF file, of 32 or 64 bits, that samples need.  The contents are not
 * trusted.
 */
#ifndef PERFEX_ELF_FILE_H
#define PERFEX_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

/* Returns NULL with errno set if it cannot open the file.  EINVAL: it is no ELF file of x86. */
struct elf_file *elf_file_open(const char *path);
void elf_file_close(struct elf_file *elf);
/*
 * Returns the length of the build-id in bytes, and copies no more than size of them to id.  Returns
 * 0 if the file has no build-id.
 */
size_t elf_file_build_id(const struct elf_file *elf, unsigned char *id, size_t size);
/*
 * Sets *address to where the code at an offset of the file is executed, before relocation.  Returns
 * false if no code is there.
 */
bool elf_file_address(const struct elf_file *elf, uint64_t offset, uint64_t *address);
/* Returns the name of the file with separate debugging information (.gnu_debuglink), or NULL. */
const char *elf_file_debug_link(const struct elf_file *elf);
/* Returns true if the file has a table of all symbols, not only of those for dynamic linking. */
bool elf_file_has_symbols(const struct elf_file *elf);
/* Returns the whole file, and sets its size in bytes.  It is valid until elf_file_close(). */
const void *elf_file_image(const struct elf_file *elf, size_t *size);

struct elf_symbol {
	const char *name;
	uint64_t start, end; /* end == start: the size is not known */
};

/* Finds the symbol that contains the address.  Returns false if there is none. */
bool elf_file_symbol(struct elf_file *elf, uint64_t address, struct elf_symbol *symbol);
/*
 * Returns the end of a symbol.  If its size is not known, this is the next symbol or the end of the
 * section.
 */
uint64_t elf_file_symbol_end(const struct elf_file *elf, const struct elf_symbol *symbol);

#endif
