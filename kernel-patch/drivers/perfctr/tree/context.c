// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a context: it is attached to a thread, and detached when the thread exits or when the
 * descriptor that made the tree is closed.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/compat.h"
#include "../kernel/hooks.h"
#include "../kernel/owner.h"
#include "internal.h"

static DEFINE_SPINLOCK(trees_lock);
static LIST_HEAD(trees);

static struct kmem_cache *context_cache;
static DEFINE_PER_CPU(u32, n_contexts);	/* allocated on this CPU less freed on this CPU */

/* Called when the PMU is known: the machine's counters determine the size of a context. */
int __init perfctr_contexts_init(void)
{
	size_t bytes = sizeof(struct perfctr_context) + perfctr_learn_state_bytes();

	/* The cache is not merged with others, so its object count shows a leak. */
	context_cache = kmem_cache_create("perfctr_context", bytes, 0,
					  SLAB_ACCOUNT | SLAB_NO_MERGE | SLAB_HWCACHE_ALIGN, NULL);
	return context_cache ? 0 : -ENOMEM;
}

/* The size of a context with its inline state, without the page that it gets when it is mapped. */
size_t perfctr_context_bytes(void)
{
	return kmem_cache_size(context_cache);
}

u32 perfctr_context_number(void)
{
	unsigned int cpu;
	u32 n = 0;

	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu(n_contexts, cpu));
	return n;
}

static void list_tree(struct perfctr_tree *tree)
{
	spin_lock(&trees_lock);
	list_add_tail(&tree->list, &trees);
	spin_unlock(&trees_lock);
}

static void unlist_tree(struct perfctr_tree *tree)
{
	spin_lock(&trees_lock);
	list_del(&tree->list);
	spin_unlock(&trees_lock);
}

struct perfctr_tree *perfctr_alloc_tree(void)
{
	struct perfctr_tree *tree = kzalloc(sizeof(*tree), GFP_KERNEL_ACCOUNT);

	if (!tree)
		return NULL;
	refcount_set(&tree->refs, 1);
	tree->generation = 1;
	init_llist_head(&tree->born);
	init_llist_head(&tree->gone);
	mutex_init(&tree->lock);
	INIT_LIST_HEAD(&tree->records);
	init_waitqueue_head(&tree->wait);
	tree->ns = get_pid_ns(task_active_pid_ns(current));
	perfctr_opener_init(&tree->opener);
	list_tree(tree);
	return tree;
}

void perfctr_put_tree(struct perfctr_tree *tree)
{
	if (!tree || !refcount_dec_and_test(&tree->refs))
		return;
	unlist_tree(tree);
	perfctr_drop_records(tree);
	put_pid_ns(tree->ns);
	perfctr_opener_free(&tree->opener);
	kfree(tree);
}

/*
 * Returns the tree after pos in the list of all trees, with a reference, and puts the reference to
 * pos. If pos is NULL, returns the first tree. Returns NULL after the last.
 */
struct perfctr_tree *perfctr_next_tree(struct perfctr_tree *pos)
{
	struct perfctr_tree *tree, *next = NULL;

	spin_lock(&trees_lock);
	tree = list_prepare_entry(pos, &trees, list);
	list_for_each_entry_continue(tree, &trees, list) {
		if (refcount_inc_not_zero(&tree->refs)) {
			next = tree;
			break;
		}
	}
	spin_unlock(&trees_lock);
	perfctr_put_tree(pos);
	return next;
}

static void free_context(struct perfctr_context *ctx)
{
	perfctr_hw_put(ctx->hw);
	perfctr_free_thresholds(ctx->thresholds);
	perfctr_put_tree(ctx->tree);
	if (perfctr_has_page(ctx))
		free_page((unsigned long)ctx->page);
	kmem_cache_free(context_cache, ctx);
	this_cpu_dec(n_contexts);
}

/* The new context has one reference. The caller initialises its state. */
struct perfctr_context *perfctr_alloc(gfp_t gfp)
{
	struct perfctr_context *ctx = kmem_cache_alloc(context_cache, gfp);

	if (!ctx)
		return NULL;
	memset(ctx, 0, sizeof(*ctx));
	this_cpu_inc(n_contexts);
	refcount_set(&ctx->refs, 1);
	spin_lock_init(&ctx->lock);
	INIT_LIST_HEAD(&ctx->children);
	INIT_LIST_HEAD(&ctx->sibling);
	INIT_LIST_HEAD(&ctx->mappings);
	ctx->page = (struct perfctr_page *)ctx->state;
	return ctx;
}

void perfctr_put(struct perfctr_context *ctx)
{
	if (refcount_dec_and_test(&ctx->refs))
		free_context(ctx);
}

static LLIST_HEAD(discarded);

static void free_discarded_contexts(struct work_struct *work)
{
	struct perfctr_context *ctx, *next;

	llist_for_each_entry_safe(ctx, next, llist_del_all(&discarded), born)
		perfctr_put(ctx);
}

static DECLARE_WORK(discard_work, free_discarded_contexts);

void perfctr_contexts_exit(void)
{
	flush_work(&discard_work);
	kmem_cache_destroy(context_cache);
}

/* A worker frees ctx, because the caller may hold locks under which memory must not be freed. */
void perfctr_discard(struct perfctr_context *ctx)
{
	if (llist_add(&ctx->born, &discarded))
		schedule_work(&discard_work);
}

