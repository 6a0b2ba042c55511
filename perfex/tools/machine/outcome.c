// SPDX-License-Identifier: GPL-2.0-or-later
/* The outcome of a check. */
#define _GNU_SOURCE
#include "machine.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

const char *const verdict_names[N_VERDICTS] = {
	[VERDICT_UNFINISHED] = "not finished", [VERDICT_PASSED] = "passed",
	[VERDICT_FAILED] = "failed",	       [VERDICT_IMPOSSIBLE] = "not possible",
	[VERDICT_MEASURED] = "measured",
};

void add_detail(struct outcome *outcome, const char *format, ...)
{
	size_t length = strlen(outcome->details), room = sizeof(outcome->details) - length;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(outcome->details + length, room, format, arguments);
	va_end(arguments);
	if (n >= 0 && (size_t)n + 1 < room)
		strcat(outcome->details, "\n");
	else
		outcome->details[length] = '\0';
}

static void set_verdict(struct outcome *outcome, enum verdict verdict, const char *format,
			va_list arguments)
{
	vsnprintf(outcome->why, sizeof(outcome->why), format, arguments);
	name_commands(outcome->why);
	outcome->verdict = verdict;
}

void give_verdict(struct outcome *outcome, enum verdict verdict, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	set_verdict(outcome, verdict, format, arguments);
	va_end(arguments);
}

void end_check(struct outcome *outcome, enum verdict verdict, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	set_verdict(outcome, verdict, format, arguments);
	va_end(arguments);
	_exit(0);
}
