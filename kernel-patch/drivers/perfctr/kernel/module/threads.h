/* SPDX-License-Identifier: GPL-2.0-only */
/* The module: the table of threads that have a context or a mark. */
#ifndef _PERFCTR_THREADS_MODULE_H
#define _PERFCTR_THREADS_MODULE_H

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/processor.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct perfctr_thread {
	struct hlist_node node;
	const struct task_struct *told;	/* task, while its switches are told; else NULL */
	struct task_struct *task;
	struct perfctr_context *context;
	struct perfctr_mark *mark;
	int cpu;		/* the CPU that runs it, or PERFCTR_CPU_*; valid while it is told */
	unsigned int pins;	/* by callers that are about to change it */
	bool watched;		/* by perfctr_watch() */
	bool dropping;		/* leave is queued */
	bool holds_module;	/* until leave has run */
	struct callback_head leave;
	struct rcu_head rcu;
};

#define PERFCTR_CPU_NONE	(-1)	/* it does not run */
#define PERFCTR_CPU_UNKNOWN	(-2)
#define PERFCTR_CPU_LOCKED	(-3)	/* it does not run, and a switch to it waits */

#define PERFCTR_HASH_BITS	12
extern struct hlist_head perfctr_threads[1 << PERFCTR_HASH_BITS];
extern struct perfctr_thread perfctr_nobody;	/* never written */
/*
 * The entry of the thread that this CPU runs, if its switches are told, else NULL. For this CPU
 * alone, with interrupts off: other CPUs only clear it, when they remove the entry.
 */
DECLARE_PER_CPU(struct perfctr_thread *, perfctr_running);
/* The thread that the CPU's last told switch began to run; only compared, never dereferenced. */
DECLARE_PER_CPU(const struct task_struct *, perfctr_last_told);

static __always_inline u32 perfctr_hash(const struct task_struct *task)
{
	return hash_ptr(task, PERFCTR_HASH_BITS);
}

/* Under RCU, or under the lock of its chain. */
static inline struct perfctr_thread *perfctr_find_thread(const struct task_struct *task)
{
	struct perfctr_thread *thread;

	RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(), "perfctr: threads looked up outside of RCU");
	hlist_for_each_entry_rcu(thread, &perfctr_threads[perfctr_hash(task)], node)
		if (thread->task == task)
			return thread;
	return NULL;
}

static inline struct perfctr_thread *perfctr_thread(const struct task_struct *task)
{
	return perfctr_find_thread(task) ?: &perfctr_nobody;
}

/*
 * Sets the CPU that runs the thread from now on, or locks the entry. Waits while another CPU has it
 * locked, which lasts less than a switch, with interrupts off. Interrupts off. A full barrier.
 */
static __always_inline void perfctr_thread_settle(struct perfctr_thread *thread, int cpu)
{
	int old = READ_ONCE(thread->cpu);

	while (old == PERFCTR_CPU_LOCKED || !try_cmpxchg(&thread->cpu, &old, cpu)) {
		cpu_relax();
		old = READ_ONCE(thread->cpu);
	}
}

/* Interrupts are off. NULL: the task has no entry, or its switches are not told. */
static __always_inline struct perfctr_thread *perfctr_find_told(const struct task_struct *task)
{
	struct perfctr_thread *thread;

	hlist_for_each_entry_rcu(thread, &perfctr_threads[perfctr_hash(task)], node)
		if (READ_ONCE(thread->told) == task)
			return thread;
	return NULL;
}

/*
 * A switch begins to run thread->task. perfctr_running outlives this switch, so it must not keep an
 * entry that is being removed: see remove_entry(). False: the entry is not told any more.
 */
static __always_inline bool perfctr_thread_comes(struct perfctr_thread *thread,
						 const struct task_struct *task)
{
	__this_cpu_write(perfctr_running, thread);
	__this_cpu_write(perfctr_last_told, task);
	/* Before the gates look for their sessions, too: see perfctr_cpu_runs(). */
	perfctr_thread_settle(thread, raw_smp_processor_id());
	return likely(READ_ONCE(thread->told) == task);
}

/* The switch away from the thread, which is not perfctr_nobody, has written all it had to. */
static __always_inline void perfctr_thread_left(struct perfctr_thread *thread)
{
	smp_store_release(&thread->cpu, PERFCTR_CPU_NONE);	/* see perfctr_cpu_runs() */
}

void perfctr_threads_init(void);
/* Returns some thread of the table, with a reference, or NULL if the table is empty. */
struct task_struct *perfctr_first_thread(void);
void perfctr_watch(struct task_struct *task, bool watch);

#endif
