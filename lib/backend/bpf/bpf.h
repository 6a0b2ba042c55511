/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The BPF programs that perfctr-bpfd pins. */
#ifndef PERFCTR_BACKEND_BPF_H
#define PERFCTR_BACKEND_BPF_H

#include "../backend.h"
#include "../../../bpf/layout.h"

#define PERFCTR_BPF_PIN(name) PERFCTR_BPF_DIRECTORY "/" name

/* A slot that this process has taken, or one of another process. */
struct perfctr_bpf_handle {
	int program; /* descriptor of the program "call" */
	uint32_t slot;
	uint64_t generation;
	const struct perfctr_bpf_slot *mapped;
	uint32_t staying;	      /* atomic: threads in exit that have been waited for */
	struct perfctr_bpf_info info; /* as of open; its rate stays true */
};

/* As bpf(2) BPF_OBJ_GET; errno ENODEV when there is no such pin. */
int perfctr_bpf_get(const char *path, uint32_t flags);
int perfctr_bpf_read_info(struct perfctr_bpf_info *info);

/*
 * Take a slot, or find the slot with this id.  On failure they have released the handle, which may
 * be released again.
 */
int perfctr_bpf_take(struct perfctr_bpf_handle *h, uint32_t kind);
int perfctr_bpf_find(struct perfctr_bpf_handle *h, uint64_t id);
/* Makes a handle for calls that name no slot.  It is to be released even if this fails. */
int perfctr_bpf_any(struct perfctr_bpf_handle *h);
void perfctr_bpf_release(struct perfctr_bpf_handle *h);
/* Maps the slot's page once more, for perfctr_own_page(); NULL with errno. */
void *perfctr_bpf_map(const struct perfctr_bpf_handle *h);

/*
 * Runs the program "call"; 0 or more, or -1 with errno.  If events are to be counted first, the
 * call is deferred until "self" is read.
 */
int perfctr_bpf_call(const struct perfctr_bpf_handle *h, uint32_t call, uint64_t argument,
		     uint64_t n, const uint64_t *events);

/*
 * Walks through all threads.  tid is a thread with scope THREAD, otherwise a process.  The numbers
 * of threads that the walk gives beside the reply go to tids.  -1 with errno: the walk could not be
 * made, or reply->error.
 */
int perfctr_bpf_walk(const struct perfctr_bpf_handle *h, uint32_t action, pid_t tid,
		     unsigned int scope, struct perfctr_bpf_reply *reply, pid_t *tids,
		     unsigned int room);

/* Walks, to mark or unmark threads.  Returns the number of threads that it changed. */
int perfctr_bpf_change(const struct perfctr_bpf_handle *h, uint32_t action, pid_t tid,
		       unsigned int scope);
/* Looks up the id of a thread's slot, by action GET or FIND; 0: the thread has none. */
int perfctr_bpf_look(uint32_t action, pid_t tid, uint64_t *id);

/*
 * Brings the event counts of running threads up to date, so that a walk can fold them, or begins to
 * count these threads.  For root these are all running threads, otherwise it is the caller alone.
 * Does nothing if no events are loaded.
 */
void perfctr_bpf_count(const struct perfctr_bpf_handle *h);

/*
 * Waits, 50 ms at most, until the members that have begun to exit have left their CPUs: a caller
 * that has reaped a process expects all of its counts.  A member can stay in exit for any time,
 * such as the first process of a pid namespace.  So each of them is waited for only once.
 */
void perfctr_bpf_settle(struct perfctr_bpf_handle *h);

/*
 * Copies the slot between two folds, so that all values are of one instant.  EPROTO: a fold
 * has not ended for a second or more, as in a slot that the programs do not write.
 */
int perfctr_bpf_copy(const struct perfctr_bpf_slot *slot, struct perfctr_bpf_slot *copy);
/*
 * The same, with the counts of running threads up to now.  consistent: no thread but the caller ran
 * during the read.
 */
int perfctr_bpf_read_slot(struct perfctr_bpf_handle *h, struct perfctr_bpf_slot *copy,
			  bool *consistent);

/*
 * Encodes the events of c as numbers of 4 bits each.  -1: refused, as by perfctr_set_control().
 * policy: PERFCTR_EXCLUDE_KERNEL and _USER.
 */
int perfctr_bpf_encode(struct perfctr_control *c, const struct perfctr_bpf_info *info,
		       unsigned int policy, uint64_t events[2]);
/* Checks that these events were counted all the time.  -1 with EBUSY: one was not, for a while. */
int perfctr_bpf_whole(const uint64_t *sums, uint32_t n, const uint32_t *events);
/* Returns the value of an event, which is encoded as by perfctr_bpf_encode(). */
uint64_t perfctr_bpf_value(uint32_t event, const uint64_t *sums);

uint64_t perfctr_bpf_time(const struct perfctr_bpf_handle *h, uint64_t ns);

/* bpf_info.c */
uint32_t perfctr_bpf_capabilities(const struct perfctr_bpf_info *info);
void perfctr_bpf_pmu_info(const struct perfctr_bpf_info *from, struct perfctr_pmu_info *info);
/* Lists the processor's events with which perfctr-bpfd was started, separated by ", ". */
void perfctr_bpf_list_names(const struct perfctr_bpf_info *info, char *text, size_t size);
void perfctr_bpf_loaded_events(char *text, size_t size);

/* bpf_mark.c */
struct perfctr_mark *perfctr_bpf_mark_open(uint64_t *id);
void perfctr_bpf_mark_close(struct perfctr_mark *mark);
int perfctr_bpf_mark_set(struct perfctr_mark *mark, pid_t tid, unsigned int scope);
int perfctr_bpf_mark_clear(struct perfctr_mark *mark, pid_t tid, unsigned int scope);
int perfctr_bpf_mark_get(pid_t tid, uint64_t *id);
int perfctr_bpf_members(const struct perfctr_mark *mark, pid_t *tids, unsigned int room);
int perfctr_bpf_segment_begin(struct perfctr_mark *mark);
int perfctr_bpf_segment_end(struct perfctr_mark *mark);

/* bpf_session.c */
struct perfctr_session *perfctr_bpf_session_open(const struct perfctr_session_options *options);
void perfctr_bpf_session_close(struct perfctr_session *session);
int perfctr_bpf_session_control(struct perfctr_session *session, struct perfctr_control *c);
int perfctr_bpf_session_start(struct perfctr_session *session);
int perfctr_bpf_session_stop(struct perfctr_session *session);
int perfctr_bpf_session_read(const struct perfctr_session *session, struct perfctr_counts *out);
unsigned int perfctr_bpf_session_cpus(const struct perfctr_session *session);
void perfctr_bpf_session_read_cpu(const struct perfctr_session *session, unsigned int cpu,
				  struct perfctr_counts *out);

#endif
