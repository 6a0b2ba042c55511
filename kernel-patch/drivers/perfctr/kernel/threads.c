// SPDX-License-Identifier: GPL-2.0-only
/*
 * A walk over all threads of the machine, AT_ONCE at a time: there may be a great many, and the
 * walk must not hold up other threads or RCU for as long as it takes.
 */
#include <linux/bitmap.h>
#include <linux/idr.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/perfctr.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "hooks.h"
#include "threads.h"

#define AT_ONCE	64

/*
 * Visits thread numbers in the order in which the kernel assigns them. Begins with the number that
 * the kernel will assign next, wraps around to that number, and goes on to the number that it will
 * assign next by then. So a thread created during the walk is visited after its creator.
 */
struct walk {
	const struct perfctr_search *search;
	int first;
	int next;
	bool round;		/* has wrapped around from the last number to the first */
	struct perfctr_threads *threads;
};

static int next_number_to_give(void)
{
	return idr_get_cursor(&init_pid_ns.idr);
}

static bool is_walk_done(const struct walk *walk, int nr)
{
	int last = walk->search->once ? walk->first : next_number_to_give();

	/* If last < first, the kernel's numbers have wrapped around, too: visit all again. */
	return walk->round && last >= walk->first && nr >= last;
}

/* Under RCU. NULL: the walk is done. */
static struct pid *next_pid_of_walk(struct walk *walk)
{
	struct pid *pid = find_ge_pid(walk->next, &init_pid_ns);

	if (!pid && !walk->round) {
		walk->round = true;
		pid = find_ge_pid(1, &init_pid_ns);
	}
	if (!pid || is_walk_done(walk, pid_nr(pid)))
		return NULL;
	walk->next = pid_nr(pid) + 1;
	return pid;
}

static bool is_process_known(const struct perfctr_threads *threads, const struct task_struct *task)
{
	return task->tgid < threads->n_known && test_bit(task->tgid, threads->known);
}

static void set_process_known(struct perfctr_threads *threads, const struct task_struct *task,
			      bool below)
{
	if (task->tgid >= threads->n_known)
		return;
	__set_bit(task->tgid, threads->known);
	__assign_bit(task->tgid, threads->below, below);
}

/* The number of task's process may have belonged to another process before. */
static void forget_process(struct perfctr_threads *threads, const struct task_struct *task)
{
	if (task->tgid < threads->n_known)
		__clear_bit(task->tgid, threads->known);
}

/*
 * Is task in top's process, or in one below it? Climbs to the first ancestor that is known, and
 * makes all processes on the way known: no later call climbs that way again. Under RCU.
 */
static bool is_task_below(struct perfctr_threads *threads, struct task_struct *task,
			  struct task_struct *top)
{
	struct task_struct *pos, *end = task;
	bool below;

	while (end->pid && !same_thread_group(end, top) && !is_process_known(threads, end))
		end = rcu_dereference(end->real_parent);
	below = end->pid && (same_thread_group(end, top) || test_bit(end->tgid, threads->below));
	for (pos = task; pos->pid && pos != end; pos = rcu_dereference(pos->real_parent))
		set_process_known(threads, pos, below);
	return below;
}

static bool is_task_in_scope(struct walk *walk, struct task_struct *task)
{
	const struct perfctr_search *search = walk->search;

	if (!search->top)
		return true;
	switch (search->scope) {
	case PERFCTR_MARK_THREAD:
		return task == search->top;
	case PERFCTR_MARK_PROCESS:
		return same_thread_group(task, search->top);
	default:
		if (thread_group_leader(task))
			forget_process(walk->threads, task);
		return is_task_below(walk->threads, task, search->top);
	}
}

static void look_at_task(struct walk *walk, struct task_struct *task)
{
	struct perfctr_threads *threads = walk->threads;

	if (task && is_task_in_scope(walk, task) && walk->search->fn(task, walk->search->arg))
		threads->task[threads->n++] = get_task_struct(task);
}

/* False: the walk is done. */
static bool look_at_some_tasks(struct walk *walk)
{
	struct pid *pid = NULL;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < AT_ONCE && walk->threads->n < walk->threads->room; i++) {
		pid = next_pid_of_walk(walk);
		if (!pid)
			break;
		look_at_task(walk, pid_task(pid, PIDTYPE_PID));
	}
	rcu_read_unlock();
	return pid;
}

static int make_room(struct perfctr_threads *threads)
{
	unsigned int room = max(threads->room * 4, 64u);
	struct task_struct **task = kvmalloc_array(room, sizeof(task[0]), GFP_KERNEL_ACCOUNT);

	if (!task)
		return -ENOMEM;
	if (threads->n)
		memcpy(task, threads->task, threads->n * sizeof(task[0]));
	kvfree(threads->task);
	threads->task = task;
	threads->room = room;
	return 0;
}

static int look_at_all_tasks(struct walk *walk, bool grow)
{
	struct perfctr_threads *threads = walk->threads;

	do {
		if (threads->n == threads->room) {
			if (!grow)
				return 0;
			if (make_room(threads))
				return -ENOMEM;
		}
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	} while (look_at_some_tasks(walk));
	return 0;
}

static int prepare_search(struct perfctr_threads *threads, const struct perfctr_search *search)
{
	int n = perfctr_pid_max();

	if (make_room(threads))
		return -ENOMEM;
	if (!search->top || search->scope != PERFCTR_MARK_TREE)
		return 0;
	threads->known = kvcalloc(2 * BITS_TO_LONGS(n), sizeof(long), GFP_KERNEL_ACCOUNT);
	if (!threads->known)
		return -ENOMEM;
	threads->below = threads->known + BITS_TO_LONGS(n);
	threads->n_known = n;
	return 0;
}

int perfctr_find_threads(struct perfctr_threads *threads, const struct perfctr_search *search)
{
	struct walk walk = { .search = search, .threads = threads };
	bool first = !threads->room;

	if (first && prepare_search(threads, search))
		return -ENOMEM;
	if (search->top && search->scope == PERFCTR_MARK_THREAD) {
		rcu_read_lock();
		look_at_task(&walk, search->top);
		rcu_read_unlock();
		return 0;
	}
	if (threads->known)
		bitmap_zero(threads->known, threads->n_known);
	walk.first = next_number_to_give();
	walk.next = walk.first;
	return look_at_all_tasks(&walk, first);
}

void perfctr_put_threads(struct perfctr_threads *threads)
{
	while (threads->n)
		put_task_struct(threads->task[--threads->n]);
}

void perfctr_free_threads(struct perfctr_threads *threads)
{
	perfctr_put_threads(threads);
	kvfree(threads->known);
	kvfree(threads->task);
	memset(threads, 0, sizeof(*threads));
}
