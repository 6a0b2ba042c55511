// SPDX-License-Identifier: LGPL-2.1-or-later
/* Resolves names of events: by the tables, then by the kernel's source, then by libpfm4. */
#define _GNU_SOURCE
#include "names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "libpfm.h"
#include "tables.h"

#define MAX_PARTS 32
#define MAX_ALIASES 4 /* the longest chain of aliases */
#define NAME_SIZE 512

/* "event:umask:u", split at each ':'. */
struct parts {
	char text[NAME_SIZE];
	char *part[MAX_PARTS];
	unsigned int n;
	uint32_t used; /* bit i: part[i] has been understood */
};

static int split_name(const char *name, struct parts *parts, const struct line *line)
{
	char *rest = parts->text, *part;

	parts->n = 0;
	parts->used = 0;
	if (strlen(name) >= sizeof(parts->text))
		return perfctr_line_refuse(line, EINVAL, "the name of an event is too long");
	strcpy(parts->text, name);
	/* libpfm4 accepts both as separators. */
	while ((part = strsep(&rest, ":."))) {
		if (!*part)
			return perfctr_line_refuse(line, EINVAL,
						   "there is nothing between two ':'");
		if (parts->n == MAX_PARTS)
			return perfctr_line_refuse(line, EINVAL, "more than %d parts between ':'",
						   MAX_PARTS);
		parts->part[parts->n++] = part;
	}
	return 0;
}

/*
 * Returns how many parts name covers, which is 2 for "EVENT:UMASK".  0: the parts do not begin with
 * name.
 */
static unsigned int match_parts(const struct parts *parts, const char *name)
{
	unsigned int n = 0;

	for (;;) {
		size_t length = strcspn(name, ":.");

		if (n == parts->n || strlen(parts->part[n]) != length ||
		    strncasecmp(parts->part[n], name, length))
			return 0;
		n++;
		if (!name[length])
			return n;
		name += length + 1;
	}
}

struct lookup {
	const struct perfctr_pmu_info *info;
	struct parts *parts;
	struct event *event;
	bool found;
	bool umask_named;
	uint64_t chosen;       /* unit masks to use if the user names none */
	const char *further;   /* as in struct table_entry */
	char alias[NAME_SIZE]; /* what the alias stands for; empty: it is no alias */
	char umasks[256];      /* names of unit masks, for refusals */
};

static void use_umask(struct lookup *lookup, const struct table_entry *entry)
{
	struct parts *parts = lookup->parts;
	unsigned int shift = perfctr_machine_family(lookup->info)->umask_shift;
	size_t length = strlen(lookup->umasks);

	snprintf(lookup->umasks + length, sizeof(lookup->umasks) - length, "%s%s",
		 length ? ", " : "", entry->name);
	if (entry->chosen)
		lookup->chosen |= entry->code << shift;
	for (unsigned int i = 0; i < parts->n; i++) {
		if (parts->used >> i & 1 || strcasecmp(parts->part[i], entry->name))
			continue;
		parts->used |= 1u << i;
		lookup->umask_named = true;
		lookup->event->evntsel |= entry->code << shift;
	}
}

static int look_up(const struct table_entry *entry, void *arg)
{
	struct lookup *lookup = arg;
	unsigned int n;

	if (lookup->found) {
		if (entry->kind != TABLE_UMASK)
			return 1;
		use_umask(lookup, entry);
		return 0;
	}
	if (entry->kind != TABLE_EVENT && entry->kind != TABLE_ALIAS)
		return 0;
	n = match_parts(lookup->parts, entry->name);
	if (!n)
		return 0;
	lookup->found = true;
	lookup->parts->used |= (1u << n) - 1;
	if (entry->kind == TABLE_ALIAS) {
		snprintf(lookup->alias, sizeof(lookup->alias), "%s", entry->text);
		return 1;
	}
	lookup->event->evntsel |= entry->code;
	lookup->event->evntsel2 |= entry->code2;
	lookup->event->general = entry->general;
	lookup->event->fixed = entry->fixed;
	lookup->further = entry->further;
	return 0;
}

static int refuse_further(const char *further, const struct line *line)
{
	const char *value = strchr(further, '=');
	const char *bar = strchr(further, '|');
	int length = (int)((bar ? bar : value) - further);

	return perfctr_line_refuse(
		line, ENOTSUP,
		"it needs the value %s in a further register, %.*s%s%.*s, which perfctr does not set; "
		"perf stat counts it",
		value + 1, length, further, bar ? " or " : "", bar ? (int)(value - bar) - 1 : 0,
		bar ? bar + 1 : "");
}

