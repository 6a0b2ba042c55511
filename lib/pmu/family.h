/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All that the library knows about one family of processors.  Each family has a file in this
 * directory that defines a struct family, and a line in families.h.
 */
#ifndef PERFCTR_FAMILY_H
#define PERFCTR_FAMILY_H

#include <perfctr_events.h>

#include "route.h"

enum { MAX_PREFIXES = 3, MAX_TABLES = 3 };

/* A table of events, perfctr_events(5), in the library. */
struct event_table {
	const char *source; /* "built in NAME" */
	const char *text;
};

/* lib/event/tables/NAME.tbl as perfctr_table_NAME. */
#define EVENT_TABLE(name)                                                                          \
	__asm__(".pushsection .rodata\n"                                                           \
		"perfctr_table_text_" #name ":\n"                                                  \
		".incbin \"lib/event/tables/" #name ".tbl\"\n"                                     \
		".byte 0\n"                                                                        \
		".popsection\n");                                                                  \
	extern const char perfctr_table_text_##name[] __attribute__((visibility("hidden")));       \
	const struct event_table perfctr_table_##name                                              \
		__attribute__((visibility("hidden"))) = { "built in " #name,                       \
							  perfctr_table_text_##name }

struct family {
	const char *name; /* as perfctr_family_info() takes it, and in tables, "pmu NAME" */
	/* Prefixes of its processors' names in libpfm4. */
	const char *libpfm[MAX_PREFIXES + 1];
	/* If two tables have an event of the same name, the event of the first table is taken. */
	const struct event_table *table[MAX_TABLES + 1];

	/*
	 * Bits of evntsel: event select and unit mask; 0: evntsel alone does not identify an event.
	 */
	uint64_t event_bits;
	unsigned int umask_shift; /* of the unit mask; 0: there is none */
	unsigned int cmask_shift; /* of the counter mask; 0: no modifiers c, i and e */
	uint64_t enable_first;	  /* as perfctr_machine_enable_first() */
	/* The message that refuses a code of perf, like r00c0; NULL: codes are accepted. */
	const char *code_refused;
	/* NULL: events reach the counters without routes. */
	const struct routes *routes;
	/* Bits of evntsel2: event select and unit masks. */
	uint64_t select_bits2, umask_bits2;

	/* libpfm4 gives evntsel2 before evntsel. */
	bool libpfm_swapped;
	/* Bits of evntsel and of evntsel2 that libpfm4 sets and the library drops. */
	uint64_t libpfm_ignored, libpfm_ignored2;

	/*
	 * Descriptions of the registers, for people.  A register that does not exist has no name.
	 */
	struct perfctr_register evntsel, evntsel2, fixed;
	/* A typical machine of the family, for callers on another machine. */
	struct perfctr_pmu_info info;
	/*
	 * Is this machine of the family?  If so, stores in *info what CPUID says about its
	 * counters.  NULL: the backend perf_events does not support the family.
	 */
	bool (*probe)(const char *vendor, struct perfctr_pmu_info *info);
};

#define PERFCTR_FAMILY(name)                                                                       \
	extern const struct family perfctr_pmu_##name __attribute__((visibility("hidden")));
#include "families.h"
#undef PERFCTR_FAMILY

#endif
