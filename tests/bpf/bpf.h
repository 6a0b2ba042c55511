/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of the bpf backend, on a kernel where perfctr-bpfd is loaded. */
#ifndef TESTS_BPF_H
#define TESTS_BPF_H

#include <check.h>

#include "../backend/handles.h"
#include "work.h"

/* tests/bpf/run starts the service with these. */
#define SLOTS	   8
#define USER_SLOTS 5

/*
 * A case of tests that compare clocks, and so need the host's time: CK_EXCLUDE_TAGS=clock leaves
 * them out. Another case may have the same name.
 */
TCase *clock_case(const char *name);
TCase *self_clock_tests(void);
TCase *mark_clock_tests(void);
TCase *tree_tests(void);
TCase *self_tests(void);
TCase *remote_tests(void);
TCase *mark_tests(void);
TCase *cost_tests(void);
/* For root, who attacks as other users. The last one stops the service. */
TCase *attack_tests(void);
TCase *slot_tests(void);
TCase *exit_tests(void);
TCase *proof_tests(void);
TCase *yama_tests(void);
TCase *walk_tests(void);
TCase *end_tests(void);
/* For a machine where /proc hides the processes of others. */
TCase *hidden_tests(void);
/* For a machine where nothing is loaded. */
TCase *notify_tests(void);
TCase *forged_tests(void);
/* The same, in a machine of its own. */
TCase *memory_tests(void);
/* The same, on a machine whose time is instructions, 1 ns each (scripts/vm --icount). */
TCase *unused_tests(void);
/* With 16 slots, 4 for each user; $HOSTILE_SECONDS long. */
TCase *hostile_tests(void);
/*
 * For perfctr-bpfd with --event instructions:u --event r00c4:u. The last one takes CPU 1 offline.
 */
TCase *event_tests(void);
TCase *lost_event_tests(void);

#endif
