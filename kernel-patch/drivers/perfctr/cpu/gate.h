/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions and groups, as the gates of the CPUs and the room session/ see them. */
#ifndef _PERFCTR_GATE_H
#define _PERFCTR_GATE_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include "../kernel/hooks.h"
#include "../kernel/owner.h"
#include "../machine/machine.h"
#include "page.h"
#include "ring.h"

struct pid_namespace;

#define PERFCTR_MAX_STARTED	16	/* sessions: the room of a CPU's gate */

/*
 * References: one by the descriptor, one by each session of it, one by each thread that bears its
 * mark. When the first two are gone the group is dead: its mark has no effect on any thread.
 */
struct perfctr_group {
	struct rcu_head rcu;
	refcount_t refs;
	atomic_t holders;	/* descriptor and sessions */
	atomic_t members;	/* threads that bear the mark */
	bool used;		/* some thread has borne the mark */
	bool dead;
	bool incomplete;	/* a thread should bear the mark and does not */
	bool privileged;	/* made with CAP_PERFMON */
	u64 id;
	wait_queue_head_t wait;	/* for members to become 0 */
	/* Sessions that come to a CPU with the first member that runs there: */
	raw_spinlock_t lock;		/* of CPUs that admit sessions, inside the scheduler's */
	struct list_head sessions;	/* started */
	/*
	 * Bit n: CPU n may have sessions to admit. CPU n clears it, under lock. Others set and
	 * clear it under the lock of all sessions.
	 */
	unsigned long late[];
};

/*
 * The mark of a dead group is none: NULL. Under RCU, or where the task's mark cannot change: the
 * task cannot be switched, or is current with interrupts off.
 */
static inline struct perfctr_group *perfctr_live_mark(const struct task_struct *task)
{
	struct perfctr_group *group = READ_ONCE(perfctr_thread(task)->mark);

	return group && !READ_ONCE(group->dead) ? group : NULL;
}

/* How a session classes the thread that a CPU runs. */
enum perfctr_class {
	PERFCTR_MARKED,
	PERFCTR_UNMARKED,
	PERFCTR_IDLE,
	PERFCTR_N_CLASSES,
};

/*
 * One session on one CPU. That CPU changes it, with interrupts off. But a reader clears told.fresh,
 * and a new control resets ticks while the session is stopped, both under the session's lock.
 */
struct perfctr_session_cpu {
	enum perfctr_class class;	/* of the thread that runs from now on */
	enum perfctr_class settled;	/* of the thread that sums and biases are right for */
	bool active;			/* in the CPU's gate */
	u32 ticks;			/* since the last record of one */
	struct perfctr_told told;
};

struct perfctr_session {
	struct mutex lock;		/* of all calls, outside cpus_read_lock() */
	struct list_head list;		/* of all started sessions */
	struct list_head late;		/* of the late sessions of its group */
	struct perfctr_group *group;	/* NULL: none */
	struct pid_namespace *ns;	/* of the thread numbers in records */
	struct perfctr_owner owner;
	struct perfctr_opener opener;
	struct perfctr_policy policy;
	cpumask_var_t cpus;
	bool chosen;			/* the caller has named cpus; else they are all */
	bool placed;			/* counted among the sessions that are or will be started */
	bool started;
	bool revoked;			/* by the administrator, since the last control */
	struct perfctr_hw_control *hw;	/* NULL before the first control */
	u64 open[PERFCTR_N_CLASSES];	/* slots that run for a thread of this class */
	bool time[PERFCTR_N_CLASSES];	/* does the virtual time stamp run for it? */
	struct perfctr_buffer pages;	/* a state page of each CPU */
	struct perfctr_rings rings;	/* of the trace, if there is one */
	u32 trace_ticks;
	struct perfctr_session_cpu __percpu *cpu;
};

/* gate.c: on the CPU itself, interrupts off */
void perfctr_gate_add(struct perfctr_session *s);
void perfctr_gate_remove(struct perfctr_session *s);
bool perfctr_gate_fold(void *session);	/* for struct perfctr_cpu_pages */
void perfctr_gate_update(void);
void perfctr_gate_admit(void);

/* gate.c: on the CPU itself, which the caller cannot leave; interrupts on or off */
void perfctr_gate_shut(bool shut);

/* gate.c: under the lock of all sessions */
void perfctr_gate_announce(struct perfctr_session *s);
void perfctr_gate_announce_on(struct perfctr_session *s, unsigned int cpu);
void perfctr_gate_withdraw(struct perfctr_session *s);

static inline struct perfctr_page *perfctr_session_page(const struct perfctr_session *s,
							unsigned int cpu)
{
	return s->pages.address + cpu * PERFCTR_MAPPED_PAGE_BYTES;
}

/* trace.c: records of the changes of threads */
void perfctr_trace_clear(struct perfctr_session *s);
void perfctr_trace(struct perfctr_session *s, u32 type, struct task_struct *task, u64 now);

#endif
