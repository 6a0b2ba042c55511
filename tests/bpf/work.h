/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tests count, and what the kernel says of it. */
#ifndef TESTS_BPF_WORK_H
#define TESTS_BPF_WORK_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <perfctr.h>
#include <perfctr_groups.h>

/* The software events, all of them, in the order of their numbers. */
void control_all(struct perfctr_control *c, uint32_t flags);
/* The sums that the kernel keeps itself. */
struct usage {
	uint64_t ns;
	uint64_t switches;
	uint64_t minor;
	uint64_t major;
};

/* Of a thread that sleeps, from /proc. */
struct usage usage_of(pid_t pid);
/* Of a process that wait4() told, with all that it waited for. */
struct usage usage_waited(const struct rusage *rusage);
struct usage usage_of_counts(const struct perfctr_counts *counts);

/* Use the CPU for so long; so many pages for the first time; sleep and be woken so many times. */
void burn(uint64_t ns);
void touch(unsigned int pages);
void nap(unsigned int times);
/* As fork(), for children that reap() waits for: each when it has been switched away for good. */
pid_t fork_child(void);
void reap(void);

/* A child that waits until it is released and then runs. */
struct child {
	pid_t pid;
	int go;
};

/* Until it sleeps in a system call, and has left its CPU: it is not about to run again. */
void wait_until_asleep(pid_t pid);

struct child make_child(void (*run)(void));
void release_child(struct child *child);
/* Wait for it; it must have exited with 0. */
struct rusage end_child(struct child *child);
uint64_t thread_ns(void);
/* How far that clock and the counters' are apart where reading them is emulated. */
#define CLOCKS_OFF_NS 300e3

#endif
