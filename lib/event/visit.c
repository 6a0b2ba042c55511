// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lists all events of a machine. */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <search.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "libpfm.h"
#include "software.h"
#include "tables.h"

struct visit {
	struct perfctr_events *events;
	const char *pattern;
	int (*visit)(const struct perfctr_event_entry *entry, void *arg);
	void *arg;
	void *names; /* tsearch(3): names visited so far; each is visited once */
	struct perfctr_event_entry event; /* the last event */
	bool wanted;			  /* is the last event wanted? */
	uint64_t general, fixed;	  /* of the last event of libpfm4 */
	char linux_source[64];		  /* of the last event of the kernel's tables */
};

static int compare_names(const void *a, const void *b)
{
	return strcasecmp(a, b);
}

static bool matches_pattern(const char *pattern, const char *name)
{
	if (!pattern)
		return true;
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
	return strcasestr(name, pattern);
}

/*
 * Is the name new, and does it match the pattern?  The set keeps the pointer: names stay valid as
 * long as the tables and libpfm4.
 */
static bool is_wanted(struct visit *visit, const char *name)
{
	return matches_pattern(visit->pattern, name) &&
	       !tfind(name, &visit->names, compare_names) &&
	       tsearch(name, &visit->names, compare_names);
}

static void keep_name(void *name)
{
	(void)name;
}

static bool rule_holds(const struct table_entry *rule, const struct visit *visit)
{
	switch (rule->kind) {
	case TABLE_COUNTERS:
		return (visit->event.code & rule->mask) == rule->code;
	case TABLE_ESCR:
		return strcasecmp(rule->name, visit->event.name) == 0;
	default:
		return false;
	}
}

/*
 * Applies the first line "counters" or "escr" of the tables that matches the last event of libpfm4.
 */
static int apply_rule(const struct table_entry *rule, void *arg)
{
	struct visit *visit = arg;

	if (!rule_holds(rule, visit))
		return 0;
	visit->general &= rule->general;
	visit->fixed = rule->fixed;
	return 1;
}

static int visit_table(const struct table_entry *entry, void *arg)
{
	struct visit *visit = arg;
	unsigned int umask_shift = perfctr_machine_family(&visit->events->info)->umask_shift;
	struct perfctr_event_entry event = {
		.name = entry->name,
		.code = entry->code,
		.general = entry->general,
		.fixed = entry->fixed,
		.duration = entry->duration,
		.further = entry->further,
		.source = entry->source,
		.description = entry->text,
	};
	char description[256];

	switch (entry->kind) {
	case TABLE_EVENT:
		visit->wanted = is_wanted(visit, entry->name);
		visit->event = event;
		break;
	case TABLE_ALIAS:
		visit->wanted = is_wanted(visit, entry->name);
		snprintf(description, sizeof(description), "Stands for %s", entry->text);
		event.description = description;
		break;
	case TABLE_UMASK:
		event = visit->event;
		event.umask = entry->name;
		event.code = entry->code << umask_shift;
		event.description = entry->text;
		break;
	default:
		return 0;
	}
	return visit->wanted ? visit->visit(&event, visit->arg) : 0;
}

/*
 * Visits an entry of the kernel's table.  Its source is the table's name, just as the source of an
 * event of libpfm4 is the name of the PMU.
 */
static int visit_linux(const struct table_entry *entry, void *arg)
{
	struct table_entry named = *entry;
	const char *slash = strrchr(entry->source, '/');
	struct visit *visit = arg;

	snprintf(visit->linux_source, sizeof(visit->linux_source), "Linux %s",
		 slash ? slash + 1 : entry->source);
	visit->linux_source[strcspn(visit->linux_source, ".")] = '\0';
	named.source = visit->linux_source;
	return visit_table(&named, arg);
}

static int visit_libpfm(const struct perfctr_event_entry *entry, void *arg)
{
	struct perfctr_event_entry event = *entry;
	const struct line none = { 0 };
	struct visit *visit = arg;

	if (!entry->umask) {
		visit->wanted = is_wanted(visit, entry->name);
		visit->event = event;
		visit->general = entry->general;
		visit->fixed = 0;
		if (visit->wanted)
			perfctr_tables_visit(visit->events, apply_rule, visit, &none);
	}
	event.general = visit->general;
	event.fixed = visit->fixed;
	return visit->wanted ? visit->visit(&event, visit->arg) : 0;
}

static int visit_software(const struct perfctr_event_entry *entry, void *arg)
{
	struct visit *visit = arg;

	return matches_pattern(visit->pattern, entry->name) ? visit->visit(entry, visit->arg) : 0;
}

int perfctr_events_list(struct perfctr_events *events, const char *pattern,
			int (*visit)(const struct perfctr_event_entry *entry, void *arg), void *arg)
{
	struct visit state = { .events = events, .pattern = pattern, .visit = visit, .arg = arg };
	const struct perfctr_pmu_info *info = &events->info;
	const struct line none = { 0 };
	int status;

	if (info->features & PERFCTR_FEATURE_SOFTWARE) {
		status = perfctr_software_visit(visit_software, &state);
		if (status || !perfctr_machine_family(info))
			return status;
	}
	if (!perfctr_machine_family(info)) {
		errno = ENODEV;
		return -1;
	}
	status = perfctr_tables_visit(events, visit_table, &state, &none);
	if (!status)
		status = perfctr_libpfm_visit(info, visit_libpfm, &state);
	if (!status)
		status = perfctr_tables_visit_linux(events, visit_linux, &state, &none);
	tdestroy(state.names, keep_name);
	return status;
}

int perfctr_events_list_once(const struct perfctr_pmu_info *info, const char *pattern,
			     int (*visit)(const struct perfctr_event_entry *entry, void *arg),
			     void *arg)
{
	struct perfctr_events *events = perfctr_events_open(info);
	int status = events ? perfctr_events_list(events, pattern, visit, arg) : -1;
	int error = errno;

	perfctr_events_close(events);
	errno = error;
	return status;
}
