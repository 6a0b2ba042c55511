// SPDX-License-Identifier: GPL-2.0-only
/* The module: the table of threads that have a context or a mark. */
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/moduleparam.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include "hooks.h"

struct hlist_head perfctr_threads[1 << PERFCTR_HASH_BITS];
u16 perfctr_n_told[1 << PERFCTR_HASH_BITS];
struct perfctr_thread perfctr_nobody = { .cpu = PERFCTR_CPU_NONE };
DEFINE_PER_CPU(struct perfctr_thread *, perfctr_running);
static DEFINE_RAW_SPINLOCK(threads_lock);

static unsigned int fail_nth;
module_param(fail_nth, uint, 0600);
MODULE_PARM_DESC(fail_nth, "for tests: every so many threads find no memory when they are born");

static void set_running(struct perfctr_thread *thread)
{
	WRITE_ONCE(thread->cpu, smp_processor_id());
	__this_cpu_write(perfctr_running, thread);
}

/* Under threads_lock. Where it runs is found out when that begins, at once for current. */
static void update_told(struct perfctr_thread *thread)
{
	u16 *n = &perfctr_n_told[perfctr_hash(thread->task)];
	bool told = thread->watched || thread->pins;

	/* Others may have had it told, who do not know where it runs. */
	if (told && thread->task == current)
		set_running(thread);
	if (told == thread->told)
		return;
	thread->told = told;
	WRITE_ONCE(*n, *n + (told ? 1 : -1));
	if (told && thread->task != current)
		WRITE_ONCE(thread->cpu, PERFCTR_CPU_UNKNOWN);
}

struct perfctr_thread *perfctr_thread_pin(struct task_struct *task)
{
	struct perfctr_thread *thread;
	unsigned long flags;

	raw_spin_lock_irqsave(&threads_lock, flags);
	thread = perfctr_find_thread(task);
	if (thread) {
		thread->pins++;
		update_told(thread);
	}
	raw_spin_unlock_irqrestore(&threads_lock, flags);
	return thread;
}

/* Under threads_lock. Nothing of it is to be seen any more. */
static void remove_entry(struct perfctr_thread *thread)
{
	unsigned int cpu;

	hlist_del_rcu(&thread->node);
	if (thread->told)
		perfctr_n_told[perfctr_hash(thread->task)]--;
	WRITE_ONCE(thread->removed, true);
	smp_mb();	/* removed before the CPUs: a switch looks the other way round */
	for_each_possible_cpu(cpu)
		if (READ_ONCE(per_cpu(perfctr_running, cpu)) == thread)
			cmpxchg(per_cpu_ptr(&perfctr_running, cpu), thread, NULL);
}

void perfctr_thread_put(struct perfctr_thread *thread)
{
	unsigned long flags;
	bool last;

	if (!thread)
		return;
	raw_spin_lock_irqsave(&threads_lock, flags);
	last = !--thread->pins && !thread->context && !thread->mark;
	if (last)
		remove_entry(thread);
	else
		update_told(thread);
	raw_spin_unlock_irqrestore(&threads_lock, flags);
	if (!last)
		return;
	kfree_rcu(thread, rcu);
	perfctr_hooks_put();
}

static struct perfctr_thread *alloc_entry(struct task_struct *task, gfp_t gfp)
{
	struct perfctr_thread *thread = kzalloc(sizeof(*thread), gfp | __GFP_ACCOUNT);

	if (!thread)
		return NULL;
	thread->task = task;
	thread->cpu = PERFCTR_CPU_NONE;
	return thread;
}

/* thread is in the table from now on, pinned, unless another one is: that one then. */
static struct perfctr_thread *insert_entry(struct perfctr_thread *thread)
{
	struct perfctr_thread *there;
	unsigned long flags;

	raw_spin_lock_irqsave(&threads_lock, flags);
	there = perfctr_find_thread(thread->task);
	if (!there) {
		there = thread;
		hlist_add_head_rcu(&there->node, &perfctr_threads[perfctr_hash(there->task)]);
		perfctr_hooks_hold();
	}
	there->pins++;
	update_told(there);
	raw_spin_unlock_irqrestore(&threads_lock, flags);
	return there;
}

struct perfctr_thread *perfctr_thread_make(struct task_struct *task)
{
	struct perfctr_thread *thread = perfctr_thread_pin(task), *mine;

	if (!thread) {
		mine = alloc_entry(task, GFP_KERNEL);
		if (!mine)
			return NULL;
		thread = insert_entry(mine);
		if (thread != mine)
			kfree(mine);
	}
	smp_mb();	/* the entry before PF_EXITING: an exit looks the other way round */
	return thread;
}

