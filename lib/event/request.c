// SPDX-License-Identifier: LGPL-2.1-or-later
/* Event specifications of all forms, and lists of them: perfctr_events_parse(3). */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "answers.h"
#include "names.h"
#include "software.h"
#include "tables.h"

static const char hex_digits[] = "0123456789abcdefABCDEF";

/* "0x4100c0", or a number without the "0x": "4100c0", "12/34". */
static bool is_registers(const char *text)
{
	if (text[0] == '0' && (text[1] | 0x20) == 'x')
		return true;
	return strspn(text, hex_digits) == strcspn(text, "/");
}

/* "r00c0", "r00c0:u" */
static bool is_raw(const char *text)
{
	size_t digits;

	if (text[0] != 'r')
		return false;
	digits = strspn(text + 1, hex_digits);
	return digits && (!text[1 + digits] || text[1 + digits] == ':');
}

static bool is_cpu(const char *text)
{
	return strncmp(text, "cpu/", 4) == 0;
}

static int parse_registers(struct perfctr_events *events, const char *text, struct event *event,
			   const struct line *line)
{
	const struct perfctr_pmu_info *info = &events->info;
	struct perfctr_event_control control;
	uint64_t enable;

	if (perfctr_evntsel_parse(text, &control, line->text, line->size) < 0)
		return -1;
	event->evntsel = control.evntsel;
	event->evntsel2 = control.evntsel2;
	event->general = perfctr_machine_general(info);
	if (perfctr_name_restrict(events, event, line) < 0)
		return -1;
	enable = perfctr_machine_enable_first(info);
	if (enable)
		event->general &= event->evntsel & enable ? 1 : ~UINT64_C(1);
	/* The kernel, not the tables, says what is wrong with a register value. */
	if (!event->general)
		event->general = perfctr_machine_general(info);
	event->fixed = 0;
	return 0;
}

/* Reads modifiers, separated by ':'.  Changes text. */
static int parse_modifiers(const struct perfctr_pmu_info *info, char *text, struct event *event,
			   const struct line *line)
{
	char *modifier;

	while ((modifier = strsep(&text, ":")))
		if (!perfctr_modifier_read(info, modifier, event))
			return perfctr_line_refuse(line, EINVAL, "no modifier '%s'; there are: %s",
						   modifier, perfctr_modifier_list(info));
	return 0;
}

/* A code of perf is the value of one event select register.  Some families need more. */
static int check_code(const struct perfctr_pmu_info *info, const struct line *line)
{
	const char *why = perfctr_machine_family(info)->code_refused;

	return why ? perfctr_line_refuse(line, EINVAL, "%s", why) : 0;
}

static int parse_raw(const struct perfctr_pmu_info *info, char *text, struct event *event,
		     const struct line *line)
{
	char *end;

	if (check_code(info, line) < 0)
		return -1;
	errno = 0;
	event->evntsel = strtoull(text + 1, &end, 16);
	if (errno)
		return perfctr_line_refuse(line, EINVAL, "the code does not fit in 64 bits");
	event->general = perfctr_machine_general(info);
	return *end ? parse_modifiers(info, end + 1, event, line) : 0;
}

/*
 * The terms of cpu/../ that are fields of an event select register.  A value begins at shift.  Its
 * bits 8 and above are moved gap bits further: AMD's event select has bits 8 to 11 at 32.
 */
static const struct term {
	const char *name;
	unsigned int shift, gap;
	unsigned long long max;
} terms[] = {
	{ "event", 0, 24, 0xfff }, { "umask", 8, 0, 0xff },  { "edge", 18, 0, 1 },
	{ "inv", 23, 0, 1 },	   { "cmask", 24, 0, 0xff }, { "config", 0, 0, UINT64_MAX },
};

static const struct term *find_term(const char *name)
{
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
		if (strcmp(name, terms[i].name) == 0)
			return &terms[i];
	return NULL;
}

static uint64_t place_value(const struct term *term, uint64_t value)
{
	return ((value & 0xff) | (value >> 8) << (8 + term->gap)) << term->shift;
}

static int parse_term(char *text, struct event *event, const struct line *line)
{
	const struct term *term;
	char *value = strchr(text, '='), *end;
	unsigned long long number = 1;

	if (value) {
		*value++ = '\0';
		errno = 0;
		number = strtoull(value, &end, 0);
		if (end == value || *end || errno || *value == '-')
			return perfctr_line_refuse(line, EINVAL, "'%s' is not a number", value);
	}
	term = find_term(text);
	if (!term)
		return perfctr_line_refuse(
			line, EINVAL,
			"no term '%s'; there are: event, umask, edge, inv, cmask, config", text);
	if (number > term->max)
		return perfctr_line_refuse(line, EINVAL, "%s is at most 0x%llx", term->name,
					   term->max);
	number = place_value(term, number);
	if (event->evntsel & place_value(term, term->max))
		return perfctr_line_refuse(
			line, EINVAL, "another term has set bits of '%s'; give each field once",
			term->name);
	event->evntsel |= number;
	return 0;
}

