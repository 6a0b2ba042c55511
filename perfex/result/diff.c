// SPDX-License-Identifier: GPL-2.0-or-later
/* The options and the comparison that perfex diff and perfex compare share. */
#include "diff.h"
#include "../perfex.h"

#include <stdlib.h>

void take_diff_format(void *member, const struct option_row *row, const char *unused)
{
	static diff_writer *const writers[] = { diff_write_markdown, diff_write_csv,
						diff_write_json };
	struct diff_options *options = member;

	exclude_others(&options->format_name, row);
	options->write = writers[row->value];
}

bool diff_make(struct diff *diff, double confidence, struct text_error *error)
{
	diff->confidence = confidence;
	document_add_syscalls(diff->a.document, diff->b.document);
	document_add_syscalls(diff->b.document, diff->a.document);
	if (!compare(diff->a.document, diff->b.document, confidence / 100, &diff->comparisons,
		     error)) {
		comparisons_free(&diff->comparisons);
		return false;
	}
	outliers_find(&diff->a.outliers, diff->a.document);
	outliers_find(&diff->b.outliers, diff->b.document);
	return true;
}

bool diff_make_for(struct diff *diff, struct diff_options *options, struct text_error *error)
{
	if (!diff_make(diff, options->confidence, error))
		return false;
	diff->limits = &options->limits;
	if (limits_judge(&options->limits, &diff->comparisons, diff->is_exact, error))
		return true;
	diff_free(diff);
	return false;
}

bool diff_is_for_people(const struct diff_options *options)
{
	return options->write == diff_write_text || options->write == diff_write_markdown;
}

int diff_write(FILE *file, const struct diff *diff, const struct diff_options *options)
{
	options->write(file, diff);
	if (!diff_is_for_people(options))
		limits_write_exceeded(stderr, "perfex: ", diff->limits);
	return limits_exceeded(diff->limits) ? EXIT_EXCEEDED : 0;
}

void diff_free(struct diff *diff)
{
	comparisons_free(&diff->comparisons);
	outliers_free(&diff->a.outliers);
	outliers_free(&diff->b.outliers);
}
