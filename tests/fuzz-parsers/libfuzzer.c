// SPDX-License-Identifier: GPL-2.0-or-later
/* One target under libFuzzer: TARGET in the environment names it. */
#include "fuzz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("TARGET");

	(void)argc;
	(void)argv;
	target = find_target(name ? name : "");
	if (!target)
		_Exit(EXIT_FAILURE);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	EXPECT(text);
	memcpy(text, data, size);
	text[size] = '\0';
	target->take(text, size);
	free(text);
	return 0;
}
