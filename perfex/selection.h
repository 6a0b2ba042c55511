/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "perfex list", "check" and "encode" are asked about: a PMU and events. */
#ifndef PERFEX_SELECTION_H
#define PERFEX_SELECTION_H

#include "perfex.h"

/* The first member of what their take() functions get. */
struct selection {
	const char *pmu; /* NULL: this machine's */
	struct perfctr_events *database; /* of the PMU; NULL: not open yet */
	unsigned int modes;
	const char *modes_name; /* the option */
	const char **event;
	size_t n_events;
	const char **group; /* whose events are added to those */
	size_t n_groups;
};

void take_selected_modes(void *target, const struct option_row *row, const char *unused);
void take_selected_event(void *target, const struct option_row *row, const char *list);
void take_selected_group(void *target, const struct option_row *row, const char *list);

#define PMU_OPTION                                                                                 \
	TEXT_OPTION(                                                                               \
		"pmu", 0, "NAME",                                                                  \
		"for NAME instead of this machine: a family of processors, like k8, or a\n"        \
		"processor of libpfm4, like nhm; an unknown NAME shows the families",              \
		struct selection, pmu)
#define EVENT_OPTIONS                                                                              \
	CALL_OPTION("event", 'e', "EVENT", "EVENT as for perfex run; may be repeated",             \
		    take_selected_event, 0),                                                       \
		CALL_OPTION("group", 'g', "GROUP", "the events of GROUP, likewise",                \
			    take_selected_group, 0),                                               \
		CALL_OPTION("user", 0, NULL,                                                       \
			    "count in user mode unless EVENT says otherwise; the default",         \
			    take_selected_modes, PERFCTR_MODE_USER),                               \
		CALL_OPTION("kernel", 0, NULL, "count in kernel mode", take_selected_modes,        \
			    PERFCTR_MODE_KERNEL),                                                  \
		CALL_OPTION("both", 0, NULL, "count in both modes", take_selected_modes,           \
			    PERFCTR_MODE_BOTH)

/* Opens the database of the PMU; false: it cannot, and has said why. */
bool open_selected_pmu(struct selection *selection);

/* What the operating system counts, on no counter. */
bool is_software(const struct perfctr_request *request);

/* The events, those of groups last, to be freed; NULL: one is wrong, and this has been said. */
struct perfctr_request *selected_events(struct selection *selection);

void free_selection(struct selection *selection);

#endif
