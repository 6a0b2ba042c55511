/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs that counted something else than the others. */
#ifndef PERFEX_OUTLIERS_H
#define PERFEX_OUTLIERS_H

#include "document.h"

struct outlier {
	const char *name; /* of the event; the document's */
	size_t run;	  /* from 0 on */
	uint64_t count;
};

struct outliers {
	struct outlier *outlier;
	size_t n;
};

/*
 * Those whose modified z-score is above 3.5 (Iglewicz and Hoaglin 1993): further from the median
 * than 5.19 times the median of these distances or, where more than half of the runs agree so that
 * it is 0, 4.39 times their mean.  Of fewer runs than 5 none can be told.
 */
void outliers_find(struct outliers *outliers, const struct document *document);
void outliers_free(struct outliers *outliers);

#endif