/* "cpu/NAME/MODIFIERS" is "NAME:MODIFIERS". */
static int parse_alias(struct perfctr_events *events, const char *name, const char *modifiers,
		       struct event *event, const struct line *line)
{
	char text[PERFCTR_REQUEST_NAME];

	snprintf(text, sizeof(text), "%s%s%s", name, *modifiers ? ":" : "", modifiers);
	return perfctr_name_resolve(events, text, event, line);
}

static int parse_cpu(struct perfctr_events *events, char *text, struct event *event,
		     const struct line *line)
{
	const struct perfctr_pmu_info *info = &events->info;
	char *rest = text + strlen("cpu/");
	char *end = strchr(rest, '/'), *term;

	if (!end)
		return perfctr_line_refuse(line, EINVAL,
					   "the '/' at the end is missing, as in cpu/event=0xc0/");
	*end++ = '\0';
	end += *end == ':';
	if (*rest && !strpbrk(rest, "=,") && !find_term(rest))
		return parse_alias(events, rest, end, event, line);
	if (check_code(info, line) < 0)
		return -1;
	while ((term = strsep(&rest, ",")))
		if (parse_term(term, event, line) < 0)
			return -1;
	event->general = perfctr_machine_general(info);
	return *end ? parse_modifiers(info, end, event, line) : 0;
}

/*
 * Sets the bits of the modes, and those that the machine requires.  Register values, which the user
 * gave as numbers, have them already.
 */
static int set_modes(const struct perfctr_pmu_info *info, unsigned int modes, struct event *event,
		     const struct line *line)
{
	if (!perfctr_machine_has_modes(info) && event->modes)
		return perfctr_line_refuse(
			line, ENOTSUP,
			"this machine's counters do not tell user and kernel mode apart; leave out u and k");
	if (event->modes)
		modes = event->modes;
	if (!modes || modes & ~PERFCTR_MODE_BOTH)
		return perfctr_line_refuse(line, EINVAL, "no mode to count in; give u, k or both");
	perfctr_machine_set_modes(info, modes, &event->evntsel, &event->evntsel2);
	event->evntsel |= info->evntsel_required;
	return 0;
}

/* A fixed counter can count an event only if the event asks for nothing but a code and modes. */
static void restrict_fixed(const struct perfctr_pmu_info *info, struct event *event)
{
	uint64_t code = perfctr_machine_family(info)->event_bits;

	event->fixed &= perfctr_machine_fixed(info);
	if (event->evntsel & ~(code | info->fixed_allowed))
		event->fixed = 0;
	if (!event->general && event->fixed)
		event->evntsel &= ~code;
}

static int check_bits(const char *what, uint64_t value, uint64_t allowed, const struct line *line)
{
	if (!(value & ~allowed))
		return 0;
	return perfctr_line_refuse(
		line, ENOTSUP,
		"it sets the bits 0x%llx of %s, which this machine's kernel does not allow; "
		"allowed are 0x%llx",
		(unsigned long long)(value & ~allowed), what, (unsigned long long)allowed);
}

static int check_registers(const struct perfctr_pmu_info *info, const struct event *event,
			   const struct line *line)
{
	if (check_bits("evntsel", event->evntsel, info->evntsel_allowed, line) < 0 ||
	    check_bits("evntsel2", event->evntsel2, info->evntsel2_allowed, line) < 0 ||
	    check_bits("IA32_PEBS_ENABLE", event->p4_pebs_enable, info->p4_pebs_enable_allowed,
		       line) < 0)
		return -1;
	return check_bits("MSR_PEBS_MATRIX_VERT", event->p4_pebs_matrix_vert,
			  info->p4_pebs_matrix_vert_allowed, line);
}

/* Completes a name or a code, for which perfctr chooses the counter. */
static int complete_request(struct perfctr_events *events, unsigned int modes, struct event *event,
			    const struct line *line)
{
	const struct perfctr_pmu_info *info = &events->info;

	if (set_modes(info, modes, event, line) < 0 ||
	    perfctr_name_restrict(events, event, line) < 0)
		return -1;
	restrict_fixed(info, event);
	if (!event->general && !event->fixed)
		return perfctr_line_refuse(
			line, ENOTSUP,
			"it needs a counter that this machine does not have; there are %u general "
			"and %u fixed ones",
			info->n_general, info->n_fixed);
	return check_registers(info, event, line);
}

