/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recording with which perfex exact compares its counts. */
#ifndef PERFEX_EXACT_BASELINE_H
#define PERFEX_EXACT_BASELINE_H

#include "../result/diff.h"
#include "exact.h"

struct baseline {
	const char *path; /* NULL: nothing is compared */
	bool update;	  /* the counts become the new baseline */
	struct diff_options diff;
	struct document *old; /* NULL: the file does not exist yet */
};

/* Reads the file.  Returns false after an error message. */
bool baseline_read(struct baseline *baseline);
/* Says in the new recording in which machine COMMAND ran, and which variables --env has set. */
void baseline_add_machine(struct document *new, const struct machine *machine,
			  const struct word_list *environment);
/*
 * Writes the comparison with the old recording, or with the new one itself if there is no old one.
 * Returns the exit status: EXIT_EXCEEDED if a limit is exceeded, EXIT_PERFEX after an error
 * message.
 */
int baseline_compare(struct baseline *baseline, struct document *new, FILE *file);
/* Replaces the file by the new recording.  Returns false after an error message. */
bool baseline_update(const struct baseline *baseline, const struct document *new);
void baseline_free(struct baseline *baseline);

#endif
