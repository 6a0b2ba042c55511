// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds names for register values: encodes every name of the machine, and combines the names of an
 * event and of its unit masks that together make up the register values.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "tables.h"

/*
 * A name, "EVENT" or "EVENT:UMASK", and its encoding.  The unit masks of an event follow the event.
 */
struct code {
	char *name;
	bool is_umask, is_known;
	bool is_tagged; /* needs a replay tag, which is not in the registers */
	uint64_t evntsel, evntsel2, general;
};

struct codes {
	struct perfctr_events *events;
	unsigned int modes;
	struct code *code;
	size_t n, room;
	bool no_memory;
	const char *tag; /* the name of any replay tag; NULL: there are none */
};

/* The register values to name, the bits of them that identify the event, and the counters. */
struct wanted {
	const struct perfctr_event_control *event;
	uint64_t bits, bits2; /* of evntsel and evntsel2 that identify the event */
	uint64_t general;
};

static int take_entry(const struct perfctr_event_entry *entry, void *arg)
{
	struct codes *codes = arg;
	char name[PERFCTR_REQUEST_NAME];

	/* Skips software events and aliases. */
	if ((!entry->general && !entry->fixed) || !strncmp(entry->description, "Stands for ", 11))
		return 0;
	if (codes->n == codes->room) {
		size_t room = codes->room ? 2 * codes->room : 256;
		void *grown = reallocarray(codes->code, room, sizeof(*codes->code));

		if (!grown)
			goto no_memory;
		codes->code = grown;
		codes->room = room;
	}
	snprintf(name, sizeof(name), "%s%s%s", entry->name, entry->umask ? ":" : "",
		 entry->umask ? entry->umask : "");
	codes->code[codes->n] = (struct code){ .name = strdup(name), .is_umask = entry->umask };
	if (codes->code[codes->n].name) {
		codes->n++;
		return 0;
	}
no_memory:
	codes->no_memory = true;
	return 1;
}

static int take_tag(const struct table_entry *entry, void *arg)
{
	struct codes *codes = arg;

	if (entry->kind != TABLE_REPLAY)
		return 0;
	codes->tag = entry->name;
	return 1;
}

static bool parse_name(const struct codes *codes, const char *name, struct perfctr_request *request)
{
	char error[128];

	return perfctr_events_parse(codes->events, name, codes->modes, request, error,
				    sizeof(error)) == 0;
}

/* Must not be called during a visit of the tables, because it visits them itself. */
static void encode_name(const struct codes *codes, struct code *code)
{
	struct perfctr_request request;
	char tagged[PERFCTR_REQUEST_NAME];

	code->is_known = parse_name(codes, code->name, &request);
	if (!code->is_known && errno == ENOTSUP && codes->tag) {
		snprintf(tagged, sizeof(tagged), "%s:%s", code->name, codes->tag);
		code->is_known = code->is_tagged = parse_name(codes, tagged, &request);
	}
	if (!code->is_known)
		return;
	code->evntsel = request.evntsel;
	code->evntsel2 = request.evntsel2;
	code->general = request.general;
}

static bool collect_codes(struct codes *codes)
{
	const struct line none = { 0 };

	if (perfctr_events_list(codes->events, NULL, take_entry, codes) < 0 || codes->no_memory)
		return false;
	if (perfctr_tables_visit(codes->events, take_tag, codes, &none) < 0)
		return false;
	for (size_t i = 0; i < codes->n; i++)
		encode_name(codes, &codes->code[i]);
	return true;
}

static void free_codes(struct codes *codes)
{
	for (size_t i = 0; i < codes->n; i++)
		free(codes->code[i].name);
	free(codes->code);
}

/*
 * Are all identifying bits of code also in the registers, and has code a counter in common with
 * them?
 */
static bool is_part(const struct wanted *wanted, const struct code *code)
{
	return code->is_known && code->general & wanted->general &&
	       !(code->evntsel & wanted->bits & ~wanted->event->evntsel) &&
	       !(code->evntsel2 & wanted->bits2 & ~wanted->event->evntsel2);
}

/*
 * Returns the number of identifying bits that code has and found, a pair of evntsel and evntsel2,
 * lacks.
 */
static int new_bits(const struct wanted *wanted, const struct code *code, const uint64_t found[2])
{
	return __builtin_popcountll(code->evntsel & wanted->bits & ~found[0]) +
	       __builtin_popcountll(code->evntsel2 & wanted->bits2 & ~found[1]);
}

