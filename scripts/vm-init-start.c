// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "vm-init-start.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Time stamps are nanoseconds, and an instruction takes two. */
#define SECOND	1000000000ull
#define AHEAD	50000u

/*
 * Stays open, until the command is executed: how many instructions it takes to open a file depends
 * on the kernel's free memory, and the kernel's random numbers depend on the time stamp.
 */
static int random_numbers = -1;

int seed_random_numbers(int bits)
{
	struct {
		struct rand_pool_info info;
		char seed[64];
	} pool = { .info = { .entropy_count = bits, .buf_size = sizeof(pool.seed) } };

	if (random_numbers < 0)
		random_numbers = open("/dev/urandom", O_WRONLY | O_CLOEXEC);
	return random_numbers < 0 ? -1 : ioctl(random_numbers, RNDADDENTROPY, &pool);
}

static void wait_for(unsigned long long duration)
{
	struct timespec left = { .tv_sec = duration / SECOND, .tv_nsec = duration % SECOND };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

/*
 * The kernel has work of its own for some time after the boot. It is done before anything depends on
 * the files. With 128 bits, the random numbers that the kernel gives to each file change nothing
 * that later ones depend on.
 */
int start_before_files(struct start *start)
{
	struct timespec now;

	if (seed_random_numbers(128) || clock_gettime(CLOCK_MONOTONIC, &now))
		return -1;
	wait_for(2 * SECOND - now.tv_sec % 2 * SECOND - now.tv_nsec);
	/* A sixteenth of the memory. */
	start->size = sysconf(_SC_PHYS_PAGES) / 16 * sysconf(_SC_PAGESIZE);
	start->memory = mmap(NULL, start->size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (start->memory == MAP_FAILED)
		return -1;
	start->stamp = __builtin_ia32_rdtsc();
	return 0;
}

/* Executes instructions until the time stamp is the goal. If it is too late, or too early, does nothing. */
static void pass_time_until(unsigned long long goal)
{
	unsigned long long left = goal - __builtin_ia32_rdtsc();
	unsigned long instructions = left / 2, loops = instructions / 2;

	if (left > 2 * AHEAD || loops < 2)
		return;
	asm volatile("	test	$1, %1\n"
		     "	jz	1f\n"
		     "	nop\n"
		     "1:	dec	%0\n"
		     "	jnz	1b\n"
		     : "+r"(loops) : "r"(instructions) : "cc");
}

/*
 * A timer of the kernel ends up to 16 ns early: how much depends on when it was set. So sleeping
 * alone does not end at the same instruction. The second sleep sets the timer at an instruction that
 * does not depend on the files; so do, from then on, all others.
 */
static void align(unsigned long long goal)
{
	unsigned long long now = __builtin_ia32_rdtsc();

	if (goal > now + AHEAD)
		wait_for(goal - AHEAD - now);
	pass_time_until(goal);
	wait_for(AHEAD);
}

int start_after_files(struct start *start)
{
	unsigned long long now, goal = start->stamp;

	/* The kernel allocates this memory next, and not the pieces that the files left. */
	munmap(start->memory, start->size);
	now = __builtin_ia32_rdtsc();
	do
		goal += 2 * SECOND;
	while (goal < now + SECOND / 100);
	prctl(PR_SET_TIMERSLACK, 1);
	/* Twice, and not a whole tick apart: the tick may interrupt one of the two. */
	align(goal);
	align(goal + SECOND / 1000);
	prctl(PR_SET_TIMERSLACK, 0);
	return seed_random_numbers(512);
}
