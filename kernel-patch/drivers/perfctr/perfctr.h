/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's own declarations. Dependencies point down this list:
 *
 * device.c	/dev/perfctr, the descriptors of contexts, their ioctls
 * debugfs.c	what each CPU does, for whoever wonders
 * events-KIND.c	what the kernel tells: the patch's hooks, or the module's
 * lifecycle.c	what is there at boot; CPU hotplug, suspend, reboot
 * holders.c	who holds the counters, how they are taken back
 * cost.c	what the instructions cost that everything is made of
 * session.c	the descriptors of sessions, which count on CPUs
 * started.c	sessions that are started: their places, their gates on each CPU
 * sums.c	what a session has counted, added up over its CPUs
 * tree.c	a context and those that its thread's children inherited from it, as one
 * page.c	mapping of the state page, permission to RDPMC
 * members.c	births and exits of the members of a tree
 * shared.c	a context that all threads of a tree share
 * record.c	records of members that have exited
 * periods.c	what is over of a tree's periods, and who goes on after one
 * context.c	life of a context: attached to a thread, detached, freed
 * group.c	threads that bear the same mark
 * threads.c	the threads of the machine, looked through
 * totals.c	what a session has counted, and its mapping
 * trace.c	what a session writes at each change of thread
 * state.c	control, start, stop, read of a context
 * switch.c	the context switch: fold, start, stop
 * threshold.c	when the periods of events end: arithmetic
 * overflow_signal.c	signals to a thread when they do
 * sample.c	what a thread was doing when one did
 * gate.c	the sessions of one CPU: which of their counters run for which thread
 * hold.c	which trees hold hardware
 * control.c	validation of a control
 * ring.c	rings of records, which users map and empty
 * access.c	permission to access a thread
 * owner.c	who pays for the memory
 * may-KIND.c	who may count
 * kinds.c	kinds of cores, and how long a thread ran on which
 * probe.c	which PMU there is, and whether it is what the processor calls itself
 * pmu/		one file per PMU family
 * reserve.c	the machine's counters, shared with the rest of the kernel
 * cpu.c	one CPU's counters: whose counts they hold, which of them run
 * uncore.c	counters beside the CPU's own, which RDPMC shows, too
 * pmu.c	the PMU that the machine has
 * call.c	calls of a function where a thread cannot be switched
 * hooks-KIND.c	what is asked of the kernel, by the patch or by the module
 */
#ifndef _PERFCTR_H
#define _PERFCTR_H

#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/gfp.h>
#include <linux/jump_label.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perfctr.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/wait.h>

#include "kernel/owner.h"
#include "machine/pmu.h"

struct perfctr_group;
struct perfctr_kept_record;
struct perfctr_sampling;
struct perfctr_thread;
struct perfctr_thresholds;
struct mm_struct;
struct pid_namespace;
struct pt_regs;
struct seq_file;
struct task_struct;
struct vm_area_struct;

/* How the ends of a tree's periods differ from the multiples of the period. */
struct perfctr_variation {
	bool phase;		/* PERFCTR_CONTROL_PHASE */
	u32 jitter;		/* percent */
	u64 chosen;		/* seed, by the user; 0: none */
	u64 seed;		/* of this control */
	atomic64_t threads;	/* that have begun with it */
};

/*
 * What a context and all contexts that were inherited from it share. Who is born and who leaves
 * waits for nobody: it queues itself, and the next who has the lock brings the tree up to date.
 */
struct perfctr_tree {
	refcount_t refs;		/* one by each context */
	struct list_head list;		/* of all trees */
	struct perfctr_opener opener;
	struct llist_head born;		/* members that are not linked yet, youngest first */
	struct llist_head gone;		/* members that are linked and have left, last first */
	atomic_t n_gone;
	u64 generation;			/* of the root's control; others' members have no more */
	bool keep_records;
	struct mutex lock;	/* of who is above whom, counts of exited, controls, records */
	struct perfctr_context *root;	/* NULL before it is attached, and after it is closed */
	struct list_head records;	/* of members that have exited, oldest first */
	u32 n_records;
	u32 lost_records;
	struct perfctr_owner *payer;	/* for records: who has the descriptor that rules */
	bool revoked;		/* stopped by the administrator since the last control */
	bool incomplete;	/* likewise: a child is no member for want of memory */
	struct pid_namespace *ns;	/* that records are told in */
	struct perfctr_variation variation;
	struct perfctr_sampling *sampling;	/* NULL: none */
	wait_queue_head_t wait;		/* for records, and samples */
};

