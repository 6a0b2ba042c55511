/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex diff: how two recordings that have been compared are written. */
#ifndef PERFEX_DIFF_H
#define PERFEX_DIFF_H

#include <stdio.h>
#include "compare.h"

struct side {
	const char *path;
	struct document *document;
};

struct diff {
	struct side a, b;
	double confidence; /* of the intervals, in per cent */
	struct comparisons comparisons;
};

void diff_write_text(FILE *file, const struct diff *diff);
void diff_write_csv(FILE *file, const struct diff *diff);
void diff_write_json(FILE *file, const struct diff *diff); /* docs/perfex-diff.schema.json */

#endif
