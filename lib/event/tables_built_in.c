// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tables.h"

/* The order of entries with the same name matters: the first one is taken. */
#define TABLES(table)                                                                              \
	table(arch) table(p5) table(p5_mmx) table(mii) table(winchip) table(via_c3) table(p6)      \
		table(p4) table(k7) table(amd)

#define INCLUDE(name)                                                                              \
	__asm__(".pushsection .rodata\n"                                                           \
		"perfctr_table_" #name ":\n"                                                       \
		".incbin \"lib/event/tables/" #name ".tbl\"\n"                                     \
		".byte 0\n"                                                                        \
		".popsection\n");                                                                  \
	extern const char perfctr_table_##name[] __attribute__((visibility("hidden")));
#define ENTRY(name) { "built in " #name, perfctr_table_##name },

TABLES(INCLUDE)

const struct table perfctr_tables_built_in[] = { TABLES(ENTRY){ 0 } };
