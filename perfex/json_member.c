// SPDX-License-Identifier: GPL-2.0-or-later
#include "json_member.h"
#include "perfex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void add_member(json_object *object, const char *name, json_object *value)
{
	if (json_object_object_add(object, name, value) < 0)
		fail("out of memory");
}

json_object *number_json(long double number)
{
	if (isnan(number))
		return NULL;
	if (number >= 0 && number < 0x1p64L && number == floorl(number))
		return json_object_new_uint64((uint64_t)number);
	return json_object_new_double((double)number);
}

json_object *text_json(const char *text)
{
	char *copy = strdup(text);
	json_object *value;

	if (!copy)
		fail("out of memory");
	for (char *c = copy; *c;) {
		size_t size = character_length(c);

		if (!size)
			*c = '?';
		c += size ? size : 1;
	}
	value = json_object_new_string(copy);
	free(copy);
	return value;
}

void write_json(FILE *file, json_object *object)
{
	const int flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;

	fprintf(file, "%s\n", json_object_to_json_string_ext(object, flags));
	json_object_put(object);
}
