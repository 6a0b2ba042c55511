/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions and marks, as the gates of the CPUs and the room session/ use them. */
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

#define PERFCTR_MAX_STARTED	16	/* started sessions that a CPU's gate has room for */

/*
 * The descriptor, each session of the mark and each thread that bears the mark hold a reference.
 * Once the descriptor and the sessions have released theirs, the mark is dead: it has no effect on
 * any thread.
 */
struct perfctr_mark {
	struct rcu_head rcu;
	refcount_t refs;
	atomic_t holders;	/* descriptor and sessions */
	atomic_t members;	/* threads that bear the mark */
	bool used;		/* some thread has borne the mark */
	bool dead;
	bool incomplete;	/* a thread that should bear the mark does not */
	bool privileged;	/* made with CAP_PERFMON */
	u64 id;
	wait_queue_head_t wait;	/* for members to drop to 0 */
	/* Sessions that a CPU admits when it first runs a member: */
	raw_spinlock_t lock;		/* protects sessions; nests inside the scheduler's locks */
	struct list_head sessions;	/* started ones */
	/*
	 * Bit n: CPU n may have sessions to admit. CPU n clears its bit under lock. Other CPUs set
	 * and clear the bit under sessions_lock.
	 */
	unsigned long late[];
};

/*
 * Returns the mark of the task, or NULL if the task has none or a dead one. The caller holds the
 * RCU read lock, or knows that the mark cannot change: the task cannot be switched, or is current
 * with interrupts off.
 */
static inline struct perfctr_mark *perfctr_live_mark(const struct task_struct *task)
{
	struct perfctr_mark *mark = READ_ONCE(perfctr_thread(task)->mark);

	return mark && !READ_ONCE(mark->dead) ? mark : NULL;
}

/* The class of the thread that a CPU runs, as a session sees it. */
enum perfctr_class {
	PERFCTR_MARKED,
	PERFCTR_UNMARKED,
	PERFCTR_IDLE,
	PERFCTR_N_CLASSES,
};

/*
 * One session on one CPU. That CPU changes it with interrupts off. Two members are also written
 * elsewhere, under the session's lock: a reader clears told.fresh, and a new control resets ticks
 * while the session is stopped.
 */
struct perfctr_session_cpu {
	enum perfctr_class class;	/* of the thread that runs from now on */
	enum perfctr_class settled;	/* of the thread for which the page was last settled */
	bool active;			/* in the CPU's gate */
	u32 ticks;			/* since the last record of a tick */
	struct perfctr_told told;
};

struct perfctr_session {
	struct mutex lock;		/* serializes all calls; outside cpus_read_lock() */
	struct list_head list;		/* in the list of all started sessions */
	struct list_head late;		/* in its mark's list of late sessions */
	struct perfctr_mark *mark;	/* NULL: no mark */
	struct pid_namespace *ns;	/* for the thread numbers in records */
	struct perfctr_owner owner;
	struct perfctr_opener opener;
	struct perfctr_policy policy;
	cpumask_var_t cpus;
	bool chosen;			/* the caller has named the CPUs; false: all CPUs */
	bool placed;			/* has one of the places of started sessions */
	bool started;
	bool revoked;			/* by the administrator, since the last control */
	struct perfctr_hw_control *hw;	/* NULL before the first control */
	u64 open[PERFCTR_N_CLASSES];	/* slots that run for a thread of each class */
	bool time[PERFCTR_N_CLASSES];	/* whether the virtual time stamp runs for it */
	struct perfctr_buffer pages;	/* a state page for each CPU */
	struct perfctr_rings rings;	/* of the trace; cpu is NULL without a trace */
	u32 trace_ticks;
	struct perfctr_session_cpu __percpu *cpu;
};

/*
 * gate.c: called on the CPU itself with interrupts off. add and remove: s enters or leaves this
 * CPU's gate; nothing happens on a mute CPU, or if s is not in the gate. fold: brings the session's
 * sums up to date, and returns true. update: the mark of the current thread has changed. admit:
 * the current thread may have a mark with sessions to admit here.
 */
void perfctr_gate_add(struct perfctr_session *s);
void perfctr_gate_remove(struct perfctr_session *s);
bool perfctr_gate_fold(void *session);	/* for struct perfctr_cpu_pages */
void perfctr_gate_update(void);
void perfctr_gate_admit(void);

/*
 * gate.c: while the gate is shut, this CPU admits no session. Called on a CPU that the caller
 * cannot leave, with interrupts on or off.
 */
void perfctr_gate_shut(bool shut);

/*
 * gate.c, under sessions_lock. announce: from now on each CPU of s, or the given one, admits s when
 * it switches to a member. withdraw: from now on no CPU admits s.
 */
void perfctr_gate_announce(struct perfctr_session *s);
void perfctr_gate_announce_on(struct perfctr_session *s, unsigned int cpu);
void perfctr_gate_withdraw(struct perfctr_session *s);

static inline struct perfctr_page *perfctr_session_page(const struct perfctr_session *s,
							unsigned int cpu)
{
	return s->pages.address + cpu * PERFCTR_MAPPED_PAGE_BYTES;
}

/*
 * trace.c: clear empties the rings of a stopped session that has a new control. perfctr_trace()
 * writes a record of the sums, which are as of now, and names task, which runs from now on. It is
 * called on the CPU with interrupts off. type: PERFCTR_TRACE_*; now: the time stamp.
 */
void perfctr_trace_clear(struct perfctr_session *s);
void perfctr_trace(struct perfctr_session *s, u32 type, struct task_struct *task, u64 now);

#endif
