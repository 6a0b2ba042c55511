// SPDX-License-Identifier: GPL-2.0-only
/* The module: the table of threads that have a context or a mark. */
#include <linux/cache.h>
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/moduleparam.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include "../hooks.h"
#include "../threads.h"

struct hlist_head perfctr_threads[1 << PERFCTR_HASH_BITS];
struct perfctr_thread perfctr_nobody = { .cpu = PERFCTR_CPU_NONE };
DEFINE_PER_CPU(struct perfctr_thread *, perfctr_running);
DEFINE_PER_CPU(const struct task_struct *, perfctr_last_told);

/*
 * Each lock guards some chains: their lists, and the members pins, watched and told of their
 * entries. No CPU holds two of these locks. A CPU holds one for some 50 instructions, and each has
 * a cache line of its own: even hundreds of CPUs that do nothing but fork seldom contend for one of
 * 64. A lock for each chain would take 256 KB.
 */
#define N_LOCKS	64
static struct chains_lock {
	raw_spinlock_t raw;
} ____cacheline_aligned_in_smp locks[N_LOCKS];

static unsigned int fail_nth;
module_param(fail_nth, uint, 0600);
MODULE_PARM_DESC(fail_nth, "for tests: every Nth thread finds no memory when it is created");

/* Initializes the locks in one place, and thereby puts all of them into one lockdep class. */
void perfctr_threads_init(void)
{
	unsigned int i;

	for (i = 0; i < N_LOCKS; i++)
		raw_spin_lock_init(&locks[i].raw);
}

static raw_spinlock_t *lock_of_chain(unsigned int chain)
{
	return &locks[chain % N_LOCKS].raw;
}

static raw_spinlock_t *lock_of_task(const struct task_struct *task)
{
	return lock_of_chain(perfctr_hash(task));
}

/* thread->task is current. Interrupts off. */
static void set_entry_running(struct perfctr_thread *thread)
{
	WRITE_ONCE(thread->cpu, smp_processor_id());
	__this_cpu_write(perfctr_running, thread);
	__this_cpu_write(perfctr_last_told, thread->task);
}

/*
 * Makes the entry told, or no longer told, by watched and pins. Under the chain's lock. When the
 * entry becomes told, the CPU that runs the thread is unknown, unless the thread is current.
 */
static void update_entry_told(struct perfctr_thread *thread)
{
	bool told = thread->watched || thread->pins;

	/* If another thread has made the entry told, its CPU may still be unknown: fill it in. */
	if (told && thread->task == current)
		set_entry_running(thread);
	if (told == !!thread->told)
		return;
	WRITE_ONCE(thread->told, told ? thread->task : NULL);
	if (told && thread->task != current)
		WRITE_ONCE(thread->cpu, PERFCTR_CPU_UNKNOWN);
}

struct perfctr_thread *perfctr_thread_pin(struct task_struct *task)
{
	struct perfctr_thread *thread;
	raw_spinlock_t *lock = lock_of_task(task);
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	thread = perfctr_find_thread(task);
	if (thread) {
		thread->pins++;
		update_entry_told(thread);
	}
	raw_spin_unlock_irqrestore(lock, flags);
	return thread;
}

/*
 * Under the chain's lock. The CPU that runs the thread may have the entry in perfctr_running. If a
 * switch to the thread is under way, either that switch finds that the entry is no longer told, or
 * this function finds the CPU of that switch.
 */
static void remove_entry(struct perfctr_thread *thread)
{
	hlist_del_rcu(&thread->node);
	WRITE_ONCE(thread->told, NULL);
	smp_mb();	/* told before task_cpu(); perfctr_thread_comes() has the opposite order */
	cmpxchg(per_cpu_ptr(&perfctr_running, task_cpu(thread->task)), thread, NULL);
}

