/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_NAMES_H
#define PERFCTR_NAMES_H

#include "../line.h"
#include "../pmu/machine.h"

/* An event as far as its specification says it. */
struct event {
	uint64_t evntsel, evntsel2;
	uint64_t p4_pebs_enable, p4_pebs_matrix_vert;
	uint64_t general, fixed; /* masks of counters */
	unsigned int modes;	 /* PERFCTR_MODE_* that it names; 0: none */
	uint32_t kinds;		 /* of cores, as perfctr_event_control.kinds */
};

/* "u", "k", "uk", and where the machine has them "c=N", "i", "e"; false: something else. */
bool perfctr_modifier_read(const struct perfctr_pmu_info *info, const char *text,
			   struct event *event);

/* Appends the modifiers by which a name gets these bits of evntsel, as far as there are such. */
void perfctr_modifier_write(const struct perfctr_pmu_info *info, uint64_t bits,
			    const struct line *line);

/* What perfctr_modifier_read() takes, for refusals. */
const char *perfctr_modifier_list(const struct perfctr_pmu_info *info);

/*
 * Resolves "[pmu::]name[:umask]..[:modifier].." by the tables and by libpfm4.  -1 with errno
 * ENOENT, EINVAL or ENOTSUP and a line.
 */
int perfctr_name_resolve(struct perfctr_events *events, const char *name, struct event *event,
			 const struct line *line);

/* Appends what a user may have meant by name: the nearest names. */
void perfctr_name_suggest(struct perfctr_events *events, const char *name, const struct line *line);

/* Restricts event->general, and sets event->fixed, as the tables know it for its code. */
int perfctr_name_restrict(struct perfctr_events *events, struct event *event,
			  const struct line *line);

#endif
