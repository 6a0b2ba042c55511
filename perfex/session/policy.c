// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "system.h"

#include <string.h>

/* A set bit excludes something from the counting.  The words name what is left. */
static const struct {
	const char *word;
	unsigned int bits;
} words[] = {
	{ "everything", 0 },
	{ "marked", PERFCTR_EXCLUDE_UNMARKED },
	{ "unmarked", PERFCTR_EXCLUDE_MARKED },
	{ "privileged", PERFCTR_EXCLUDE_USER },
	{ "not-privileged", PERFCTR_EXCLUDE_KERNEL },
	{ "no-idle", PERFCTR_EXCLUDE_IDLE },
	{ "nothing", PERFCTR_EXCLUDE_ALL },
	{ "dis=1", PERFCTR_EXCLUDE_ALL },
	{ "dp=1", PERFCTR_EXCLUDE_KERNEL },
	{ "du=1", PERFCTR_EXCLUDE_USER },
	{ "dms=1", PERFCTR_EXCLUDE_MARKED },
	{ "dmr=1", PERFCTR_EXCLUDE_UNMARKED },
	{ "dis=0", 0 },
	{ "dp=0", 0 },
	{ "du=0", 0 },
	{ "dms=0", 0 },
	{ "dmr=0", 0 },
};

static unsigned int parse_word(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == length && strncmp(words[i].word, word, length) == 0)
			return words[i].bits;
	fail("--policy: there is no policy '%.*s'; give some of everything, marked, unmarked, "
	     "privileged, not-privileged, no-idle, nothing, dis=, dp=, du=, dms=, dmr= 0 or 1",
	     (int)length, word);
}

unsigned int parse_policy(const char *text)
{
	unsigned int policy = 0;

	for (;;) {
		size_t length = strcspn(text, ",");

		policy |= parse_word(text, length);
		if (!text[length])
			return policy;
		text += length + 1;
	}
}

bool policy_counts_nothing(unsigned int policy)
{
	const unsigned int modes = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_USER;
	const unsigned int marks = PERFCTR_EXCLUDE_MARKED | PERFCTR_EXCLUDE_UNMARKED;

	return policy & PERFCTR_EXCLUDE_ALL || (policy & modes) == modes ||
	       (policy & marks) == marks;
}
