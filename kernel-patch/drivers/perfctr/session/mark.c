// SPDX-License-Identifier: GPL-2.0-only
/*
 * Marks. Each thread has a pointer to its mark. Threads and processes that the thread creates
 * inherit the mark. This costs a fork two atomic increments, and the watch of the child.
 */
#include <linux/anon_inodes.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/lockdep.h>
#include <linux/overflow.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "../cpu/cpu.h"
#include "../kernel/hooks.h"
#include "../kernel/owner.h"
#include "../kernel/threads.h"
#include "../kernel/user.h"
#include "internal.h"

static const struct file_operations mark_fops;

static void put_mark(struct perfctr_mark *mark)
{
	if (refcount_dec_and_test(&mark->refs))
		kfree_rcu(mark, rcu);
}

static void add_member(struct perfctr_mark *mark)
{
	refcount_inc(&mark->refs);
	atomic_inc(&mark->members);
}

/* mark: the new mark, or NULL for none. Returns the old mark, with the thread's reference. */
static struct perfctr_mark *exchange_mark(struct perfctr_thread *thread,
					  struct perfctr_mark *mark)
{
	struct perfctr_mark *old = thread->mark;

	thread->mark = mark;
	if (mark)
		WRITE_ONCE(mark->used, true);
	return old;
}

static void drop_member(struct perfctr_mark *mark)
{
	if (atomic_dec_and_test(&mark->members))
		wake_up_interruptible(&mark->wait);
	put_mark(mark);
}

struct change {
	struct perfctr_mark *mark;	/* in: the new one or NULL; out: the one to drop or NULL */
	struct perfctr_mark *only;	/* remove this mark only; NULL: remove any mark */
};

/* Called while the thread cannot be switched. */
static int change_mark_fn(struct task_struct *task, bool live, void *arg)
{
	struct change *change = arg;
	struct perfctr_thread *thread = perfctr_thread(task);
	const struct perfctr_mark *old = perfctr_live_mark(task);

	if (!change->mark && (!old || (change->only && old != change->only)))
		return 0;
	if (change->mark && task->flags & PF_EXITING)
		return -ESRCH;
	if (change->mark && old && old != change->mark)
		return -EBUSY;
	change->mark = exchange_mark(thread, change->mark);
	perfctr_update_flag(task);
	if (live)
		perfctr_gate_update();
	return 0;
}

/*
 * set: makes mark the mark of task. Otherwise removes mark from task, or any mark if mark is NULL.
 * Returns 1 if the mark of task has changed, 0 if it has not, or an errno.
 */
static int change_mark(struct task_struct *task, struct perfctr_mark *mark, bool set)
{
	struct perfctr_thread *thread = set ? perfctr_thread_make(task) : perfctr_thread_pin(task);
	struct change change = { .mark = set ? mark : NULL, .only = mark };
	int err;

	if (!thread)	/* nothing to remove */
		return set ? -ENOMEM : 0;
	if (set)
		add_member(mark);
	err = perfctr_call_task(task, change_mark_fn, &change);
	perfctr_thread_put(thread);
	/* Drop the old mark, or the new one if it was not set or the thread had it already. */
	if (change.mark)
		drop_member(change.mark);
	return err ?: change.mark != (set ? mark : NULL);
}

/* With the module, other threads may have found child already, and given it a mark. */
void perfctr_mark_join(struct task_struct *child, struct perfctr_thread *thread)
{
	struct perfctr_mark *mark = perfctr_live_mark(current);

	lockdep_assert_irqs_disabled();
	if (!mark)
		return;
	if (thread && thread->mark == mark)	/* another thread may have marked it */
		return;
	if (!thread || thread->mark) {
		WRITE_ONCE(mark->incomplete, true);
		return;
	}
	exchange_mark(thread, mark);
	add_member(mark);
	perfctr_update_flag(child);
}

/* current exits or, with exec, executes a file that changes its ids or that it may not read. */
void perfctr_mark_drop(struct perfctr_thread *thread, bool exec)
{
	struct perfctr_mark *mark;

	local_irq_disable();
	mark = thread->mark;
	if (exec && mark && mark->privileged)
		mark = NULL;
	if (mark) {
		thread->mark = NULL;
		perfctr_update_flag(current);
		perfctr_gate_update();
	}
	local_irq_enable();
	if (mark)
		drop_member(mark);
}

/* The same mark is no conflict: another caller may have set it since task was found. */
static bool has_other_mark(const struct task_struct *task, const struct perfctr_mark *mark)
{
	const struct perfctr_mark *old;
	bool other;

	rcu_read_lock();
	old = perfctr_live_mark(task);
	other = old && old != mark;
	rcu_read_unlock();
	return other;
}

static u64 mark_id_of_task(const struct task_struct *task)
{
	const struct perfctr_mark *mark;
	u64 id;

	rcu_read_lock();
	mark = perfctr_live_mark(task);
	id = mark ? mark->id : 0;
	rcu_read_unlock();
	return id;
}

/* A change of marks, which also says which threads it is for. */
struct choice {
	bool set;
	struct perfctr_mark *mark;	/* to set or to remove; NULL: remove any mark */
};

