/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees by the bare ABI, and processes that wait for each other. All but try_control() must succeed. */
#ifndef TREES_H
#define TREES_H

#include "guest.h"

#define TOTALS PERFCTR_CONTROL_TOTALS

/*
 * The control counts instructions, with PERFCTR_CONTROL_INHERIT or without. Returns -1 with errno.
 */
int try_control(int fd, uint32_t flags);
/* Opens a context of another process, whose descendants become members. */
int open_tree_of(pid_t pid);
struct perfctr_counts read_tree(int fd);
struct perfctr_counts read_children(int fd);
void expect_no_context(pid_t pid);
/* Waits until n contexts are left. */
void expect_contexts(uint32_t n);

/* Write to an eventfd(2), and read from it. */
void give(int event);
void take(int event);
/* Zeroed memory that processes share, and a number in such memory. */
void *shared_memory(size_t bytes);
volatile uint64_t *shared_number(void);
/* Waits until process pid has counted n further. */
void wait_for_more(volatile uint64_t *number, uint64_t n, pid_t pid);

/* The test's own instructions between two reads: a sleep, and libcheck's notes of its place. */
#define FEW 100000

#endif
