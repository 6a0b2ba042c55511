// SPDX-License-Identifier: GPL-2.0-or-later
#include "service.h"

#include <stdarg.h>
#include <stdio.h>

int complain(const char *format, ...)
{
	va_list arguments;

	fputs("perfctr-bpfd: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return -1;
}
