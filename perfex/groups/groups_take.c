// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes the rules of groups for a command that derives values by them. */
#include "../rules/derive.h"
#include "groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool group_take(struct rules **rules, const char *name, const struct perfctr_events *database)
{
	struct group group;
	char *text;
	bool found;

	if (!group_find(name, &group))
		return false;
	text = group_rules(&group, database);
	found = text;
	if (found)
		derive_take_text(rules, group.source, text, strlen(text));
	else
		complain("group '%s' has no rules for this processor; perfex list --groups shows "
			 "those that have",
			 name);
	group_free(&group);
	free(text);
	return found;
}

/*
 * Opens the events of the backend.  If backend is NULL, opens those of the first backend that
 * counts instructions, because groups have rules for processors; or else of the one that the
 * library chooses.
 */
static struct perfctr_events *open_machine(const char *backend, unsigned int modes)
{
	const char *instructions = "instructions";

	return perfctr_events_open_with(backend, &instructions, 1, modes, 0);
}

bool groups_take(struct rules **rules, const struct word_list *names, const char *backend,
		 unsigned int modes)
{
	struct perfctr_events *database = open_machine(backend, modes);
	bool good = true;

	if (!database) {
		complain_of_open(backend, errno);
		return false;
	}
	for (size_t i = 0; i < names->n && good; i++)
		good = group_take(rules, names->word[i], database);
	perfctr_events_close(database);
	return good;
}
