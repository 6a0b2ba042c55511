// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads ELF files: programs and libraries. */
#define _GNU_SOURCE
#include "program.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A library names no loader: it has that of glibc. */
static const struct architecture {
	unsigned char class;
	Elf64_Half machine;
	const char *loader;
} architectures[] = {
	{ ELFCLASS64, EM_X86_64, "/lib64/ld-linux-x86-64.so.2" },
	{ ELFCLASS32, EM_386, "/lib/ld-linux.so.2" },
};

struct segment {
	uint32_t type;
	uint64_t offset, size;
};

static const struct architecture *find_architecture(unsigned char class, Elf64_Half machine)
{
	for (size_t i = 0; i < sizeof(architectures) / sizeof(architectures[0]); i++)
		if (architectures[i].class == class && architectures[i].machine == machine)
			return &architectures[i];
	return NULL;
}

bool program_begin(struct program *program, int fd)
{
	union {
		Elf32_Ehdr of_32;
		Elf64_Ehdr of_64;
	} header = { .of_64.e_ident = "" };
	bool is_64;

	if (pread(fd, &header, sizeof(header), 0) < (ssize_t)sizeof(header.of_32) ||
	    memcmp(header.of_64.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	is_64 = header.of_64.e_ident[EI_CLASS] == ELFCLASS64;
	*program = (struct program){
		.fd = fd,
		.is_64 = is_64,
		/* These two are at the same place in both classes. */
		.architecture =
			find_architecture(header.of_64.e_ident[EI_CLASS], header.of_64.e_machine),
		.type = header.of_64.e_type,
		.segments = is_64 ? header.of_64.e_phoff : header.of_32.e_phoff,
		.n_segments = is_64 ? header.of_64.e_phnum : header.of_32.e_phnum,
	};
	return true;
}

bool program_is_of_machine(const struct program *program)
{
	return program->architecture;
}

static bool read_segment(const struct program *program, unsigned int i, struct segment *segment)
{
	union {
		Elf32_Phdr of_32;
		Elf64_Phdr of_64;
	} header;
	const size_t size = program->is_64 ? sizeof(header.of_64) : sizeof(header.of_32);

	if (pread(program->fd, &header, size, (off_t)(program->segments + i * size)) !=
	    (ssize_t)size)
		return false;
	if (program->is_64)
		*segment = (struct segment){ header.of_64.p_type, header.of_64.p_offset,
					     header.of_64.p_filesz };
	else
		*segment = (struct segment){ header.of_32.p_type, header.of_32.p_offset,
					     header.of_32.p_filesz };
	return true;
}

char *program_loader(const struct program *program)
{
	const char *usual = program->architecture->loader;
	bool is_dynamic = false;

	if (program->type != ET_EXEC && program->type != ET_DYN)
		return NULL;
	for (unsigned int i = 0; i < program->n_segments; i++) {
		struct segment segment;
		char path[4096];
		ssize_t n;

		if (!read_segment(program, i, &segment))
			return NULL;
		is_dynamic |= segment.type == PT_DYNAMIC;
		if (segment.type != PT_INTERP || segment.size >= sizeof(path))
			continue;
		n = pread(program->fd, path, segment.size, (off_t)segment.offset);
		return n > 0 && path[n - 1] == '\0' ? strdup(path) : NULL;
	}
	return is_dynamic && access(usual, X_OK) == 0 ? strdup(usual) : NULL;
}

bool program_is_loader_of_system(const char *loader)
{
	static const char *const patterns[] = { "/lib/ld-musl-x86_64.so.1",
						"/lib/ld-musl-i386.so.1",
						"/nix/store/*/lib/ld-linux-x86-64.so.2",
						"/gnu/store/*/lib/ld-linux-x86-64.so.2" };

	for (size_t i = 0; i < sizeof(architectures) / sizeof(architectures[0]); i++)
		if (strcmp(architectures[i].loader, loader) == 0)
			return true;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (fnmatch(patterns[i], loader, FNM_PATHNAME) == 0)
			return true;
	return false;
}
