// SPDX-License-Identifier: LGPL-2.1-or-later
/* Event specifications: evntsel[/evntsel2][@pmc]. */
#include "internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* One number of a specification: characters first .. end - 1. */
struct part {
	const char *name;
	const char *first;
	const char *end;
	unsigned int bits;	/* the number must fit in them */
	bool decimal;		/* digits without 0x are decimal */
};

static bool all_of(const struct part *part, const char *set)
{
	return strspn(part->first, set) >= (size_t)(part->end - part->first);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return (c | 0x20) - 'a' + 10;
}

static bool parse_decimal(const struct part *part, uint64_t *value, char *error, size_t size)
{
	*value = 0;
	for (const char *digit = part->first; digit < part->end; digit++) {
		*value = *value * 10 + (uint64_t)(*digit - '0');
		if (*value >> part->bits) {
			snprintf(error, size, "%s '%.*s' does not fit in %u bits", part->name,
				 (int)(part->end - part->first), part->first, part->bits);
			return false;
		}
	}
	return true;
}

/* Reads the number.  False: error says what is wrong with the number. */
static bool parse_number(const struct part *part, uint64_t *value, char *error, size_t size)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	int length = (int)(part->end - part->first);
	const char *digits = part->first + 2;

	if (length == 0) {
		snprintf(error, size, "%s is empty; give it as 0x...", part->name);
		return false;
	}
	if (part->decimal && all_of(part, "0123456789"))
		return parse_decimal(part, value, error, size);
	if (length < 2 || part->first[0] != '0' || (part->first[1] | 0x20) != 'x') {
		if (all_of(part, hex))
			snprintf(error, size,
				 "%s '%.*s' could be hexadecimal or decimal; write 0x%.*s for "
				 "hexadecimal", part->name, length, part->first, length,
				 part->first);
		else
			snprintf(error, size, "%s '%.*s' is not a hexadecimal number like 0x4100c0",
				 part->name, length, part->first);
		return false;
	}
	if (digits == part->end || strspn(digits, hex) < (size_t)(part->end - digits)) {
		snprintf(error, size, "%s '%.*s' is not a hexadecimal number like 0x4100c0",
			 part->name, length, part->first);
		return false;
	}
	*value = 0;
	for (; digits < part->end; digits++) {
		if (*value >> (part->bits - 4)) {
			snprintf(error, size, "%s '%.*s' does not fit in %u bits", part->name,
				 length, part->first, part->bits);
			return false;
		}
		*value = *value << 4 | (uint64_t)hex_digit(*digits);
	}
	return true;
}

int perfctr_evntsel_parse(const char *spec, struct perfctr_event_control *event, char *error,
			  size_t size)
{
	const char *end = spec + strlen(spec);
	const char *at = strchr(spec, '@');
	const char *slash = memchr(spec, '/', (size_t)((at ? at : end) - spec));
	struct part part = { .name = "evntsel", .first = spec, .bits = 64 };
	uint64_t evntsel, evntsel2 = 0, pmc = PERFCTR_ANY;

	part.end = slash ? slash : at ? at : end;
	if (!parse_number(&part, &evntsel, error, size))
		goto invalid;
	if (slash) {
		part = (struct part){ "evntsel2", slash + 1, at ? at : end, 64, false };
		if (!parse_number(&part, &evntsel2, error, size))
			goto invalid;
	}
	if (at) {
		part = (struct part){ "counter number", at + 1, end, 32, true };
		if (!parse_number(&part, &pmc, error, size))
			goto invalid;
		if (pmc == PERFCTR_ANY) {
			snprintf(error, size, "counter number '%s' is not one; leave out '@%s' for "
				 "any", at + 1, at + 1);
			goto invalid;
		}
	}
	*event = (struct perfctr_event_control){
		.counter = (uint32_t)pmc, .evntsel = evntsel, .evntsel2 = evntsel2,
	};
	return 0;

invalid:
	errno = EINVAL;
	return -1;
}

int perfctr_evntsel_format(const struct perfctr_event_control *event, char *text, size_t size)
{
	char evntsel2[20] = "", pmc[12] = "";

	if (event->evntsel2)
		snprintf(evntsel2, sizeof(evntsel2), "/0x%08llx",
			 (unsigned long long)event->evntsel2);
	if (event->counter <= 9)
		snprintf(pmc, sizeof(pmc), "@%u", event->counter);
	else if (event->counter != PERFCTR_ANY)
		snprintf(pmc, sizeof(pmc), "@0x%x", event->counter);
	return snprintf(text, size, "0x%08llx%s%s", (unsigned long long)event->evntsel, evntsel2,
			pmc);
}
