// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

const struct target targets[] = {
	{ "event", fuzz_event, "event specifications and names; the first letter is the machine" },
	{ "table", fuzz_table, "tables of events; the first letter is the machine" },
	{ "rules", fuzz_rules, "rules for derived values" },
	{ "experiment", fuzz_experiment, "files of perfex experiment" },
	{ "recording", fuzz_recording, "recordings, which perfex diff reads" },
	{ "validation", fuzz_validation, "validations, which perfex validate --against reads" },
	{ "trace", fuzz_trace, "traces, which perfex report reads" },
	{ "samples", fuzz_samples, "what perfex record wrote, which perfex samples reads" },
	{ "regions", fuzz_regions, "saved regions, which perfex stat-of reads" },
	{ "arguments", fuzz_arguments, "command lines of perfex check, encode and list" },
	{ 0 },
};

const struct target *find_target(const char *name)
{
	for (const struct target *target = targets; target->name; target++)
		if (strcmp(target->name, name) == 0)
			return target;
	fprintf(stderr, "there is no parser '%s'; there are:\n", name);
	for (const struct target *target = targets; target->name; target++)
		fprintf(stderr, "  %-12s %s\n", target->name, target->about);
	return NULL;
}

void expectation_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: expected: %s\n", file, line, condition);
	abort();
}

void expect_line(const char *text)
{
	EXPECT(*text);
	for (; *text; text++)
		EXPECT((unsigned char)*text >= ' ' && *text != 0x7f);
}

FILE *nowhere(void)
{
	static FILE *file;

	if (!file)
		file = fopen("/dev/null", "w");
	EXPECT(file);
	return file;
}
