/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_DOCUMENT_RULES_H
#define PERFEX_DOCUMENT_RULES_H

#include "document.h"
#include "../rules/rules.h"

/* What was counted, with the times, for free(). */
struct rule_event *document_events(const struct document *document);

/*
 * The values of the document's own rules, in its order, for free(); confidence: 0 < c < 1.  NULL:
 * they are none, error says why.
 */
struct rule_result *document_evaluate(const struct document *document, double confidence,
				      struct text_error *error);

#endif
