// SPDX-License-Identifier: GPL-2.0-or-later
/* Sentences of the library, as perfex says them. */
#define _GNU_SOURCE
#include "perfex.h"

#include <string.h>

/* The library's sentences send programs to functions, perfex sends its user to commands. */
static const struct {
	const char *function, *command;
} words[] = {
	{ "perfctr_backends(", "perfex info" },
	{ "perfctr_events_list(", "perfex list" },
	{ "perfctr_events_list_once(", "perfex list -l" },
	{ "perfctr_get_pmu_info(", "perfex info" },
	{ "perfctr_events_parse(", "perfex check" },
};

/* What stands in its place is shorter: the command, and behind a blank what is in parentheses. */
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
