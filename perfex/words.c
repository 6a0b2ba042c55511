// SPDX-License-Identifier: GPL-2.0-or-later
/* Replaces functions by commands of perfex in error messages of the library. */
#define _GNU_SOURCE
#include "perfex.h"

#include <string.h>

/* The library's messages name functions for programs; perfex names commands for its user. */
static const struct {
	const char *function, *command;
} words[] = {
	{ "perfctr_backends(", "perfex info" },
	{ "perfctr_events_list(", "perfex list" },
	{ "perfctr_events_list_once(", "perfex list -l" },
	{ "perfctr_get_pmu_info(", "perfex info" },
	{ "perfctr_events_parse(", "perfex check" },
	{ "perfctr_mark_open(", "perfex mark" },
	{ "perfctr_region_begin(", "perfex --regions" },
};

/*
 * Replaces "function(argument)" by "command argument", or "function()" by "command".  The result
 * must not be longer, because it is written in place.
 */
static void name_command(char *call, const char *function, const char *command)
{
	char *argument = call + strlen(function), *end = strchr(argument, ')');

	if (!end)
		return;
	call = stpcpy(call, command);
	if (end > argument) {
		*call++ = ' ';
		memmove(call, argument, (size_t)(end - argument));
		call += end - argument;
	}
	memmove(call, end + 1, strlen(end + 1) + 1);
}

void name_commands(char *text)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (char *call = text; (call = strstr(call, words[i].function)); call++)
			name_command(call, words[i].function, words[i].command);
}