/* Returns whether the change would alter this task's mark. */
static bool is_task_chosen(struct task_struct *task, const void *arg)
{
	const struct perfctr_mark *mark = perfctr_live_mark(task);
	const struct choice *choice = arg;

	if (task->flags & (PF_KTHREAD | PF_EXITING) && !mark)
		return false;
	if (choice->set)
		return mark != choice->mark;
	return mark && (!choice->mark || mark == choice->mark);
}

static int change_mark_with_permission(struct task_struct *task, struct perfctr_mark *mark,
				       bool set, bool test)
{
	int result = perfctr_lock_access(task, PTRACE_MODE_ATTACH_REALCREDS);

	if (result)
		return result;
	if (!test)
		result = change_mark(task, mark, set);
	else if (set && has_other_mark(task, mark))
		result = -EBUSY;
	perfctr_unlock_access(task);
	return result;
}

/*
 * Tests all threads before it changes the first: if one of them may not be changed, none is.
 * Returns the number of threads whose marks have changed, or an errno.
 */
static int change_thread_marks(struct perfctr_threads *threads, const struct choice *choice)
{
	int pass, result, changed = 0;
	unsigned int i;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < threads->n; i++) {
			result = change_mark_with_permission(threads->task[i], choice->mark,
							     choice->set, !pass);
			if (result < 0 && result != -ESRCH)
				return result;
			changed += result > 0;
			cond_resched();
		}
	}
	return changed;
}

/* A thread that undoes the change again and again must not keep the caller forever. */
#define MOST_SEARCHES	100

/*
 * Repeats the search until no thread is left to change, because threads that were not marked yet
 * may have created others. Only the first search allocates memory: once marks have been changed, it
 * is too late to fail. Threads for which there is no room are left to the next search. -EAGAIN:
 * even the last search found threads to change.
 */
static int change_all_marks(const struct perfctr_search *search, u32 *changed)
{
	struct perfctr_threads threads = {};
	int i, result = 1;

	for (i = 0; i < MOST_SEARCHES && result > 0; i++) {
		result = perfctr_find_threads(&threads, search);
		if (!result)
			result = change_thread_marks(&threads, search->arg);
		perfctr_put_threads(&threads);
		*changed += max(result, 0);
	}
	perfctr_free_threads(&threads);
	return result > 0 ? -EAGAIN : result;
}

/*
 * Releases a holder's reference. The last holder leaves the mark dead: it has no effect, is not
 * inherited, and gives way to any other mark. Nobody searches for the threads that still bear the
 * mark.
 */
void perfctr_mark_release(struct perfctr_mark *mark)
{
	if (atomic_dec_and_test(&mark->holders)) {
		WRITE_ONCE(mark->dead, true);
		perfctr_hooks_put();
	}
	put_mark(mark);
}

static int forget_mark_fn(struct task_struct *task, bool live, void *arg)
{
	struct perfctr_mark **mark = arg;

	if (perfctr_thread(task)->mark && !perfctr_live_mark(task))
		swap(perfctr_thread(task)->mark, *mark);
	return 0;
}

void perfctr_mark_forget(struct task_struct *task)
{
	struct perfctr_thread *thread = perfctr_thread_pin(task);
	struct perfctr_mark *mark = NULL;

	if (!thread)
		return;
	perfctr_call_task(task, forget_mark_fn, &mark);
	perfctr_thread_put(thread);
	if (mark)
		drop_member(mark);
}

struct perfctr_mark *perfctr_mark_from_fd(int fd)
{
	struct file *file = fget(fd);
	struct perfctr_mark *mark;

	if (!file)
		return ERR_PTR(-EBADF);
	mark = ERR_PTR(-EBADF);
	if (file->f_op == &mark_fops) {
		/*
		 * The caller's reference keeps the file open, and the open file holds the mark.
		 */
		mark = file->private_data;
		refcount_inc(&mark->refs);
		atomic_inc(&mark->holders);
	}
	fput(file);
	return mark;
}

static int get_mark(struct perfctr_mark_args *args, struct task_struct *task)
{
	int err;

	if (args->scope != PERFCTR_MARK_THREAD || args->mark != -1)
		return -EINVAL;
	err = perfctr_lock_access(task, PTRACE_MODE_READ_REALCREDS);
	if (err)
		return err;
	args->id = mark_id_of_task(task);
	perfctr_unlock_access(task);
	return 0;
}

/* The first thread of a process may have exited while others live on. */
static bool has_task_exited(const struct task_struct *task, u32 scope)
{
	return scope == PERFCTR_MARK_THREAD ? task->flags & PF_EXITING :
					      !atomic_read(&task->signal->live);
}

