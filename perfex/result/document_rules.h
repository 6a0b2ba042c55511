/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_DOCUMENT_RULES_H
#define PERFEX_DOCUMENT_RULES_H

#include "document.h"
#include "../rules/rules.h"

/*
 * Returns the events of the document, with the times, for free().  Names and counts belong to the
 * document.
 */
struct rule_event *document_events(const struct document *document);

/*
 * Returns the value of each rule of the document, for free().  confidence is that of the intervals,
 * 0 < c < 1.  Returns NULL, with the reason in error, if the rules are invalid.
 */
struct rule_result *document_evaluate(const struct document *document, double confidence,
				      struct text_error *error);

#endif
