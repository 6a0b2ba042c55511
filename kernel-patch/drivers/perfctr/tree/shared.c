// SPDX-License-Identifier: GPL-2.0-only
/*
 * Totals: one context that all threads of a tree share. The context has a page for each CPU. Sums
 * and biases in that page go on from one member to the next: a switch between two members does
 * nothing, and a member costs one reference.
 *
 * started says whether members are to be counted. PERFCTR_PAGE_COUNTING in a CPU's page says
 * whether that CPU counts them now. Only that CPU changes the flag: at the next switch from or to a
 * thread that is no member or, if a member runs there already, in an interrupt sent by START or
 * STOP.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/tick.h>
#include "../machine/percpu.h"
#include "../kernel/hooks.h"
#include "../kernel/owner.h"
#include "internal.h"

int perfctr_make_shared(struct perfctr_install *install)
{
	unsigned int cpu;

	if (!(install->flags & PERFCTR_CONTROL_TOTALS))
		return 0;
	install->shared = __alloc_percpu_gfp(perfctr_state_bytes(), SMP_CACHE_BYTES,
					     GFP_KERNEL_ACCOUNT);
	if (!install->shared)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		perfctr_page_init(per_cpu_ptr(install->shared, cpu), install->hw);
	return 0;
}

void perfctr_free_shared(struct perfctr_install *install)
{
	free_percpu(install->shared);
}

static size_t shared_bytes(const struct perfctr_page __percpu *shared)
{
	return shared ? perfctr_state_bytes() * num_possible_cpus() : 0;
}

int perfctr_pay_for_shared(struct perfctr_context *ctx, const struct perfctr_install *install)
{
	lockdep_assert_held(&ctx->tree->lock);
	return perfctr_charge(ctx->tree->payer, shared_bytes(install->shared));
}

void perfctr_pay_back_shared(struct perfctr_context *ctx, const struct perfctr_install *install)
{
	lockdep_assert_held(&ctx->tree->lock);
	perfctr_uncharge(ctx->tree->payer, shared_bytes(install->shared));
}

/*
 * The number of threads that share ctx. ctx->task, the root's thread, is read first: if it is NULL,
 * the threads that the root created before are among the sharers.
 */
u32 perfctr_sharing(const struct perfctr_context *ctx)
{
	bool root = READ_ONCE(ctx->task);

	smp_rmb();	/* pairs with perfctr_share() */
	return root + atomic_read(&ctx->sharers);
}

static bool is_shared_entered_on(int cpu, void *ctx)
{
	const struct perfctr_context *shared = ctx;

	return READ_ONCE(per_cpu_ptr(shared->shared, cpu)->flags) & PERFCTR_PAGE_COUNTING;
}

static bool is_shared_entered_here(struct perfctr_context *ctx)
{
	return is_shared_entered_on(smp_processor_id(), ctx);
}

static void enter_shared_here(void *arg)
{
	struct perfctr_context *ctx = arg;

	if (perfctr_thread(current)->context == ctx && ctx->started && !perfctr_cpu_paused() &&
	    !is_shared_entered_here(ctx))
		perfctr_cpu_enter(ctx);
}

static void leave_shared_here(void *arg)
{
	if (is_shared_entered_here(arg))
		perfctr_cpu_leave(arg);
}

/*
 * Calls fn on each CPU that runs a member or counts members. A CPU that switches to a member
 * afterwards sees the caller's writes.
 */
static void tell_sharing_cpus(struct perfctr_context *ctx, smp_call_func_t fn)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		if (perfctr_cpu_runs(cpu, ctx) || is_shared_entered_on(cpu, ctx))
			smp_call_function_single(cpu, fn, ctx, true);
		cond_resched();
	}
}

int perfctr_stop_shared(struct perfctr_context *ctx)
{
	int err = perfctr_sharing(ctx) ? 0 : -ESRCH;

	lockdep_assert_held(&ctx->tree->lock);
	if (ctx->started) {
		WRITE_ONCE(ctx->started, false);
		tell_sharing_cpus(ctx, leave_shared_here);
	}
	perfctr_release_hold(ctx);
	return err;
}

