// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfex_shell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void enter_directory(void)
{
	char directory[] = "/tmp/perfex-XXXXXX";

	ck_assert(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
	setenv("NOISE", program("noise"), 1);
	setenv("LOOP", program("loop"), 1);
	setenv("HOT", program("hot"), 1);
	setenv("ROUNDS", program("rounds"), 1);
	setenv("EXEC", program("exec"), 1);
	setenv("LONG", program("loop-long"), 1);
	setenv("HUGE", program("loop-huge"), 1);
	setenv("DIE", program("die-9"), 1);
}

void expect(struct run *r, const char *script, int status)
{
	RUN(r, "sh", "-c", script);
	ck_assert_msg(r->status == status, "%s: wait status %#x\n%s%s", script, r->status, r->out,
		      r->err);
}

const char *contents(const char *path)
{
	static char text[65536];
	FILE *file = fopen(path, "r");

	ck_assert_msg(file, "%s: %s", path, strerror(errno));
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

unsigned int lines(const char *text, const char *with)
{
	unsigned int n = 0;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		const char *found = strstr(text, with);

		n += found && found < text + strcspn(text, "\n");
	}
	return n;
}

const char *csv_cell(const char *csv, int column, const char *words[])
{
	for (const char *line = csv; line && *line; line = strchr(line, '\n')) {
		char row[1024];
		bool all = true;

		line += *line == '\n';
		snprintf(row, sizeof(row), "%.*s", (int)strcspn(line, "\n"), line);
		for (const char **word = words; *word; word++)
			all &= strstr(row, *word) != NULL;
		if (!all || !*row)
			continue;
		for (int i = 0; i < column; i++)
			line += strcspn(line, ",") + 1;
		return line;
	}
	return NULL;
}
