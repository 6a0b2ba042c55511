// SPDX-License-Identifier: GPL-2.0-or-later
#include "html.h"
#include "../perfex.h"

#include <string.h>

/* Bytes of the character in UTF-8 that text begins with; 0: a browser would find none. */
static size_t character_length(const char *text)
{
	static const struct {
		unsigned char first, last, least, most; /* of the first byte, and of the second */
		size_t length;
	} forms[] = {
		{ 0x01, 0x7f, 0, 0xff, 1 },    { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	const unsigned char *c = (const unsigned char *)text;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t n = 2;

		if (c[0] < forms[i].first || c[0] > forms[i].last)
			continue;
		if (forms[i].length > 1 && (c[1] < forms[i].least || c[1] > forms[i].most))
			return 0;
		while (n < forms[i].length && (c[n] & 0xc0) == 0x80)
			n++;
		return n < forms[i].length ? 0 : forms[i].length;
	}
	return 0;
}

void html_text(FILE *file, const char *text)
{
	while (*text) {
		size_t control = control_length(text), length = character_length(text);

		if (control)
			fprintf(file, "%.*s", (int)control, "??");
		else if (!length)
			putc('?', file);
		else if (strchr("<>&\"'", *text))
			fprintf(file, "&#%d;", *text);
		else
			fwrite(text, 1, length, file);
		text += control ? control : length ? length : 1;
	}
}
