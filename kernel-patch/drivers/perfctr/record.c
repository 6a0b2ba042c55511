// SPDX-License-Identifier: GPL-2.0-only
/* Records of the members of a tree that have exited, for whoever wants the counts of each. */
#include <linux/list.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "owner.h"
#include "perfctr.h"

struct record {
	struct list_head list;
	struct perfctr_record user;
};

static struct record *alloc_record(struct perfctr_tree *tree)
{
	struct record *record;

	if (!tree->payer || perfctr_charge(tree->payer, sizeof(*record)))
		return NULL;
	record = kzalloc(sizeof(*record), GFP_KERNEL_ACCOUNT);
	if (!record)
		perfctr_uncharge(tree->payer, sizeof(*record));
	return record;
}

/* task is current, and has been detached from ctx. */
void perfctr_record(struct perfctr_context *ctx, struct task_struct *task)
{
	struct perfctr_tree *tree = ctx->tree;
	struct record *record = NULL;

	if (!tree->keep_records)
		return;
	if (tree->n_records < PERFCTR_MAX_RECORDS)
		record = alloc_record(tree);
	if (!record) {
		tree->lost_records++;
		return;
	}
	record->user.size = sizeof(record->user);
	record->user.lost = tree->lost_records;
	tree->lost_records = 0;
	record->user.tid = task_pid_nr_ns(task, tree->ns);
	record->user.tgid = task_tgid_nr_ns(task, tree->ns);
	record->user.start = task->group_leader->start_boottime;
	get_task_comm(record->user.comm, task);
	record->user.counts.size = sizeof(record->user.counts);
	record->user.counts.flags = PERFCTR_COUNTS_EXITED | PERFCTR_COUNTS_CONSISTENT;
	perfctr_copy_counts(ctx, &record->user.counts);
	list_add_tail(&record->list, &tree->records);
	tree->n_records++;
	wake_up_interruptible(&tree->wait);
}

static void forget_first(struct perfctr_tree *tree, struct record *record)
{
	list_del(&record->list);
	tree->n_records--;
	perfctr_uncharge(tree->payer, sizeof(*record));
	kfree(record);
}

/* Behind the last record: tells of those that found no room and of no member. */
static int tell_lost(struct perfctr_tree *tree, struct perfctr_record *user)
{
	if (!tree->lost_records)
		return -EAGAIN;
	memset(user, 0, sizeof(*user));
	user->size = sizeof(*user);
	user->lost = tree->lost_records;
	user->counts.size = sizeof(user->counts);
	tree->lost_records = 0;
	return 0;
}

/* -EAGAIN when there is none. */
int perfctr_next_record(struct perfctr_tree *tree, struct perfctr_record *user)
{
	struct record *record = list_first_entry_or_null(&tree->records, struct record, list);

	if (!record)
		return tell_lost(tree, user);
	*user = record->user;
	forget_first(tree, record);
	return 0;
}

void perfctr_drop_records(struct perfctr_tree *tree)
{
	struct record *record, *next;

	list_for_each_entry_safe(record, next, &tree->records, list)
		forget_first(tree, record);
	tree->lost_records = 0;
}
