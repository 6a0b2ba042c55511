// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Linked into a perfex that is compiled with -finstrument-functions: what each process has called is appended to the
 * file that $WALK names, an address a line, in the order of the calls.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CALLS (1 << 20)

void __cyg_profile_func_enter(void *function, void *from);
void __cyg_profile_func_exit(void *function, void *from);

static void *called[CALLS];
static unsigned int n_called;

void __cyg_profile_func_enter(void *function, void *from)
{
	(void)from;
	if (n_called < CALLS)
		called[n_called++] = function;
}

void __cyg_profile_func_exit(void *function, void *from)
{
	(void)function;
	(void)from;
}

__attribute__((destructor)) static void write_calls(void)
{
	FILE *file = fopen(getenv("WALK"), "a");

	for (unsigned int i = 0; file && i < n_called; i++)
		fprintf(file, "%p\n", called[i]);
	if (file)
		fclose(file);
}
