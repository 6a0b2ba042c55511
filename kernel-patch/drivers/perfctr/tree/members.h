/* SPDX-License-Identifier: GPL-2.0-only */
/* The members of a tree, for the files of the room tree/. */
#ifndef _PERFCTR_MEMBERS_H
#define _PERFCTR_MEMBERS_H

#include "../cpu/context.h"

/*
 * The lock of a tree, and the tree up to date. -EINTR: the caller is being killed;
 * unkillable is for callers that cannot give up. Both are given back by unlock.
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
 * Detaches the members below top whose generation is not but. Parents go first, so that no child
 * that is born meanwhile is missed.
 */
void perfctr_end_members_below(struct perfctr_context *top, u64 but);

#endif
