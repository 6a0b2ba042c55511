// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts a loop by names of events, or, if the arguments are a command, that command. */
#include <err.h>
#include <inttypes.h>
#include <perfctr.h>
#include <perfctr_count.h>
#include <stdio.h>
#include <sys/wait.h>

static struct perfctr *count_loop(char *why, size_t size)
{
	struct perfctr *p = perfctr_count("instructions,branches", why, size);
	unsigned long n = 1000000;

	/* Two instructions and a branch for each n. */
	if (p)
		__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc");
	return p;
}

static struct perfctr *count_command(char **argv, char *why, size_t size)
{
	pid_t pid;
	struct perfctr *p = perfctr_spawn("instructions,branches", argv, &pid, why, size);

	if (p)
		waitpid(pid, NULL, 0);
	return p;
}

int main(int argc, char **argv)
{
	char why[PERFCTR_COUNT_ERROR];
	struct perfctr_counts counts;
	struct perfctr *p;

	p = argc > 1 ? count_command(argv + 1, why, sizeof(why)) : count_loop(why, sizeof(why));
	if (!p)
		errx(1, "%s", why);
	if (perfctr_read_scope(p, PERFCTR_SCOPE_TREE, &counts) < 0)
		err(1, "the counts cannot be read");
	printf("instructions %" PRIu64 "\nbranches %" PRIu64 "\n", (uint64_t)counts.counter[0],
	       (uint64_t)counts.counter[1]);
	perfctr_close(p);
	return 0;
}
