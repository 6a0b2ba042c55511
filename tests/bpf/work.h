/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work that tests count, and the kernel's own sums of it. */
#ifndef TESTS_BPF_WORK_H
#define TESTS_BPF_WORK_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <perfctr.h>
#include <perfctr_sessions.h>

/* All software events, in the order of their numbers. */
void control_all(struct perfctr_control *c, uint32_t flags);
/* The sums that the kernel keeps itself. */
struct usage {
	uint64_t ns;
	uint64_t switches;
	uint64_t minor;
	uint64_t major;
};

/* Sums of a sleeping thread, from /proc. */
struct usage usage_of(pid_t pid);
/* Sums of a process by wait4(), with all that it has waited for. */
struct usage usage_waited(const struct rusage *rusage);
struct usage usage_of_counts(const struct perfctr_counts *counts);

/* Uses the CPU for so long; touches so many new pages; sleeps and is woken so many times. */
void burn(uint64_t ns);
void touch(unsigned int pages);
void nap(unsigned int times);
/* Like fork(), for children that reap() waits for, until each has been switched away for good. */
pid_t fork_child(void);
void reap(void);

/* A child that waits until it is released and then runs. */
struct child {
	pid_t pid;
	int go;
};

/* Waits until it sleeps in a system call and has left its CPU: it is not about to run again. */
void wait_until_asleep(pid_t pid);

struct child make_child(void (*run)(void));
void release_child(struct child *child);
/* Waits for the child, which must exit with 0. */
struct rusage end_child(struct child *child);
uint64_t thread_ns(void);
/* The largest difference between that clock and the counters', where reading them is emulated. */
#define CLOCKS_OFF_NS 300e3

#endif