/* Reads the parts of the name that the tables have not used.  They can only be modifiers. */
static int read_modifiers(struct lookup *lookup, const struct line *line)
{
	const struct parts *parts = lookup->parts;

	for (unsigned int i = 0; i < parts->n; i++) {
		if (parts->used >> i & 1 ||
		    perfctr_modifier_read(lookup->info, parts->part[i], lookup->event))
			continue;
		return perfctr_line_refuse(line, EINVAL,
					   "no unit mask or modifier '%s'; its unit masks: %s; "
					   "its modifiers: %s",
					   parts->part[i],
					   *lookup->umasks ? lookup->umasks : "none",
					   perfctr_modifier_list(lookup->info));
	}
	return 0;
}

/* Replaces an alias by its text, followed by the remaining parts of the name. */
static int expand_alias(const struct parts *parts, const char *alias, char *name,
			const struct line *line)
{
	size_t length;

	snprintf(name, NAME_SIZE, "%s", alias);
	for (unsigned int i = 0; i < parts->n; i++) {
		length = strlen(name);
		if (parts->used >> i & 1)
			continue;
		if ((size_t)snprintf(name + length, NAME_SIZE - length, ":%s", parts->part[i]) >=
		    NAME_SIZE - length)
			return perfctr_line_refuse(line, EINVAL, "alias '%s' is too long", alias);
	}
	return 0;
}

/*
 * On a machine with routes: the properties of an event that libpfm4's register values do not
 * contain.
 */
struct routing {
	const struct parts *parts;
	struct event *event;
	bool routed, replays;
	char tags[256]; /* names of tags, for a refusal */
};

static void add_tag(struct routing *routing, const struct table_entry *entry)
{
	const struct parts *parts = routing->parts;
	size_t length = strlen(routing->tags);

	snprintf(routing->tags + length, sizeof(routing->tags) - length, "%s%s", length ? ", " : "",
		 entry->name);
	for (unsigned int i = 1; i < parts->n; i++) {
		if (strcasecmp(parts->part[i], entry->name))
			continue;
		routing->event->p4_pebs_enable |= entry->code;
		routing->event->p4_pebs_matrix_vert |= entry->code2;
	}
}

static int route_event(const struct table_entry *entry, void *arg)
{
	struct routing *routing = arg;

	if (entry->kind == TABLE_ESCR && !routing->routed &&
	    strcasecmp(routing->parts->part[0], entry->name) == 0) {
		routing->routed = true;
		routing->event->general = entry->general;
	}
	if (entry->kind == TABLE_REPLAY && routing->replays)
		add_tag(routing, entry);
	return 0;
}

static int resolve_routes(struct perfctr_events *events, const struct parts *parts,
			  struct event *event, const struct line *line)
{
	struct routing routing = {
		.parts = parts,
		.event = event,
		.replays = strcasecmp(parts->part[0], "replay_event") == 0,
	};

	if (perfctr_tables_visit(events, route_event, &routing, line) < 0)
		return -1;
	if (routing.replays && !event->p4_pebs_enable)
		return perfctr_line_refuse(
			line, ENOTSUP,
			"replay_event counts nothing without what it tags: give one of %s",
			routing.tags);
	return 0;
}

/* Reads the modes, and leaves the rest to libpfm4. */
static int resolve_by_libpfm(struct perfctr_events *events, struct parts *parts,
			     struct event *event, const struct line *line)
{
	const struct perfctr_pmu_info *info = &events->info;
	struct event modes = { 0 };
	char name[NAME_SIZE];
	size_t length = 0;

	for (unsigned int i = 0; i < parts->n; i++) {
		struct event modifier = { 0 };

		if (i && perfctr_modifier_read(info, parts->part[i], &modifier) && modifier.modes) {
			modes.modes |= modifier.modes;
			continue;
		}
		length += (size_t)snprintf(name + length, sizeof(name) - length, "%s%s",
					   i ? ":" : "", parts->part[i]);
	}
	if (perfctr_libpfm_encode(info, name, &event->evntsel, &event->evntsel2, line) < 0)
		return -1;
	event->modes |= modes.modes;
	event->general = perfctr_machine_general(info);
	return perfctr_machine_routes(info) ? resolve_routes(events, parts, event, line) : 0;
}

static int refuse_pmu(const struct perfctr_pmu_info *info, const char *pmu, const struct line *line)
{
	const char *other;

	perfctr_line_refuse(line, EINVAL, "this machine has no PMU '%s'; it has: %s", pmu,
			    perfctr_machine_family(info)->name);
	for (unsigned int i = 0; (other = perfctr_libpfm_pmu(info, i)); i++)
		perfctr_line_add(line, ", %s", other);
	return -1;
}

