/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_BACKEND_PERF_MARK_H
#define PERFCTR_BACKEND_PERF_MARK_H

#include "perf.h"

/* A marked thread.  All that it creates inherits its events. */
struct perf_root {
	pid_t tid;
	struct perf_watch watch; /* closed when the thread and all below it are gone */
};

struct perf_session;

struct perf_mark {
	struct perfctr_mark base; /* fd: an epoll(7) of the watches */
	struct perf_root *root;
	unsigned int n_roots;
	struct perf_session *sessions;
};

/*
 * perf_roots.c
 *
 * Returns 1, 0 if tid is a root already, or -1.
 */
int perfctr_perf_add_root(struct perf_mark *mark, pid_t tid);
/* Drops all roots but the first n. */
void perfctr_perf_drop_roots(struct perf_mark *mark, unsigned int n);
int perfctr_perf_members(const struct perfctr_mark *mark, pid_t *tids, unsigned int room);

/* perf_mark.c */
struct perfctr_mark *perfctr_perf_mark_open(uint64_t *id);
void perfctr_perf_mark_close(struct perfctr_mark *mark);
int perfctr_perf_mark_set(struct perfctr_mark *mark, pid_t tid, unsigned int scope);

/*
 * perf_session.c
 *
 * Opens sets for the roots of the session's mark that have none yet.  -1 with errno: the session
 * may have sets for the new roots, which perfctr_perf_session_keep() closes.
 */
int perfctr_perf_session_follow(struct perf_session *s);
/* Closes all sets but those of the mark's first n roots. */
void perfctr_perf_session_keep(struct perf_session *s, unsigned int n);
/* Return the next session of the same mark, and tell a session that its mark is gone. */
struct perf_session *perfctr_perf_session_next(const struct perf_session *s);
void perfctr_perf_session_orphan(struct perf_session *s);

struct perfctr_session *perfctr_perf_session_open(const struct perfctr_session_options *options);
void perfctr_perf_session_close(struct perfctr_session *session);
int perfctr_perf_session_control(struct perfctr_session *session, struct perfctr_control *c);
int perfctr_perf_session_start(struct perfctr_session *session);
int perfctr_perf_session_stop(struct perfctr_session *session);
int perfctr_perf_session_read(const struct perfctr_session *session, struct perfctr_counts *out);
unsigned int perfctr_perf_session_cpus(const struct perfctr_session *session);
void perfctr_perf_session_read_cpu(const struct perfctr_session *session, unsigned int cpu,
				   struct perfctr_counts *out);

#endif
