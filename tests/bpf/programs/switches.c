// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost of a context switch: two threads on one CPU wake each other through pipes. Prints their
 * CPU time, which others on the CPU disturb little: the least of many rounds.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 50
#define PAIRS 1000

static int there[2], back[2];

static void *answer(void *nothing)
{
	char byte;

	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	return nothing;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static double switch_ns(void)
{
	uint64_t begun = cpu_ns();
	char byte = 0;

	for (int i = 0; i < PAIRS; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return 0;
	return (double)(cpu_ns() - begun) / PAIRS / 2;
}

int main(int argc, char **argv)
{
	double best = 1e9, ns;
	pthread_t thread;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, answer, NULL))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		ns = switch_ns();
		if (ns < best)
			best = ns;
	}
	printf("context switch, %s: %.0f ns\n", argc > 1 ? argv[1] : "", best);
	return 0;
}
