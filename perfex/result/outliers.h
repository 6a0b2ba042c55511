/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds runs with counts that are far from those of the other runs. */
#ifndef PERFEX_OUTLIERS_H
#define PERFEX_OUTLIERS_H

#include "document.h"

struct outlier {
	const char *name; /* of the event; belongs to the document */
	size_t run;	  /* from 0 */
	uint64_t count;
};

struct outliers {
	struct outlier *outlier;
	size_t n;
};

/*
 * Finds the counts with a modified z-score above 3.5 (Iglewicz and Hoaglin 1993): the distance from
 * the median is more than 5.19 times the median distance.  If the median distance is 0, because
 * more than half of the runs agree, the limit is 4.39 times the mean distance.  An event with fewer
 * than 5 runs has no outliers.
 */
void outliers_find(struct outliers *outliers, const struct document *document);
void outliers_free(struct outliers *outliers);

#endif
