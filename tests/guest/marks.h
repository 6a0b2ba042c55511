/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks and sessions by the bare ABI.  Functions named try_* return -1 with errno; others must succeed. */
#ifndef MARKS_H
#define MARKS_H

#include "guest.h"

#define POLICY(bits) (PERFCTR_EVENT_POLICY | (bits))
#define MARKED		PERFCTR_EXCLUDE_UNMARKED
#define UNMARKED	PERFCTR_EXCLUDE_MARKED
#define PRIVILEGED	PERFCTR_EXCLUDE_USER
#define NOT_PRIVILEGED	PERFCTR_EXCLUDE_KERNEL

int mark_open(void);
int try_mark(uint32_t action, uint32_t scope, pid_t tid, int mark_fd);
void mark(pid_t tid, int mark_fd);
uint64_t mark_of(pid_t tid);
uint32_t mark_members(int mark_fd);

struct perfctr_session_args session_of(int mark_fd, uint32_t policy);
int try_session(struct perfctr_session_args *open);
int session_open(int mark_fd, uint32_t policy);
/* An event of a session, with a policy of its own or 0. */
struct session_event {
	struct event event;
	uint32_t flags;
};
#define SESSION_EVENTS(...) (const struct session_event[]){ __VA_ARGS__ }, \
	ARRAY_SIZE(((const struct session_event[]){ __VA_ARGS__ }))
int try_session_control(int session, const struct session_event *events, size_t n,
			struct perfctr_control *control);
void session_control(int session, const struct session_event *events, size_t n);

/* Instructions in both modes on one of the seven counters. */
#define GENERAL(n) { n, BOTH(INSTRUCTIONS) }
#define FIXED_COUNTER(n) { PERFCTR_FIXED + (n), BOTH(FIXED) }

/* Starts a program that bears the mark. -1: it bears none. */
pid_t marked_start(int mark_fd, int cpu, const char *const command[]);
void expect_success(pid_t pid);

#endif