void perfctr_thread_put(struct perfctr_thread *thread)
{
	raw_spinlock_t *lock;
	unsigned long flags;
	bool last;

	if (!thread)
		return;
	lock = lock_of_task(thread->task);
	raw_spin_lock_irqsave(lock, flags);
	last = !--thread->pins && !thread->context && !thread->mark;
	if (last)
		remove_entry(thread);
	else
		update_entry_told(thread);
	raw_spin_unlock_irqrestore(lock, flags);
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

/* Puts thread into the table, unless its task has an entry there. Returns the entry, pinned. */
static struct perfctr_thread *insert_entry(struct perfctr_thread *thread)
{
	struct perfctr_thread *there;
	raw_spinlock_t *lock = lock_of_task(thread->task);
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	there = perfctr_find_thread(thread->task);
	if (!there) {
		there = thread;
		hlist_add_head_rcu(&there->node, &perfctr_threads[perfctr_hash(there->task)]);
		perfctr_hooks_hold();
	}
	there->pins++;
	update_entry_told(there);
	raw_spin_unlock_irqrestore(lock, flags);
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
	smp_mb();	/* the entry before PF_EXITING; pairs with probe_exit() */
	return thread;
}

static bool is_birth_to_fail(void)
{
	static atomic_t n;
	unsigned int nth = READ_ONCE(fail_nth);

	return nth && !((unsigned int)atomic_inc_return(&n) % nth);
}

/*
 * Another thread may have found child by its number, and made an entry. The CPU in that entry does
 * not matter: child has not run yet.
 */
struct perfctr_thread *perfctr_thread_add_child(struct task_struct *child)
{
	struct perfctr_thread *thread, *mine = NULL;

	if (!is_birth_to_fail())
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
		smp_store_release(&thread->cpu, PERFCTR_CPU_NONE);	/* after context and mark */
}

void perfctr_watch(struct task_struct *task, bool watch)
{
	struct perfctr_thread *thread;
	raw_spinlock_t *lock = lock_of_task(task);
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	thread = perfctr_find_thread(task);
	if (thread) {
		thread->watched = watch;
		update_entry_told(thread);
	}
	raw_spin_unlock_irqrestore(lock, flags);
}

static void look_for_thread_here(void *arg)
{
	struct perfctr_thread *thread = arg;

	if (current == thread->task)
		set_entry_running(thread);
}

/*
 * The entry is told by now. If the thread has run ever since the entry became told, it runs on
 * task_cpu(). Otherwise a switch has recorded the thread's CPU since then.
 */
static void find_cpu_of_thread(struct perfctr_thread *thread)
{
	smp_mb();	/* told before task_cpu(); a switch has the opposite order */
	smp_call_function_single(task_cpu(thread->task), look_for_thread_here, thread, true);
	cmpxchg(&thread->cpu, PERFCTR_CPU_UNKNOWN, PERFCTR_CPU_NONE);
}

/*
 * Calls fn for a thread without an entry. A switch of such a thread has nothing to change, so the
 * thread may run meanwhile. False: the thread has an entry by now, and fn was not called.
 */
static bool call_untold_thread(struct task_struct *task, void (*fn)(void *arg), void *arg)
{
	raw_spinlock_t *lock = lock_of_task(task);
	unsigned long flags;
	bool none;

	raw_spin_lock_irqsave(lock, flags);
	none = !perfctr_find_thread(task);
	if (none)
		fn(arg);
	raw_spin_unlock_irqrestore(lock, flags);
	return none;
}

static int call_told_thread(struct perfctr_thread *thread, void (*fn)(void *arg), void *arg)
{
	unsigned long flags;
	int cpu;

	for (;;) {
		local_irq_save(flags);
		cpu = cmpxchg(&thread->cpu, PERFCTR_CPU_NONE, PERFCTR_CPU_LOCKED);
		if (cpu == PERFCTR_CPU_NONE) {
			fn(arg);
			smp_store_release(&thread->cpu, PERFCTR_CPU_NONE); /* after fn's writes */
		}
		local_irq_restore(flags);
		if (cpu == PERFCTR_CPU_NONE || cpu >= 0)
			return cpu;
		if (cpu == PERFCTR_CPU_UNKNOWN)
			find_cpu_of_thread(thread);
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
		if (!thread && call_untold_thread(task, fn, arg))
			return PERFCTR_CPU_NONE;
	} while (!thread);
	cpu = call_told_thread(thread, fn, arg);
	perfctr_thread_put(thread);
	return cpu;
}

/*
 * A switch to a thread with a told entry writes perfctr_last_told, and the CPU into the entry,
 * before it reads the context, the mark and the sessions. Switches to other threads leave
 * perfctr_last_told as it is: that thread may have migrated or exited since. So the pointer only
 * serves to look up the entry, and the entry's CPU decides.
 */
bool perfctr_cpu_runs(unsigned int cpu, const void *of)
{
	const struct perfctr_thread *thread;
	bool found = false;
	int its_cpu;

	smp_mb();	/* the caller's writes before the CPU; see perfctr_thread_comes() */
	rcu_read_lock();
	thread = perfctr_find_thread(READ_ONCE(per_cpu(perfctr_last_told, cpu)));
	if (thread) {
		/* Pairs with the release at the end of a switch away from the thread. */
		its_cpu = smp_load_acquire(&thread->cpu);
		found = (its_cpu == (int)cpu || its_cpu == PERFCTR_CPU_UNKNOWN) &&
			(READ_ONCE(thread->mark) == of || READ_ONCE(thread->context) == of);
	}
	rcu_read_unlock();
	return found;
}

static struct task_struct *first_task_of_chain(unsigned int chain)
{
	struct perfctr_thread *first;
	struct task_struct *task = NULL;
	raw_spinlock_t *lock = lock_of_chain(chain);
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	first = hlist_entry_safe(perfctr_threads[chain].first, struct perfctr_thread, node);
	if (first)
		task = get_task_struct(first->task);
	raw_spin_unlock_irqrestore(lock, flags);
	return task;
}

struct task_struct *perfctr_first_thread(void)
{
	struct task_struct *task = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(perfctr_threads) && !task; i++)
		task = first_task_of_chain(i);
	return task;
}
