// SPDX-License-Identifier: GPL-2.0-or-later
#include "lines.h"
#include "../../perfex.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

const bool lines_known = true;

struct lines {
	Elf *elf;
	Dwarf *dwarf;
};

struct lines *lines_open(const struct elf_file *file)
{
	struct lines *lines = allocate(1, sizeof(*lines));
	size_t size;
	const void *image = elf_file_image(file, &size);

	elf_version(EV_CURRENT);
	/* libelf may write to the image, which is a private copy: see map_file() in elf_file.c. */
	lines->elf = elf_memory((char *)image, size);
	lines->dwarf = lines->elf ? dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL) : NULL;
	if (lines->dwarf)
		return lines;
	lines_close(lines);
	return NULL;
}

void lines_close(struct lines *lines)
{
	if (!lines)
		return;
	dwarf_end(lines->dwarf);
	elf_end(lines->elf);
	free(lines);
}

/* Finds the unit that has the address: by the index of addresses, or else by asking each unit. */
static bool find_unit(struct lines *lines, Dwarf_Addr address, Dwarf_Die *unit)
{
	Dwarf_CU *next = NULL;
	Dwarf_Die sub;
	uint8_t type;

	if (dwarf_addrdie(lines->dwarf, address, unit))
		return true;
	while (dwarf_get_units(lines->dwarf, next, &next, NULL, &type, unit, &sub) == 0)
		if (dwarf_haspc(unit, address) > 0)
			return true;
	return false;
}

static void set_place(Dwarf_Die *unit, Dwarf_Addr address, struct frame *frame)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);

	frame->file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!line || dwarf_lineno(line, &frame->line) < 0)
		frame->line = 0;
}

/* Sets the frame to the place from which an inlined function is called. */
static void set_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct frame *frame)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t n;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) == 0 &&
	    dwarf_getsrcfiles(unit, &files, &n) == 0 && file < n)
		frame->file = dwarf_filesrc(files, file, NULL, NULL);
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0)
		frame->line = (int)line;
}

static const char *function_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name =
		dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

	if (!name)
		name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
	return name;
}

/*
 * Beyond the innermost function, dwarf_getscopes() returns the scopes in which the source of that
 * function stands.  dwarf_getscopes_die() returns the scopes into which the function was inlined.
 * The frames are the latter.
 */
size_t lines_find(struct lines *lines, uint64_t address, struct frame frame[MAX_FRAMES])
{
	Dwarf_Die unit, *innermost = NULL, *scope = NULL;
	int n_scopes = 0;
	size_t n = 0;

	if (!find_unit(lines, address, &unit))
		return 0;
	frame[0] = (struct frame){ 0 };
	set_place(&unit, address, &frame[0]);
	if (dwarf_getscopes(&unit, address, &innermost) > 0)
		n_scopes = dwarf_getscopes_die(&innermost[0], &scope);
	for (int i = 0; i < n_scopes && n + 1 < MAX_FRAMES; i++) {
		if (dwarf_tag(&scope[i]) != DW_TAG_inlined_subroutine)
			continue;
		frame[n++].function = function_name(&scope[i]);
		frame[n] = (struct frame){ 0 };
		set_call(&unit, &scope[i], &frame[n]);
	}
	if (n_scopes > 0)
		free(scope);
	free(innermost);
	return n + 1;
}
