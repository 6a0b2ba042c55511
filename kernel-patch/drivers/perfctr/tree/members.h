/* SPDX-License-Identifier: GPL-2.0-only */
/* The members of a tree, for the files of the room tree/. */
#ifndef _PERFCTR_MEMBERS_H
#define _PERFCTR_MEMBERS_H

#include "../cpu/context.h"

/*
 * perfctr_lock_tree() and perfctr_lock_tree_unkillable() take the tree's lock and bring the tree up
 * to date: they link the members that were born and settle those that left while the lock was free
 * or another thread had it. The first returns 0, or -EINTR if the caller is being killed. The
 * second is for callers that cannot give up. perfctr_unlock_tree() releases the lock, and settles
 * members that left in the meantime.
 */
int perfctr_lock_tree(struct perfctr_tree *tree);
void perfctr_lock_tree_unkillable(struct perfctr_tree *tree);
void perfctr_unlock_tree(struct perfctr_tree *tree);

/* All further functions require the tree's lock. */

/*
 * The member that follows pos in a walk over top and all members below it, parents before children;
 * NULL at the end.
 */
struct perfctr_context *perfctr_next_member(struct perfctr_context *top,
					    struct perfctr_context *pos);

#define for_each_member(pos, top) \
	for (pos = (top); pos; pos = perfctr_next_member(top, pos))

/* Links the members born since the tree was brought up to date, parents before their children. */
void perfctr_link_born(struct perfctr_tree *tree);

/*
 * Ends all members below top except those of generation "but": detaches each, and hands its counts
 * to its parent. Parents go first, so that a child that is born meanwhile is found.
 */
void perfctr_end_members_below(struct perfctr_context *top, u64 but);

#endif
