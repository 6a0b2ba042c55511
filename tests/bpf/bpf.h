/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of the bpf backend, on a kernel where perfctr-bpfd is loaded. */
#ifndef TESTS_BPF_H
#define TESTS_BPF_H

#include <check.h>

#include "../backend/handles.h"
#include "work.h"

/* As tests/bpf/run starts the service. */
#define SLOTS	   8
#define USER_SLOTS 5

/*
 * A case of tests that need the host's time, as they compare clocks: CK_EXCLUDE_TAGS=clock leaves them
 * out.  The name may be another case's.
 */
TCase *clock_case(const char *name);
TCase *self_clock_tests(void);
TCase *group_clock_tests(void);
TCase *tree_tests(void);
TCase *self_tests(void);
TCase *remote_tests(void);
TCase *group_tests(void);
TCase *cost_tests(void);
/* By root, who attacks as other users; the last one stops the service. */
TCase *attack_tests(void);
TCase *slot_tests(void);
TCase *exit_tests(void);
TCase *proof_tests(void);
TCase *yama_tests(void);
TCase *walk_tests(void);
TCase *end_tests(void);
/* Where /proc hides the processes of others. */
TCase *hidden_tests(void);
/* Where nothing is loaded. */
TCase *notify_tests(void);
TCase *forged_tests(void);
/* Likewise, in a machine of its own. */
TCase *memory_tests(void);
/* ... whose time is instructions, 1 ns each (scripts/vm --icount). */
TCase *unused_tests(void);
/* With 16 slots, 4 for each user; $HOSTILE_SECONDS long. */
TCase *hostile_tests(void);
/* Where perfctr-bpfd was started with --event instructions:u --event r00c4:u; the last takes CPU 1 away. */
TCase *event_tests(void);
TCase *lost_event_tests(void);

#endif
