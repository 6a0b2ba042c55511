/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_NAMES_H
#define PERFCTR_NAMES_H

#include "../line.h"
#include "../pmu/machine.h"

/* An event, as far as its specification determines it. */
struct event {
	uint64_t evntsel, evntsel2;
	uint64_t p4_pebs_enable, p4_pebs_matrix_vert;
	uint64_t general, fixed; /* masks of counters */
	unsigned int modes;	 /* PERFCTR_MODE_* in the name; 0: none */
	uint32_t kinds;		 /* of cores, as perfctr_event_control.kinds */
};

/*
 * Reads a modifier: "u", "k", "uk", and, if the machine has them, "c=N", "i", "e".  False: it is
 * something else.
 */
bool perfctr_modifier_read(const struct perfctr_pmu_info *info, const char *text,
			   struct event *event);

/* Appends the modifiers that set these bits of evntsel.  Ignores bits that no modifier sets. */
void perfctr_modifier_write(const struct perfctr_pmu_info *info, uint64_t bits,
			    const struct line *line);

/* Returns a list of the modifiers that perfctr_modifier_read() accepts, for refusals. */
const char *perfctr_modifier_list(const struct perfctr_pmu_info *info);

/*
 * Resolves "[pmu::]name[:umask]..[:modifier].." by the tables, the kernel's source or libpfm4.  -1
 * with errno ENOENT, EINVAL or ENOTSUP and a line.
 */
int perfctr_name_resolve(struct perfctr_events *events, const char *name, struct event *event,
			 const struct line *line);

/* Appends the names of events nearest to name, which the user may have meant. */
void perfctr_name_suggest(struct perfctr_events *events, const char *name, const struct line *line);

/*
 * Where no counter can be used: appends the names that become name by few typing errors, of the
 * operating system's events, the architectural ones, and what libpfm4 finds here.  False: there are
 * none, or name is one of them.
 */
bool perfctr_name_suggest_typed(const char *name, const struct line *line);

/*
 * Restricts event->general and sets event->fixed by the first "counters" line of the tables that
 * matches the event's code.
 */
int perfctr_name_restrict(struct perfctr_events *events, struct event *event,
			  const struct line *line);

#endif
