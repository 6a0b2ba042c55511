// SPDX-License-Identifier: GPL-2.0-or-later
/* A program whose instructions and branches are known by hand. */
#include "families.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The calls of the 32-bit interface, which 64-bit programs also have: addresses have 32 bits. */
#define FORK "2"
#define READ "3"
#define WRITE "4"
#define EXIT "1"

/* Counted in workload_fork(). */
#define BEFORE_ROUNDS 3u
#define ROUND 13u /* and 2 for each iteration */
#define AFTER_ROUNDS 3u
#define UP_TO_READ 5u

uint64_t round_instructions(const struct workload *w)
{
	return ROUND + 2ull * w->loop;
}

uint64_t workload_instructions(const struct workload *w)
{
	return BEFORE_ROUNDS + w->rounds * round_instructions(w) + AFTER_ROUNDS;
}

/*
 * In each round a JNZ for each iteration, another for the round, and two INT. A JNZ before the
 * rounds, an INT after them.
 */
uint64_t workload_branches(const struct workload *w)
{
	return 1 + w->rounds * (w->loop + 3ull) + 1;
}

/* When the call waits, its INT has retired. */
uint64_t waiting_instructions(const struct workload *w)
{
	return workload_instructions(w) - BEFORE_ROUNDS - UP_TO_READ;
}

uint64_t waiting_branches(const struct workload *w)
{
	return workload_branches(w) - 1 - 1;
}

pid_t workload_fork(const struct workload *w)
{
	static uint32_t byte, address;
	const uint32_t in = w->in, out = w->out, rounds = w->rounds, loop = w->loop;
	long pid;

	address = (uintptr_t)&byte;
	__asm__ volatile("mov	$" FORK ", %%eax\n\t"
			 "int	$0x80\n\t"
			 "test	%%eax, %%eax\n\t"	  /* 1 of the child */
			 "jnz	3f\n\t"			  /* 1 */
			 "mov	%[rounds], %%esi\n"	  /* 1 */
			 "1:	mov $" READ ", %%eax\n\t" /* 1 of the round */
			 "mov	%[in], %%ebx\n\t"	  /* 1 */
			 "mov	%[byte], %%ecx\n\t"	  /* 1 */
			 "mov	$1, %%edx\n\t"		  /* 1 */
			 "int	$0x80\n\t"		  /* 1 */
			 "mov	%[loop], %%ecx\n"	  /* 1 */
			 "2:	dec %%ecx\n\t"		  /* loop */
			 "jnz	2b\n\t"			  /* loop */
			 "mov	$" WRITE ", %%eax\n\t"	  /* 1 */
			 "mov	%[out], %%ebx\n\t"	  /* 1 */
			 "mov	%[byte], %%ecx\n\t"	  /* 1 */
			 "mov	$1, %%edx\n\t"		  /* 1 */
			 "int	$0x80\n\t"		  /* 1 */
			 "dec	%%esi\n\t"		  /* 1 */
			 "jnz	1b\n\t"			  /* 1 */
			 "xor	%%ebx, %%ebx\n\t"	  /* 1 after the rounds */
			 "mov	$" EXIT ", %%eax\n\t"	  /* 1 */
			 "int	$0x80\n"		  /* 1 */
			 "3:"
			 : "=&a"(pid)
			 : [rounds] "m"(rounds), [in] "m"(in), [byte] "m"(address),
			   [loop] "m"(loop), [out] "m"(out)
			 : "ebx", "ecx", "edx", "esi", "memory", "cc");
	return pid;
}

/* The child sleeps nowhere else. */
bool wait_until_waiting(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	char path[32], text[512];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	for (unsigned int tries = 0; tries < 100000; tries++) {
		ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
		const char *state;

		if (n <= 0)
			break;
		text[n] = '\0';
		state = strrchr(text, ')');
		if (state && state[2] == 'S') {
			close(fd);
			return true;
		}
		nanosleep(&pause, NULL);
	}
	close(fd);
	return false;
}

pid_t workload_waiting(const struct workload *w)
{
	pid_t pid = workload_fork(w);

	if (pid > 0 && !wait_until_waiting(pid))
		printf("process %d does not wait for its input\n", pid);
	return pid;
}

bool reap(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && status == 0;
}

int zeros(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	return fd;
}

int nowhere(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return fd;
}
