// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfex.h"

#include <stddef.h>

/* The name of a subcommand counts as such in the first place alone: "perfex -- list" runs a list. */
int main(int argc, char **argv)
{
	const struct subcommand *subcommand = argc > 1 ? find_subcommand(argv[1]) : NULL;

	if (subcommand)
		return subcommand->main(argc - 1, argv + 1);
	return default_subcommand->main(argc, argv);
}
