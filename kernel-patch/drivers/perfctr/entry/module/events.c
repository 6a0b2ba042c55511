// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: tracepoints take the place of the patch's hooks in the kernel's code. Where the
 * kernel has no tracepoint, the module uses the function tracer: at the fault of an RDPMC, and
 * where perf_events changes CR4.PCE or clears counters that it believes to be its own.
 */
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/task_work.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <asm/mmu_context.h>
#include <asm/trapnr.h>
#include <trace/events/sched.h>
#include <trace/events/timer.h>
#include "../entry.h"
#include "../../tree/tree.h"
#include "../../session/session.h"
#include "../../cpu/cpu.h"
#include "../../machine/machine.h"
#include "../../kernel/hooks.h"
#include "../../kernel/module/compat.h"
#include "../../kernel/module/cr4.h"
#include "../../kernel/threads.h"

static DEFINE_PER_CPU(unsigned long, last_tick);	/* jiffies */

static noinline void switch_to_rdpmc_thread(struct task_struct *next)
{
	perfctr_forget_perf(next->mm);
	if (perfctr_rdpmc_shows(next))
		perfctr_rdpmc_enabled(next->mm);
}

/* The run queue is locked, interrupts are off, and the address space is still that of prev. */
static void probe_switch(void *unused, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	struct perfctr_thread *out = __this_cpu_read(perfctr_running);
	struct perfctr_thread *in = perfctr_find_told(next);

	perfctr_pce_leave(next->mm);
	if (unlikely(in) && perfctr_thread_comes(in, next)) {
		if (out)
			perfctr_switch_threads(out, in, prev, next);
		else
			perfctr_switch_one(&perfctr_nobody, in, prev, next);
	} else if (in || out || __this_cpu_read(perfctr_idle_watched)) {
		__this_cpu_write(perfctr_running, NULL);
		perfctr_switch_one(out ?: &perfctr_nobody, &perfctr_nobody, prev, next);
	} else if (unlikely(perfctr_rdpmc_shows(next))) {
		switch_to_rdpmc_thread(next);
	}
}

/* Since Linux 7 a tracepoint's probe can be preempted, and is not in an RCU read-side section. */
static bool has_entry(const struct task_struct *task)
{
	bool found;

	rcu_read_lock();
	found = perfctr_find_thread(task);
	rcu_read_unlock();
	return found;
}

/* child is complete, other threads can find it, and it has not run. current is its parent. */
static void probe_fork(void *unused, struct task_struct *parent, struct task_struct *child)
{
	struct perfctr_context *ctx;

	/* perf_events has mapped nothing there, but fork has copied the parent's permission. */
	if (child->mm && child->mm != parent->mm)
		atomic_set(&child->mm->context.perf_rdpmc_allowed, 0);
	if (!has_entry(parent))
		return;
	ctx = perfctr_tree_prepare_child(GFP_ATOMIC | __GFP_NOWARN);
	/* Excludes perfctr_attach(). Interrupts stay on: the lock's holder may call this CPU. */
	task_lock(child);
	perfctr_tree_add_child(child, ctx);
	task_unlock(child);
}

static void run_leave_work(struct callback_head *work)
{
	struct perfctr_thread *thread = container_of(work, struct perfctr_thread, leave);

	bool holds_module = thread->holds_module;

	thread->dropping = false;
	perfctr_leave();
	perfctr_thread_put(thread);
	if (holds_module)
		module_put(THIS_MODULE);
}

/*
 * Queues perfctr_leave() for current, which has an entry. The work runs before current returns to
 * user mode, or before current's parent is notified of the exit.
 */
static void queue_leave_work(enum task_work_notify_mode mode)
{
	struct perfctr_thread *thread = perfctr_thread_pin(current);

	if (!thread)
		return;
	if (thread->dropping) {
		perfctr_thread_put(thread);
		return;
	}
	thread->dropping = true;
	/* current may sleep for any time before the work runs: the module must not be unloaded. */
	thread->holds_module = try_module_get(THIS_MODULE);
	init_task_work(&thread->leave, run_leave_work);
	if (task_work_add(current, &thread->leave, mode)) {
		thread->dropping = false;
		if (thread->holds_module)
			module_put(THIS_MODULE);
		perfctr_thread_put(thread);
	}
}

/* Called before exit_task_work(), which runs the work before the parent is notified. */
static void probe_exit(void *unused, PERFCTR_EXIT_TELLS)
{
	smp_mb();	/* PF_EXITING before the entry; pairs with perfctr_thread_make() */
	if (!hlist_empty(&perfctr_threads[perfctr_hash(task)]))
		queue_leave_work(TWA_NONE);
}

/* task has executed a file. The queued work runs before the file's first instruction. */
static void probe_exec(void *unused, struct task_struct *task, pid_t old_pid,
		       struct linux_binprm *bprm)
{
	unsigned long flags;

