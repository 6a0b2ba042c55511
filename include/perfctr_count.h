/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfctr: counting by names, in one call.
 *
 *	char why[PERFCTR_COUNT_ERROR];
 *	struct perfctr_counts counts;
 *	struct perfctr *p = perfctr_count("instructions,cycles", why, sizeof(why));
 *
 *	if (!p)
 *		errx(1, "%s", why);
 *	work();
 *	perfctr_read(p, &counts);
 *
 * counts.counter[i] is the count of event number i of the list.  The handle is like any other: read
 * it by the functions of perfctr.h, and close it by perfctr_close().
 *
 * events: a list as for perfctr_events_split(), of specifications as for perfctr_events_parse(), at
 * most PERFCTR_MAX_COUNTERS, which must fit together.  A specification without a mode counts in
 * user mode.  The first backend that can count all of them is used, see perfctr_backend_for().
 *
 * On failure the functions return NULL, set errno, and write one line to error[size] that says what
 * was wrong, what is allowed and what to do.
 */
#ifndef PERFCTR_COUNT_H
#define PERFCTR_COUNT_H

#include <perfctr.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PERFCTR_COUNT_ERROR 512 /* bytes that suffice for error */

/*
 * perfctr_count - count events in the calling thread, from now on.
 * Errors: those of perfctr_events_parse(), perfctr_requests_assign(), perfctr_open() and
 * perfctr_set_control().  Cost: those of perfctr_events_open_for() and of four system calls.
 */
struct perfctr *perfctr_count(const char *events, char *error, size_t size);

/*
 * perfctr_spawn - start a program as a child process, and count events in it and in all threads and
 * processes that it creates, from its first instruction on.
 * argv: the program, found as by execvp(3), and its arguments.  *pid becomes the child's number:
 * wait for the child by waitpid(2), then read the sums of all by perfctr_read_scope() with
 * PERFCTR_SCOPE_TREE.  Nothing is left running on failure.  Other threads of the process may fork
 * and wait for children meanwhile.  SIGCHLD is blocked in the calling thread, and comes afterwards,
 * because the child was stopped.  The child is traced while it executes the program, so that a
 * set-user-ID or set-group-ID program, or one with file capabilities, runs without their privileges
 * (execve(2)), unless the caller has CAP_SYS_PTRACE.  Errors: those of perfctr_count(),
 * socketpair(2), fork(2) and execve(2); EPERM also if the caller may not trace its child
 * (ptrace(2)); ECHILD if a signal ended the child before its program began.
 */
struct perfctr *perfctr_spawn(const char *events, char *const argv[], pid_t *pid, char *error,
			      size_t size);

#ifdef __cplusplus
}
#endif
#endif