/*
 * The virtual counters of one thread. References: one by the thread while attached, one by each
 * open file. The thread is watched while the context is started, or the thread is marked.
 *
 * By totals, of a tree's root and of others, which share it (see shared.c): then each has a
 * reference and is watched all the time, and the counters are in a page of each CPU.
 *
 * hw, thresholds, started, inherit, generation and the page change only by perfctr_call() or in the
 * context switch of the thread. Before its thread is born a context is in no tree and nobody finds
 * it.
 */
struct perfctr_context {
	refcount_t refs;
	spinlock_t lock;		/* of task, inside the tree's lock */
	struct task_struct *task;	/* attached to; NULL when detached */
	struct perfctr_hw_control *hw;	/* NULL before the first control */
	struct perfctr_page *page;	/* state; a page of memory once somebody has mapped it */
	u64 generation;			/* of the control that it was born under */
	bool started;
	bool inherit;			/* new threads become members */
	bool leaving;			/* its thread detaches it, the tree has not taken it yet */
	struct perfctr_page __percpu *shared;	/* NULL: not by totals */
	atomic_t sharers;		/* then: threads that share it, without the root's */
	struct list_head mappings;	/* of the page, under lock */
	u64 shown_to;			/* context.ctx_id of the thread's mm if the page is there */
	struct perfctr_thresholds *thresholds;	/* of hw's periods, if it has any */

	struct perfctr_tree *tree;
	struct llist_node born;
	struct llist_node gone;
	struct perfctr_kept_record *record;	/* of one that has gone, NULL: none */
	/* Under the tree's lock: */
	struct perfctr_context *parent;	/* nearest above that has not exited, or the root */
	struct list_head children;	/* whose parent this is */
	struct list_head sibling;
	bool page_is_users;		/* mapped by who may not count kernel mode */
	struct perfctr_hw_control *held; /* by hold.c: started, with events */
	struct perfctr_counts exited;	/* children's sums: of members below that have exited */

	/* What page points to before: as much of a page as the machine's counters take. */
	u64 state[] ____cacheline_aligned;
};

static inline bool perfctr_has_page(const struct perfctr_context *ctx)
{
	return ctx->page != (const struct perfctr_page *)ctx->state;
}

/* Where interrupts are off: what a context counts into on this CPU. */
static __always_inline struct perfctr_page *perfctr_page_here(const struct perfctr_context *ctx)
{
	return unlikely(ctx->shared) ? this_cpu_ptr(ctx->shared) : ctx->page;
}

/* control.c */
struct perfctr_hw_control *perfctr_compile(struct perfctr_control *control);
void perfctr_tell_control(const struct perfctr_hw_control *hw, struct perfctr_control *control);

/* What a session may count. */
struct perfctr_rules {
	u32 policy;		/* of events that have none of their own */
	bool privileged;
};

#define PERFCTR_EXCLUDE_MASK							\
	(PERFCTR_EXCLUDE_ALL | PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_USER |	\
	 PERFCTR_EXCLUDE_MARKED | PERFCTR_EXCLUDE_UNMARKED | PERFCTR_EXCLUDE_IDLE)

/* Counts nothing but marked threads in user mode. */
static inline bool perfctr_policy_is_harmless(u32 policy)
{
	return policy & PERFCTR_EXCLUDE_KERNEL && policy & PERFCTR_EXCLUDE_UNMARKED;
}

/* What is in use, as in struct perfctr_hw_control. */
struct perfctr_use {
	u64 slots;
	u64 shared;
};

