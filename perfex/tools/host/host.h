/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine that perfex runs on, for all tools that measure it.
 *
 * identity.c	what the machine is, but neither its name nor its users
 * cpus.c	the CPUs that perfex may run on, and binding a process to one
 * interrupts.c	interrupts and page faults, which may add to counts
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
	char flags[256];	      /* the flags that matter for counting */
	bool is_virtual, is_emulated; /* is_emulated: by QEMU, without the host's processor */
	char kernel[65], version[65], architecture[65];
	long online;
	char paranoid[16], watchdog[16], rdpmc[16]; /* "": it cannot be read */
};

void identity_find(struct identity *identity);
/* Reads the first processor of a text in the format of /proc/cpuinfo. */
void identity_read_cpu(struct identity *identity, FILE *cpuinfo);

/* cpus.c: CPUs are known by their numbers */
enum { MAX_CPUS = 8192 };

struct cpu_list {
	int *cpu;
	unsigned int n;
};

/* Finds the CPUs that perfex may run on.  The caller frees cpus->cpu.  Ends perfex if it fails. */
void find_cpus(struct cpu_list *cpus);
/*
 * Binds a process, or the calling thread if pid is 0, to one CPU.  Returns 0, or -1 with errno set.
 */
int pin_process(pid_t pid, int cpu);

/*
 * interrupts.c: surroundings_begin() returns the numbers so far, and the time in elapsed_ns.
 * surroundings_end() replaces them by the differences since then.
 */
struct surroundings {
	uint64_t interrupts, faults, elapsed_ns;
};

/*
 * Adds up the interrupts since the machine was started, from a file like /proc/interrupts: on one
 * CPU, or on all if cpu is -1 or not in the file.
 */
uint64_t count_interrupts(FILE *file, int cpu);
struct surroundings surroundings_begin(int cpu);
/*
 * Sets the differences since surroundings_begin().  The page faults are those of the calling
 * process and of the children that it has waited for.
 */
void surroundings_end(struct surroundings *surroundings, int cpu);

#endif