static bool is_to_fail(void)
{
	static atomic_t n;
	unsigned int nth = READ_ONCE(fail_nth);

	return nth && !((unsigned int)atomic_inc_return(&n) % nth);
}

/* The child may have been found by its number. Whatever its entry says, it runs nowhere. */
struct perfctr_thread *perfctr_thread_born(struct task_struct *child)
{
	struct perfctr_thread *thread, *mine = NULL;

	if (!is_to_fail())
		mine = alloc_entry(child, GFP_ATOMIC | __GFP_NOWARN);
	if (!mine)
		return NULL;
	thread = insert_entry(mine);
	if (thread != mine)
		kfree(mine);
	perfctr_thread_settle(thread, PERFCTR_CPU_LOCKED);
	return thread;
}

void perfctr_thread_ready(struct perfctr_thread *thread)
{
	if (thread)
		smp_store_release(&thread->cpu, PERFCTR_CPU_NONE);	/* what it was born with */
}

void perfctr_watch(struct task_struct *task, bool watch)
{
	struct perfctr_thread *thread;
	unsigned long flags;

	raw_spin_lock_irqsave(&threads_lock, flags);
	thread = perfctr_find_thread(task);
	if (thread) {
		thread->watched = watch;
		update_told(thread);
	}
	raw_spin_unlock_irqrestore(&threads_lock, flags);
}

static void look_here(void *arg)
{
	struct perfctr_thread *thread = arg;

	if (current == thread->task)
		set_running(thread);
}

/*
 * Its switches are told from now on. If it ran when that began and runs still, then it is on the
 * CPU that it says; if not, a switch has told where it is.
 */
static void find_cpu(struct perfctr_thread *thread)
{
	smp_mb();	/* told before the CPU: a switch looks the other way round */
	smp_call_function_single(task_cpu(thread->task), look_here, thread, true);
	cmpxchg(&thread->cpu, PERFCTR_CPU_UNKNOWN, PERFCTR_CPU_NONE);
}

/* A thread without an entry has nothing that a switch would change. False: it has one by now. */
static bool call_untold(struct task_struct *task, void (*fn)(void *arg), void *arg)
{
	unsigned long flags;
	bool none;

	raw_spin_lock_irqsave(&threads_lock, flags);
	none = !perfctr_find_thread(task);
	if (none)
		fn(arg);
	raw_spin_unlock_irqrestore(&threads_lock, flags);
	return none;
}

static int call_told(struct perfctr_thread *thread, void (*fn)(void *arg), void *arg)
{
	unsigned long flags;
	int cpu;

	for (;;) {
		local_irq_save(flags);
		cpu = cmpxchg(&thread->cpu, PERFCTR_CPU_NONE, PERFCTR_CPU_LOCKED);
		if (cpu == PERFCTR_CPU_NONE) {
			fn(arg);
			smp_store_release(&thread->cpu, PERFCTR_CPU_NONE);	/* what fn wrote */
		}
		local_irq_restore(flags);
		if (cpu == PERFCTR_CPU_NONE || cpu >= 0)
			return cpu;
		if (cpu == PERFCTR_CPU_UNKNOWN)
			find_cpu(thread);
		else
			cpu_relax();
	}
}

int perfctr_call_still(struct task_struct *task, void (*fn)(void *arg), void *arg)
{
	struct perfctr_thread *thread;
	int cpu;

	do {
		thread = perfctr_thread_pin(task);
		if (!thread && call_untold(task, fn, arg))
			return PERFCTR_CPU_NONE;
	} while (!thread);
	cpu = call_told(thread, fn, arg);
	perfctr_thread_put(thread);
	return cpu;
}

/* A switch to a thread says so, before it looks at what there is for it to do. */
bool perfctr_cpu_runs(unsigned int cpu, const void *of)
{
	const struct perfctr_thread *thread;
	bool found;

	smp_mb();	/* what was written before the CPU */
	rcu_read_lock();
	thread = READ_ONCE(per_cpu(perfctr_running, cpu));
	found = thread && (READ_ONCE(thread->mark) == of || READ_ONCE(thread->context) == of);
	rcu_read_unlock();
	return found;
}

/* Some thread of the table, with a reference, or NULL: it is empty. */
struct task_struct *perfctr_first_thread(void)
{
	struct task_struct *task = NULL;
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&threads_lock, flags);
	for (i = 0; i < ARRAY_SIZE(perfctr_threads) && !task; i++)
		if (!hlist_empty(&perfctr_threads[i]))
			task = get_task_struct(hlist_entry(perfctr_threads[i].first,
							   struct perfctr_thread, node)->task);
	raw_spin_unlock_irqrestore(&threads_lock, flags);
	return task;
}
