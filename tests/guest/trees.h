/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees by the bare ABI, and processes that wait for each other. All but try_control() must succeed. */
#ifndef TREES_H
#define TREES_H

#include "guest.h"

#define TOTALS PERFCTR_CONTROL_TOTALS

/* Instructions, with PERFCTR_CONTROL_INHERIT or without.  -1 with errno. */
int try_control(int fd, uint32_t flags);
/* The context, whose members are to be, of another process. */
int open_tree_of(pid_t pid);
struct perfctr_counts read_tree(int fd);
struct perfctr_counts read_children(int fd);
void expect_no_context(pid_t pid);
/* So many are left in a while. */
void expect_contexts(uint32_t n);

/* To and from an eventfd(2). */
void give(int event);
void take(int event);
/* One that processes share; pid counts in it, which is awaited n times. */
volatile uint64_t *shared_number(void);
void wait_for_more(volatile uint64_t *number, uint64_t n, pid_t pid);

#endif
