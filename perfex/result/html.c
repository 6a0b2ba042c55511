// SPDX-License-Identifier: GPL-2.0-or-later
#include "html.h"
#include "../perfex.h"

#include <string.h>

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