/*
 * Restricts the event to the counter that the user demands.  insist: the user gave register values.
 * They are taken unchanged, and the kernel says what is wrong with them.
 */
static int demand_counter(const struct perfctr_pmu_info *info, bool insist, uint32_t counter,
			  struct event *event, const struct line *line)
{
	uint32_t i = counter & ~PERFCTR_FAST;
	bool fixed = i >= PERFCTR_FIXED;
	uint64_t mask = fixed ? perfctr_machine_fixed(info) : perfctr_machine_general(info);

	i &= ~PERFCTR_FIXED;
	if (i > 63 || !(mask >> i & 1))
		return perfctr_line_refuse(
			line, ENOTSUP,
			fixed ? "there is no counter 0x%x; this machine has %u general ones from 0 "
				"on, and %u fixed ones from 0x%x on"
			      : "there is no counter %u; this machine has %u general ones from 0 "
				"on, and %u fixed ones from 0x%x on",
			counter, info->n_general, info->n_fixed, PERFCTR_FIXED);
	mask = UINT64_C(1) << i;
	if (!insist && !((fixed ? event->fixed : event->general) & mask))
		return perfctr_line_refuse(
			line, ENOTSUP,
			fixed ? "counter 0x%x cannot count it; leave out the '@' and what follows"
			      : "counter %u cannot count it; leave out the '@' and what follows",
			counter);
	event->general = fixed ? 0 : mask;
	event->fixed = fixed ? mask : 0;
	if (!insist && fixed)
		event->evntsel &= info->fixed_allowed;
	if (!insist && counter == 0)
		event->evntsel |= perfctr_machine_enable_first(info);
	return 0;
}

static int parse_counter(const char *text, uint32_t *counter, const struct line *line)
{
	struct perfctr_event_control control;
	char spec[PERFCTR_REQUEST_NAME + 8];

	*counter = PERFCTR_ANY;
	if (!text)
		return 0;
	snprintf(spec, sizeof(spec), "0x0@%s", text);
	if (perfctr_evntsel_parse(spec, &control, line->text, line->size) < 0)
		return -1;
	*counter = control.counter;
	return 0;
}

static int parse_event(struct perfctr_events *events, char *text, struct event *event,
		       const struct line *line)
{
	if (is_raw(text))
		return parse_raw(&events->info, text, event, line);
	if (is_cpu(text))
		return parse_cpu(events, text, event, line);
	return perfctr_name_resolve(events, text, event, line);
}

/* Refuses an event whose code means something else, or nothing, on another kind of core. */
static int refuse_mixture(const struct perfctr_pmu_info *info, const struct event *event,
			  const struct line *line)
{
	if (!event->general || perfctr_machine_is_common(info, event->evntsel))
		return 0;
	perfctr_line_refuse(
		line, EINVAL,
		"it is not an architectural event, and this machine has several kinds of "
		"cores; say which counts it:");
	for (uint32_t k = 0; k < info->n_kinds; k++)
		perfctr_line_add(line, "%s %s::EVENT", k ? " or" : "", info->kind[k].name);
	return -1;
}

/*
 * Returns the kind of core that *text names, and removes the kind from *text: skips "KIND::", or
 * makes "cpu_KIND/" into "cpu/".  -1: *text names no kind.
 */
static int take_kind(const struct perfctr_pmu_info *info, char **text)
{
	for (uint32_t k = 0; k < info->n_kinds && k < PERFCTR_MAX_KINDS; k++) {
		const char *name = info->kind[k].name;
		size_t length = strlen(name);

		if (strncmp(*text, name, length) == 0 && strncmp(*text + length, "::", 2) == 0) {
			*text += length + 2;
			return (int)k;
		}
		if (strncmp(*text, "cpu_", 4) == 0 && strncmp(*text + 4, name, length) == 0 &&
		    (*text)[4 + length] == '/') {
			*text += 1 + length;
			memcpy(*text, "cpu", 3);
			return (int)k;
		}
	}
	return -1;
}

