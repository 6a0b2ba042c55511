/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfctr: marks, and sessions.  A session counts on CPUs, either all threads that run there, or
 * those that bear a mark.
 *
 * As in perfctr.h, functions return 0 or more, or -1 with errno set; functions that return a
 * pointer return NULL with errno set on failure.  Functions that open something also fail with the
 * errors of perfctr_get_pmu_info().
 */
#ifndef PERFCTR_SESSIONS_H
#define PERFCTR_SESSIONS_H

#include <perfctr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A mark, which any number of threads bear. */
struct perfctr_mark;

/*
 * perfctr_mark_open - make a mark.  *id, if id is not NULL, becomes its number.  Three system
 * calls.
 * perfctr_mark_open_with - make a mark of a named backend; NULL: as perfctr_open().  Errors: also
 * ENOTSUP (the backend has no marks).
 */
struct perfctr_mark *perfctr_mark_open(uint64_t *id);
struct perfctr_mark *perfctr_mark_open_with(const char *backend, uint64_t *id);

/*
 * perfctr_mark_close - close a mark; mark may be NULL.  It ends when its sessions are closed, too.
 */
void perfctr_mark_close(struct perfctr_mark *mark);

/*
 * perfctr_mark_fd - a descriptor for poll(2).  POLLIN: some thread has borne the mark, and perhaps
 * none does any more; ask perfctr_members().  The descriptor belongs to the mark, and is closed on
 * exec.
 */
int perfctr_mark_fd(const struct perfctr_mark *mark);

/*
 * perfctr_mark_set, perfctr_mark_clear - give mark to thread tid (0: the caller), to its process or
 * to the tree below it; or take that mark away, or any mark if mark is NULL.  scope:
 * PERFCTR_MARK_THREAD, _PROCESS, _TREE.  Threads and processes that a marked thread creates are
 * marked.  Returns how many threads changed.  Errors: EBUSY (a thread bears another mark), EACCES
 * (the caller may not trace a thread), EAGAIN (somebody undoes the changes, or threads are created
 * faster than they are found), ESRCH, EINVAL, ENOTSUP (the backend cannot).
 * perfctr_mark_clear_with - take away any mark of a named backend; NULL: as perfctr_open().
 */
int perfctr_mark_set(struct perfctr_mark *mark, pid_t tid, unsigned int scope);
int perfctr_mark_clear(struct perfctr_mark *mark, pid_t tid, unsigned int scope);
int perfctr_mark_clear_with(const char *backend, pid_t tid, unsigned int scope);

/*
 * perfctr_mark_get - *id becomes the id of thread tid's mark, or 0.  Errors: EACCES,
 * ESRCH, ENOTSUP.
 * perfctr_mark_get_with - ask a named backend; NULL: as perfctr_open().
 */
int perfctr_mark_get(pid_t tid, uint64_t *id);
int perfctr_mark_get_with(const char *backend, pid_t tid, uint64_t *id);

/*
 * perfctr_members - return how many threads bear the mark, and write the numbers of the first room
 * of them to tids, which may be NULL if room is 0.
 */
int perfctr_members(const struct perfctr_mark *mark, pid_t *tids, unsigned int room);

/*
 * perfctr_segment_begin, perfctr_segment_end - mark and unmark the calling thread: a code segment
 * with one entry and any number of exits.  One system call each.  Errors: EBUSY (another mark),
 * ENOTSUP.
 */
int perfctr_segment_begin(struct perfctr_mark *mark);
int perfctr_segment_end(struct perfctr_mark *mark);

/* A session. */
struct perfctr_session;

struct perfctr_session_options {
	size_t size;			/* sizeof(*options) in the caller's version */
	struct perfctr_mark *mark;	/* NULL: none */
	unsigned int policy;		/* PERFCTR_EXCLUDE_* */
	/* bitmap of cpus_size bytes, as sched_setaffinity(2); NULL: all */
	const void *cpus;
	size_t cpus_size;
	unsigned int trace_bytes;	/* of records for each CPU; 0: no trace */
	unsigned int trace_ticks;	/* a record also every so many ticks; 0: at changes alone */
	const char *backend;		/* NULL: the mark's, or as perfctr_open() */
};

/*
 * perfctr_session_open - open a session and map its state pages and rings.  It counts nothing until
 * perfctr_session_control().  Errors: EACCES (without CAP_PERFMON a session must have a mark and
 * the policy PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED), ENOTSUP (the backend has no such
 * session), EINVAL (also: a size that no version has), E2BIG (a newer program uses options that
 * this library does not know), ENOMEM, EMFILE.
 */
struct perfctr_session *perfctr_session_open(const struct perfctr_session_options *options);

/* perfctr_session_close - close s and free its counters.  s may be NULL.  errno stays as it was. */
void perfctr_session_close(struct perfctr_session *s);

/*
 * perfctr_session_control - let s count c: assign counters, validate, clear all sums, and start
 * unless c->flags has PERFCTR_CONTROL_STOPPED.  Even then a session of some CPUs is started for a
 * moment if other sessions have counters there, so that counters that they have are refused at
 * once.  An event's flags may hold a policy of its own (PERFCTR_EVENT_POLICY).  Errors: those of
 * perfctr_set_control(); EBUSY and EACCES also with bad_reason PERFCTR_BAD_TAKEN and
 * PERFCTR_BAD_POLICY; ENOSPC also if too many sessions are started.  perfctr_control_error()
 * explains them.
 */
int perfctr_session_control(struct perfctr_session *s, struct perfctr_control *c);
int perfctr_session_start(struct perfctr_session *s);
int perfctr_session_stop(struct perfctr_session *s);

/*
 * perfctr_session_read - read the sums over all CPUs, and how many members the mark has.  If the
 * caller is privileged, all CPUs stop for the read, so that the sums are of one instant; otherwise
 * they run on.  PERFCTR_COUNTS_CONSISTENT in out->flags says whether the sums are of one instant.
 */
int perfctr_session_read(const struct perfctr_session *s, struct perfctr_counts *out);

/* perfctr_session_cpus - the largest number of a CPU, plus one. */
unsigned int perfctr_session_cpus(const struct perfctr_session *s);

/*
 * perfctr_session_read_cpu - read the counts of one CPU until its last tick, or until its gate
 * closed: tsc, switches, n_counters and counter[] of out, and PERFCTR_COUNTS_DISTURBED, which
 * backends also set if counts are missing.  No system call, except with perf_events.
 * perfctr_session_sum - add these counts up over all CPUs.
 */
void perfctr_session_read_cpu(const struct perfctr_session *s, unsigned int cpu,
			      struct perfctr_counts *out);
void perfctr_session_sum(const struct perfctr_session *s, struct perfctr_counts *out);

/*
 * perfctr_session_trace - visit the records in CPU cpu's ring, oldest first, until visit returns
 * other than 0, and free the room of the visited records.  Returns how many were visited, or -1
 * (EINVAL: the session has no trace, or none of this CPU).
 * perfctr_session_lost - the number of records of all CPUs for which there was no room.
 */
typedef int perfctr_trace_visit(const struct perfctr_trace_record *record, void *argument);
long perfctr_session_trace(struct perfctr_session *s, unsigned int cpu, perfctr_trace_visit *visit,
			   void *argument);
uint64_t perfctr_session_lost(const struct perfctr_session *s);

#ifdef __cplusplus
}
#endif
#endif
