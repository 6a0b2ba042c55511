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

#include "handles.h"
#include "../bpf/work.h"
#include "../guest/guest.h"
#include "../guest/loop.h"
#include "../guest/tree.h"

/* The tests are root's, and the machine has all that the backend's manual says. */
#define BY_ROOT (1u << 28)
#define WHOLE (1u << 29)
/* It needs the host's time, as it compares clocks: CK_EXCLUDE_TAGS=clock leaves it out. */
#define BY_CLOCK (1u << 27)
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

static inline uint64_t instructions_of(const struct perfctr *p)
{
	return own_counts(p).counter[0];
}

/* Counts instructions of the marked, in user mode. */
static inline struct perfctr_session *session_of(struct perfctr_group *group, uint32_t flags)
{
	struct perfctr_control control = user_control(1, flags);
	struct perfctr_session *session = open_session(group);

	control_session(session, &control);
	return session;
}

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