	local_irq_save(flags);
	perfctr_pce_leave(task->mm);
	local_irq_restore(flags);
	if (!has_entry(task))
		return;
	perfctr_executes();
	if (!perfctr_is_dumpable(task))
		queue_leave_work(TWA_RESUME);
}

static void tick_this_cpu(void)
{
	bool told = __this_cpu_read(perfctr_running) || perfctr_is_gated();
	unsigned long flags, now = jiffies;

	if (!told && !static_branch_unlikely(&perfctr_shows_uncore))
		return;
	local_irq_save(flags);
	if (static_branch_unlikely(&perfctr_shows_uncore))
		perfctr_tick_uncore();
	if (told && __this_cpu_read(last_tick) != now) {
		__this_cpu_write(last_tick, now);
		perfctr_tick_current();
	}
	local_irq_restore(flags);
}

/* The tick comes by the interrupt of the local timer, */
static void probe_tick(void *unused, int vector)
{
	tick_this_cpu();
}

/* ... or by that of another timer: then an hrtimer expires, the tick's or one as frequent. */
static void probe_timer(void *unused, PERFCTR_EXPIRY_TELLS)
{
	if (in_hardirq())
		tick_this_cpu();
}

/* Runs instead of fixup_vdso_exception(), for a fault that the driver has handled. */
static noinline bool is_fault_fixed(struct pt_regs *regs, int trap, unsigned long error_code,
				    unsigned long address)
{
	return true;
}

/* A fault of user mode, for which the kernel is about to send a signal. Preemption is off. */
static void handle_fault_entry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs), *user = (struct pt_regs *)regs->di;

	if ((int)regs->si == X86_TRAP_GP && perfctr_has_space(current->mm) &&
	    (perfctr_emulate_rdpmc(user) || perfctr_wait_for_code(user)))
		regs->ip = (unsigned long)is_fault_fixed;
}

/* Runs instead of perf_clear_dirty_counters(). */
static noinline void clear_no_counters(void)
{
}

/*
 * While this CPU's counters are the driver's, or have yet to be given back, they no longer hold
 * what perf_events left in them: perf_events must not clear them.
 */
static void handle_clear_dirty_entry(unsigned long ip, unsigned long parent_ip,
				     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (perfctr_cpu_is_taken())
		ftrace_get_regs(fregs)->ip = (unsigned long)clear_no_counters;
}

static void learn_settings(struct work_struct *work);
static DECLARE_DELAYED_WORK(learn_work, learn_settings);

/* The file of the setting shows a change some time after CR4.PCE has changed. */
#define LEARN_AFTER	(HZ / 10)

static void learn_settings(struct work_struct *work)
{
	perfctr_learn_settings();
	if (perfctr_learn_always())
		mod_delayed_work(system_wq, &learn_work, LEARN_AFTER);
}

static bool telling;	/* between begin_events() and end_events() */

/*
 * The kernel is about to set or clear CR4.PCE of this CPU, because perf_events has mapped a page or
 * the administrator has changed the setting for all processes.
 */
static void handle_update_pce_entry(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	unsigned long flags;

	if (!READ_ONCE(telling))
		return;
	local_irq_save(flags);
	perfctr_pce_give_back();
	WRITE_ONCE(perfctr_rdpmc_reasons.always, true);
	if (current->active_mm)
		perfctr_rdpmc_enabled(current->active_mm);
	local_irq_restore(flags);
	mod_delayed_work(system_wq, &learn_work, LEARN_AFTER);
}

/*
 * RECURSION: the tracer calls a handler with preemption off, and not recursively. PERMANENT: the
 * administrator cannot switch the tracer off while a handler is registered, and none can be
 * registered while the tracer is off. Otherwise RDPMC would not be emulated, and kill the thread.
 */
#define ENTRY_FLAGS	(FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_PERMANENT)
/* For a handler that makes the kernel run another function instead of the traced one. */
#define WAY_FLAGS	(ENTRY_FLAGS | FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY)

static struct entry {
	char *function;
	struct ftrace_ops ops;
} entries[] = {
	{ "fixup_vdso_exception", { .func = handle_fault_entry, .flags = WAY_FLAGS } },
	{ "perf_clear_dirty_counters", { .func = handle_clear_dirty_entry, .flags = WAY_FLAGS } },
	{ "cr4_update_pce", { .func = handle_update_pce_entry, .flags = ENTRY_FLAGS } },
};

static bool is_entry_registered(const struct entry *entry)
{
	return entry->ops.flags & FTRACE_OPS_FL_ENABLED;
}

static void unregister_entries(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(entries); i++)
		if (is_entry_registered(&entries[i]))
			WARN_ON(unregister_ftrace_function(&entries[i].ops));
}