static int parse_text(struct perfctr_events *events, char *text, const char *spec,
		      unsigned int modes, struct perfctr_request *request, const struct line *line)
{
	const struct perfctr_pmu_info *info = &events->info;
	struct event event = { .kinds = request->kinds };
	uint32_t counter;
	bool registers;
	char *at;

	at = strchr(text, '@');
	if (at)
		*at++ = '\0';
	if (parse_counter(at, &counter, line) < 0)
		return -1;
	registers = is_registers(text);
	if (registers && !at && perfctr_machine_routes(info))
		return perfctr_line_refuse(
			line, EINVAL,
			"register values are those of several units; give the counter too, as in "
			"%s@0xc",
			text);
	if (registers) {
		if (parse_registers(events, text, &event, line) < 0)
			return -1;
	} else if (parse_event(events, text, &event, line) < 0 ||
		   complete_request(events, modes, &event, line) < 0 ||
		   refuse_mixture(info, &event, line) < 0) {
		return -1;
	}
	if (at && demand_counter(info, registers, counter, &event, line) < 0)
		return -1;
	*request = (struct perfctr_request){
		.counter = counter,
		.modes = perfctr_machine_modes(info, event.evntsel, event.evntsel2),
		.evntsel = event.evntsel,
		.evntsel2 = event.evntsel2,
		.p4_pebs_enable = event.p4_pebs_enable,
		.p4_pebs_matrix_vert = event.p4_pebs_matrix_vert,
		.general = event.general,
		.fixed = event.fixed,
		.kinds = event.kinds,
	};
	strcpy(request->name, spec);
	return 0;
}

/*
 * Refuses a list of events, which other tools accept.  The commas of "cpu/../" separate its terms.
 */
static int refuse_list(const char *text, const struct line *line)
{
	const char *rest = is_cpu(text) ? strchr(text + strlen("cpu/"), '/') : text;
	const char *mark = rest ? strpbrk(rest, ",{}") : NULL;

	if (!mark)
		return 0;
	return perfctr_line_refuse(
		line, EINVAL,
		"an event has no '%c'; give each event separately, like instructions and branches",
		*mark);
}

static int parse_request(struct perfctr_events *events, const char *spec, unsigned int modes,
			 struct perfctr_request *request, const struct line *line)
{
	struct perfctr_request parsed = { 0 };
	struct perfctr_events of_kind = *events;
	char text[PERFCTR_REQUEST_NAME], *rest = text;
	int kind;

	if (strlen(spec) >= sizeof(text))
		return perfctr_line_refuse(line, EINVAL,
					   "it is too long; give up to %zu characters",
					   sizeof(text) - 1);
	strcpy(text, spec);
	kind = take_kind(&events->info, &rest);
	if (kind >= 0) {
		parsed.kinds = 1u << kind;
		of_kind.info = perfctr_machine_of_kind(&events->info, (unsigned int)kind);
	}
	if (refuse_list(rest, line) < 0 ||
	    parse_text(&of_kind, rest, spec, modes, &parsed, line) < 0)
		return -1;
	*request = parsed;
	return 0;
}

static void refuse_without_counters(const struct perfctr_pmu_info *info, const char *spec,
				    const struct line *line)
{
	if (!(info->features & PERFCTR_FEATURE_SOFTWARE)) {
		perfctr_line_refuse(
			line, ENODEV,
			"this machine's event counters cannot be used: %.*s; only the time stamp "
			"can be counted",
			(int)sizeof(info->family), info->family);
		return;
	}
	perfctr_line_refuse(line, ENODEV, "the operating system counts no '%.40s'", spec);
	if (perfctr_name_suggest_typed(spec, line))
		perfctr_line_add(line, "; ");
	else
		perfctr_line_add(line, " (but task-clock, page-faults, minor-faults, major-faults, "
				       "context-switches, cpu-migrations), and ");
	perfctr_line_add(line, "the event counters of this machine cannot be used: %.*s",
			 (int)sizeof(info->family), info->family);
	errno = ENODEV;
}

int perfctr_events_parse(struct perfctr_events *events, const char *spec, unsigned int modes,
			 struct perfctr_request *request, char *error, size_t size)
{
	const struct perfctr_pmu_info *info = &events->info;
	struct line line = { error, size };
	int software = strlen(spec) < sizeof(request->name)
			       ? perfctr_software_parse(info, spec, request, &line)
			       : 0;

	if (software)
		return software < 0 ? -1 : 0;
	if (perfctr_machine_family(info) && parse_request(events, spec, modes, request, &line) == 0)
		return 0;
	if (!perfctr_event_answer(spec, perfctr_machine_family(info), &line) &&
	    !perfctr_machine_family(info))
		refuse_without_counters(info, spec, &line);
	perfctr_line_clean(&line);
	return -1;
}

