// SPDX-License-Identifier: GPL-2.0-or-later
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void take_list(void *member, const struct option_row *row, const char *text)
{
	append_events(member, text);
}

static bool has_word(const struct word_list *list, const char *word)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->word[i], word) == 0)
			return true;
	return false;
}

void take_groups(void *member, const struct option_row *row, const char *text)
{
	struct word_list given = { 0 };

	append_events(&given, text);
	for (size_t i = 0; i < given.n; i++)
		if (has_word(member, given.word[i]))
			free((char *)given.word[i]);
		else
			append_word(member, given.word[i]);
	free(given.word);
}

void take_backend(void *member, const struct option_row *row, const char *name)
{
	const char **backend = member;
	char text[256];

	*backend = name;
	if (!*name)
		fail("--backend= needs a name; perfex info shows those that there are");
	/* A known backend that is not available is reported when counters cannot be opened. */
	if (perfctr_backend(name, &(struct perfctr_backend_info){ 0 }) < 0 && errno == EINVAL) {
		perfctr_open_error_with(name, EINVAL, text, sizeof(text));
		fail("--backend=%s: %s", name, text);
	}
}
