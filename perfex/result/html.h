/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_HTML_H
#define PERFEX_HTML_H

#include <stdio.h>

/*
 * Writes text for use between tags and in quoted attributes.  The text need not be trusted: mark-up
 * is escaped, and each byte that is no UTF-8 or is in a control character becomes '?'.
 */
void html_text(FILE *file, const char *text);

#endif
