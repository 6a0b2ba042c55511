/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine under perfex, for all tools that measure it.
 *
 * identity.c	what the machine is, without its name and its users
 * cpus.c	where perfex may run, and where a process is to run
 * interrupts.c	what happens meanwhile, and may add to counts
 */
#ifndef PERFEX_HOST_H
#define PERFEX_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* identity.c */
struct identity {
	char vendor[64], model_name[128], family[16], model[16], stepping[16], microcode[32];
	char flags[256];	      /* those that have to do with counting */
	bool is_virtual, is_emulated; /* the latter by QEMU, without the host's processor */
	char kernel[65], version[65], architecture[65];
	long online;
	char paranoid[16], watchdog[16], rdpmc[16]; /* "" where there is none */
};

void identity_find(struct identity *identity);
/* Of the first processor of a text in the format of /proc/cpuinfo. */
void identity_read_cpu(struct identity *identity, FILE *cpuinfo);

/* cpus.c: by their numbers */
enum { MAX_CPUS = 8192 };

struct cpu_list {
	int *cpu;
	unsigned int n;
};

/* Those that perfex may run on; cpu is for free(). */
void find_cpus(struct cpu_list *cpus);
/* The process, or the caller (0), runs on this CPU alone from now on.  -1 with errno set. */
int pin_process(pid_t pid, int cpu);

/* interrupts.c */
struct surroundings {
	uint64_t interrupts, faults, elapsed_ns;
};

/* Since the machine was started, on one CPU or on all (-1). */
uint64_t count_interrupts(FILE *file, int cpu);
struct surroundings surroundings_begin(int cpu);
/* Since then; of the calling process and the children that it has waited for. */
void surroundings_end(struct surroundings *surroundings, int cpu);

#endif
