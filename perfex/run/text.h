/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of text.c that text_interval.c and ../rotate/ use. */
#ifndef PERFEX_TEXT_H
#define PERFEX_TEXT_H

#include "run.h"

enum { TEXT_NAME_WIDTH = 24, TEXT_COUNT_WIDTH = 20 };

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

/* Returns the escape sequence, or "" if the output has no colours. */
const char *text_colour(const struct style *style, const char *escape);
/* Returns the width of the column of names. */
int text_name_width(const struct recording *recording);
void text_put_count(FILE *file, const struct style *style, int width, uint64_t count);
bool text_one_run(const struct recording *recording);
/* Returns text, with "pass N" in it, or "" if there is only one pass. */
const char *text_pass(const struct recording *recording, unsigned int pass, char *text,
		      size_t size);

void text_recording(FILE *file, const struct style *style, const struct recording *recording);

#endif