static inline bool perfctr_in_use(const struct perfctr_hw_control *hw,
				  const struct perfctr_use *use)
{
	return hw->slots & use->slots || hw->shared & use->shared;
}

int perfctr_reserve_for(struct perfctr_control *control, const struct perfctr_hw_control *hw,
			const struct perfctr_use *met);
void perfctr_blame_kernel(struct perfctr_control *control);
void perfctr_blame_signal(struct perfctr_control *control);
u32 perfctr_event_policy(const struct perfctr_event_control *e, u32 policy);
struct perfctr_hw_control *perfctr_compile_session(struct perfctr_control *control,
						   const struct perfctr_rules *rules);
void perfctr_hw_put(struct perfctr_hw_control *hw);	/* NULL is fine */

void perfctr_hw_get(struct perfctr_hw_control *hw);

/* tree.c; install takes hw over in any case. -EINTR: the caller is being killed. */
struct perfctr_context *perfctr_open_tree(struct task_struct *task);	/* or an error */
int perfctr_install(struct perfctr_context *ctx, struct perfctr_hw_control *hw,
		    struct perfctr_control *control);
int perfctr_get_control(struct perfctr_context *ctx, struct perfctr_control *control);
int perfctr_start(struct perfctr_context *ctx);
int perfctr_stop(struct perfctr_context *ctx);
int perfctr_read(struct perfctr_context *ctx, struct perfctr_counts *counts);
int perfctr_take_record(struct perfctr_context *ctx, struct perfctr_record *record);
int perfctr_open_samples(struct perfctr_context *ctx, struct perfctr_samples_args *args);
int perfctr_close(struct perfctr_context *ctx);
void perfctr_set_payer(struct perfctr_tree *tree, struct perfctr_owner *owner);
void perfctr_revoke_tree(struct perfctr_tree *tree);
u32 perfctr_count_holding(struct perfctr_tree *tree, u64 *counters, s32 *tid);

/*
 * members.c. What current's next thread needs when it is born, without which it is nobody: NULL if
 * it inherits nothing, or -ENOMEM.
 */
struct perfctr_context *perfctr_conceive(gfp_t gfp);
void perfctr_bear(struct task_struct *child, struct perfctr_context *ctx);
void perfctr_leave(void);
void perfctr_evict(struct task_struct *task);

/*
 * shared.c. install: what the control needs, if it asks for totals; made and freed, if nobody took
 * it, anywhere. All others under the tree's lock; who owns the tree's descriptor pays.
 */
struct perfctr_install;
int perfctr_make_shared(struct perfctr_install *install);
void perfctr_free_shared(struct perfctr_install *install);
int perfctr_pay_for_shared(struct perfctr_context *ctx, const struct perfctr_install *install);
void perfctr_pay_back_shared(struct perfctr_context *ctx, const struct perfctr_install *install);
u32 perfctr_sharing(const struct perfctr_context *ctx);	/* threads */
int perfctr_start_shared(struct perfctr_context *ctx);
int perfctr_stop_shared(struct perfctr_context *ctx);
bool perfctr_add_shared(struct perfctr_context *ctx, struct perfctr_counts *counts);
int perfctr_unshare(struct perfctr_context *ctx);
/* Where task is kept from running, or is current with interrupts off, or not born yet. */
void perfctr_share(struct perfctr_context *ctx, struct task_struct *task,
		   struct perfctr_thread *thread);
/*
 * Takes from current a context that is shared, with interrupts off; then, with them on, the share
 * is to be dropped. Or both from another thread, that one context if it is not NULL. With the
 * reference; NULL: there was none. Who is not about to stop it looks whether it is deserted: then
 * it is to be stopped, under the tree's lock.
 */
void perfctr_leave_shared(void);
void perfctr_drop_share(struct perfctr_context *ctx, struct task_struct *task);
struct perfctr_context *perfctr_evict_shared(struct task_struct *task,
					     struct perfctr_context *only);
bool perfctr_is_deserted(const struct perfctr_context *ctx);

