/* SPDX-License-Identifier: GPL-2.0-only */
/* Groups and sessions: what group.c, session.c, gate.c, totals.c and trace.c share. */
#ifndef _PERFCTR_SESSION_H
#define _PERFCTR_SESSION_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include "buffer.h"
#include "owner.h"
#include "perfctr.h"

#define PERFCTR_MAX_STARTED	16	/* sessions: what a CPU's gate has room for */

/*
 * References: one by the descriptor, one by each session of it, one by each thread that bears its
 * mark. When the first two are gone it is dead: its mark is none, whoever still bears it.
 */
struct perfctr_group {
	struct rcu_head rcu;
	refcount_t refs;
	atomic_t holders;	/* descriptor and sessions */
	atomic_t members;	/* threads that bear the mark */
	bool used;		/* somebody bore it */
	bool dead;
	bool privileged;	/* made with CAP_PERFMON */
	u64 id;
	wait_queue_head_t wait;	/* for members to become 0 */
};

/* What a session tells apart of the threads that a CPU runs. */
enum perfctr_class {
	PERFCTR_MARKED,
	PERFCTR_UNMARKED,
	PERFCTR_IDLE,
	PERFCTR_N_CLASSES,
};

/* Of one session on one CPU; changes on that CPU with interrupts off. */
struct perfctr_session_cpu {
	enum perfctr_class class;	/* of the thread that runs from now on */
	enum perfctr_class settled;	/* that sums and biases are right for */
	bool active;			/* in the CPU's gate */
	u64 tsc_bias;			/* sum - time stamp, while time runs */
	u32 ticks;			/* since the last record of one */
	u32 lost;			/* records, since the last that was not */
	u32 n_records;			/* as in the ring */
	u32 record_bytes;
	u32 head;			/* low halves of the ring's */
	u32 tail;			/* changed by who consumes */
	u64 bias[PERFCTR_MAX_COUNTERS];	/* sum - hardware counter, always */
	struct perfctr_cpu_totals told;	/* to the reader, who has the session's lock */
};

struct perfctr_session {
	struct mutex lock;		/* of all calls, outside cpus_read_lock() */
	struct list_head list;		/* of all sessions */
	struct perfctr_group *group;	/* NULL: none */
	struct pid_namespace *ns;	/* that records are told in */
	struct perfctr_owner owner;
	struct perfctr_opener opener;
	struct perfctr_rules rules;
	cpumask_var_t cpus;
	bool placed;			/* counted among those that are, or are to be, started */
	bool started;
	bool revoked;			/* stopped by the administrator since the last control */
	bool disturbed;			/* its counters were written by somebody else */
	struct perfctr_hw_control *hw;	/* NULL before the first control */
	u32 user_counters;		/* of the limit for the unprivileged */
	u64 open[PERFCTR_N_CLASSES];	/* slots that run for a thread of this class */
	bool time[PERFCTR_N_CLASSES];	/* the virtual time stamp likewise */
	struct perfctr_totals *totals;
	struct perfctr_buffer totals_buffer;
	struct perfctr_buffer *ring;	/* by CPU; NULL: no trace */
	u32 ring_bytes;
	u32 trace_bytes;		/* for records */
	u32 trace_ticks;
	struct perfctr_session_cpu __percpu *cpu;
};

/* group.c */
long perfctr_ioctl_group(void __user *user);
long perfctr_ioctl_mark(void __user *user);
struct perfctr_group *perfctr_group_from_fd(int fd);	/* a holder's reference, or an error */
void perfctr_group_let_go(struct perfctr_group *group);	/* a holder's */

/* session.c */
long perfctr_ioctl_session(void __user *user);
/* The CPU comes, the CPU goes: from its own hotplug thread. */
void perfctr_sessions_online(unsigned int cpu);
void perfctr_sessions_offline(unsigned int cpu);
u32 perfctr_user_session_counters(void);
void perfctr_revoke_sessions(void);
int perfctr_walk_session_holders(perfctr_holder_fn fn, void *arg);

/* holders.c */
bool perfctr_describe_session(const struct perfctr_session *s, struct perfctr_holder *holder);

/* gate.c: interrupts off */
void perfctr_gate_add(struct perfctr_session *s);
void perfctr_gate_remove(struct perfctr_session *s);
bool perfctr_gate_fold(struct perfctr_session *s);
bool perfctr_gate_is_open(const struct perfctr_session *s, unsigned int cpu);	/* anywhere */

/* totals.c */
int perfctr_totals_alloc(struct perfctr_session *s);
void perfctr_totals_clear(struct perfctr_session *s);
void perfctr_totals_copy(const struct perfctr_session *s, unsigned int number,
			 struct perfctr_cpu_totals *copy);
struct perfctr_cpu_totals *perfctr_totals_here(struct perfctr_session *s);

/* trace.c */
int perfctr_rings_alloc(struct perfctr_session *s);
void perfctr_rings_free(struct perfctr_session *s);
void perfctr_rings_clear(struct perfctr_session *s);
int perfctr_rings_consume(struct perfctr_session *s, const struct perfctr_consume *consume);
int perfctr_rings_mmap(struct perfctr_session *s, struct vm_area_struct *vma, unsigned long offset);
void perfctr_trace(struct perfctr_session *s, u32 type, struct task_struct *task, u64 now);

#endif