/* If all members leave meanwhile, either the last of them or this function stops ctx. */
int perfctr_start_shared(struct perfctr_context *ctx)
{
	int err = perfctr_hold_for(ctx);

	lockdep_assert_held(&ctx->tree->lock);
	if (err)
		return err;
	WRITE_ONCE(ctx->started, true);
	smp_mb();	/* started before the sharers; pairs with perfctr_drop_share() */
	if (!perfctr_sharing(ctx))
		return perfctr_stop_shared(ctx);
	tell_sharing_cpus(ctx, enter_shared_here);
	return 0;
}

/* True: the current thread is a member. False: the CPU still counts for one that has exited. */
static bool fold_shared_context(void *ctx)
{
	perfctr_cpu_fold(ctx);
	return perfctr_thread(current)->context == ctx;
}

/*
 * Adds the sums of all CPUs after the last member has left. A CPU may still be leaving ctx on
 * behalf of a member that has exited. Until then seq of the CPU's page is odd. Afterwards the CPU
 * touches neither ctx nor the page.
 */
static void add_cpu_counts(const struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	struct perfctr_counts copy;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		perfctr_page_copy(per_cpu_ptr(ctx->shared, cpu), &copy);
		perfctr_add_counts(counts, &copy);
	}
	counts->migrations = 0;
}

/* True: all sums are of one instant. The page of a CPU that counts no member is up to date. */
bool perfctr_add_shared(struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	const struct perfctr_cpu_pages pages = {
		.percpu = ctx->shared, .owner = ctx, .fold = fold_shared_context,
	};
	bool consistent;

	lockdep_assert_held(&ctx->tree->lock);
	/* Either a thread that leaves meanwhile is among the members, or its counts are final. */
	counts->members = perfctr_sharing(ctx);
	smp_mb();	/* the number of members before their sums */
	consistent = perfctr_sum_cpus(&pages, cpu_possible_mask, false, counts);
	counts->migrations = 0;
	return consistent;
}

void perfctr_share(struct perfctr_context *ctx, struct task_struct *task,
		   struct perfctr_thread *thread)
{
	refcount_inc(&ctx->refs);
	atomic_inc(&ctx->sharers);
	smp_mb__after_atomic();	/* sharers before current's exit; pairs with perfctr_sharing() */
	WRITE_ONCE(thread->context, ctx);
	perfctr_watch(task, true);
	if (ctx->hw->n_events)
		tick_dep_set_task(task, TICK_DEP_BIT_PERF_EVENTS);
}

/*
 * May the counters run on until the CPU switches away from current? current exits, and executes
 * nothing more in user mode, so nothing more is counted. Mostly the next thread is another member,
 * and the counters need not be stopped at all.
 */
static bool may_counters_linger(const struct perfctr_context *ctx)
{
	return PERFCTR_TELLS_TO_THE_END && current->flags & PF_EXITING && !ctx->hw->counts_kernel;
}

/* Removes the shared context from task, which cannot be switched. live: task is current. */
static void take_context(struct task_struct *task, bool live)
{
	struct perfctr_thread *thread = perfctr_thread(task);
	struct perfctr_context *ctx = thread->context;

	WRITE_ONCE(thread->context, NULL);
	tick_dep_clear_task(task, TICK_DEP_BIT_PERF_EVENTS);
	if (live && may_counters_linger(ctx) && is_shared_entered_here(ctx)) {
		__this_cpu_write(perfctr_cpu.left, ctx);
		return;
	}
	if (live)
		leave_shared_here(ctx);
	perfctr_update_flag(task);
}

/*
 * Ends the share of task, from which ctx has been removed. Another thread that found ctx there
 * before uses it under task_lock only, and has finished once this function has held that lock.
 * Until then the share keeps ctx shared and allocated.
 */
void perfctr_drop_share(struct perfctr_context *ctx, struct task_struct *task)
{
	if (READ_ONCE(ctx->task) == task) {
		perfctr_forget_task(ctx, task);
	} else {
		task_lock(task);
		task_unlock(task);
		atomic_dec(&ctx->sharers);
	}
	smp_mb();	/* sharers before started; pairs with perfctr_start_shared() */
}

bool perfctr_is_deserted(const struct perfctr_context *ctx)
{
	return !perfctr_sharing(ctx) && READ_ONCE(ctx->started);
}

void perfctr_leave_shared(void)
{
	lockdep_assert_irqs_disabled();
	take_context(current, !perfctr_cpu_paused());
}