/* record.c: made without locks; kept, taken and dropped under the tree's lock */
struct perfctr_kept_record *perfctr_make_record(struct perfctr_context *ctx);
void perfctr_fill_record(struct perfctr_kept_record *record, const struct perfctr_context *ctx,
			 struct task_struct *task);
void perfctr_free_record(struct perfctr_kept_record *record);	/* NULL is fine */
void perfctr_keep_record(struct perfctr_tree *tree, struct perfctr_kept_record *record);
int perfctr_next_record(struct perfctr_tree *tree, struct perfctr_record *record);
void perfctr_drop_records(struct perfctr_tree *tree);
bool perfctr_has_records(const struct perfctr_tree *tree);	/* lost ones too */

/* periods.c */
int perfctr_read_periods(struct perfctr_context *ctx, struct perfctr_periods *periods);
int perfctr_resume(struct perfctr_context *ctx);
void perfctr_executes(void);	/* current, which keeps its context */

/* threshold.c: for hw, which has periods: nothing counted yet, or NULL; with spare ones or not */
struct perfctr_thresholds *perfctr_make_thresholds(const struct perfctr_hw_control *hw, bool spare,
						   gfp_t gfp);
size_t perfctr_thresholds_bytes(void);
void perfctr_free_thresholds(struct perfctr_thresholds *thresholds);	/* NULL is fine */
void perfctr_vary_thresholds(struct perfctr_thresholds *thresholds,
			     const struct perfctr_hw_control *hw,
			     struct perfctr_variation *variation);
void perfctr_fit_thresholds(struct perfctr_context *ctx, struct perfctr_context *parent,
			    bool same_process);

/* sample.c */
int perfctr_check_samples(const struct perfctr_samples_args *args);
int perfctr_begin_sampling(struct perfctr_tree *tree, struct perfctr_samples_args *args);
void perfctr_end_sampling(struct perfctr_tree *tree);
int perfctr_may_sample(const struct perfctr_tree *tree, const struct perfctr_hw_control *hw);
void perfctr_clear_samples(struct perfctr_tree *tree, u32 n_counters);
int perfctr_mmap_samples(struct perfctr_tree *tree, struct vm_area_struct *vma,
			 unsigned long offset);
int perfctr_consume_samples(struct perfctr_tree *tree, const struct perfctr_consume *consume);
int perfctr_read_sampled(struct perfctr_tree *tree, struct perfctr_sampled *sampled);
__poll_t perfctr_poll_samples(struct perfctr_tree *tree);

/* state.c: under the tree's lock; may the caller see the sums? */
int perfctr_may_see(const struct perfctr_context *ctx);
int perfctr_may_map(struct perfctr_context *ctx);

/* state.c: for perfctr_call() */
size_t perfctr_learn_state_bytes(void);
void perfctr_state_init(struct perfctr_context *ctx, const struct perfctr_hw_control *hw);
void perfctr_page_init(struct perfctr_page *page);
void perfctr_page_set_events(struct perfctr_page *page, const struct perfctr_hw_control *hw);
void perfctr_follow(struct perfctr_context *ctx);
size_t perfctr_state_bytes(void);
void perfctr_init_page(struct perfctr_page *page, const struct perfctr_hw_control *hw);
void perfctr_add_page(const struct perfctr_page *page, struct perfctr_counts *counts);
void perfctr_add_sums(const struct perfctr_context *ctx, struct perfctr_counts *counts);
void perfctr_add_counts(struct perfctr_counts *sum, const struct perfctr_counts *counts);
int perfctr_move_fn(struct perfctr_context *ctx, bool live, void *arg);
int perfctr_start_fn(struct perfctr_context *ctx, bool live, void *arg);
int perfctr_stop_fn(struct perfctr_context *ctx, bool live, void *arg);
struct perfctr_install {
	struct perfctr_hw_control *hw;	/* in: the new one.  out: the one that it replaces */
	struct perfctr_thresholds *thresholds;	/* likewise */
	u32 flags;			/* PERFCTR_CONTROL_* */
	struct perfctr_page __percpu *shared;	/* in: by totals.  out: NULL if it is ctx's */
	struct perfctr_page *old_page;	/* out: that ctx has given up, or NULL */
	u64 seed;			/* of what is random in the tree's periods */
};

