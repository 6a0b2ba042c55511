// SPDX-License-Identifier: LGPL-2.1-or-later
#include "line.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int perfctr_line_refuse(const struct line *line, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line->text, line->size, format, arguments);
	va_end(arguments);
	errno = error;
	return -1;
}

void perfctr_line_add(const struct line *line, const char *format, ...)
{
	size_t length = line->size ? strlen(line->text) : 0;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line->text + length, line->size - length, format, arguments);
	va_end(arguments);
}

void perfctr_line_clean(const struct line *line)
{
	for (size_t i = 0; i < line->size && line->text[i]; i++)
		if ((unsigned char)line->text[i] < ' ' || line->text[i] == 0x7f)
			line->text[i] = '?';
}
