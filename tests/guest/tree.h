/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User instructions that asm/tree.S and asm/chain.S retire, counted there by hand. */
#ifndef TREE_H
#define TREE_H

/* The program "tree". Some of its leaves execute "loop". */
#define TREE_ROOT	119ull
#define TREE_MIDDLES	8
#define TREE_MIDDLE	331ull
#define TREE_SIXES	(TREE_MIDDLES * 4)	/* groups of 6 leaves */
#define TREE_LOOPING	20006ull
#define TREE_EXECUTING	(7 + LOOP_INSTRUCTIONS(SHORT_LOOP))
#define TREE_THREADED	20013ull		/* the first thread */
#define TREE_THREAD	20004ull
#define TREE_BELOW_ROOT	(TREE_MIDDLES * TREE_MIDDLE + TREE_SIXES * (3 * TREE_LOOPING + \
			 2 * TREE_EXECUTING + TREE_THREADED + TREE_THREAD))
#define TREE_INSTRUCTIONS (TREE_ROOT + TREE_BELOW_ROOT)
#define TREE_PROCESSES	(1 + TREE_MIDDLES + TREE_SIXES * 6)
#define TREE_THREADS	(TREE_PROCESSES + TREE_SIXES)

/* The program "chain": all processes but the last exit before their child. */
#define CHAIN_LENGTH		11
#define CHAIN_INSTRUCTIONS	2000115ull

#endif
