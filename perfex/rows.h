/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of options for events, modes and backends.  Arguments are offsets of members in the target.
 */
#ifndef PERFEX_ROWS_H
#define PERFEX_ROWS_H

#include "perfex.h"

/* Appends the words of a list.  The words are checked later, when they are parsed as events. */
void take_list(void *list, const struct option_row *row, const char *text);
/* Appends the names of groups that the list lacks: a group that is named twice is meant once. */
void take_groups(void *list, const struct option_row *row, const char *text);
/* Sets a const char * to the name of a backend.  Ends perfex if no backend has this name. */
void take_backend(void *backend, const struct option_row *row, const char *name);

/* list: offset of a struct word_list */
#define EVENT_LIST_ROW(list, help_) CALL_AT(list, "event", 'e', "EVENT", help_, take_list, 0)
#define GROUP_LIST_ROW(list, help_) CALL_AT(list, "group", 'g', "GROUP", help_, take_groups, 0)
/* backend: offset of a const char * */
#define BACKEND_ROW(backend)                                                                       \
	CALL_AT(backend, "backend", 0, "NAME",                                                     \
		"count by NAME: patch, bpf or perf_events, see perfex info", take_backend, 0)
/*
 * modes: offset of an unsigned int; chosen: offset of a const char *, the name of the option given
 */
#define MODE_ROW(modes, chosen, name_, help_, mode_)                                               \
	CHOICE_AT(modes, chosen, name_, 0, help_, mode_)
/* user_, kernel_ and both_ are string literals that end the three help texts. */
#define MODE_ROWS(modes, chosen, user_, kernel_, both_)                                            \
	MODE_ROW(modes, chosen, "user", "count in user mode unless EVENT says otherwise" user_,    \
		 PERFCTR_MODE_USER),                                                               \
		MODE_ROW(modes, chosen, "kernel", "count in kernel mode" kernel_,                  \
			 PERFCTR_MODE_KERNEL),                                                     \
		MODE_ROW(modes, chosen, "both", "count in both modes" both_, PERFCTR_MODE_BOTH)

#endif