static bool is_whole(const struct wanted *wanted, const uint64_t found[2])
{
	return !((found[0] ^ wanted->event->evntsel) & wanted->bits) &&
	       !((found[1] ^ wanted->event->evntsel2) & wanted->bits2);
}

/*
 * Combines the names of as many of the n codes as make up the registers' identifying bits.  Next
 * comes the code that adds most bits.  False: the codes do not make up the bits.
 */
static bool compose_name(const struct wanted *wanted, const struct code *code, size_t n, char *name,
			 size_t size)
{
	const struct line line = { name, size };
	uint64_t found[2] = { 0 };

	*name = '\0';
	for (;;) {
		const struct code *best = NULL;

		for (size_t i = 0; i < n; i++)
			if (is_part(wanted, &code[i]) &&
			    (!*name || new_bits(wanted, &code[i], found)) &&
			    (!best ||
			     new_bits(wanted, &code[i], found) > new_bits(wanted, best, found)))
				best = &code[i];
		if (!best)
			return false;
		perfctr_line_add(&line, "%s", *name ? strchr(best->name, ':') : best->name);
		found[0] |= best->evntsel;
		found[1] |= best->evntsel2;
		if (is_whole(wanted, found))
			return true;
	}
}

/*
 * Names the registers by an event alone, or by its unit masks.  code[0] is the event, and the unit
 * masks follow; n codes in all.
 */
static bool name_event(const struct wanted *wanted, const struct code *code, size_t n, char *name,
		       size_t size)
{
	return compose_name(wanted, code, 1, name, size) ||
	       compose_name(wanted, code + 1, n - 1, name, size);
}

/*
 * Appends the modifiers and modes that set the other fields.  True: the name now stands for exactly
 * these registers, apart from bits that enable.
 */
static bool complete_name(const struct codes *codes, const struct wanted *wanted, char *name,
			  size_t size)
{
	static const char *const modes[] = { "", ":u", ":k", ":uk" };
	const struct perfctr_pmu_info *info = &codes->events->info;
	const struct perfctr_event_control *event = wanted->event;
	uint64_t enable = info->evntsel_required | perfctr_machine_enable_first(info);
	struct code code = { .name = name };

	encode_name(codes, &code);
	perfctr_modifier_write(info, event->evntsel & ~code.evntsel, &(struct line){ name, size });
	if (perfctr_machine_has_modes(info))
		perfctr_line_add(
			&(struct line){ name, size }, "%s",
			modes[perfctr_machine_modes(info, event->evntsel, event->evntsel2)]);
	encode_name(codes, &code);
	return code.is_known && !code.is_tagged && !((code.evntsel ^ event->evntsel) & ~enable) &&
	       code.evntsel2 == event->evntsel2;
}

/* Returns the number of codes of the event that begins at code[i]. */
static size_t codes_of_event(const struct codes *codes, size_t i)
{
	size_t n = 1;

	while (i + n < codes->n && codes->code[i + n].is_umask)
		n++;
	return n;
}

/* 0: text names exactly these registers; 1: text names their event only; -1: they have no name. */
static int find_name(const struct codes *codes, const struct wanted *wanted, char *text,
		     size_t size)
{
	char name[PERFCTR_REQUEST_NAME];
	int status = -1;

	for (size_t i = 0, n; i < codes->n; i += n) {
		n = codes_of_event(codes, i);
		if (!name_event(wanted, &codes->code[i], n, name, sizeof(name)))
			continue;
		if (complete_name(codes, wanted, name, sizeof(name))) {
			snprintf(text, size, "%s", name);
			return 0;
		}
		if (status < 0)
			snprintf(text, size, "%s", name);
		status = 1;
	}
	return status;
}

/* Do code and the registers have the same event select, on any counter? */
static bool is_selected(const struct codes *codes, const struct wanted *wanted,
			const struct code *code)
{
	uint64_t select = perfctr_machine_family(&codes->events->info)->select_bits2;

	return code->is_known && !((code->evntsel2 ^ wanted->event->evntsel2) & select);
}

static bool is_on_counter(const struct wanted *wanted, const struct code *code)
{
	return code->general & wanted->general &&
	       !((code->evntsel ^ wanted->event->evntsel) & wanted->bits);
}

/*
 * Refuses registers that select an event but have unit masks too many, or none.  False: they select
 * no event on this counter.
 */