int perfctr_install_fn(struct perfctr_context *ctx, bool live, void *arg);
int perfctr_read_fn(struct perfctr_context *ctx, bool live, void *arg);
int perfctr_read_own(struct perfctr_context *ctx, struct perfctr_counts *counts);

/* The upper half of a page counter's ticket makes each one new. */
#define PERFCTR_NEXT_TICKET	BIT_ULL(32)

/* Readers in other threads retry while seq is odd or has changed. */
static inline void perfctr_page_begin(struct perfctr_page *page)
{
	WRITE_ONCE(page->seq, page->seq + 1);
	smp_wmb();	/* seq before what it guards */
}

static inline void perfctr_page_end(struct perfctr_page *page)
{
	smp_wmb();	/* what seq guards before seq */
	WRITE_ONCE(page->seq, page->seq + 1);
}

/* holders.c */
typedef int (*perfctr_holder_fn)(const struct perfctr_holder *holder, void *arg);
int perfctr_walk_holders(perfctr_holder_fn fn, void *arg);
void perfctr_show_holders(struct seq_file *m);
void perfctr_stop_holders(void);
long perfctr_ioctl_holders(void __user *user);

/* page.c */
bool perfctr_may_rdpmc(struct mm_struct *mm);
bool perfctr_emulate_rdpmc(struct pt_regs *regs);
int perfctr_mmap(struct perfctr_context *ctx, struct vm_area_struct *vma);
void perfctr_update_mappings(struct perfctr_context *ctx);

/* hold.c */
int perfctr_may_hold(const struct perfctr_hw_control *hw);
int perfctr_hold(struct perfctr_hw_control *hw, struct perfctr_control *control);
void perfctr_drop_hold(struct perfctr_hw_control *hw);
int perfctr_hold_for(struct perfctr_context *ctx);
void perfctr_hold_too(struct perfctr_context *ctx, struct perfctr_hw_control *hw);
void perfctr_let_go(struct perfctr_context *ctx);

/* context.c */
int perfctr_contexts_init(void);
void perfctr_contexts_exit(void);
size_t perfctr_context_bytes(void);
u32 perfctr_context_number(void);
struct perfctr_context *perfctr_alloc(gfp_t gfp);	/* in no tree */
void perfctr_discard(struct perfctr_context *ctx); /* one that was never born; anywhere */
int perfctr_attach(struct perfctr_context *ctx, struct task_struct *task);
struct perfctr_tree *perfctr_alloc_tree(void);
struct perfctr_context *perfctr_find(struct task_struct *task);
void perfctr_forget_task(struct perfctr_context *ctx, struct task_struct *task);
struct task_struct *perfctr_get_task(struct perfctr_context *ctx);	/* NULL: detached */
void perfctr_detach_here(struct perfctr_context *ctx);
void perfctr_detach_done(struct perfctr_context *ctx);
int perfctr_detach(struct perfctr_context *ctx);
void perfctr_put_tree(struct perfctr_tree *tree);	/* NULL is fine */
struct perfctr_tree *perfctr_next_tree(struct perfctr_tree *pos);
void perfctr_put(struct perfctr_context *ctx);

/*
 * Calls fn(task, live, arg) where the thread cannot be switched, interrupts off: on the CPU that
 * runs it (live), or anywhere while it runs nowhere. Returns fn's result. Can sleep; fn must not.
 */
typedef int (*perfctr_task_fn)(struct task_struct *task, bool live, void *arg);
int perfctr_call_task(struct task_struct *task, perfctr_task_fn fn, void *arg);

/* Likewise fn(ctx, live, arg) for the context's thread; -ESRCH when it is attached to none. */
typedef int (*perfctr_call_fn)(struct perfctr_context *ctx, bool live, void *arg);
int perfctr_call(struct perfctr_context *ctx, perfctr_call_fn fn, void *arg);

