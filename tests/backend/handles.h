/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles of the library, shared by its tests. Functions that return nothing, or what they open,
 * must succeed. Thread 0 is the caller.
 */
#ifndef TESTS_BACKEND_HANDLES_H
#define TESTS_BACKEND_HANDLES_H

#include <stdint.h>
#include <sys/types.h>

#include <perfctr.h>
#include <perfctr_sessions.h>

#define NOBODY_THERE 0x7ffffff0

struct perfctr *open_context(pid_t tid);
void set_control(struct perfctr *p, struct perfctr_control *control);
/* Counts user mode: instructions, and branches if there are two events. */
struct perfctr_control user_control(unsigned int n, uint32_t flags);
struct perfctr *counted(pid_t tid, unsigned int n, uint32_t flags);
/* Counts all software events. */
struct perfctr *counted_software(pid_t tid, uint32_t flags);
struct perfctr_counts counts_of(const struct perfctr *p, unsigned int scope);
struct perfctr_counts own_counts(const struct perfctr *p);

struct perfctr_mark *make_mark(void);
/* The session counts marked threads in user mode. */
struct perfctr_session *open_session(struct perfctr_mark *mark);
/* The same with all software events, and a control. */
struct perfctr_session *counted_mark_software(struct perfctr_mark *mark);
void control_session(struct perfctr_session *session, struct perfctr_control *control);
struct perfctr_counts session_counts(const struct perfctr_session *session);

double ns_of_ticks(uint64_t ticks);
/* Lets a program of stopped_start() go, and waits for its end with status 0. */
void run_to_end(pid_t pid);

#endif