int perfctr_events_parse_once(const struct perfctr_pmu_info *info, const char *spec,
			      unsigned int modes, struct perfctr_request *request, char *error,
			      size_t size)
{
	struct perfctr_events *events = perfctr_events_open(info);
	const struct line line = { error, size };
	int status, number;

	if (!events)
		return perfctr_line_refuse(&line, ENOMEM, "no memory for the events");
	status = perfctr_events_parse(events, spec, modes, request, error, size);
	number = errno;
	perfctr_events_close(events);
	errno = number;
	return status;
}

/* Lists: "a,b" and "{a,b}:u". */
struct list {
	const char *whole;
	char (*spec)[PERFCTR_REQUEST_NAME];
	unsigned int room, n;
	const struct line *line;
};

/*
 * Returns the end of the event: the next ',' or brace that is not between the slashes of "cpu/../".
 */
static const char *skip_event(const char *text)
{
	const char *end = text + strcspn(text, ",{}/"), *close = NULL;

	/* Register values have one slash, with no second one to close it. */
	if (*end == '/' && !isdigit((unsigned char)*text))
		close = strchr(end + 1, '/');
	if (close)
		text = close + 1;
	return text + strcspn(text, ",{}");
}

/* Adds an event to the list.  The modifiers of its group are inserted in front of its '@'. */
static int add_event(struct list *list, const char *event, size_t length, const char *modifiers,
		     size_t n_modifiers)
{
	const char *at = n_modifiers ? memchr(event, '@', length) : NULL;
	size_t name = at ? (size_t)(at - event) : length;

	if (length + n_modifiers >= PERFCTR_REQUEST_NAME)
		return perfctr_line_refuse(list->line, EINVAL,
					   "event '%.*s..' is longer than %d characters", 40, event,
					   PERFCTR_REQUEST_NAME - 1);
	if (list->n < list->room)
		snprintf(list->spec[list->n], PERFCTR_REQUEST_NAME, "%.*s%.*s%.*s", (int)name,
			 event, (int)n_modifiers, modifiers, (int)(length - name), event + name);
	list->n++;
	return 0;
}

static const char *refuse_missing(const struct list *list, const char *text)
{
	perfctr_line_refuse(list->line, EINVAL,
			    "event list '%s': an event is missing %s%s%s; write it like "
			    "instructions,branches or {instructions,branches}",
			    list->whole, *text ? "in front of '" : "at the end", text,
			    *text ? "'" : "");
	return NULL;
}

static const char *read_event(struct list *list, const char *text)
{
	const char *end = skip_event(text);

	if (end == text)
		return refuse_missing(list, text);
	return add_event(list, text, (size_t)(end - text), "", 0) < 0 ? NULL : end;
}

/* Checks the events of a group.  text is behind the '{'.  Returns the place of the '}'. */
static const char *check_group(const struct list *list, const char *text)
{
	for (;;) {
		const char *end = skip_event(text);

		if (end == text)
			return refuse_missing(list, text);
		if (*end == '}')
			return end;
		if (*end != ',') {
			perfctr_line_refuse(list->line, EINVAL,
					    "event list '%s': a group ends with '}'; write it like "
					    "{instructions,branches}",
					    list->whole);
			return NULL;
		}
		text = end + 1;
	}
}

/*
 * Adds the events of a group.  text is behind the '{'.  Returns the place behind the group's
 * modifiers.
 */
static const char *read_group(struct list *list, const char *text)
{
	const char *close = check_group(list, text), *modifiers;
	size_t n_modifiers;

	if (!close)
		return NULL;
	modifiers = close + 1;
	n_modifiers = strcspn(modifiers, ",{}");
	while (text <= close) {
		const char *end = skip_event(text);

		if (add_event(list, text, (size_t)(end - text), modifiers, n_modifiers) < 0)
			return NULL;
		text = end + 1;
	}
	return modifiers + n_modifiers;
}

static int split_list(struct list *list)
{
	const char *text = list->whole;

	for (;;) {
		text = *text == '{' ? read_group(list, text + 1) : read_event(list, text);
		if (!text)
			return -1;
		if (!*text)
			return (int)list->n;
		if (*text != ',')
			return perfctr_line_refuse(
				list->line, EINVAL,
				"event list '%s': a ',' is missing in front of '%s'", list->whole,
				text);
		text++;
	}
}

int perfctr_events_split(const char *text, char (*spec)[PERFCTR_REQUEST_NAME], unsigned int room,
			 char *error, size_t size)
{
	const struct line line = { error, size };
	struct list list = { .whole = text, .spec = spec, .room = room, .line = &line };
	int n = split_list(&list);

	if (n < 0)
		perfctr_line_clean(&line);
	return n;
}
