// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfex.h"

#include <stdarg.h>
#include <stdlib.h>

static void say(const char *format, va_list arguments)
{
	fputs("perfex: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
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
