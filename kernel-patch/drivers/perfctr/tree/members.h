/* SPDX-License-Identifier: GPL-2.0-only */
/* Trees and their members: members.c for tree.c and page.c. */
#ifndef _PERFCTR_MEMBERS_H
#define _PERFCTR_MEMBERS_H

#include "../perfctr.h"

/*
 * Up to date. -EINTR: the caller is being killed; the other one is for those who cannot give up.
 * Whatever has the lock gives it back like this.
 */
int perfctr_lock_tree(struct perfctr_tree *tree);
void perfctr_lock_tree_unkillable(struct perfctr_tree *tree);
void perfctr_unlock_tree(struct perfctr_tree *tree);

/* All of these under the tree's lock. */

/* The next after pos of top and all below it, parents before children; NULL at the end. */
struct perfctr_context *perfctr_next_member(struct perfctr_context *top,
					    struct perfctr_context *pos);

#define for_each_member(pos, top) \
	for (pos = (top); pos; pos = perfctr_next_member(top, pos))

/* Members that were born since, parents before their children. */
void perfctr_link_born(struct perfctr_tree *tree);

/* All but those of a generation. They end before their children, so that none can escape. */
void perfctr_end_members_below(struct perfctr_context *top, u64 but);

#endif
