// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "perfex.h"

#include <stdarg.h>
#include <stdlib.h>

static void print_error(const char *format, va_list arguments)
{
	char *line;

	if (vasprintf(&line, format, arguments) < 0) {
		fputs("perfex: out of memory\n", stderr);
		return;
	}
	make_printable(line);
	name_commands(line);
	fprintf(stderr, "perfex: %s\n", line);
	free(line);
}

void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_error(format, arguments);
	va_end(arguments);
}

void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_error(format, arguments);
	va_end(arguments);
	exit(EXIT_PERFEX);
}
