// SPDX-License-Identifier: GPL-2.0-or-later
/* Replaces perfex scope on machines of 32 bits, for which the build has no ncurses. */
#include "perfex.h"

static int scope_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fail("perfex scope needs perfex of 64 bits; perfex -I MS writes the same as text");
}

const struct subcommand scope_subcommand = {
	.name = "scope",
	.summary = "watch two events over the time: not in 32 bits",
	.main = scope_main,
	.help = "Usage: perfex scope\n"
		"Drawing on a terminal needs perfex of 64 bits.\n",
};
