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

/*
 * The entry of a thread. The entry is told while the driver handles the thread's switches: while
 * the entry is watched or pinned.
 */
struct perfctr_thread {
	struct hlist_node node;
	const struct task_struct *told;	/* task while the entry is told, else NULL */
	struct task_struct *task;
	struct perfctr_context *context;
	struct perfctr_mark *mark;
	int cpu;		/* the CPU that runs task, or PERFCTR_CPU_*; valid while told */
	unsigned int pins;	/* callers that are about to change the entry */
	bool watched;		/* by perfctr_watch() */
	bool dropping;		/* leave is queued */
	bool holds_module;	/* the module cannot be unloaded before leave has run */
	struct callback_head leave;
	struct rcu_head rcu;
};

#define PERFCTR_CPU_NONE	(-1)	/* the thread does not run */
#define PERFCTR_CPU_UNKNOWN	(-2)
#define PERFCTR_CPU_LOCKED	(-3)	/* the thread does not run, and a switch to it spins */

#define PERFCTR_HASH_BITS	12
extern struct hlist_head perfctr_threads[1 << PERFCTR_HASH_BITS];
extern struct perfctr_thread perfctr_nobody;	/* never written */
/*
 * The entry of the thread that this CPU runs if the entry is told, else NULL. Used by this CPU
 * alone, with interrupts off. Other CPUs only clear it, when they remove the entry.
 */
DECLARE_PER_CPU(struct perfctr_thread *, perfctr_running);
/* The last thread with a told entry that the CPU switched to; never dereferenced. */
DECLARE_PER_CPU(const struct task_struct *, perfctr_last_told);

static __always_inline u32 perfctr_hash(const struct task_struct *task)
{
	return hash_ptr(task, PERFCTR_HASH_BITS);
}

/* Returns the entry of task, or NULL. Under RCU, or under the lock of task's chain. */
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
 * Records that cpu runs the thread from now on, or locks the entry (PERFCTR_CPU_LOCKED). Spins
 * while another CPU has the entry locked, which it has with interrupts off and for less than a
 * switch. Interrupts off. A full barrier.
 */
static __always_inline void perfctr_thread_settle(struct perfctr_thread *thread, int cpu)
{
	int old = READ_ONCE(thread->cpu);

	while (old == PERFCTR_CPU_LOCKED || !try_cmpxchg(&thread->cpu, &old, cpu)) {
		cpu_relax();
		old = READ_ONCE(thread->cpu);
	}
}

/* Interrupts off. NULL: task has no entry, or the entry is not told. */
static __always_inline struct perfctr_thread *perfctr_find_told(const struct task_struct *task)
{
	struct perfctr_thread *thread;

	hlist_for_each_entry_rcu(thread, &perfctr_threads[perfctr_hash(task)], node)
		if (READ_ONCE(thread->told) == task)
			return thread;
	return NULL;
}

/*
 * A switch begins to run task. perfctr_running outlives this switch, and so must not keep an entry
 * that is being removed: see remove_entry(). False: the entry is no longer told, and the caller
 * clears perfctr_running.
 */
static __always_inline bool perfctr_thread_comes(struct perfctr_thread *thread,
						 const struct task_struct *task)
{
	__this_cpu_write(perfctr_running, thread);
	__this_cpu_write(perfctr_last_told, task);
	/* Also before the gates look for their sessions: see perfctr_cpu_runs(). */
	perfctr_thread_settle(thread, raw_smp_processor_id());
	return likely(READ_ONCE(thread->told) == task);
}

/* A switch away from the thread has written all its counts. thread is not perfctr_nobody. */
static __always_inline void perfctr_thread_left(struct perfctr_thread *thread)
{
	smp_store_release(&thread->cpu, PERFCTR_CPU_NONE);	/* see perfctr_cpu_runs() */
}

void perfctr_threads_init(void);
/* Returns any thread of the table, with a reference, or NULL if the table is empty. */
struct task_struct *perfctr_first_thread(void);
void perfctr_watch(struct task_struct *task, bool watch);

#endif
