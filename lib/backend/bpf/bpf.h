/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The BPF programs that perfctr-bpfd pins. */
#ifndef PERFCTR_BACKEND_BPF_H
#define PERFCTR_BACKEND_BPF_H

#include "../backend.h"
#include "../../../bpf/layout.h"

#define PERFCTR_BPF_PIN(name) PERFCTR_BPF_DIRECTORY "/" name

/* A slot that this process has taken, or one of another process. */
struct perfctr_bpf_handle {
	int program; /* descriptor of "call" */
	uint32_t slot;
	uint64_t generation;
	const struct perfctr_bpf_slot *mapped;
	uint32_t staying;	      /* atomic: threads in exit that have been waited for */
	struct perfctr_bpf_info info; /* at open; its rate stays */
};

/* As bpf(2) BPF_OBJ_GET; errno ENODEV when there is no such pin. */
int perfctr_bpf_get(const char *path, uint32_t flags);
int perfctr_bpf_read_info(struct perfctr_bpf_info *info);

/* Take a slot, or find the one that id names; to be closed, not released, when that fails. */
int perfctr_bpf_take(struct perfctr_bpf_handle *h, uint32_t kind);
int perfctr_bpf_find(struct perfctr_bpf_handle *h, uint64_t id);
/* For calls that name no slot. */
int perfctr_bpf_any(struct perfctr_bpf_handle *h);
void perfctr_bpf_release(struct perfctr_bpf_handle *h);
/* Its page once more, for perfctr_own_page(); NULL with errno. */
void *perfctr_bpf_map(const struct perfctr_bpf_handle *h);

/*
 * Run the program "call", by way of "self" where events are to be counted before; 0 or more, or -1
 * with errno.
 */
int perfctr_bpf_call(const struct perfctr_bpf_handle *h, uint32_t call, uint64_t argument,
		     uint64_t n, const uint64_t *events);

/*
 * Walk through all threads; tid is a process but for scope THREAD.  What the walk gives besides the
 * reply goes to tids.  -1 with errno: the walk could not be made, or reply->error.
 */
int perfctr_bpf_walk(const struct perfctr_bpf_handle *h, uint32_t action, pid_t tid,
		     unsigned int scope, struct perfctr_bpf_reply *reply, pid_t *tids,
		     unsigned int room);

/* Walk, to mark and unmark and tell marks; threads changed. */
int perfctr_bpf_change(const struct perfctr_bpf_handle *h, uint32_t action, pid_t tid,
		       unsigned int scope);
/* What the slot's id of a thread is, by action GET or FIND; 0: none. */
int perfctr_bpf_look(uint32_t action, pid_t tid, uint64_t *id);

/*
 * Bring the event counts of threads that run up to date, for a walk to fold, or begin to count
 * them: by root those of all, else those of the caller.  Nothing without events.
 */
void perfctr_bpf_count(const struct perfctr_bpf_handle *h);

/*
 * Wait, 50 ms at most, until the members that have begun to exit have left their CPUs: a caller
 * that has reaped a process expects all of its counts.  A member can stay in exit for any time,
 * such as the first process of a pid namespace: each is waited for once.
 */
void perfctr_bpf_settle(struct perfctr_bpf_handle *h);

/* A copy taken between folds: of one instant. */
void perfctr_bpf_copy(const struct perfctr_bpf_slot *slot, struct perfctr_bpf_slot *copy);
/* Likewise with what threads that run counted until now; consistent: nobody but the caller did. */
int perfctr_bpf_read_slot(struct perfctr_bpf_handle *h, struct perfctr_bpf_slot *copy,
			  bool *consistent);

/*
 * Events of c by number into events, 4 bits each, or -1 as perfctr_set_control(); policy:
 * PERFCTR_EXCLUDE_KERNEL and _USER.
 */
int perfctr_bpf_encode(struct perfctr_control *c, const struct perfctr_bpf_info *info,
		       unsigned int policy, uint64_t events[2]);
/* 0, or -1 with EBUSY: one of these events was not counted for a while. */
int perfctr_bpf_whole(const uint64_t *sums, uint32_t n, const uint32_t *events);
/* Event i of a control as it is encoded. */
uint64_t perfctr_bpf_value(uint32_t event, const uint64_t *sums);

uint64_t perfctr_bpf_time(const struct perfctr_bpf_handle *h, uint64_t ns);

/* bpf_info.c */
uint32_t perfctr_bpf_capabilities(const struct perfctr_bpf_info *info);
void perfctr_bpf_pmu_info(const struct perfctr_bpf_info *from, struct perfctr_pmu_info *info);
/* Events of the processor that perfctr-bpfd was started with, ", " between them. */
void perfctr_bpf_list_names(const struct perfctr_bpf_info *info, char *text, size_t size);
void perfctr_bpf_loaded_events(char *text, size_t size);

/* bpf_group.c */
struct perfctr_group *perfctr_bpf_group_open(uint64_t *id);
void perfctr_bpf_group_close(struct perfctr_group *group);
int perfctr_bpf_mark(struct perfctr_group *group, pid_t tid, unsigned int scope);
int perfctr_bpf_unmark(struct perfctr_group *group, pid_t tid, unsigned int scope);
int perfctr_bpf_marked(pid_t tid, uint64_t *id);
int perfctr_bpf_members(const struct perfctr_group *group, pid_t *tids, unsigned int room);
int perfctr_bpf_segment_begin(struct perfctr_group *group);
int perfctr_bpf_segment_end(struct perfctr_group *group);

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
