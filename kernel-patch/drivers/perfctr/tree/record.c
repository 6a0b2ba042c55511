// SPDX-License-Identifier: GPL-2.0-only
/* Records of the members of a tree that have exited: each has the counts of one member. */
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "../kernel/owner.h"
#include "internal.h"

struct perfctr_kept_record {
	struct list_head list;
	struct perfctr_exit_record user;
};

/*
 * Writes task's ids, start and name. remove_member() may call this after task has been reaped, when
 * task->group_leader may be freed. It then discards the record, because task has left the tree in
 * its exit.
 */
static void name_member(struct perfctr_exit_record *user, const struct perfctr_tree *tree,
			struct task_struct *task)
{
	user->tid = task_pid_nr_ns(task, tree->ns);
	user->tgid = task_tgid_nr_ns(task, tree->ns);
	rcu_read_lock();
	if (pid_alive(task))
		user->start = READ_ONCE(task->group_leader)->start_boottime;
	rcu_read_unlock();
	get_task_comm(user->comm, task);
}

/*
 * Allocates the record of task, the thread of ctx. task is current, or remove_member() is about to
 * detach ctx from task: after the detach task may be reaped at any time, and lose its ids. NULL:
 * the tree keeps no records, or this one is lost.
 */
struct perfctr_kept_record *perfctr_make_record(struct perfctr_context *ctx,
						struct task_struct *task)
{
	struct perfctr_tree *tree = ctx->tree;
	struct perfctr_kept_record *record;

	if (!READ_ONCE(tree->keep_records) ||
	    READ_ONCE(tree->n_records) >= PERFCTR_MAX_EXIT_RECORDS)
		return NULL;
	record = kzalloc(sizeof(*record), GFP_KERNEL_ACCOUNT);
	if (record)
		name_member(&record->user, tree, task);
	return record;
}

/* Fills in the counts of ctx, which are final: ctx has been detached from its thread. */
void perfctr_fill_record(struct perfctr_kept_record *record, const struct perfctr_context *ctx)
{
	struct perfctr_exit_record *user = &record->user;

	user->size = sizeof(*user);
	user->counts.size = sizeof(user->counts);
	user->counts.flags = PERFCTR_COUNTS_EXITED | PERFCTR_COUNTS_CONSISTENT;
	if (READ_ONCE(ctx->tree->revoked))
		user->counts.flags |= PERFCTR_COUNTS_REVOKED;
	perfctr_add_sums(ctx, &user->counts);
}

void perfctr_free_record(struct perfctr_kept_record *record)
{
	kfree(record);
}

/*
 * Takes over record, under the tree's lock, if the tree keeps records. The record counts as lost if
 * it is NULL, if the tree has no room for it, or if its memory cannot be charged.
 */
void perfctr_keep_record(struct perfctr_tree *tree, struct perfctr_kept_record *record)
{
	lockdep_assert_held(&tree->lock);
	if (!tree->keep_records) {
		kfree(record);	/* of an earlier control, which kept records */
		return;
	}
	if (!record || tree->n_records >= PERFCTR_MAX_EXIT_RECORDS || !tree->payer ||
	    perfctr_charge(tree->payer, sizeof(*record))) {
		kfree(record);
		WRITE_ONCE(tree->lost_records, tree->lost_records + 1);
		wake_up_interruptible(&tree->wait);
		return;
	}
	record->user.lost = tree->lost_records;
	WRITE_ONCE(tree->lost_records, 0);
	list_add_tail(&record->list, &tree->records);
	WRITE_ONCE(tree->n_records, tree->n_records + 1);
	wake_up_interruptible(&tree->wait);
}

static void forget_first_record(struct perfctr_tree *tree, struct perfctr_kept_record *record)
{
	list_del(&record->list);
	WRITE_ONCE(tree->n_records, tree->n_records - 1);
	perfctr_uncharge(tree->payer, sizeof(*record));
	kfree(record);
}

/* After the last record: fills in a record of no member, with the number of records lost since. */
static int tell_lost_records(struct perfctr_tree *tree, struct perfctr_exit_record *user)
{
	if (!tree->lost_records)
		return -EAGAIN;
	memset(user, 0, sizeof(*user));
	user->size = sizeof(*user);
	user->lost = tree->lost_records;
	user->counts.size = sizeof(user->counts);
	WRITE_ONCE(tree->lost_records, 0);
	return 0;
}

/* Called in any context, without a lock. */
bool perfctr_has_records(const struct perfctr_tree *tree)
{
	return READ_ONCE(tree->n_records) || READ_ONCE(tree->lost_records);
}

static struct perfctr_kept_record *oldest_record(struct perfctr_tree *tree)
{
	lockdep_assert_held(&tree->lock);
	return list_first_entry_or_null(&tree->records, struct perfctr_kept_record, list);
}

/* Takes the oldest record, under the tree's lock. -EAGAIN: there is none. */
int perfctr_tree_next_record(struct perfctr_tree *tree, struct perfctr_exit_record *user)
{
	struct perfctr_kept_record *record = oldest_record(tree);

	if (!record)
		return tell_lost_records(tree, user);
	*user = record->user;
	forget_first_record(tree, record);
	return 0;
}

/*
 * The caller has taken record, the oldest, and could not deliver it. Adds record->lost, plus 1 if
 * record is of a member, to lost of the next record, or to the tree's lost_records if there is no
 * next one. Called under the tree's lock.
 */
void perfctr_tree_lose_record(struct perfctr_tree *tree, const struct perfctr_exit_record *record)
{
	struct perfctr_kept_record *next = oldest_record(tree);
	u32 lost = record->lost + !!record->counts.flags;

	if (next)
		next->user.lost += lost;
	else
		WRITE_ONCE(tree->lost_records, tree->lost_records + lost);
	/* A poll() while the caller had the record found nothing. */
	wake_up_interruptible(&tree->wait);
}

void perfctr_drop_records(struct perfctr_tree *tree)
{
	struct perfctr_kept_record *record, *next;

	list_for_each_entry_safe(record, next, &tree->records, list)
		forget_first_record(tree, record);
	WRITE_ONCE(tree->lost_records, 0);
}
