// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of subcommands, and where they begin. */
#include "perfex.h"

#include <stddef.h>
#include <stdlib.h>
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

static void print_table(void)
{
	for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
		printf("  %-10s %s\n", subcommands[i]->name, subcommands[i]->summary);
}

static const struct subcommand *find_subcommand(const char *name)
{
	for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
		if (strcmp(subcommands[i]->name, name) == 0)
			return subcommands[i];
	return NULL;
}

/*
 * The name of a subcommand counts as such in the first place alone: "perfex -- list" runs a list.
 */
int main(int argc, char **argv)
{
	const struct subcommand *subcommand = argc > 1 ? find_subcommand(argv[1]) : NULL;

	print_subcommands = print_table;
	atexit(flush_output);
	if (subcommand)
		return subcommand->main(argc - 1, argv + 1);
	return run_subcommand.main(argc, argv);
}
