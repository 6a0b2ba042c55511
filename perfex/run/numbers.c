// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers without 0x, as perfex of perfctr 2.6 took them. */
#define _GNU_SOURCE
#include "run.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_whole(const char *text, int base, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, base);
	return isxdigit((unsigned char)text[0]) && !*end && !errno;
}

/* Returns true if the text is also a decimal number, of another value. */
static bool could_be_decimal(const char *text, uint64_t value)
{
	uint64_t decimal;

	return read_whole(text, 10, &decimal) && decimal != value;
}

bool old_number(enum numbers numbers, const char *text, uint64_t *value)
{
	bool is_hexadecimal = numbers != NUMBERS_DECIMAL || strncasecmp(text, "0x", 2) == 0;

	if (!read_whole(text, is_hexadecimal ? 16 : 10, value))
		return false;
	if (numbers == NUMBERS_2_6 && could_be_decimal(text, *value))
		complain("'%s' is taken as hexadecimal, 0x%s, as by perfctr 2.6; write 0x, or give "
			 "--hex or --decimal in front",
			 text, text);
	return true;
}

/*
 * Writes each number of "evntsel[/evntsel2][@pmc]" with 0x, and the separators between them.
 * Modifies text.  Returns false if one is not a number.
 */
static bool write_numbers(enum numbers numbers, char *text, FILE *file)
{
	const char *before = "";
	bool good = true;

	while (good && text) {
		char *next = strpbrk(text, "/@"), after = next ? *next : 0;
		uint64_t value;

		if (next)
			*next++ = '\0';
		good = old_number(numbers, text, &value);
		fprintf(file, "%s0x%llx", before, (unsigned long long)value);
		before = after == '/' ? "/" : "@";
		text = next;
	}
	return good;
}

char *old_event(enum numbers numbers, const char *spec)
{
	char *copy = strdup(spec), *translated;
	struct text text;
	bool good;

	if (!copy)
		fail("out of memory");
	good = write_numbers(numbers, copy, text_open(&text));
	translated = text_close(&text);
	free(copy);
	if (good)
		return translated;
	free(translated);
	return NULL;
}

void take_numbers(void *target, const struct option_row *row, const char *unused)
{
	struct options *options = target;

	options->numbers = (enum numbers)row->value;
	options->wants_number = row;
}
