// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "perfex.h"

#include <stdarg.h>
#include <stdlib.h>

void make_printable(char *text)
{
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

static void say(const char *format, va_list arguments)
{
	char *line;

	if (vasprintf(&line, format, arguments) < 0) {
		fputs("perfex: out of memory\n", stderr);
		return;
	}
	make_printable(line);
	fprintf(stderr, "perfex: %s\n", line);
	free(line);
}

void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	exit(EXIT_PERFEX);
}

void complain_of_open(int error)
{
	char text[256];

	perfctr_open_error(error, text, sizeof(text));
	complain("%s", text);
}

void complain_of_control(int error, const struct perfctr_control *control,
			 const struct perfctr_pmu_info *info)
{
	char text[256];

	perfctr_control_error(error, control, info, text, sizeof(text));
	complain("%s", text);
}