/* Moves *name behind "pmu::".  Refuses a PMU that this machine does not have. */
static int skip_pmu(const struct perfctr_pmu_info *info, const char **name, const struct line *line)
{
	const char *end = strstr(*name, "::"), *other;
	char pmu[64];

	if (!end)
		return 0;
	snprintf(pmu, sizeof(pmu), "%.*s", (int)(end - *name), *name);
	*name = end + 2;
	if (strcasecmp(pmu, perfctr_machine_family(info)->name) == 0 ||
	    strcasecmp(pmu, "perf") == 0)
		return 0;
	for (unsigned int i = 0; (other = perfctr_libpfm_pmu(info, i)); i++)
		if (strcasecmp(pmu, other) == 0)
			return 0;
	return refuse_pmu(info, pmu, line);
}

struct linux_lookup {
	struct lookup lookup;
	const char *name;
	size_t length; /* of the name without modifiers */
};

/* Compares whole names: some of the kernel's names are prefixes of others. */
static int look_up_linux(const struct table_entry *entry, void *arg)
{
	struct linux_lookup *wanted = arg;

	if (strlen(entry->name) != wanted->length ||
	    strncasecmp(entry->name, wanted->name, wanted->length) != 0)
		return 0;
	look_up(entry, &wanted->lookup);
	return 1;
}

static int resolve_by_linux(struct perfctr_events *events, const char *name, struct parts *parts,
			    struct event *event, const struct line *line)
{
	struct event found = *event;
	struct linux_lookup wanted = {
		.lookup = { .info = &events->info, .parts = parts, .event = &found },
		.name = name,
		.length = strcspn(name, ":"),
	};

	parts->used = 0;
	if (perfctr_tables_visit_linux(events, look_up_linux, &wanted, line) < 0)
		return -1;
	if (!wanted.lookup.found) {
		errno = ENOENT;
		return -1;
	}
	if (wanted.lookup.further)
		return refuse_further(wanted.lookup.further, line);
	if (read_modifiers(&wanted.lookup, line) < 0)
		return -1;
	*event = found;
	return 0;
}

/*
 * Asks the kernel's source first, as libpfm4 does not know the counters and further registers that
 * an event needs.  If neither knows the name, the kernel's source determines the error.
 */
static int resolve_by_others(struct perfctr_events *events, const char *name, struct parts *parts,
			     struct event *event, const struct line *line)
{
	if (resolve_by_linux(events, name, parts, event, line) == 0)
		return 0;
	if (errno == ENOTSUP)
		return -1;
	if (resolve_by_libpfm(events, parts, event, line) == 0)
		return 0;
	return errno == ENOENT ? resolve_by_linux(events, name, parts, event, line) : -1;
}

static int resolve_in_tables(struct perfctr_events *events, const char *name, unsigned int aliases,
			     struct event *event, const struct line *line)
{
	struct parts parts;
	struct lookup lookup = { .info = &events->info, .parts = &parts, .event = event };
	char expanded[NAME_SIZE];

	if (split_name(name, &parts, line) < 0)
		return -1;
	if (perfctr_tables_visit(events, look_up, &lookup, line) < 0)
		return -1;
	if (!lookup.found)
		return resolve_by_others(events, name, &parts, event, line);
	if (lookup.further)
		return refuse_further(lookup.further, line);
	if (*lookup.alias) {
		if (aliases == MAX_ALIASES)
			return perfctr_line_refuse(line, EINVAL,
						   "by the tables it stands for itself");
		if (expand_alias(&parts, lookup.alias, expanded, line) < 0)
			return -1;
		return resolve_in_tables(events, expanded, aliases + 1, event, line);
	}
	if (!lookup.umask_named)
		event->evntsel |= lookup.chosen;
	return read_modifiers(&lookup, line);
}

int perfctr_name_resolve(struct perfctr_events *events, const char *name, struct event *event,
			 const struct line *line)
{
	if (skip_pmu(&events->info, &name, line) < 0)
		return -1;
	if (resolve_in_tables(events, name, 0, event, line) == 0)
		return 0;
	if (errno == ENOENT) {
		perfctr_line_refuse(line, ENOENT, "this machine has no such event");
		perfctr_name_suggest(events, name, line);
		errno = ENOENT;
	}
	return -1;
}

static int restrict_counters(const struct table_entry *entry, void *arg)
{
	struct event *event = arg;

	if (entry->kind != TABLE_COUNTERS || (event->evntsel & entry->mask) != entry->code)
		return 0;
	/*
	 * A rule that contradicts the event's own entry, which may be one of the kernel's,
	 * overrides it.
	 */
	event->general &= entry->general;
	if (!event->general)
		event->general = entry->general;
	event->fixed = entry->fixed;
	return 1;
}

int perfctr_name_restrict(struct perfctr_events *events, struct event *event,
			  const struct line *line)
{
	return perfctr_tables_visit(events, restrict_counters, event, line) < 0 ? -1 : 0;
}
