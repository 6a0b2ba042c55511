/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of events (perfctr_events(5)), and struct perfctr_events, which holds them. */
#ifndef PERFCTR_TABLES_H
#define PERFCTR_TABLES_H

#include "../line.h"
#include "../pmu/machine.h"

struct table_entry {
	enum table_kind {
		TABLE_EVENT,
		TABLE_UMASK,	/* a unit mask of the event before it */
		TABLE_ALIAS,	/* the name stands for the text */
		TABLE_COUNTERS, /* counters of the events with evntsel & mask == code */
		TABLE_REPLAY,	/* the tag of a unit mask of NetBurst's replay event */
		TABLE_ESCR,	/* the counters to which the event's routes lead */
	} kind;
	const char *name;
	uint64_t code;	/* bits of evntsel; of a unit mask: its 8 bits; else see kind */
	uint64_t code2; /* bits of evntsel2; replay: MSR_PEBS_MATRIX_VERT */
	uint64_t mask;	/* TABLE_COUNTERS */
	uint64_t general, fixed;
	bool chosen;  /* TABLE_UMASK: applies if the user names no unit mask */
	int duration; /* as perfctr_event_entry.duration */
	/* "ADDRESS[|ADDRESS]=VALUE": a further register that the event needs; NULL: none */
	const char *further;
	const char *text;   /* description, or the text of an alias */
	const char *source; /* a path, or "built in FILE" */
};

/* The events of a machine.  A copy with the info of one kind of core shares the tables. */
struct perfctr_events {
	struct perfctr_pmu_info info;
	const char *backend; /* the backend that gave info; NULL: not known */
	struct tables *tables;
	struct tables *linux_tables; /* the kernel's events of this processor */
};

/*
 * Calls visit for each entry that applies to the machine, the user's entries first, until visit
 * returns something else than 0, and returns that.  The strings of an entry stay valid until the
 * events are closed, the entry itself only during the call.  -1 with a line and errno EINVAL: a
 * table is malformed or unreadable; or ENOMEM.
 */
int perfctr_tables_visit(struct perfctr_events *events,
			 int (*visit)(const struct table_entry *entry, void *arg), void *arg,
			 const struct line *line);

/*
 * Does the same for the table that perfctr_linux_table() finds.  Without a table there are no
 * entries.
 */
int perfctr_tables_visit_linux(struct perfctr_events *events,
			       int (*visit)(const struct table_entry *entry, void *arg), void *arg,
			       const struct line *line);

#endif