/*
 * Attaches ctx to task. task_lock() orders this against all other users of the thread's context: a
 * thread that exits takes the lock after it has set PF_EXITING and before it looks at its context.
 * 0; -ESRCH: task exits or is a kernel thread; -EEXIST: it has a context; -ENOMEM.
 */
int perfctr_attach(struct perfctr_context *ctx, struct task_struct *task)
{
	struct perfctr_thread *thread = perfctr_thread_make(task);
	int err = 0;

	if (!thread)
		return -ENOMEM;
	ctx->task = task;
	refcount_inc(&ctx->refs);
	task_lock(task);
	if (task->flags & (PF_EXITING | PF_KTHREAD))
		err = -ESRCH;
	else if (thread->context)
		err = -EEXIST;
	else	/* the switch reads it without a lock */
		smp_store_release(&thread->context, ctx);
	task_unlock(task);
	perfctr_thread_put(thread);
	if (err) {
		ctx->task = NULL;
		refcount_dec(&ctx->refs);
	}
	return err;
}

/* Returns task's context with a reference, or NULL: also if task shares one of another thread. */
struct perfctr_context *perfctr_find(struct task_struct *task)
{
	struct perfctr_context *ctx;

	task_lock(task);
	ctx = perfctr_thread(task)->context;
	if (ctx && ctx->shared && READ_ONCE(ctx->task) != task)
		ctx = NULL;
	if (ctx)
		refcount_inc(&ctx->refs);
	task_unlock(task);
	return ctx;
}

struct context_call {
	struct perfctr_context *ctx;
	perfctr_call_fn fn;
	void *arg;
};

static int call_attached_context(struct task_struct *task, bool live, void *arg)
{
	const struct context_call *call = arg;

	if (perfctr_thread(task)->context != call->ctx)
		return -ESRCH;
	return call->fn(call->ctx, live, call->arg);
}

static int call_context(struct perfctr_context *ctx, struct task_struct *task, perfctr_call_fn fn,
			void *arg)
{
	struct context_call call = { .ctx = ctx, .fn = fn, .arg = arg };

	return perfctr_call_task(task, call_attached_context, &call);
}

struct task_struct *perfctr_get_task(struct perfctr_context *ctx)
{
	struct task_struct *task;

	spin_lock(&ctx->lock);
	task = ctx->task;
	if (task)
		get_task_struct(task);
	spin_unlock(&ctx->lock);
	return task;
}

int perfctr_call(struct perfctr_context *ctx, perfctr_call_fn fn, void *arg)
{
	struct task_struct *task = perfctr_get_task(ctx);
	int result;

	if (!task)
		return -ESRCH;
	result = call_context(ctx, task, fn, arg);
	put_task_struct(task);
	return result;
}

static int detach_context_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	perfctr_stop_fn(ctx, live, NULL);
	perfctr_hush_thresholds(ctx->thresholds);
	WRITE_ONCE(perfctr_thread(ctx->task)->context, NULL);
	return 0;
}

/*
 * Clears ctx->task, after ctx has been removed from the thread. A caller of perfctr_find() that
 * still found ctx there has taken its reference before this function gets task_lock.
 *
 * task_lock must not be held across call_context(): a thread that waits for task_lock may hold
 * tasklist_lock, and the CPU that call_context() waits for may spin on tasklist_lock with
 * interrupts off.
 */
void perfctr_forget_task(struct perfctr_context *ctx, struct task_struct *task)
{
	task_lock(task);
	spin_lock(&ctx->lock);
	ctx->task = NULL;
	spin_unlock(&ctx->lock);
	task_unlock(task);
}

/*
 * These two detach from current a context that is not shared: perfctr_detach_here() with interrupts
 * off, then perfctr_detach_done() with interrupts on. The caller takes over current's reference.
 * The context counts as a member (leaving) until the tree has taken over its counts: if a reader
 * finds no members, all counts are complete.
 */
void perfctr_detach_here(struct perfctr_context *ctx)
{
	lockdep_assert_irqs_disabled();
	WRITE_ONCE(ctx->leaving, true);
	perfctr_stop_fn(ctx, !perfctr_cpu_paused(), NULL);
	perfctr_hush_thresholds(ctx->thresholds);
	WRITE_ONCE(perfctr_thread(current)->context, NULL);
}

void perfctr_detach_done(struct perfctr_context *ctx)
{
	/* Released first: a context holds no counters once its thread has exited. */
	perfctr_release_hold(ctx);
	perfctr_forget_task(ctx, current);
}

/*
 * Detaches ctx from its thread and puts the thread's reference. Sleeps. -ESRCH: ctx was attached to
 * no thread, or has been detached by another caller meanwhile.
 */
int perfctr_detach(struct perfctr_context *ctx)
{
	struct task_struct *task = perfctr_get_task(ctx);
	struct perfctr_thread *thread;
	int err;

	if (!task)
		return -ESRCH;
	thread = perfctr_thread_pin(task);
	err = call_context(ctx, task, detach_context_fn, NULL);
	if (!err) {
		perfctr_release_hold(ctx);
		perfctr_forget_task(ctx, task);
	}
	perfctr_thread_put(thread);
	put_task_struct(task);
	if (!err)
		perfctr_put(ctx);
	return err;
}
