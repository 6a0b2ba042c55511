// SPDX-License-Identifier: GPL-2.0-or-later
/* Text for people in lines of 80 columns. */
#include "perfex.h"

#include <string.h>

enum { WIDTH = 80 };

void write_words(FILE *file, const char *text, size_t length, size_t column, size_t indent)
{
	const char *end = text + length;
	bool begins = true; /* no word stands in the line */

	for (text += strspn(text, " \n"); text < end; text += strspn(text, " \n")) {
		size_t word = strcspn(text, " \n");

		if (!begins && column + 1 + word > WIDTH) {
			putc('\n', file);
			column = 0;
			begins = true;
		}
		if (begins && column < indent)
			column += (size_t)fprintf(file, "%*s", (int)(indent - column), "");
		if (!begins)
			column += (size_t)fprintf(file, " ");
		column += fwrite(text, 1, word, file);
		text += word;
		begins = false;
	}
	putc('\n', file);
}

static bool is_verbatim(const char *line)
{
	return *line == ' ' || strncmp(line, "Usage:", strlen("Usage:")) == 0;
}

/* Returns the bytes of the first paragraph, without the newline of its last line. */
static size_t paragraph_length(const char *text)
{
	const char *end = text + strcspn(text, "\n");

	while (*end && end > text && !strchr(".:", end[-1]) && end[1] != '\n' && !is_verbatim(end + 1))
		end += 1 + strcspn(end + 1, "\n");
	return (size_t)(end - text);
}

void write_paragraphs(FILE *file, const char *text)
{
	while (*text) {
		size_t length = is_verbatim(text) ? strcspn(text, "\n") : paragraph_length(text);

		if (is_verbatim(text))
			fprintf(file, "%.*s\n", (int)length, text);
		else
			write_words(file, text, length, 0, 0);
		text += length;
		text += *text == '\n';
	}
}
