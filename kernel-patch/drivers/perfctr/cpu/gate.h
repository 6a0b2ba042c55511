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
 * References are held by the descriptor, by each session of the mark and by each thread that bears
 * it. Once the descriptor and the sessions have released it, the mark is dead: it has no effect on
 * any thread.
 */
struct perfctr_mark {
	struct rcu_head rcu;
	refcount_t refs;
	atomic_t holders;	/* descriptor and sessions */
	atomic_t members;	/* threads that bear the mark */
	bool used;		/* some thread has borne the mark at some time */
	bool dead;
	bool incomplete;	/* a thread that should bear the mark does not */
	bool privileged;	/* made with CAP_PERFMON */
	u64 id;
	wait_queue_head_t wait;	/* for members to drop to 0 */
	/* Sessions that come to a CPU with the first member that runs there: */
	raw_spinlock_t lock;		/* nests inside the scheduler's locks */
	struct list_head sessions;	/* started ones */
	/*
	 * Bit n: CPU n may have sessions to admit. CPU n clears it under lock. Other CPUs set and
	 * clear it under sessions_lock.
	 */
	unsigned long late[];
};

/*
 * Returns the mark of the task, or NULL if it has none or a dead one. The caller holds the RCU read
 * lock, or knows that the mark cannot change: the task cannot be switched, or it is current and
 * interrupts are off.
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
	enum perfctr_class settled;	/* of the thread for which sums and biases are right */
	bool active;			/* in the CPU's gate */
	u32 ticks;			/* since the last record of a tick */
	struct perfctr_told told;
};

struct perfctr_session {
	struct mutex lock;		/* for all calls; outside cpus_read_lock() */
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

/* gate.c: called on the CPU itself with interrupts off. */
void perfctr_gate_add(struct perfctr_session *s);
void perfctr_gate_remove(struct perfctr_session *s);
bool perfctr_gate_fold(void *session);	/* for struct perfctr_cpu_pages */
void perfctr_gate_update(void);
void perfctr_gate_admit(void);

/* gate.c: called on a CPU that the caller cannot leave, with interrupts on or off. */
void perfctr_gate_shut(bool shut);

/* gate.c: called under sessions_lock. */
void perfctr_gate_announce(struct perfctr_session *s);
void perfctr_gate_announce_on(struct perfctr_session *s, unsigned int cpu);
void perfctr_gate_withdraw(struct perfctr_session *s);

static inline struct perfctr_page *perfctr_session_page(const struct perfctr_session *s,
							unsigned int cpu)
{
	return s->pages.address + cpu * PERFCTR_MAPPED_PAGE_BYTES;
}

/* trace.c: records of changes of threads */
void perfctr_trace_clear(struct perfctr_session *s);
void perfctr_trace(struct perfctr_session *s, u32 type, struct task_struct *task, u64 now);

#endif
