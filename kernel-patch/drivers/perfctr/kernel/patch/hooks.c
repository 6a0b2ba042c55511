// SPDX-License-Identifier: GPL-2.0-only
/* The patch: the interface to the kernel, see ../hooks.h. */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <asm/apic.h>
#include <asm/hw_irq.h>
#include <asm/insn.h>
#include <asm/insn-eval.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>
#include <xen/xen.h>
#include "../compat.h"
#include "../hooks.h"

DEFINE_STATIC_KEY_FALSE(perfctr_gated);

struct perfctr_thread *perfctr_thread_make(struct task_struct *task)
{
	return perfctr_thread(task);
}

struct perfctr_thread *perfctr_thread_pin(struct task_struct *task)
{
	return perfctr_thread(task);
}

void perfctr_thread_put(struct perfctr_thread *thread)
{
}

struct still {
	void (*fn)(void *arg);
	void *arg;
	int cpu;
};

/* The scheduler holds its locks: the thread neither starts nor stops running meanwhile. */
static int call_pinned_task(struct task_struct *task, void *arg)
{
	struct still *still = arg;

	still->cpu = task_curr(task) ? (int)task_cpu(task) : -1;
	if (still->cpu < 0)
		still->fn(still->arg);
	return 0;
}

int perfctr_call_still(struct task_struct *task, void (*fn)(void *arg), void *arg)
{
	struct still still = { .fn = fn, .arg = arg };

	task_call_func(task, call_pinned_task, &still);
	return still.cpu;
}

struct perfctr_thread *perfctr_thread_add_child(struct task_struct *child)
{
	return perfctr_thread(child);
}

void perfctr_thread_ready(struct perfctr_thread *thread)
{
}

int perfctr_hooks_get(void)
{
	return 0;
}

void perfctr_hooks_put(void)
{
}

void perfctr_learn_settings(void)
{
}

/* The idle thread is watched like a marked thread. */
void perfctr_watch_idle(bool watch)
{
	perfctr_watch(idle_task(smp_processor_id()), watch);
}

void perfctr_set_gated(bool gated)
{
	lockdep_assert_cpus_held();
	if (gated)
		static_branch_inc_cpuslocked(&perfctr_gated);
	else
		static_branch_dec_cpuslocked(&perfctr_gated);
}

static int do_nothing_to_task(struct task_struct *task, void *unused)
{
	return 0;
}

/*
 * task_call_func() takes the lock of the CPU's run queue, to which the idle thread always belongs.
 * Under that lock no switch is under way on the CPU. An earlier switch has ended, and its result is
 * visible here. A later switch sees what the caller wrote before.
 */
bool perfctr_cpu_runs(unsigned int cpu, const void *of)
{
	const struct perfctr_thread *thread;
	bool found;

	task_call_func(idle_task(cpu), do_nothing_to_task, NULL);
	rcu_read_lock();
	thread = perfctr_thread(cpu_curr_snapshot(cpu));
	found = READ_ONCE(thread->mark) == of || READ_ONCE(thread->context) == of;
	rcu_read_unlock();
	return found;
}

void perfctr_update_pce(void)
{
	cr4_update_pce(NULL);
}

bool perfctr_rdpmc_is_off(void)
{
	return static_branch_unlikely(&rdpmc_never_available_key);
}

int perfctr_space_get(struct mm_struct *mm)
{
	atomic_inc(&mm->context.perfctr_pages);
	return 0;
}

void perfctr_space_put(struct mm_struct *mm)
{
	atomic_dec(&mm->context.perfctr_pages);
}

int perfctr_fetch_insn(struct pt_regs *regs, unsigned char *insn)
{
	BUILD_BUG_ON(PERFCTR_MAX_INSN < MAX_INSN_SIZE);
	return insn_fetch_from_user(regs, insn);
}

/*
 * perf_events remembers the counters in which it has left counts, and clears them when it allows a
 * process to RDPMC. It has to do so before the driver uses them.
 */
void perfctr_settle_perf(void)
{
	perf_clear_dirty_counters();
}

bool perfctr_excludes_v6(void)
{
	return true;	/* if perf_events uses them, the patched perfctr-watchdog.c reserves them */
}

/*
 * Only the clocks of two large machines set x86_platform_ipi_callback. Their drivers start before
 * this one at boot; if one of them has set the callback, this driver does without interrupts. The
 * kernel has no reservation for the callback, and numachip's driver overwrites it without a check.
 * So this driver checks each time whether the callback is still its own.
 */
static void (*vector_fn)(void);

bool perfctr_vector_init(void (*fn)(void))
{
	if (!boot_cpu_has(X86_FEATURE_APIC) || xen_domain() || x86_platform_ipi_callback ||
	    lapic_get_maxlvt() < PERFCTR_APIC_LVTS_WITH_PC)
		return false;
	vector_fn = fn;
	x86_platform_ipi_callback = fn;
	return true;
}

bool perfctr_has_vector(void)
{
	return vector_fn && READ_ONCE(x86_platform_ipi_callback) == vector_fn;
}

/* perf_events has written an NMI to APIC_LVTPC at boot, and relies on it. */
void perfctr_route_interrupts(bool ours)
{
	if (!ours)
		apic_write(APIC_LVTPC, APIC_DM_NMI);
	else if (perfctr_has_vector())
		apic_write(APIC_LVTPC, X86_PLATFORM_IPI_VECTOR);
}

bool perfctr_evntsel_is_reserved(unsigned int msr)
{
	return evntsel_nmi_is_reserved(msr);
}

bool perfctr_counter_is_reserved(unsigned int msr)
{
	return perfctr_nmi_is_reserved(msr);
}

atomic_t perfctr_strangers;

bool perfctr_exclude_strangers(void)
{
	return !atomic_cmpxchg(&perfctr_strangers, 0, -1);
}

void perfctr_admit_strangers(void)
{
	atomic_set(&perfctr_strangers, 0);
}

bool perfctr_has_strangers(void)
{
	return atomic_read(&perfctr_strangers) > 0;
}

/* Asks for both: a security module may allow a domain to attach to a thread, but not to read it. */
bool perfctr_may_access(struct task_struct *task, unsigned int mode)
{
	return ptrace_may_access(task, PTRACE_MODE_READ_REALCREDS) &&
	       (mode & PTRACE_MODE_READ || ptrace_may_access(task, mode));
}

struct task_struct *perfctr_find_task(pid_t tid)
{
	return find_get_task_by_vpid(tid);
}

int perfctr_pid_max(void)
{
	return READ_ONCE(PERFCTR_PID_MAX);
}
