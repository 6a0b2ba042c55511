/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions: what session.c, gate.c, totals.c and trace.c share. */
#ifndef _PERFCTR_SESSION_H
#define _PERFCTR_SESSION_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include "group.h"
#include "../kernel/owner.h"
#include "../cpu/ring.h"

#define PERFCTR_MAX_STARTED	16	/* sessions: what a CPU's gate has room for */

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
	u64 bias[PERFCTR_MAX_COUNTERS];	/* sum - hardware counter, always */
	struct perfctr_cpu_totals told;	/* to the reader, who has the session's lock */
};

struct perfctr_session {
	struct mutex lock;		/* of all calls, outside cpus_read_lock() */
	struct list_head list;		/* of all that are started */
	struct list_head late;		/* of its group's that come late */
	struct perfctr_group *group;	/* NULL: none */
	struct pid_namespace *ns;	/* that records are told in */
	struct perfctr_owner owner;
	struct perfctr_opener opener;
	struct perfctr_rules rules;
	cpumask_var_t cpus;
	bool chosen;			/* cpus, by the caller: else all */
	bool placed;			/* counted among those that are, or are to be, started */
	bool started;
	bool revoked;			/* stopped by the administrator since the last control */
	bool disturbed;			/* its counters were written by somebody else */
	struct perfctr_hw_control *hw;	/* NULL before the first control */
	u64 open[PERFCTR_N_CLASSES];	/* slots that run for a thread of this class */
	bool time[PERFCTR_N_CLASSES];	/* the virtual time stamp likewise */
	struct perfctr_totals *totals;
	struct perfctr_buffer totals_buffer;
	struct perfctr_rings rings;	/* of the trace, if there is one */
	u32 trace_ticks;
	struct perfctr_session_cpu __percpu *cpu;
};

/* session.c */
long perfctr_ioctl_session(void __user *user);

/* started.c: start, stop and install under the session's lock. */
int perfctr_session_start(struct perfctr_session *s);
void perfctr_session_stop(struct perfctr_session *s);
/* hw is taken over unless it is refused. */
int perfctr_session_install(struct perfctr_session *s, struct perfctr_hw_control *hw,
			    struct perfctr_control *control);
/* The CPU comes, the CPU goes: from its own hotplug thread. */
void perfctr_sessions_online(unsigned int cpu);
void perfctr_sessions_offline(unsigned int cpu);
void perfctr_revoke_sessions(void);
int perfctr_walk_session_holders(perfctr_holder_fn fn, void *arg);

/* sums.c: under the session's lock; at_once: of one instant, by stopping the machine */
int perfctr_sum_cpus(struct perfctr_session *s, struct perfctr_counts *counts, bool at_once);

/* gate.c: interrupts off */
void perfctr_gate_add(struct perfctr_session *s);
void perfctr_gate_remove(struct perfctr_session *s);
bool perfctr_gate_fold(struct perfctr_session *s);
bool perfctr_gate_is_open(const struct perfctr_session *s, unsigned int cpu);	/* anywhere */
void perfctr_gate_admit(void);
void perfctr_gate_shut(bool shut);	/* with interrupts on, too */
/* Anywhere, under the lock of all sessions: */
void perfctr_gate_announce(struct perfctr_session *s);
void perfctr_gate_announce_on(struct perfctr_session *s, unsigned int cpu);
void perfctr_gate_withdraw(struct perfctr_session *s);

/* totals.c */
int perfctr_totals_alloc(struct perfctr_session *s);
void perfctr_totals_clear(struct perfctr_session *s);
void perfctr_totals_copy(const struct perfctr_session *s, unsigned int number,
			 struct perfctr_cpu_totals *copy);
struct perfctr_cpu_totals *perfctr_totals_here(struct perfctr_session *s);

/* trace.c */
void perfctr_trace_clear(struct perfctr_session *s);
void perfctr_trace(struct perfctr_session *s, u32 type, struct task_struct *task, u64 now);

void perfctr_sessions_exit(void);	/* none is left */

#endif
