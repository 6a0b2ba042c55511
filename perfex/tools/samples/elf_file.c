// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf_file.h"
#include "../../by_address.h"
#include "../../perfex.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct elf_file {
	const unsigned char *image;
	size_t size;
	bool wide; /* 64 bits */
	Elf64_Ehdr head;
	struct elf_symbol *symbol; /* sorted by start; read when first needed */
	size_t n_symbols;
	bool sorted;
};

static bool is_inside(const struct elf_file *elf, uint64_t offset, uint64_t size)
{
	return offset <= elf->size && size <= elf->size - offset;
}

/* Copies a field.  It has the same name in the structures of both classes, but another size. */
#define WIDEN(to, from, field) ((to).field = (from).field)

static void read_head(struct elf_file *elf)
{
	Elf32_Ehdr narrow;

	if (elf->wide) {
		memcpy(&elf->head, elf->image, sizeof(elf->head));
		return;
	}
	memcpy(&narrow, elf->image, sizeof(narrow));
	WIDEN(elf->head, narrow, e_machine);
	WIDEN(elf->head, narrow, e_phoff);
	WIDEN(elf->head, narrow, e_phentsize);
	WIDEN(elf->head, narrow, e_phnum);
	WIDEN(elf->head, narrow, e_shoff);
	WIDEN(elf->head, narrow, e_shentsize);
	WIDEN(elf->head, narrow, e_shnum);
	WIDEN(elf->head, narrow, e_shstrndx);
}

static bool read_section(const struct elf_file *elf, size_t i, Elf64_Shdr *section)
{
	size_t size = elf->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint64_t at = elf->head.e_shoff + i * (uint64_t)elf->head.e_shentsize;
	Elf32_Shdr narrow;

	if (i >= elf->head.e_shnum || elf->head.e_shentsize < size ||
	    elf->head.e_shoff > elf->size || !is_inside(elf, at, size))
		return false;
	if (elf->wide) {
		memcpy(section, elf->image + at, size);
	} else {
		memcpy(&narrow, elf->image + at, size);
		WIDEN(*section, narrow, sh_name);
		WIDEN(*section, narrow, sh_type);
		WIDEN(*section, narrow, sh_flags);
		WIDEN(*section, narrow, sh_offset);
		WIDEN(*section, narrow, sh_size);
		WIDEN(*section, narrow, sh_link);
		WIDEN(*section, narrow, sh_entsize);
	}
	return section->sh_type == SHT_NOBITS ||
	       is_inside(elf, section->sh_offset, section->sh_size);
}

static bool read_segment(const struct elf_file *elf, size_t i, Elf64_Phdr *segment)
{
	size_t size = elf->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint64_t at = elf->head.e_phoff + i * (uint64_t)elf->head.e_phentsize;
	Elf32_Phdr narrow;

	if (elf->head.e_phentsize < size || elf->head.e_phoff > elf->size ||
	    !is_inside(elf, at, size))
		return false;
	if (elf->wide) {
		memcpy(segment, elf->image + at, size);
		return true;
	}
	memcpy(&narrow, elf->image + at, size);
	WIDEN(*segment, narrow, p_type);
	WIDEN(*segment, narrow, p_flags);
	WIDEN(*segment, narrow, p_offset);
	WIDEN(*segment, narrow, p_vaddr);
	WIDEN(*segment, narrow, p_filesz);
	return true;
}

/* Returns a string of a string table.  Returns "" if it does not end within the table. */
static const char *text_at(const struct elf_file *elf, const Elf64_Shdr *strings, uint64_t offset)
{
	const char *text = (const char *)elf->image + strings->sh_offset;

	if (strings->sh_type != SHT_STRTAB || offset >= strings->sh_size ||
	    !memchr(text + offset, '\0', strings->sh_size - offset))
		return "";
	return text + offset;
}

static bool is_elf(const struct elf_file *elf)
{
	static const unsigned char little[] = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3 };
	const unsigned char *image = elf->image;

	return memcmp(image, little, sizeof(little)) == 0 && image[EI_DATA] == ELFDATA2LSB &&
	       (image[EI_CLASS] == ELFCLASS64 || image[EI_CLASS] == ELFCLASS32);
}

