// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace_read.h"
#include "trace_format.h"
#include "../textfile.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define NO_CPU "-1,"

bool is_trace(const char *text)
{
	return strncmp(text, TRACE_HEAD, strlen(TRACE_HEAD)) == 0;
}

__attribute__((noreturn)) static void refuse_trace(const struct trace_reader *reader,
						   const char *what)
{
	fail("'%s', line %lu: %s; give a file that perfex trace wrote", reader->path, reader->line,
	     what);
}

/*
 * Returns the next number of the line, and moves *text behind it and its comma.  Ends perfex unless
 * a number up to max stands there.
 */
static uint64_t take_number(const struct trace_reader *reader, char **text, uint64_t max)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(*text, &end, 10);
	if (!isdigit((unsigned char)**text) || errno || number > max ||
	    (*end != ',' && *end != '\n'))
		refuse_trace(reader, "a number is missing or too large");
	*text = end + (*end == ',');
	return number;
}

static char *take_word(const struct trace_reader *reader, char **text)
{
	char *word = *text, *end = strchr(word, ',');

	if (!end)
		refuse_trace(reader, "the line is too short");
	*end = '\0';
	*text = end + 1;
	return word;
}

static void take_line(struct trace_reader *reader, char *text)
{
	struct trace_record record = { 0 };
	bool total = strncmp(text, NO_CPU, strlen(NO_CPU)) == 0;
	uint64_t cpu = 0;

	if (reader->ended)
		refuse_trace(reader, "there is something behind the totals");
	if (total)
		text += strlen(NO_CPU);
	else
		cpu = take_number(reader, &text, UINT64_MAX);
	if (cpu >= TRACE_MAX_CPUS)
		refuse_trace(reader, "the CPU's number is too large");
	record.cpu = (int)cpu;
	record.time = take_number(reader, &text, UINT64_MAX);
	if ((strcmp(take_word(reader, &text), TRACE_TOTAL) == 0) != total)
		refuse_trace(reader, "the totals are of no CPU, and nothing else is");
	record.pid = (int)take_number(reader, &text, INT_MAX);
	record.tid = (int)take_number(reader, &text, INT_MAX);
	record.lost = take_number(reader, &text, UINT64_MAX);
	for (size_t i = 0; i < reader->n_values; i++)
		record.counts.value[i] = take_number(reader, &text, UINT64_MAX);
	if (*text != '\n')
		refuse_trace(reader, "the line is too long");
	if (total) {
		reader->total = record.counts;
		reader->ended = true;
	} else {
		reader->take(reader->target, &record);
	}
}

/* Takes the names of the values from the line of columns: "tsc", then the events, in quotes. */
static void take_names(struct trace_reader *reader, char *text)
{
	size_t length = strlen(TRACE_COLUMNS);

	if (strncmp(text, TRACE_COLUMNS, length) != 0)
		refuse_trace(reader, "these are not the columns of a trace");
	reader->names[reader->n_values++] = text_print("tsc");
	for (text += length; *text == ','; text++) {
		char *end = text[1] == '"' ? strchr(text + 2, '"') : NULL;

		if (!end || reader->n_values == TRACE_MAX_VALUES)
			refuse_trace(reader,
				     "the name of an event has no end, or there are too many");
		reader->names[reader->n_values++] =
			text_print("%.*s", (int)(end - text) - 2, text + 2);
		text = end;
	}
	if (*text != '\n')
		refuse_trace(reader, "these are not the columns of a trace");
}

void trace_read(struct trace_reader *reader, FILE *input)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, input) > 0) {
		reader->line++;
		if (reader->line == 1) {
			if (!is_trace(line))
				refuse_trace(
					reader,
					"it is not a trace of a known version (--html draws "
					"recordings too, perfex samples shows perfex record's)");
			reader->khz = strtoull(line + strlen(TRACE_HEAD), NULL, 10);
		} else if (reader->line == 2) {
			take_names(reader, line);
		} else {
			take_line(reader, line);
		}
	}
	if (ferror(input))
		fail("cannot read '%s': %m", reader->path);
	if (!reader->ended)
		refuse_trace(reader, "the trace has no end");
	free(line);
}

void trace_free(struct trace_reader *reader)
{
	for (size_t i = 0; i < reader->n_values; i++)
		free(reader->names[i]);
}
