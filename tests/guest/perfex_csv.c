// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfex_csv.h"

#include <check.h>
#include <string.h>

bool next_row(const char **text, struct row *row)
{
	const char *end = strstr(*text, "\r\n");
	int n = 0;

	if (!end)
		return false;
	for (const char *c = *text; c <= end; n++) {
		size_t length = strcspn(c, ",\r");

		ck_assert(n < COLUMNS && length < sizeof(row->column[n]));
		memcpy(row->column[n], c, length);
		row->column[n][length] = '\0';
		c += length + 1;
	}
	ck_assert_int_eq(n, COLUMNS);
	*text = end + 2;
	return true;
}

struct row find_row(const char *text, const char *kind, const char *event)
{
	struct row row, found = { 0 };
	int n = 0;

	for (const char *rest = text; next_row(&rest, &row);)
		if (strcmp(row.column[ROW], kind) == 0 && strcmp(row.column[NAME], event) == 0) {
			found = row;
			n++;
		}
	ck_assert_msg(n == 1, "%d rows \"%s\" of %s in:\n%s", n, kind, event, text);
	return found;
}
