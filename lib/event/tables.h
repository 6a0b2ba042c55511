/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of events, perfctr_events(5), and what holds them: struct perfctr_events.
 */
#ifndef PERFCTR_TABLES_H
#define PERFCTR_TABLES_H

#include "../line.h"
#include "../pmu/machine.h"

struct table_entry {
	enum table_kind {
		TABLE_EVENT,
		TABLE_UMASK,	/* of the event before it */
		TABLE_ALIAS,	/* name stands for text */
		TABLE_COUNTERS, /* which counters have events whose code & mask == code */
		TABLE_REPLAY,	/* what the unit mask of a NetBurst replay event tags */
		TABLE_ESCR,	/* which routes, and so counters, have the event */
	} kind;
	const char *name;
	uint64_t code;	/* bits of evntsel; of a unit mask: its 8 bits; else see kind */
	uint64_t code2; /* bits of evntsel2; replay: MSR_PEBS_MATRIX_VERT */
	uint64_t mask;	/* TABLE_COUNTERS */
	uint64_t general, fixed;
	bool chosen;  /* TABLE_UMASK: part of the event when none is named */
	int duration; /* as perfctr_event_entry.duration */
	/* "ADDRESS[|ADDRESS]=VALUE": a register that selects what the code does not; or NULL */
	const char *further;
	const char *text;   /* description, or what an alias stands for */
	const char *source; /* a path, or "built in FILE" */
};

/*
 * The events of a machine.  A copy with another info, that of one kind of its cores, has the same
 * tables.
 */
struct perfctr_events {
	struct perfctr_pmu_info info;
	const char *backend; /* whose info it is; NULL: not known */
	struct tables *tables;
	struct tables *linux_tables; /* what the kernel's source says of this processor */
};

/*
 * Calls visit for all entries that hold for the machine, those of the user first, until it returns
 * other than 0, and returns that.  The entries stay until the events are closed.  -1 with errno
 * EINVAL and a line: a table is malformed.
 */
int perfctr_tables_visit(struct perfctr_events *events,
			 int (*visit)(const struct table_entry *entry, void *arg), void *arg,
			 const struct line *line);

/* The same of the table that linux.h names; there are no entries where there is none. */
int perfctr_tables_visit_linux(struct perfctr_events *events,
			       int (*visit)(const struct table_entry *entry, void *arg), void *arg,
			       const struct line *line);

#endif
