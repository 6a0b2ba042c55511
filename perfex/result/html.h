/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_HTML_H
#define PERFEX_HTML_H

#include <stdio.h>

/*
 * A text that is nothing but text, between tags and in quoted attributes, whoever made it: no
 * mark-up, and '?' for each byte of a control character.
 */
void html_text(FILE *file, const char *text);

#endif