static int mark_task(struct perfctr_mark_args *args, struct task_struct *task)
{
	struct choice choice = { .set = args->action == PERFCTR_MARK_SET };
	const struct perfctr_search search = {
		.top = task,
		.scope = args->scope,
		.fn = is_task_chosen,
		.arg = &choice,
	};
	int err;

	if (args->action == PERFCTR_MARK_GET)
		return get_mark(args, task);
	if (choice.set || args->mark != -1) {
		choice.mark = perfctr_mark_from_fd(args->mark);
		if (IS_ERR(choice.mark))
			return PTR_ERR(choice.mark);
	}
	err = change_all_marks(&search, &args->changed);
	if (!err && choice.set && !args->changed && has_task_exited(task, args->scope))
		err = -ESRCH;
	if (choice.mark)
		perfctr_mark_release(choice.mark);
	return err;
}

long perfctr_ioctl_mark(void __user *user)
{
	struct perfctr_mark_args args;
	struct task_struct *task;
	u32 size;
	int err = perfctr_get_struct(&args, sizeof(args), user, &size);

	if (err)
		return err;
	if (args.action < PERFCTR_MARK_SET || args.action > PERFCTR_MARK_GET ||
	    args.scope > PERFCTR_MARK_TREE || args.tid < 0 || args.changed || args.id)
		return -EINVAL;
	task = args.tid ? perfctr_find_task(args.tid) : get_task_struct(current);
	if (!task)
		return -ESRCH;
	err = mark_task(&args, task);
	put_task_struct(task);
	return err ?: perfctr_put_struct(user, &args, sizeof(args), size);
}

static int copy_members(struct perfctr_mark *mark, struct perfctr_members_args *members)
{
	const struct choice choice = { .mark = mark };
	const struct perfctr_search search = { .once = true, .fn = is_task_chosen, .arg = &choice };
	s32 __user *user = u64_to_user_ptr(members->tids);
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct perfctr_threads threads = {};
	unsigned int i;
	int err = perfctr_find_threads(&threads, &search);

	for (i = 0; i < threads.n && !err; i++) {
		s32 tid = task_pid_nr_ns(threads.task[i], ns);

		if (!tid)	/* the thread has exited, or is not visible from here */
			continue;
		if (members->n < members->room && put_user(tid, user + members->n))
			err = -EFAULT;
		members->n++;
	}
	perfctr_free_threads(&threads);
	return err;
}

static long mark_ioctl_members(struct perfctr_mark *mark, void __user *user)
{
	struct perfctr_members_args members;
	u32 size;
	int err = perfctr_get_struct(&members, sizeof(members), user, &size);

	if (err)
		return err;
	if (members.n || members.reserved)
		return -EINVAL;
	err = copy_members(mark, &members);
	return err ?: perfctr_put_struct(user, &members, sizeof(members), size);
}

static long mark_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct perfctr_mark *mark = file->private_data;
	int result;

	switch (cmd) {
	case PERFCTR_IOC_MEMBERS:
		return mark_ioctl_members(mark, (void __user *)arg);
	case PERFCTR_IOC_ENTER:
		result = change_mark(current, mark, true);
		return min(result, 0);
	case PERFCTR_IOC_LEAVE:
		change_mark(current, mark, false);
		return 0;
	default:
		return -ENOTTY;
	}
}

static __poll_t mark_poll(struct file *file, struct poll_table_struct *wait)
{
	struct perfctr_mark *mark = file->private_data;

	poll_wait(file, &mark->wait, wait);
	return READ_ONCE(mark->used) && !atomic_read(&mark->members) ? EPOLLIN | EPOLLRDNORM : 0;
}

static int mark_release(struct inode *inode, struct file *file)
{
	perfctr_mark_release(file->private_data);
	return 0;
}

static const struct file_operations mark_fops = {
	.owner = THIS_MODULE,
	.release = mark_release,
	.unlocked_ioctl = mark_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = mark_poll,
};

static struct perfctr_mark *alloc_mark(void)
{
	static atomic64_t last_id = ATOMIC64_INIT(0);
	struct perfctr_mark *mark;

	mark = kzalloc(struct_size(mark, late, BITS_TO_LONGS(nr_cpu_ids)), GFP_KERNEL_ACCOUNT);
	if (!mark)
		return NULL;
	raw_spin_lock_init(&mark->lock);
	INIT_LIST_HEAD(&mark->sessions);
	refcount_set(&mark->refs, 1);
	atomic_set(&mark->holders, 1);
	init_waitqueue_head(&mark->wait);
	mark->privileged = perfmon_capable();
	mark->id = atomic64_inc_return(&last_id);
	return mark;
}

long perfctr_ioctl_open_mark(void __user *user)
{
	struct perfctr_open_mark_args open;
	struct perfctr_mark *mark;
	u32 size;
	int fd = perfctr_get_struct(&open, sizeof(open), user, &size);

	if (fd)
		return fd;
	if (open.flags || open.id)
		return -EINVAL;
	fd = perfctr_hooks_get();
	if (fd)
		return fd;
	mark = alloc_mark();
	if (!mark) {
		perfctr_hooks_put();
		return -ENOMEM;
	}
	open.id = mark->id;
	fd = perfctr_put_struct(user, &open, sizeof(open), size);
	if (!fd)
		fd = anon_inode_getfd("[perfctr-mark]", &mark_fops, mark, O_CLOEXEC | O_RDWR);
	if (fd < 0)
		perfctr_mark_release(mark);
	return fd;
}
