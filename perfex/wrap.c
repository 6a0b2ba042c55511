// SPDX-License-Identifier: GPL-2.0-or-later
/* Text for people in lines of 80 columns. */
#include "perfex.h"

#include <string.h>

enum { WIDTH = 80 };

struct wrapped {
	FILE *file;
	size_t column, indent;
	bool goes_on; /* a word stands in the line */
};

/* Writes a word, in a new line if the line has no room for it. */
static void write_word(struct wrapped *line, const char *word, size_t length)
{
	if (line->goes_on && line->column + 1 + length > WIDTH) {
		putc('\n', line->file);
		line->column = 0;
		line->goes_on = false;
	}
	if (line->goes_on)
		line->column += (size_t)fprintf(line->file, " ");
	else if (line->column < line->indent)
		line->column += (size_t)fprintf(line->file, "%*s",
						(int)(line->indent - line->column), "");
	line->column += fwrite(word, 1, length, line->file);
	line->goes_on = true;
}

void write_words(FILE *file, const char *text, size_t length, size_t column, size_t indent)
{
	struct wrapped line = { .file = file, .column = column, .indent = indent };
	const char *end = text + length;

	for (text += strspn(text, " \n"); text < end; text += strspn(text, " \n")) {
		size_t word = strcspn(text, " \n");

		write_word(&line, text, word);
		text += word;
	}
	putc('\n', file);
}

void write_list(FILE *file, const char *text)
{
	struct wrapped line = { .file = file };
	const char *comma;

	for (; (comma = strstr(text, ", ")); text = comma + 2)
		write_word(&line, text, (size_t)(comma + 1 - text));
	write_word(&line, text, strlen(text));
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
