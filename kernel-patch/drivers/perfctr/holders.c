// SPDX-License-Identifier: GPL-2.0-only
/* Who holds the counters, and how the administrator takes them back. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "session.h"
#include "user.h"

#define MAX_ROOM	65536u

static DEFINE_SPINLOCK(trees_lock);
static LIST_HEAD(trees);

void perfctr_opener_init(struct perfctr_opener *opener)
{
	opener->pid = get_pid(task_tgid(current));
	opener->uid = current_uid();
	get_task_comm(opener->comm, current);
}

void perfctr_opener_free(struct perfctr_opener *opener)
{
	put_pid(opener->pid);
}

void perfctr_add_tree(struct perfctr_tree *tree)
{
	spin_lock(&trees_lock);
	list_add_tail(&tree->list, &trees);
	spin_unlock(&trees_lock);
}

void perfctr_remove_tree(struct perfctr_tree *tree)
{
	spin_lock(&trees_lock);
	list_del(&tree->list);
	spin_unlock(&trees_lock);
}

/* With a reference, for that of pos; NULL: the first, or none is left. */
static struct perfctr_tree *next_tree(struct perfctr_tree *pos)
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

/* As seen from opener->pid's and its user's namespaces, which are the caller's. */
static void describe(struct perfctr_holder *holder, const struct perfctr_opener *opener)
{
	holder->pid = pid_nr_ns(opener->pid, task_active_pid_ns(current));
	holder->uid = from_kuid_munged(current_user_ns(), opener->uid);
	memcpy(holder->comm, opener->comm, sizeof(holder->comm));
}

/* False: it holds nothing, or is not for the caller to see. */
static bool describe_tree(struct perfctr_tree *tree, struct perfctr_holder *holder)
{
	holder->kind = PERFCTR_HOLDS_CONTEXT;
	holder->started = perfctr_count_holding(tree, &holder->counters, &holder->tid);
	if (!holder->started)
		return false;
	describe(holder, &tree->opener);
	return true;
}

static bool may_see(const struct perfctr_opener *opener)
{
	return perfmon_capable() || uid_eq(opener->uid, current_uid());
}

/* Calls fn until it says something but 0, which is the result. */
int perfctr_walk_holders(perfctr_holder_fn fn, void *arg)
{
	struct perfctr_tree *tree = NULL;
	int result = 0;

	while ((tree = next_tree(tree))) {
		struct perfctr_holder holder = {};

		if (may_see(&tree->opener) && describe_tree(tree, &holder))
			result = fn(&holder, arg);
		if (result) {
			perfctr_put_tree(tree);
			return result;
		}
	}
	return perfctr_walk_session_holders(fn, arg);
}

/* For session.c. False: it is not for the caller to see. */
bool perfctr_describe_session(const struct perfctr_session *s, struct perfctr_holder *holder)
{
	if (!may_see(&s->opener))
		return false;
	holder->kind = PERFCTR_HOLDS_SESSION;
	holder->started = 1;
	holder->counters = s->hw->slots;
	describe(holder, &s->opener);
	return true;
}

struct found {
	struct perfctr_holder *holder;
	u32 room;
	u32 n;
};

static int add_holder(const struct perfctr_holder *holder, void *arg)
{
	struct found *found = arg;

	if (found->n < found->room)
		found->holder[found->n] = *holder;
	found->n++;
	return 0;
}

static int copy_holders(struct perfctr_holders *holders)
{
	struct found found = { .room = min(holders->room, MAX_ROOM) };
	size_t size;
	int err;

	found.holder = kvcalloc(found.room, sizeof(*found.holder), GFP_KERNEL_ACCOUNT);
	if (found.room && !found.holder)
		return -ENOMEM;
	err = perfctr_walk_holders(add_holder, &found);
	holders->n = found.n;
	size = min(found.n, found.room) * sizeof(*found.holder);
	if (!err && copy_to_user(u64_to_user_ptr(holders->holders), found.holder, size))
		err = -EFAULT;
	kvfree(found.holder);
	return err;
}

long perfctr_ioctl_holders(void __user *user)
{
	struct perfctr_holders holders;
	u32 size;
	int err = perfctr_get_struct(&holders, sizeof(holders), user, &size);

	if (err)
		return err;
	if (holders.n || holders.reserved)
		return -EINVAL;
	err = copy_holders(&holders);
	return err ?: perfctr_put_struct(user, &holders, sizeof(holders), size);
}

static int show_holder(const struct perfctr_holder *holder, void *arg)
{
	seq_printf(arg, "%s %d %u %s %u %#llx\n",
		   holder->kind == PERFCTR_HOLDS_SESSION ? "session" : "context", holder->pid,
		   holder->uid, holder->comm, holder->started, holder->counters);
	return 0;
}

void perfctr_show_holders(struct seq_file *m)
{
	seq_puts(m, "holder pid uid command started counters\n");
	perfctr_walk_holders(show_holder, m);
}

/* Nobody reserves any more when this is called. */
void perfctr_stop_holders(void)
{
	struct perfctr_tree *tree = NULL;

	while ((tree = next_tree(tree)))
		perfctr_revoke_tree(tree);
	perfctr_revoke_sessions();
}
