/* SPDX-License-Identifier: GPL-2.0-only */
/* The members of a tree, for the files of the room tree/. */
#ifndef _PERFCTR_MEMBERS_H
#define _PERFCTR_MEMBERS_H

#include "../cpu/context.h"

/*
 * Both take the tree's lock and bring the tree up to date. lock: -EINTR if the caller is being
 * killed. unkillable: for callers that cannot give up. unlock releases either.
 */
int perfctr_lock_tree(struct perfctr_tree *tree);
void perfctr_lock_tree_unkillable(struct perfctr_tree *tree);
void perfctr_unlock_tree(struct perfctr_tree *tree);

/* The rest under the tree's lock. */

/* The next after pos of top and all below it, parents before children; NULL at the end. */
struct perfctr_context *perfctr_next_member(struct perfctr_context *top,
					    struct perfctr_context *pos);

#define for_each_member(pos, top) \
	for (pos = (top); pos; pos = perfctr_next_member(top, pos))

/* Links members that were born since, parents before their children. */
void perfctr_link_born(struct perfctr_tree *tree);

/*
 * Ends all members below top but those of generation "but": detaches each, and hands its counts to
 * its parent. Parents go first: a child that is born meanwhile is found.
 */
void perfctr_end_members_below(struct perfctr_context *top, u64 but);

#endif
