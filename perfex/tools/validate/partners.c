// SPDX-License-Identifier: GPL-2.0-or-later
/* Partner processes that answer, or that write the same line.  They die with perfex. */
#define _GNU_SOURCE
#include "../host/host.h"
#include "validate.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Returns the pid of the partner, and 0 in the partner.  Returns -1 if it fails. */
static pid_t start_partner(int cpu)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	signal(SIGINT, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || pin_process(0, cpu) < 0)
		_exit(1);
	return 0;
}

static bool share_page(struct workplace *workplace)
{
	void *memory = mmap(NULL, workplace->geometry->page, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	workplace->memory = memory;
	workplace->length = workplace->geometry->page;
	return true;
}

bool make_echo(struct workplace *workplace)
{
	int to[2], from[2], *pipes;
	char byte;

	if (!share_page(workplace) || pipe2(to, O_CLOEXEC) < 0)
		return false;
	if (pipe2(from, O_CLOEXEC) < 0) {
		close(to[0]);
		close(to[1]);
		return false;
	}
	workplace->partner = start_partner(workplace->cpu);
	if (workplace->partner == 0) {
		close(to[1]);
		close(from[0]);
		while (read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	pipes = workplace->memory;
	pipes[0] = workplace->to = to[1];
	pipes[1] = workplace->from = from[0];
	if (workplace->partner > 0)
		return true;
	workplace->partner = 0;
	return false;
}

bool make_rival(struct workplace *workplace)
{
	volatile int *turn;

	if (workplace->other_cpu < 0 || !share_page(workplace))
		return false;
	turn = workplace->memory;
	*turn = 1;
	workplace->partner = start_partner(workplace->other_cpu);
	if (workplace->partner == 0)
		for (;;)
			if (*turn == 0)
				*turn = 1;
	if (workplace->partner > 0)
		return true;
	workplace->partner = 0;
	return false;
}
