// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfex.h"

#include <string.h>

size_t control_length(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
		return 2;
	return (c[0] && c[0] < ' ') || c[0] == 0x7f;
}

void make_printable(char *text)
{
	for (char *c = text; *c;) {
		size_t length = control_length(c);

		memset(c, '?', length);
		c += length ? length : 1;
	}
}

size_t character_length(const char *text)
{
	static const struct {
		unsigned char first, last; /* range of the first byte */
		unsigned char low, high;   /* range of the second byte */
		size_t size;
	} forms[] = {
		{ 0x01, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	const unsigned char *byte = (const unsigned char *)text;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (byte[0] < forms[i].first || byte[0] > forms[i].last)
			continue;
		if (forms[i].size > 1 && (byte[1] < forms[i].low || byte[1] > forms[i].high))
			return 0;
		for (size_t k = 2; k < forms[i].size; k++)
			if (byte[k] < 0x80 || byte[k] > 0xbf)
				return 0;
		return forms[i].size;
	}
	return 0;
}
