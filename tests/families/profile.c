// SPDX-License-Identifier: GPL-2.0-or-later
/* A line of the file profiles, already split into its columns. */
#include "families.h"

#include <stdlib.h>

static bool wrong(const char *what, const char *text)
{
	fprintf(stderr, "families: %s: %s\n", what, text);
	return false;
}

/* Parses VALUE[/VALUE2] at *text, and moves *text behind it. */
static struct registers parse_registers(char **text)
{
	struct registers r = { .evntsel = strtoull(*text, text, 0) };

	if (**text == '/')
		r.evntsel2 = strtoull(*text + 1, text, 0);
	return r;
}

static bool parse_modes(struct registers *r, char *text)
{
	*r = (struct registers){ 0 };
	if (!strcmp(text, "-"))
		return true;
	*r = parse_registers(&text);
	return !*text;
}

static bool parse_events(struct event_list *list, char *text)
{
	list->n = 0;
	if (!strcmp(text, "-"))
		return true;
	for (;;) {
		struct registers event = parse_registers(&text);
		uint32_t first, last;

		if (*text++ != '@')
			return false;
		first = last = strtoul(text, &text, 0);
		if (*text == '-')
			last = strtoul(text + 1, &text, 0);
		for (uint32_t counter = first; counter <= last; counter++) {
			if (list->n == PERFCTR_MAX_COUNTERS)
				return false;
			list->of[list->n++] = (struct counting){ counter, event };
		}
		if (!*text)
			return true;
		if (*text++ != ',')
			return false;
	}
}

static bool parse_counters(struct profile *p, const char *text)
{
	int length = 0;

	if (!strcmp(text, "0"))
		return true;
	if (sscanf(text, "%ux%u%n", &p->n_general, &p->general_bits, &length) < 2)
		return false;
	text += length;
	return !*text || sscanf(text, "+%ux%u", &p->n_fixed, &p->fixed_bits) == 2;
}

static bool parse_features(struct profile *p, char *text)
{
	static const struct {
		const char *name;
		uint32_t feature;
	} names[] = {
		{ "-", 0 },
		{ "rdpmc", PERFCTR_FEATURE_RDPMC },
		{ "once", PERFCTR_FEATURE_GLOBAL_ENABLE },
		{ "fast", PERFCTR_FEATURE_FAST_RDPMC },
		{ "interrupt", PERFCTR_FEATURE_INTERRUPT | PERFCTR_FEATURE_SIGNAL },
		{ "hides", 0 },
		{ "perf", 0 },
	};
	const size_t n = sizeof(names) / sizeof(*names);

	p->features = PERFCTR_FEATURE_TSC | PERFCTR_FEATURE_ISOLATED | PERFCTR_FEATURE_TOTALS;
	for (char *name = strtok(text, ","); name; name = strtok(NULL, ",")) {
		size_t i = 0;

		while (i < n && strcmp(name, names[i].name))
			i++;
		if (i == n)
			return false;
		p->features |= names[i].feature;
		p->hides |= !strcmp(name, "hides");
		p->perf |= !strcmp(name, "perf");
	}
	return true;
}

bool profile_parse(struct profile *p, char *const columns[PROFILE_COLUMNS])
{
	*p = (struct profile){
		.name = columns[0],
		.cpus = strtoul(columns[2], NULL, 10),
		.family = columns[9],
	};
	if (!parse_counters(p, columns[3]))
		return wrong("no counters like 4x48+3x48", columns[3]);
	if (!parse_features(p, columns[4]))
		return wrong("no list of features", columns[4]);
	if (!parse_events(&p->instructions, columns[5]))
		return wrong("no list of events", columns[5]);
	if (!parse_events(&p->branches, columns[6]))
		return wrong("no list of events", columns[6]);
	if (!parse_modes(&p->user, columns[7]))
		return wrong("no mode", columns[7]);
	if (!parse_modes(&p->kernel, columns[8]))
		return wrong("no mode", columns[8]);
	return true;
}

bool profile_is_of(const char *processor)
{
	const size_t length = strlen(processor);

	if (strncmp(profile.name, processor, length))
		return false;
	return !profile.name[length] || !strcmp(profile.name + length, "-64");
}

bool profile_has_modes(void)
{
	return profile.user.evntsel || profile.user.evntsel2;
}

/* Ticks and system calls take far less than half as many again. */
bool is_count_of_both_modes(uint64_t count, uint64_t user_instructions)
{
	return EXPECT(count >= user_instructions) &&
	       EXPECT(count < user_instructions + user_instructions / 2);
}
