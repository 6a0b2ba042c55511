// SPDX-License-Identifier: GPL-2.0-or-later
/* Replaces everything that validates in perfex of 32 bits, because the benchmarks need 64 bits. */
#include "machine/machine.h"
#include "../perfex.h"

static int validate_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fail("perfex validate needs perfex of 64 bits: this one has 32, and the programs whose counts "
	     "are known have 64");
}

const struct subcommand validate_subcommand = {
	.name = "validate",
	.summary = "find out which events count what they should: not in 32 bits",
	.main = validate_main,
	.help = "Usage: perfex validate\n"
		"The programs whose counts are known need perfex of 64 bits.\n",
};

void measure_events(const struct subject *subject, struct outcome *outcome)
{
	(void)subject;
	end_check(outcome, VERDICT_IMPOSSIBLE, "perfex of 32 bits has no programs of known counts");
}