static bool refuse_umasks(const struct codes *codes, const struct wanted *wanted,
			  const struct line *line)
{
	const struct family *family = perfctr_machine_family(&codes->events->info);
	uint64_t all = family->umask_bits2, known = 0;
	const char *name = NULL;
	int length = 0;

	for (size_t i = 0; i < codes->n; i++) {
		const struct code *code = &codes->code[i];

		if (!is_selected(codes, wanted, code) || !is_on_counter(wanted, code))
			continue;
		known |= code->evntsel2;
		name = code->name;
		length = (int)strcspn(name, ":");
	}
	if (!name)
		return false;
	if (wanted->event->evntsel2 & all & ~known)
		perfctr_line_refuse(line, ENOENT,
				    "%.*s has no unit masks for the bits 0x%llx of the %s", length,
				    name,
				    (unsigned long long)(wanted->event->evntsel2 & all & ~known),
				    family->evntsel2.name);
	else
		perfctr_line_refuse(line, ENOENT, "%.*s counts nothing without a unit mask", length,
				    name);
	perfctr_line_add(line, "; perfctr_events_list_once(%.*s) shows them", length, name);
	return true;
}

static void add_routes(const struct routes *routes, const struct code *code,
		       const struct line *line)
{
	const char *separator = " of";

	for (int i = 0; i < routes->n; i++) {
		if (!(routes->route[i].counters & code->general) ||
		    routes->route[i].select != (code->evntsel >> routes->shift & 7))
			continue;
		perfctr_line_add(line, "%s %s", separator, routes->route[i].name);
		separator = " and";
	}
}

/* Appends the events that this event select detects on other counters. */
static void add_others(const struct codes *codes, const struct wanted *wanted,
		       const struct line *line)
{
	const char *separator = "; that is";

	for (size_t i = 0, n; i < codes->n; i += n) {
		const struct code *code = &codes->code[i], *end;

		n = codes_of_event(codes, i);
		end = code + n;
		while (code < end && !is_selected(codes, wanted, code))
			code++;
		if (code == end)
			continue;
		perfctr_line_add(line, "%s %s", separator, codes->code[i].name);
		add_routes(perfctr_machine_routes(&codes->events->info), code, line);
		separator = ", or";
	}
}

static void refuse_registers(const struct codes *codes, const struct wanted *wanted,
			     const struct line *line)
{
	const struct perfctr_pmu_info *info = &codes->events->info;
	const char *route = perfctr_family_route(info, wanted->event);
	uint64_t select = perfctr_machine_family(info)->select_bits2;

	if (!codes->n) {
		perfctr_line_refuse(line, ENOTSUP, "no event of this processor has a name");
	} else if (!route) {
		perfctr_line_refuse(line, ENOENT,
				    "no event has these registers; perfctr_events_list() shows "
				    "all");
	} else if (!refuse_umasks(codes, wanted, line)) {
		perfctr_line_refuse(line, ENOENT,
				    "%s, which feeds counter %u, detects no event 0x%llx", route,
				    wanted->event->counter & ~PERFCTR_FAST,
				    (unsigned long long)((wanted->event->evntsel2 & select) /
							 (select & -select)));
		add_others(codes, wanted, line);
	}
}

int perfctr_events_name(struct perfctr_events *events, const struct perfctr_event_control *event,
			char *text, size_t size)
{
	const struct family *family = perfctr_machine_family(&events->info);
	const struct line line = { text, size };
	struct codes codes = { .events = events, .modes = PERFCTR_MODE_USER };
	struct wanted wanted = { .event = event, .general = UINT64_MAX };
	uint32_t counter = event->counter & ~PERFCTR_FAST;
	int status, error;

	if (!family)
		return perfctr_line_refuse(&line, ENODEV, "this machine has no event counters");
	if (counter < 64)
		wanted.general = UINT64_C(1) << counter;
	else if (event->counter != PERFCTR_ANY)
		return perfctr_line_refuse(&line, ENOENT, "it counts what it always does");
	wanted.bits = family->event_bits;
	if (family->routes)
		wanted.bits = UINT64_C(7) << family->routes->shift;
	wanted.bits2 = family->select_bits2 | family->umask_bits2;
	if (collect_codes(&codes)) {
		status = find_name(&codes, &wanted, text, size);
		if (status < 0)
			refuse_registers(&codes, &wanted, &line);
	} else {
		status = perfctr_line_refuse(&line, ENOMEM, "no memory for the names of events");
	}
	error = errno;
	free_codes(&codes);
	errno = error;
	return status;
}
