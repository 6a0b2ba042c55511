// SPDX-License-Identifier: LGPL-2.1-or-later
/* All events of a machine. */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libpfm.h"
#include "software.h"
#include "tables.h"

/* A line "counters" or "escr" of the tables: it holds for events of libpfm4 too. */
struct rule {
	struct rule *next;
	enum table_kind kind;
	char *name; /* "escr" */
	uint64_t code, mask, general, fixed;
};

struct visit {
	const struct perfctr_pmu_info *info;
	const char *pattern;
	int (*visit)(const struct perfctr_event_entry *entry, void *arg);
	void *arg;
	void *names; /* tsearch(3): those that were visited; a name counts once */
	struct perfctr_event_entry event; /* the last one of a table */
	char *name;			  /* event.name */
	bool wanted;			  /* the last event is */
	struct rule *rules, **last_rule;  /* in the order of the tables */
	uint64_t general, fixed;	  /* of the last event of libpfm4 */
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

/* Is it new, and asked for?  Then its name is kept, in visit->name. */
static bool is_wanted(struct visit *visit, const char *name)
{
	char *copy;

	if (!matches_pattern(visit->pattern, name) || tfind(name, &visit->names, compare_names))
		return false;
	copy = strdup(name);
	if (!copy || !tsearch(copy, &visit->names, compare_names)) {
		free(copy);
		return false;
	}
	visit->name = copy;
	return true;
}

static void keep_rule(struct visit *visit, const struct table_entry *entry)
{
	struct rule *rule = malloc(sizeof(*rule));

	if (!rule)
		return;
	*rule = (struct rule){
		.kind = entry->kind,
		.name = entry->name ? strdup(entry->name) : NULL,
		.code = entry->code,
		.mask = entry->mask,
		.general = entry->general,
		.fixed = entry->fixed,
	};
	*visit->last_rule = rule;
	visit->last_rule = &rule->next;
}

static void apply_rules(struct visit *visit, const struct perfctr_event_entry *entry)
{
	visit->general = entry->general;
	visit->fixed = 0;
	for (const struct rule *rule = visit->rules; rule; rule = rule->next) {
		if (rule->kind == TABLE_ESCR ? !rule->name || strcasecmp(rule->name, entry->name)
					     : (entry->code & rule->mask) != rule->code)
			continue;
		visit->general &= rule->general;
		visit->fixed = rule->fixed;
		return;
	}
}

static void free_rules(struct rule *rule)
{
	while (rule) {
		struct rule *next = rule->next;

		free(rule->name);
		free(rule);
		rule = next;
	}
}

static int visit_table(const struct table_entry *entry, void *arg)
{
	struct visit *visit = arg;
	struct perfctr_event_entry event = {
		.name = entry->name,
		.code = entry->code,
		.general = entry->general,
		.fixed = entry->fixed,
		.duration = entry->duration,
		.source = entry->source,
		.description = entry->text,
	};
	char description[256];

	switch (entry->kind) {
	case TABLE_EVENT:
		visit->wanted = is_wanted(visit, entry->name);
		event.name = visit->name;
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
		event.code = entry->code << perfctr_machine_family(visit->info)->umask_shift;
		event.description = entry->text;
		break;
	case TABLE_COUNTERS:
	case TABLE_ESCR:
		keep_rule(visit, entry);
		return 0;
	default:
		return 0;
	}
	return visit->wanted ? visit->visit(&event, visit->arg) : 0;
}

static int visit_libpfm(const struct perfctr_event_entry *entry, void *arg)
{
	struct perfctr_event_entry event = *entry;
	struct visit *visit = arg;

	if (!entry->umask) {
		visit->wanted = is_wanted(visit, entry->name);
		apply_rules(visit, entry);
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

int perfctr_events_visit(const struct perfctr_pmu_info *info, const char *pattern,
			 int (*visit)(const struct perfctr_event_entry *entry, void *arg),
			 void *arg)
{
	struct visit state = { .info = info, .pattern = pattern, .visit = visit, .arg = arg };
	struct line none = { 0 };
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
	state.last_rule = &state.rules;
	status = perfctr_tables_visit(info, visit_table, &state, &none);
	if (!status)
		status = perfctr_libpfm_visit(info, visit_libpfm, &state);
	tdestroy(state.names, free);
	free_rules(state.rules);
	return status;
}
