// SPDX-License-Identifier: GPL-2.0-only
/* Lists the holders of counters, and stops them for the administrator. */
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "../tree/tree.h"
#include "../session/session.h"
#include "../cpu/context.h"
#include "../kernel/owner.h"
#include "../kernel/user.h"
#include "entry.h"

#define MAX_ROOM	65536u

/* Returns false if no member of the tree holds counters, or if the caller is being killed. */
static bool describe_tree(struct perfctr_tree *tree, struct perfctr_holder *holder)
{
	holder->type = PERFCTR_HOLDS_CONTEXT;
	holder->started = perfctr_count_holding(tree, &holder->counters, &holder->tid);
	if (!holder->started)
		return false;
	perfctr_opener_describe(&tree->opener, holder);
	return true;
}

/* Calls fn for each holder that the caller may see. Stops at a nonzero result of fn: returns it. */
static int walk_holders(perfctr_holder_fn fn, void *arg)
{
	struct perfctr_tree *tree = NULL;
	int result = 0;

	while ((tree = perfctr_next_tree(tree))) {
		struct perfctr_holder holder = {};

		if (perfctr_opener_is_seen(&tree->opener) && describe_tree(tree, &holder))
			result = fn(&holder, arg);
		if (result) {
			perfctr_put_tree(tree);
			return result;
		}
	}
	return perfctr_walk_session_holders(fn, arg);
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
	err = walk_holders(add_holder, &found);
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
		   holder->type == PERFCTR_HOLDS_SESSION ? "session" : "context", holder->pid,
		   holder->uid, holder->comm, holder->started, holder->counters);
	return 0;
}

void perfctr_show_holders(struct seq_file *m)
{
	seq_puts(m, "holder pid uid command started counters\n");
	walk_holders(show_holder, m);
}

/*
 * Stops all trees and sessions that hold counters. The caller has refused new reservations by
 * perfctr_refuse(true). -EINTR: the caller was killed, and some trees or sessions may go on.
 */
int perfctr_stop_holders(void)
{
	struct perfctr_tree *tree = NULL;

	while ((tree = perfctr_next_tree(tree))) {
		int err = perfctr_revoke_tree(tree);

		if (err) {
			perfctr_put_tree(tree);
			return err;
		}
	}
	perfctr_revoke_sessions();
	return 0;
}
