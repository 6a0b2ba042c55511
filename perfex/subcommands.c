// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfex.h"

#include <stddef.h>
#include <string.h>

static const struct subcommand *const subcommands[] = {
	&run_subcommand,
	&info_subcommand,
	&list_subcommand,
	&check_subcommand,
	&encode_subcommand,
	&diff_subcommand,
	&stat_of_subcommand,
	&experiment_subcommand,
	&mark_subcommand,
	&system_subcommand,
	&trace_subcommand,
	&report_subcommand,
	&revoke_subcommand,
};

const struct subcommand *const default_subcommand = &run_subcommand;

void print_subcommands(void)
{
	for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
		printf("  %-10s %s\n", subcommands[i]->name, subcommands[i]->summary);
}

const struct subcommand *find_subcommand(const char *name)
{
	for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
		if (strcmp(subcommands[i]->name, name) == 0)
			return subcommands[i];
	return NULL;
}