/* arg: in, the only context to remove, or NULL: any; out, the context that was removed, or NULL. */
static int remove_sharer_fn(struct task_struct *task, bool live, void *arg)
{
	struct perfctr_context *ctx = perfctr_thread(task)->context, **only = arg;

	if (!ctx || !ctx->shared || (*only && *only != ctx)) {
		*only = NULL;
		return 0;
	}
	*only = ctx;
	take_context(task, live);
	return 0;
}

struct perfctr_context *perfctr_remove_sharer(struct task_struct *task,
					      struct perfctr_context *only)
{
	struct perfctr_thread *thread = perfctr_thread_pin(task);
	struct perfctr_context *ctx = only;

	if (!thread)
		return NULL;
	perfctr_call_task(task, remove_sharer_fn, &ctx);
	perfctr_thread_put(thread);
	if (ctx)
		perfctr_drop_share(ctx, task);
	return ctx;
}

#define AT_ONCE	64

/*
 * Looks at up to AT_ONCE threads with numbers from *nr on. Returns the first that shares ctx and is
 * not its root, with a reference, or NULL. Sets *nr to the number to go on from, or to 0 if there
 * are no more threads.
 */
static struct task_struct *next_sharer(const struct perfctr_context *ctx, int *nr)
{
	struct task_struct *task = NULL;
	struct pid *pid;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < AT_ONCE && !task; i++) {
		pid = find_ge_pid(*nr, &init_pid_ns);
		*nr = pid ? pid_nr(pid) + 1 : 0;
		if (!pid)
			break;
		task = pid_task(pid, PIDTYPE_PID);
		if (task && (perfctr_thread(task)->context != ctx || task == ctx->task))
			task = NULL;
	}
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	return task;
}

/* A caller that is being killed, or exits, removes at most AT_ONCE members. */
static bool has_to_stop_removing(unsigned int n_done)
{
	return n_done >= AT_ONCE && (fatal_signal_pending(current) || current->flags & PF_EXITING);
}

/*
 * Walks over all threads until no sharer but the root is left. One walk may not suffice: a thread
 * that is being born may not have a number yet, and a thread that exits leaves in two steps. Such a
 * thread may need this CPU to finish, so each walk ends with a sleep. -EINTR: sharers are left.
 */
static int remove_sharers(struct perfctr_context *ctx)
{
	struct task_struct *task;
	unsigned int n = 0;
	int nr = 1;

	while (atomic_read(&ctx->sharers)) {
		if (has_to_stop_removing(n))
			return -EINTR;
		task = next_sharer(ctx, &nr);
		if (task) {
			if (perfctr_remove_sharer(task, ctx))
				perfctr_put(ctx);
			put_task_struct(task);
			n++;
		}
		if (!nr) {
			schedule_timeout_uninterruptible(1);
			nr = 1;
		}
		cond_resched();
	}
	return 0;
}

static int end_inheritance_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	WRITE_ONCE(ctx->inherit, false);
	return 0;
}

/* arg: out, the pages of the shared context. */
static int unshare_context_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	struct perfctr_page __percpu **shared = arg;

	*shared = ctx->shared;
	ctx->shared = NULL;
	perfctr_follow(ctx);
	return 0;
}

/*
 * Removes all sharers but the root, and makes ctx an ordinary context, stopped, of the root's
 * thread alone, if that thread still exists. All counts become sums of members that have exited.
 * Under the tree's lock. -EINTR: the caller is being killed or exits; ctx is stopped but still
 * shared, and some of its members have been removed.
 */
int perfctr_unshare(struct perfctr_context *ctx)
{
	struct perfctr_page __percpu *shared = NULL;
	int err;

	lockdep_assert_held(&ctx->tree->lock);
	perfctr_stop_shared(ctx);
	if (perfctr_call(ctx, end_inheritance_fn, NULL) == -ESRCH)
		end_inheritance_fn(ctx, false, NULL);
	err = remove_sharers(ctx);
	if (err) {
		WRITE_ONCE(ctx->tree->incomplete, true);
		return err;
	}
	add_cpu_counts(ctx, &ctx->exited);
	if (perfctr_call(ctx, unshare_context_fn, &shared) == -ESRCH)
		swap(ctx->shared, shared);
	perfctr_uncharge(ctx->tree->payer, shared_bytes(shared));
	free_percpu(shared);
	return 0;
}