static void *map_file(int fd, size_t *size)
{
	struct stat status;
	void *image;

	if (fstat(fd, &status) < 0)
		return NULL;
	if (!S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(Elf64_Ehdr)) {
		errno = EINVAL;
		return NULL;
	}
	*size = (size_t)status.st_size;
	/*
	 * libelf writes into the headers of sections that it decompresses: into this private copy.
	 */
	image = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	return image == MAP_FAILED ? NULL : image;
}

struct elf_file *elf_file_open(const char *path)
{
	struct elf_file *elf;
	/* Without O_NONBLOCK, opening a pipe would block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error;

	if (fd < 0)
		return NULL;
	elf = allocate(1, sizeof(*elf));
	elf->image = map_file(fd, &elf->size);
	error = errno;
	close(fd);
	if (elf->image && is_elf(elf)) {
		elf->wide = elf->image[EI_CLASS] == ELFCLASS64;
		read_head(elf);
		if (elf->head.e_machine == EM_X86_64 || elf->head.e_machine == EM_386)
			return elf;
	}
	if (elf->image)
		error = EINVAL;
	elf_file_close(elf);
	errno = error;
	return NULL;
}

void elf_file_close(struct elf_file *elf)
{
	if (!elf)
		return;
	if (elf->image)
		munmap((void *)elf->image, elf->size);
	free(elf->symbol);
	free(elf);
}

const void *elf_file_image(const struct elf_file *elf, size_t *size)
{
	*size = elf->size;
	return elf->image;
}

/*
 * Finds the build-id in a section of notes.  A note has a head, a name and a text.  Their lengths
 * are rounded up to 4.  Returns the length of the build-id, or 0.
 */
static size_t find_build_id(const struct elf_file *elf, const Elf64_Shdr *section,
			    unsigned char *id, size_t size)
{
	uint64_t at = section->sh_offset, end = at + section->sh_size;

	while (end - at >= sizeof(Elf64_Nhdr)) {
		uint64_t name = at + sizeof(Elf64_Nhdr), text, next;
		Elf64_Nhdr note;

		memcpy(&note, elf->image + at, sizeof(note));
		text = name + (((uint64_t)note.n_namesz + 3) & ~3ull);
		next = text + (((uint64_t)note.n_descsz + 3) & ~3ull);
		if (text + note.n_descsz > end)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(elf->image + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
			memcpy(id, elf->image + text, note.n_descsz < size ? note.n_descsz : size);
			return note.n_descsz;
		}
		if (next >= end)
			break;
		at = next;
	}
	return 0;
}

size_t elf_file_build_id(const struct elf_file *elf, unsigned char *id, size_t size)
{
	Elf64_Shdr section;
	size_t n = 0;

	for (size_t i = 0; !n && i < elf->head.e_shnum; i++)
		if (read_section(elf, i, &section) && section.sh_type == SHT_NOTE)
			n = find_build_id(elf, &section, id, size);
	return n;
}

bool elf_file_address(const struct elf_file *elf, uint64_t offset, uint64_t *address)
{
	Elf64_Phdr segment;

	for (size_t i = 0; i < elf->head.e_phnum; i++)
		if (read_segment(elf, i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_flags & PF_X && offset >= segment.p_offset &&
		    offset - segment.p_offset < segment.p_filesz) {
			*address = offset - segment.p_offset + segment.p_vaddr;
			return true;
		}
	return false;
}

const char *elf_file_debug_link(const struct elf_file *elf)
{
	Elf64_Shdr names, section;

	if (!read_section(elf, elf->head.e_shstrndx, &names))
		return NULL;
	for (size_t i = 0; i < elf->head.e_shnum; i++) {
		const char *text;

		if (!read_section(elf, i, &section) || section.sh_type == SHT_NOBITS ||
		    strcmp(text_at(elf, &names, section.sh_name), ".gnu_debuglink") != 0)
			continue;
		text = (const char *)elf->image + section.sh_offset;
		/* It must be the plain name of a file, not a path to another directory. */
		if (memchr(text, '\0', section.sh_size) && *text && !strchr(text, '/'))
			return text;
	}
	return NULL;
}

static bool find_table(const struct elf_file *elf, uint32_t type, Elf64_Shdr *table,
		       Elf64_Shdr *strings)
{
	for (size_t i = 0; i < elf->head.e_shnum; i++)
		if (read_section(elf, i, table) && table->sh_type == type)
			return read_section(elf, table->sh_link, strings);
	return false;
}

bool elf_file_has_symbols(const struct elf_file *elf)
{
	Elf64_Shdr table, strings;

	return find_table(elf, SHT_SYMTAB, &table, &strings);
}

static Elf64_Sym read_symbol(const struct elf_file *elf, uint64_t at)
{
	Elf64_Sym symbol = { 0 };
	Elf32_Sym narrow;

	if (elf->wide) {
		memcpy(&symbol, elf->image + at, sizeof(symbol));
		return symbol;
	}
	memcpy(&narrow, elf->image + at, sizeof(narrow));
	WIDEN(symbol, narrow, st_name);
	WIDEN(symbol, narrow, st_info);
	WIDEN(symbol, narrow, st_shndx);
	WIDEN(symbol, narrow, st_value);
	WIDEN(symbol, narrow, st_size);
	return symbol;
}

/* Labels of assembly code have no type, and mostly no size.  They are code too. */
static bool is_code(const struct elf_file *elf, const Elf64_Sym *symbol)
{
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);
	Elf64_Shdr section;

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	return symbol->st_shndx != SHN_UNDEF && read_section(elf, symbol->st_shndx, &section) &&
	       section.sh_flags & SHF_EXECINSTR;
}

/* Compares by address.  Of the symbols at one address, the one to use comes last. */
static int compare_symbols(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return -strcmp(x->name, y->name);
}

static void read_symbols(struct elf_file *elf)
{
	size_t size = elf->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	Elf64_Shdr table, strings;

	elf->sorted = true;
	if (!find_table(elf, SHT_SYMTAB, &table, &strings) &&
	    !find_table(elf, SHT_DYNSYM, &table, &strings))
		return;
	elf->symbol = allocate(table.sh_size / size, sizeof(*elf->symbol));
	for (uint64_t at = 0; table.sh_size - at >= size; at += size) {
		Elf64_Sym symbol = read_symbol(elf, table.sh_offset + at);
		const char *name = text_at(elf, &strings, symbol.st_name);

		if (!*name || !is_code(elf, &symbol) ||
		    symbol.st_value + symbol.st_size < symbol.st_value)
			continue;
		elf->symbol[elf->n_symbols++] =
			(struct elf_symbol){ name, symbol.st_value,
					     symbol.st_value + symbol.st_size };
	}
	if (elf->n_symbols)
		qsort(elf->symbol, elf->n_symbols, sizeof(*elf->symbol), compare_symbols);
}

bool elf_file_symbol(struct elf_file *elf, uint64_t address, struct elf_symbol *symbol)
{
	size_t first;

	if (!elf->sorted)
		read_symbols(elf);
	first = COUNT_UP_TO(elf->symbol, elf->n_symbols, start, address);
	/*
	 * The last symbol that begins at the address or before it may end before the address,
	 * inside a larger symbol that contains both.  So the last 64 symbols are tried.
	 */
	for (size_t i = first; i-- && first - i <= 64;) {
		*symbol = elf->symbol[i];
		if (address < symbol->end || symbol->start == symbol->end)
			return true;
	}
	return false;
}

uint64_t elf_file_symbol_end(const struct elf_file *elf, const struct elf_symbol *symbol)
{
	uint64_t end = symbol->end;
	Elf64_Shdr section;

	if (end > symbol->start)
		return end;
	for (size_t i = 0; i < elf->head.e_shnum; i++)
		if (read_section(elf, i, &section) && section.sh_flags & SHF_EXECINSTR &&
		    symbol->start - section.sh_addr < section.sh_size)
			end = section.sh_addr + section.sh_size;
	for (size_t i = 0; i < elf->n_symbols; i++)
		if (elf->symbol[i].start > symbol->start && elf->symbol[i].start < end)
			end = elf->symbol[i].start;
	return end;
}
