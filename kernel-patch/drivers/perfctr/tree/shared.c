// SPDX-License-Identifier: GPL-2.0-only
/*
 * Totals: a context that all threads of a tree share. Each CPU has sums and biases for it, which
 * go on from one member to the next: a switch between two of them does nothing, and to be a member
 * costs a reference.
 *
 * started says whether members are to be counted. Whether a CPU counts them now, its own page says,
 * which changes on that CPU alone: at the next switch from or to other threads, or, where a member
 * runs already, when it is told.
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

/* The root first: where it is gone, who it made before is among the others. */
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

/* A CPU that comes to a member later sees what was written before. */
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

/* Where all leave meanwhile the last of them stops it, or this one does. */
int perfctr_start_shared(struct perfctr_context *ctx)
{
	int err = perfctr_hold_for(ctx);

	lockdep_assert_held(&ctx->tree->lock);
	if (err)
		return err;
	WRITE_ONCE(ctx->started, true);
	smp_mb();	/* started before who is there */
	if (!perfctr_sharing(ctx))
		return perfctr_stop_shared(ctx);
	tell_sharing_cpus(ctx, enter_shared_here);
	return 0;
}

/* True when the current thread is counted, and not one before that has exited. */
static bool fold_shared_context(void *ctx)
{
	perfctr_cpu_fold(ctx);
	return perfctr_thread(current)->context == ctx;
}

/*
 * Nobody is counted any more. But a CPU may be leaving ctx for a member that has exited: seq is odd
 * until it has, and afterwards it touches neither ctx nor the page.
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

/* True: all sums are of one instant. A CPU that counts no member has told what it counted. */
bool perfctr_add_shared(struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	const struct perfctr_cpu_pages pages = {
		.percpu = ctx->shared, .owner = ctx, .fold = fold_shared_context,
	};
	bool consistent;

	lockdep_assert_held(&ctx->tree->lock);
	/* Who leaves meanwhile is counted as a member, or its counts are there. */
	counts->members = perfctr_sharing(ctx);
	smp_mb();	/* the members before their sums */
	consistent = perfctr_sum_cpus(&pages, cpu_possible_mask, false, counts);
	counts->migrations = 0;
	return consistent;
}

void perfctr_share(struct perfctr_context *ctx, struct task_struct *task,
		   struct perfctr_thread *thread)
{
	refcount_inc(&ctx->refs);
	atomic_inc(&ctx->sharers);
	smp_mb__after_atomic();	/* task is there before its maker is gone */
	WRITE_ONCE(thread->context, ctx);
	perfctr_watch(task, true);
	if (ctx->hw->n_events)
		tick_dep_set_task(task, TICK_DEP_BIT_PERF_EVENTS);
}

/*
 * current exits: in user mode it counts nothing any more. The counters run on until it is switched
 * away from, for another member mostly.
 */
static bool may_counters_linger(const struct perfctr_context *ctx)
{
	return PERFCTR_TELLS_TO_THE_END && current->flags & PF_EXITING && !ctx->hw->counts_kernel;
}

/* Where task cannot be switched; live: it runs here, and is current. */
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
 * Its context has been taken from task. Who has found it there before is done with it when we have
 * had task's lock: ctx is shared, and is there, until then.
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
	smp_mb();	/* who is there before started */
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

/* arg: which one, NULL: any; out: what was taken, or NULL. */
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
 * The next thread of some whose numbers are from *nr on that shares ctx, but is not its root, with
 * a reference; or NULL. *nr is 0 then if there are no more.
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

/* A caller that is being killed, or exits, removes no more than a few members. */
static bool has_to_stop_removing(unsigned int n_done)
{
	return n_done >= AT_ONCE && (fatal_signal_pending(current) || current->flags & PF_EXITING);
}

/*
 * Until none is left: one that is being born may not have a number yet, and one that leaves by
 * itself does that in two steps. Whoever that is needs a CPU for it, which may be this one. -EINTR:
 * some are left.
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

/* arg: out, what has been shared. */
static int unshare_context_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	struct perfctr_page __percpu **shared = arg;

	*shared = ctx->shared;
	ctx->shared = NULL;
	perfctr_follow(ctx);
	return 0;
}

/*
 * What has been counted becomes sums of members that have exited. The root's thread, if there is
 * one, has ctx for itself from now on, stopped. -EINTR: the caller is being killed. ctx is shared
 * still, and stopped; members are missing.
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