/* switch.c: interrupts off, on the CPU that runs the context's thread */
void perfctr_switch(struct task_struct *prev, struct task_struct *next);
void perfctr_switch_threads(struct task_struct *prev, struct task_struct *next,
			    const struct perfctr_thread *from, const struct perfctr_thread *to);
void perfctr_tick_current(void);
void perfctr_rdpmc_enabled(struct mm_struct *mm);
void perfctr_cpu_enter(struct perfctr_context *ctx);
void perfctr_cpu_leave(struct perfctr_context *ctx);
void perfctr_cpu_fold(struct perfctr_context *ctx);
void perfctr_cpu_pause(bool pause);
void perfctr_cpu_renew_secret(void);
u64 perfctr_cpu_rdpmc(u32 counter);
void perfctr_interrupt(void);

/* gate.c: likewise */
bool perfctr_gate_turn(struct task_struct *prev, struct task_struct *next);
void perfctr_gate_settle(struct task_struct *next, u64 now);
void perfctr_gate_update(void);
void perfctr_gate_scrub(void);
void perfctr_gate_tick(u64 now);
void perfctr_gate_disturbed(void);
void perfctr_gate_pause(bool pause);
bool perfctr_gate_shows_kernel(void);

/* uncore.c: likewise, but for init */
DECLARE_STATIC_KEY_FALSE(perfctr_shows_uncore);	/* RDPMC does */
bool perfctr_uncore_counts(void);
void perfctr_tick_uncore(void);
void perfctr_uncore_init(void);

/* events-KIND.c; exit: no descriptor is left */
int perfctr_events_init(void);
void perfctr_events_exit(void);

/* lifecycle.c */
int perfctr_lifecycle_init(void);
void perfctr_lifecycle_exit(void);

/* reserve.c */
int perfctr_reserve(const struct perfctr_hw_control *hw);
void perfctr_release(const struct perfctr_hw_control *hw);

void perfctr_get_use(struct perfctr_use *contexts, struct perfctr_use *sessions);
u32 perfctr_holder(void);		/* PERFCTR_HOLDER_* */
void perfctr_refuse(bool refuse);
bool perfctr_refuses(void);
void perfctr_cpu_take(void);
void perfctr_cpu_give(void);
bool perfctr_cpu_is_ours(void);
bool perfctr_cpu_is_taken(void);
void perfctr_on_all_cpus(smp_call_func_t fn);
void perfctr_try_at_boot(void);
bool perfctr_may_interrupt(void);

/* probe.c */
void perfctr_probe(void);
int perfctr_try_pmu(void);

/* kinds.c; the key: there are some */
DECLARE_STATIC_KEY_FALSE(perfctr_kinds);
void perfctr_kinds_init(void);
bool perfctr_kind_online(unsigned int cpu);
bool perfctr_kinds_exist(const struct perfctr_pmu *pmu, u32 kinds);
u64 perfctr_kinds_counters(const struct perfctr_pmu *pmu, u32 kinds);
u64 perfctr_kinds_evntsel(const struct perfctr_pmu *pmu, u32 kinds);
bool perfctr_some_kind_has(const struct perfctr_pmu *pmu, u32 counter);
bool perfctr_kinds_lack(const struct perfctr_pmu *pmu, u64 slots);
void perfctr_kind_enter(struct perfctr_page *page);
void perfctr_kind_times(const struct perfctr_page *page, u64 *time);
void perfctr_kind_add(u64 *sum, const u64 *time);
u32 perfctr_kind_of_cpu(unsigned int cpu);
void perfctr_kinds_tell(struct perfctr_pmu_info *info);
long perfctr_ioctl_kind_cpus(void __user *user);

/* cost.c: time stamp ticks for each instruction, 0: unknown */
struct perfctr_costs {
	u32 rdtsc;
	u32 rdpmc;
	u32 rdmsr;
	u32 wrmsr;
};

extern struct perfctr_costs perfctr_costs;
void perfctr_measure_rdtsc(void);
void perfctr_measure_costs(void); /* the rest, here; the counters are reserved, and not taken */

/* debugfs.c */
void perfctr_debugfs_init(void);
void perfctr_debugfs_exit(void);

#endif
