/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every backend must do, through the public interface alone.  PERFCTR_BACKEND names the one
 * that is tested.  Expected are counts by hand of tests/guest/asm, and what the kernel itself accounts.
 */
#ifndef TESTS_BACKEND_H
#define TESTS_BACKEND_H

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <perfctr.h>
#include <perfctr_groups.h>

#include "../bpf/work.h"
#include "../guest/guest.h"
#include "../guest/loop.h"
#include "../guest/tree.h"

/* What the library has no PERFCTR_CAN_* for, and a backend may refuse with ENOTSUP. */
#define KEEPS_CONTEXTS (1u << 30) /* other handles find a context */
#define KEEPS_MARKS (1u << 31)	  /* a mark is known to all, and can be taken away */

/* A sentence of the contract, for backends that have all capabilities of `needs`. */
struct contract {
	uint32_t needs;
	const TTest *const *test; /* START_TEST() makes a variable */
};

/* They end with a test that is NULL. */
extern const struct contract context_contract[], count_contract[], tree_contract[];
extern const struct contract group_contract[], session_contract[], permission_contract[];

/* Of the backend that is tested. */
uint32_t capabilities(void);

/* Its thread 0 is the caller.  Those that return nothing must succeed. */
struct perfctr *open_context(pid_t tid);
/* Instructions, and where there are two events branches, in user mode. */
struct perfctr_control user_control(unsigned int n, uint32_t flags);
struct perfctr *counted(pid_t tid, unsigned int n, uint32_t flags);
struct perfctr_counts counts_of(const struct perfctr *p, unsigned int scope);
uint64_t instructions_of(const struct perfctr *p);
struct perfctr_session *session_of(struct perfctr_group *group, uint32_t flags);
struct perfctr_counts session_counts(const struct perfctr_session *session);
struct perfctr_group *make_group(void);
double ns_of_ticks(uint64_t ticks);

/* Lets a program of stopped_start() go, and waits for its end with status 0. */
void run_to_end(pid_t pid);
void kill_and_wait(pid_t pid);

#define ITERATIONS 1000000u

#define expect_refusal(call, error)                                                                \
	do {                                                                                       \
		errno = 0;                                                                         \
		ck_assert_int_eq(call, -1);                                                        \
		ck_assert_int_eq(errno, error);                                                    \
	} while (0)

#define expect_null(call, error)                                                                   \
	do {                                                                                       \
		errno = 0;                                                                         \
		ck_assert_ptr_null(call);                                                          \
		ck_assert_int_eq(errno, error);                                                    \
	} while (0)

#endif
