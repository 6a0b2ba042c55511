/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the tests on Debian's own kernel, on top of tests/guest/guest.h. The expected counts
 * are those worked out in tests/guest/asm. Linux's perf_events is the second witness.
 */
#ifndef STOCK_H
#define STOCK_H

#include "../backend/handles.h"
#include "../guest/guest.h"
#include "../guest/tree.h"

/*
 * perf_events by its system call only. type, config: of perf_event_attr; flags: PERF_OF_*. Returns
 * -1 with errno.
 */
#define PERF_OF_KERNEL	(1u << 0)	/* kernel mode too */
#define PERF_OF_PINNED	(1u << 1)
#define PERF_OF_TREE	(1u << 2)	/* inherit */
int perf_open(uint32_t type, uint64_t config, unsigned int flags, pid_t tid, int group);
uint64_t perf_read(int fd);

Suite *command_suite(void);
Suite *contexts_suite(void);
Suite *no_pmu_suite(void);
Suite *refusals_suite(void);
Suite *witness_suite(void);

#endif
