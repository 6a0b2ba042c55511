/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PMU and the events that the user selects for "perfex list", "check" and "encode". */
#ifndef PERFEX_SELECTION_H
#define PERFEX_SELECTION_H

#include "run/options.h"

#define PMU_OPTION(type, member)                                                                   \
	TEXT_OPTION("pmu", 0, "NAME",                                                              \
		    "for NAME instead of this machine: a family of processors, like k8, or a\n"    \
		    "processor, like nhm; perfex list --processors shows all",                     \
		    type, member)
/* The target is a struct options. */
#define SELECTION_OPTIONS                                                                          \
	LISTED_EVENT_OPTION(0, "EVENT as for perfex run; may be repeated"),                        \
		GROUP_OPTION(0, "the events of GROUP, likewise"),                                  \
		MODE_OPTIONS(0, "; the default", "", "")

/* Opens the events of the selected PMU.  Returns false after an error message. */
bool open_selected_pmu(struct options *selection);

/*
 * Returns the name of processor number i, from 0, of those that --pmu knows, as
 * perfctr_processor_name().  It unsets LIBPFM_FORCE_PMU, which would hide some: no PMU may be
 * opened afterwards.
 */
const char *known_processor(unsigned int i, const char **description);

/*
 * Returns true if the text contains the pattern, or matches it if it has one of *?[, without regard
 * to case, as in perfctr_events_list().
 */
bool text_matches(const char *pattern, const char *text);
/* Does the same for one of two texts.  A pattern of NULL matches all. */
bool either_matches(const char *pattern, const char *a, const char *b);

/*
 * Returns the selected events, for free(), those of groups last.  Sets selection->rules to those of
 * the groups, if there are any.  Returns NULL, after an error message, if an event or a group is
 * wrong.
 */
struct perfctr_request *selected_events(struct options *selection);

#endif
