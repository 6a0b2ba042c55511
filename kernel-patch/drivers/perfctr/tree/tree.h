/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The room tree/: contexts, and the trees that they belong to.
 *
 * tree.c	a context and all contexts inherited from it, controlled and read as one
 * members.c	births and exits of the members of a tree
 * context.c	life of a context: attached to a thread, detached, freed
 * shared.c	a context that all threads of a tree share
 * state.c	control, start, stop, read of a context
 * page.c	mapping of the state page, permission to RDPMC
 * hold.c	which trees hold hardware
 * record.c	records of members that have exited
 * periods.c	how many of a tree's periods are over, and threads that go on after one
 *
 * ../cpu/context.h has the objects. internal.h and members.h are for the files of the room.
 */
#ifndef _PERFCTR_TREE_H
#define _PERFCTR_TREE_H

#include "../cpu/context.h"

struct mm_struct;
struct pt_regs;
struct vm_area_struct;

/*
 * tree.c: the calls of a descriptor. They may sleep, and take the tree's lock. A function that
 * returns int returns 0 or an errno: -EINTR if the caller is being killed, otherwise the errors of
 * the ioctl in <linux/perfctr.h>.
 *
 * perfctr_open_tree() returns the root of a new tree, stopped, with a reference for the caller.
 * perfctr_install() takes over the reference to hw even if it fails. perfctr_take_record() takes
 * the oldest record from the tree. If the caller cannot deliver the record to the user, it passes
 * record and generation to perfctr_lose_record(). perfctr_tree_close() detaches all members.
 *
 * perfctr_set_payer() drops all records of the tree and charges the memory of later ones to owner;
 * NULL: the tree keeps no more records. perfctr_revoke_tree() stops all members that hold counters.
 * perfctr_count_holding() returns the number of these members, or 0 if the caller is being killed.
 */
struct perfctr_context *perfctr_open_tree(struct task_struct *task);	/* or ERR_PTR() */
int perfctr_install(struct perfctr_context *ctx, struct perfctr_hw_control *hw,
		    struct perfctr_control *control);
int perfctr_tree_get_control(struct perfctr_context *ctx, struct perfctr_control *control);
int perfctr_tree_start(struct perfctr_context *ctx);
int perfctr_tree_stop(struct perfctr_context *ctx);
int perfctr_tree_read(struct perfctr_context *ctx, struct perfctr_counts *counts);
int perfctr_take_record(struct perfctr_context *ctx, struct perfctr_exit_record *record,
			u64 *generation);
void perfctr_lose_record(struct perfctr_context *ctx, const struct perfctr_exit_record *record,
			 u64 generation);
int perfctr_open_samples(struct perfctr_context *ctx, struct perfctr_samples_args *args);
int perfctr_tree_close(struct perfctr_context *ctx);
void perfctr_set_payer(struct perfctr_tree *tree, struct perfctr_owner *owner);
int perfctr_revoke_tree(struct perfctr_tree *tree);
u32 perfctr_count_holding(struct perfctr_tree *tree, u64 *counters, s32 *tid);

/* periods.c: as tree.c. perfctr_tree_resume() takes no lock if current is a member. */
int perfctr_tree_read_periods(struct perfctr_context *ctx, struct perfctr_periods *periods);
int perfctr_tree_resume(struct perfctr_context *ctx);

/* record.c: called in any context, without a lock. True also if there are only lost records. */
bool perfctr_has_records(const struct perfctr_tree *tree);

/*
 * members.c: births and exits of threads.
 *
 * perfctr_tree_prepare_child() allocates the context of current's next child. It returns NULL if
 * the child needs no context of its own, or ERR_PTR(-ENOMEM). perfctr_tree_add_child() takes over
 * this result, whatever it is, and does not sleep. perfctr_leave() removes current from its tree,
 * and drops its mark. If current executes a file, a mark made with CAP_PERFMON stays.
 * perfctr_tree_remove_member() ends another thread's membership of its tree, as the thread's exit
 * would. It may sleep.
 */
struct perfctr_context *perfctr_tree_prepare_child(gfp_t gfp);
void perfctr_tree_add_child(struct task_struct *child, struct perfctr_context *ctx);
void perfctr_leave(void);
void perfctr_tree_remove_member(struct task_struct *task);
/* periods.c: current executes a file, and stays in its tree. Interrupts are on. */
void perfctr_executes(void);

/*
 * page.c. perfctr_may_rdpmc(), with interrupts off: may mm execute RDPMC in user mode on this CPU?
 * perfctr_emulate_rdpmc() handles a #GP of user mode; false: not of an RDPMC of a counter.
 * perfctr_mmap() may sleep. -EINVAL; -EPERM: writable; -EACCES; -EOPNOTSUPP: ctx is shared; -EINTR;
 * -ENOMEM.
 */
bool perfctr_may_rdpmc(struct mm_struct *mm);
bool perfctr_emulate_rdpmc(struct pt_regs *regs);
int perfctr_mmap(struct perfctr_context *ctx, struct vm_area_struct *vma);

/*
 * context.c. perfctr_contexts_init() returns 0 or -ENOMEM; perfctr_contexts_exit() requires that no
 * descriptor is left. perfctr_find() returns a reference, or NULL. perfctr_next_tree() takes a
 * reference to the next tree, and puts the one to pos; NULL: the first tree, or the end.
 */
int perfctr_contexts_init(void);
void perfctr_contexts_exit(void);
size_t perfctr_context_bytes(void);
u32 perfctr_context_number(void);
struct perfctr_context *perfctr_find(struct task_struct *task);
struct task_struct *perfctr_get_task(struct perfctr_context *ctx); /* a reference; NULL: detached */
void perfctr_put(struct perfctr_context *ctx);
void perfctr_put_tree(struct perfctr_tree *tree);	/* NULL is fine */
struct perfctr_tree *perfctr_next_tree(struct perfctr_tree *pos);

#endif
