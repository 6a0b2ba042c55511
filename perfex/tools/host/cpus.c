// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "host.h"
#include "../../perfex.h"

#include <errno.h>
#include <sched.h>

void find_cpus(struct cpu_list *cpus)
{
	size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	cpu_set_t *set = CPU_ALLOC(MAX_CPUS);

	cpus->cpu = allocate(MAX_CPUS, sizeof(*cpus->cpu));
	cpus->n = 0;
	if (!set || sched_getaffinity(0, size, set) < 0)
		fail("cannot ask for the CPUs of perfex: %m");
	for (int i = 0; i < MAX_CPUS; i++)
		if (CPU_ISSET_S(i, size, set))
			cpus->cpu[cpus->n++] = i;
	CPU_FREE(set);
}

int pin_process(pid_t pid, int cpu)
{
	size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	cpu_set_t *set = CPU_ALLOC(MAX_CPUS);
	int result;

	if (!set) {
		errno = ENOMEM;
		return -1;
	}
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)cpu, size, set);
	result = sched_setaffinity(pid, size, set);
	CPU_FREE(set);
	return result;
}