static int register_entry(struct entry *entry)
{
	int err = ftrace_set_filter(&entry->ops, entry->function, strlen(entry->function), 1);

	if (!err)
		err = register_ftrace_function(&entry->ops);
	if (err)
		pr_err_ratelimited("perfctr: cannot trace %s (%d): is kernel.ftrace_enabled 0, or a livepatch there?\n",
				   entry->function, err);
	return err;
}

/*
 * Called whenever the first user begins to count. The entries stay registered until the module is
 * unloaded: unregistering waits until every runnable thread has run, and a user who counts again
 * must not wait for that. The traced functions are seldom called.
 */
static int register_entries(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		if (!is_entry_registered(&entries[i]) && register_entry(&entries[i])) {
			unregister_entries();
			return -ENXIO;
		}
	}
	return 0;
}

static void free_entries(void)
{
	unsigned int i;

	unregister_entries();
	for (i = 0; i < ARRAY_SIZE(entries); i++)
		ftrace_free_filter(&entries[i].ops);
	cancel_delayed_work_sync(&learn_work);
}

static struct probe {
	const char *name;
	void *function;
	struct tracepoint *tracepoint;
} probes[] = {
	{ "sched_switch", probe_switch },
	{ "sched_process_fork", probe_fork },
	{ "sched_process_exit", probe_exit },
	{ "sched_process_exec", probe_exec },
	{ "local_timer_entry", probe_tick },
	{ "hrtimer_expire_entry", probe_timer },
};

/* Does not compile for a kernel in which one of these tracepoints has other parameters. */
static inline void __maybe_unused check_probes(void)
{
	check_trace_callback_type_sched_switch(probe_switch);
	check_trace_callback_type_sched_process_fork(probe_fork);
	check_trace_callback_type_sched_process_exit(probe_exit);
	check_trace_callback_type_sched_process_exec(probe_exec);
	check_trace_callback_type_hrtimer_expire_entry(probe_timer);
}

static void find_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tracepoint->name, probes[i].name))
			probes[i].tracepoint = tracepoint;
}

static void unregister_first_probes(unsigned int n)
{
	while (n--)
		tracepoint_probe_unregister(probes[n].tracepoint, probes[n].function, NULL);
	tracepoint_synchronize_unregister();
}

static int register_probes(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		err = tracepoint_probe_register(probes[i].tracepoint, probes[i].function, NULL);
		if (err) {
			unregister_first_probes(i);
			return err;
		}
	}
	return 0;
}

static int begin_events(void)
{
	int err = register_entries();

	if (err)
		return err;
	err = register_probes();
	if (err)
		return err;
	WRITE_ONCE(telling, true);
	WRITE_ONCE(perfctr_rdpmc_reasons.always, true);
	if (perfctr_learn_always())
		mod_delayed_work(system_wq, &learn_work, LEARN_AFTER);
	return 0;
}

static void give_pce_back(void *unused)
{
	perfctr_pce_give_back();
}

/* Called when no page is mapped any more. */
static void end_events(void)
{
	on_each_cpu(give_pce_back, NULL, true);
	unregister_first_probes(ARRAY_SIZE(probes));
	WRITE_ONCE(telling, false);
	cancel_delayed_work_sync(&learn_work);
}

static const struct perfctr_events events = {
	.begin = begin_events,
	.end = end_events,
	.may_rdpmc = perfctr_may_rdpmc,
	.rdpmc_enabled = perfctr_rdpmc_enabled,
	.cpu_is_taken = perfctr_cpu_is_taken,
};

int perfctr_events_init(void)
{
	unsigned int i;

	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		pr_err("perfctr: not for PREEMPT_RT, where a fork cannot get memory: use the patch\n");
		return -EOPNOTSUPP;
	}
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		if (!probes[i].tracepoint) {
			pr_err("perfctr: this kernel has no tracepoint %s: use the patch\n",
			       probes[i].name);
			return -EOPNOTSUPP;
		}
	}
	perfctr_threads_init();
	perfctr_set_events(&events);
	perfctr_settings_open();
	perfctr_security_open();
	return 0;
}

/*
 * No descriptor is left: threads can only have dead marks. The thread that has removed the last
 * entry from the table may have been preempted in this module's code before perfctr_hooks_put()
 * returns. synchronize_rcu_tasks() waits until that thread has left the code.
 */
void perfctr_events_exit(void)
{
	struct task_struct *task;

	while (perfctr_hooks_in_use()) {
		task = perfctr_first_thread();
		if (task) {
			perfctr_mark_forget(task);
			put_task_struct(task);
		}
		msleep(20);
	}
	synchronize_rcu_tasks();
	perfctr_hooks_flush();
	perfctr_security_close();
	perfctr_settings_close();
	free_entries();
	synchronize_rcu_tasks();	/* threads in is_fault_fixed() or clear_no_counters() */
}

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Virtual performance counters (perfctr)");
