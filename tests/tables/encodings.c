// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * encodings FILE: the events and modes that tests/families/profiles writes as register values are
 * those of libpfm4 for the same processors. Ends with "tables: N passed, N failed".
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INT (1u << 20) /* libpfm4 sets the interrupt bit */

static const struct {
	const char *profile;
	const char *instructions;
	const char *branches;
} known[] = {
	{ "arch", "nhm::INSTRUCTION_RETIRED", "nhm::BRANCH_INSTRUCTIONS_RETIRED" },
	{ "arch-v2", "core::INSTRUCTION_RETIRED", "core::BRANCH_INSTRUCTIONS_RETIRED" },
	{ "arch-v3", "nhm::INSTRUCTION_RETIRED", "nhm::BRANCH_INSTRUCTIONS_RETIRED" },
	{ "arch-v4", "skl::INSTRUCTION_RETIRED", "skl::BRANCH_INSTRUCTIONS_RETIRED" },
	{ "k7", "amd64_k7::RETIRED_INSTRUCTIONS", "amd64_k7::RETIRED_BRANCH_INSTRUCTIONS" },
	{ "k7-64", "amd64_k7::RETIRED_INSTRUCTIONS", "amd64_k7::RETIRED_BRANCH_INSTRUCTIONS" },
	{ "k8", "amd64_k8_revb::RETIRED_INSTRUCTIONS",
	  "amd64_k8_revb::RETIRED_BRANCH_INSTRUCTIONS" },
	{ "fam10", "amd64_fam10h_barcelona::RETIRED_INSTRUCTIONS",
	  "amd64_fam10h_barcelona::RETIRED_BRANCH_INSTRUCTIONS" },
	{ "zen", "amd64_fam17h_zen1::RETIRED_INSTRUCTIONS",
	  "amd64_fam17h_zen1::RETIRED_BRANCH_INSTRUCTIONS" },
};

static unsigned int passed, failed;

static void compare(const char *event, int mode, uint64_t expected)
{
	uint64_t *codes = NULL;
	int n = 0, error = pfm_get_event_encoding(event, mode, NULL, NULL, &codes, &n);

	if (error == PFM_SUCCESS && n == 1 && (codes[0] & ~(uint64_t)INT) == expected) {
		passed++;
	} else {
		failed++;
		printf("%s: %s, %#" PRIx64 " in libpfm4, %#" PRIx64 " here\n", event,
		       pfm_strerror(error), n ? codes[0] : 0, expected);
	}
	free(codes);
}

static void compare_line(char *columns[10])
{
	uint64_t user = strtoull(columns[7], NULL, 0), kernel = strtoull(columns[8], NULL, 0);

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(columns[0], known[i].profile))
			continue;
		compare(known[i].instructions, PFM_PLM3, strtoull(columns[5], NULL, 0) | user);
		compare(known[i].instructions, PFM_PLM0, strtoull(columns[5], NULL, 0) | kernel);
		compare(known[i].branches, PFM_PLM3, strtoull(columns[6], NULL, 0) | user);
	}
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	char line[1024];

	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (!file || pfm_initialize() != PFM_SUCCESS) {
		fputs("usage: encodings FILE\n", stderr);
		return EXIT_FAILURE;
	}
	while (fgets(line, sizeof(line), file)) {
		char *columns[10], *rest = line;
		int n = 0;

		while (line[0] != '#' && n < 10 && (columns[n] = strsep(&rest, "\t\n")))
			n++;
		if (n == 10)
			compare_line(columns);
	}
	fclose(file);
	printf("tables: %u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
