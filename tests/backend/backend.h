/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contract of every backend, tested through the public interface only. PERFCTR_BACKEND names
 * the tested backend. The expected values are counts by hand of tests/guest/asm, and what the
 * kernel itself accounts.
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

/* Root runs the tests, and the machine has all that the backend's manual promises. */
#define BY_ROOT (1u << 28)
#define WHOLE (1u << 29)
/* The test compares clocks, and so needs the host's time. CK_EXCLUDE_TAGS=clock leaves it out. */
#define BY_CLOCK (1u << 27)
/* Abilities without a PERFCTR_CAN_* of the library. A backend may refuse them with ENOTSUP. */
#define KEEPS_CONTEXTS (1u << 30) /* other handles find a context */
#define KEEPS_MARKS (1u << 31)	  /* all callers see a mark, and can take it away */

/* A sentence of the contract, for backends that have all capabilities of `needs`. */
struct contract {
	uint32_t needs;
	const TTest *const *test; /* START_TEST() makes a variable */
};

/* Each list ends with a test that is NULL. */
extern const struct contract context_contract[], count_contract[], tree_contract[];
extern const struct contract mark_contract[], session_contract[], permission_contract[];

/* The capabilities of the tested backend. */
uint32_t capabilities(void);

static inline uint64_t instructions_of(const struct perfctr *p)
{
	return own_counts(p).counter[0];
}

/* Counts instructions of marked threads, in user mode. */
static inline struct perfctr_session *session_of(struct perfctr_mark *mark, uint32_t flags)
{
	struct perfctr_control control = user_control(1, flags);
	struct perfctr_session *session = open_session(mark);

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
