// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine's counters. The driver reserves all of them when the first context or session that
 * counts events is started, and gives them back when the last one stops. It takes the registers of
 * a CPU when the first such context or session comes to that CPU, and leaves other CPUs alone.
 * Within the driver, contexts share a counter one after the other, or sessions have it, at most one
 * on each CPU.
 */
#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include "../kernel/hooks.h"
#include "machine.h"
#include "percpu.h"

/*
 * The innermost lock: it nests inside cpus_read_lock() and all other locks of the driver. It is a
 * spinlock, as hold_lock is, because a thread that is preempted while it holds a mutex would keep
 * all other users waiting.
 */
static DEFINE_SPINLOCK(reserve_lock);
static unsigned int users;	/* reservations, by controls of contexts and by sessions */
static unsigned int interrupters;	/* the users that have events with periods */
static unsigned int revokers;	/* calls of perfctr_refuse(true) not yet undone */
static bool held;		/* users != 0 */
static struct perfctr_use contexts_use, sessions_use;
static unsigned int context_users[2][64];	/* of each slot, and of each bit of shared */
static unsigned int session_users[2][64];	/* the same of sessions: at most one on a CPU */
static DEFINE_PER_CPU(bool, cpu_taken);

static void take_cpu(void)
{
	perfctr_settle_perf();
	perfctr_pmu->take_cpu(true);
	perfctr_cpu_reset();
}

/* Returns whether the driver has taken this CPU's registers and has not given them back yet. */
bool perfctr_cpu_is_taken(void)
{
	return this_cpu_read(cpu_taken);
}

/*
 * Takes this CPU's registers, unless they are taken already. Called with interrupts off, while a
 * context or session is started.
 */
void perfctr_cpu_take(void)
{
	lockdep_assert_irqs_disabled();
	if (__this_cpu_read(cpu_taken))
		return;
	__this_cpu_write(cpu_taken, true);
	take_cpu();
}

/*
 * Returns whether the driver has the counters of this CPU. If the counters are reserved but not
 * taken here, takes them now, because they still hold counts of other code. Called with interrupts
 * off. May race with give_all_cpus(), which clears held before it looks for CPUs that are taken.
 */
bool perfctr_cpu_is_ours(void)
{
	lockdep_assert_irqs_disabled();
	if (__this_cpu_read(cpu_taken))
		return READ_ONCE(held);
	if (!READ_ONCE(held) || perfctr_cpu_paused() || __this_cpu_read(perfctr_cpu.mute))
		return false;
	__this_cpu_write(cpu_taken, true);
	smp_mb();	/* cpu_taken before held; pairs with give_all_cpus() */
	if (!READ_ONCE(held)) {
		__this_cpu_write(cpu_taken, false);
		return false;
	}
	take_cpu();
	return true;
}

/* Gives back this CPU's registers if they are taken. Called with interrupts off. */
void perfctr_cpu_give(void)
{
	lockdep_assert_irqs_disabled();
	if (!__this_cpu_read(cpu_taken))
		return;
	perfctr_pmu->give_cpu();
	perfctr_cpu_reset();
	__this_cpu_write(cpu_taken, false);
}

static void give_cpu(void *unused)
{
	perfctr_cpu_give();
	perfctr_update_pce();
}

static bool is_cpu_taken(int cpu, void *unused)
{
	return per_cpu(cpu_taken, cpu);
}

static bool has_cpu_interrupts(int cpu, void *unused)
{
	return perfctr_cpu_has_interrupts(cpu);
}

static void look_for_interrupts(void *found)
{
	if (perfctr_cpu_may_interrupt())
		WRITE_ONCE(*(bool *)found, true);
}

/*
 * Returns whether a counter of any CPU may still interrupt although it has stopped. Such interrupts
 * come within PERFCTR_LATEST_INTERRUPT. Returns false if there is another user of periods, because
 * the driver then keeps the interrupt. Called with interrupts on, under hold_lock, which keeps
 * interrupters from changing.
 */
bool perfctr_may_interrupt(void)
{
	bool found = false;

	if (READ_ONCE(interrupters) > 1)
		return false;
	on_each_cpu_cond(has_cpu_interrupts, look_for_interrupts, &found, true);
	return found;
}

static void give_cpu_interrupts(void *unused)
{
	perfctr_cpu_give_interrupts();
}

/*
 * Gives the local APIC's entry for the interrupts of counters back to perf_events, on each CPU
 * where this driver has it.
 */
static void give_interrupts(void)
{
	lockdep_assert_held(&reserve_lock);
	on_each_cpu_cond(has_cpu_interrupts, give_cpu_interrupts, NULL, true);
}

static void give_all_cpus(void)
{
	lockdep_assert_held(&reserve_lock);
	WRITE_ONCE(held, false);
	smp_mb();	/* held before cpu_taken; pairs with perfctr_cpu_is_ours() */
	on_each_cpu_cond(is_cpu_taken, give_cpu, NULL, true);
}

static int claim_registers(void)
{
	return perfctr_pmu->reserve ? perfctr_pmu->reserve() : 0;
}

static void release_registers(void)
{
	if (perfctr_pmu->release)
		perfctr_pmu->release();
}

static int reserve_pmu(void)
{
	int err = claim_registers();

	if (!err && !perfctr_exclude_strangers()) {
		release_registers();
		err = -EBUSY;
	}
	return err;
}

static void release_pmu(void)
{
	perfctr_admit_strangers();
	release_registers();
}

/*
 * Tries the PMU at the first reservation, and not before: until then the NMI watchdog may use the
 * counters.
 */
static int reserve_and_try_pmu(void)
{
	int err = reserve_pmu();

	if (err)
		return err;
	err = perfctr_try_pmu();
	if (err)
		release_pmu();
	return err;
}

void __init perfctr_try_at_boot(void)
{
	if (!perfctr_pmu)
		return;
	spin_lock(&reserve_lock);
	if (!reserve_and_try_pmu())
		release_pmu();
	spin_unlock(&reserve_lock);
}

/*
 * Adds change, which is 1 or -1, to the number of users of each bit in mask. Returns the bits of
 * mask that have users afterwards.
 */
static u64 count_users(unsigned int *count, u64 mask, int change)
{
	u64 left, used = 0;

	for (left = mask; left; left &= left - 1) {
		unsigned int i = __ffs64(left);

		count[i] += change;
		if (count[i])
			used |= BIT_ULL(i);
	}
	return used;
}

static void change_users(const struct perfctr_hw_control *hw, int change)
{
	struct perfctr_use *use = hw->session ? &sessions_use : &contexts_use;
	unsigned int (*count)[64] = hw->session ? session_users : context_users;

	lockdep_assert_held(&reserve_lock);
	use->slots &= ~hw->slots;
	use->slots |= count_users(count[0], hw->slots, change);
	use->shared &= ~hw->shared;
	use->shared |= count_users(count[1], hw->shared, change);
}

void perfctr_get_use(struct perfctr_use *contexts, struct perfctr_use *sessions)
{
	spin_lock(&reserve_lock);
	*contexts = contexts_use;
	*sessions = sessions_use;
	spin_unlock(&reserve_lock);
}

static int reserve_control(const struct perfctr_hw_control *hw)
{
	const struct perfctr_use *others = hw->session ? &contexts_use : &sessions_use;
	int err;

	lockdep_assert_held(&reserve_lock);
	if (perfctr_in_use(hw, others))
		return -EADDRINUSE;
	if (revokers)
		return -EBUSY;
	err = users ? 0 : reserve_and_try_pmu();
	if (err)
		return err;
	users++;
	interrupters += hw->interrupts;
	WRITE_ONCE(held, true);
	change_users(hw, 1);
	return 0;
}

/*
 * Reserves the registers of hw. The caller has checked that no other session has one of them on the
 * same CPU. Returns 0 or an errno:
 *
 * -EBUSY	the rest of the kernel has the counters, or the administrator is revoking them
 * -EADDRINUSE	a context has a register that a session needs, or the reverse
 * -ENODEV	the PMU has been refused
 * -ENOMEM	there was no memory to try the PMU
 */
int perfctr_reserve(const struct perfctr_hw_control *hw)
{
	int err;

	if (!hw->slots)
		return 0;
	spin_lock(&reserve_lock);
	err = reserve_control(hw);
	spin_unlock(&reserve_lock);
	return err;
}

void perfctr_release(const struct perfctr_hw_control *hw)
{
	if (!hw->slots)
		return;
	spin_lock(&reserve_lock);
	change_users(hw, -1);
	interrupters -= hw->interrupts;
	if (!--users) {
		give_all_cpus();
		release_pmu();
	} else if (hw->interrupts && !interrupters) {
		give_interrupts();
	}
	spin_unlock(&reserve_lock);
}

/*
 * With true, makes all reservations fail with -EBUSY until a matching call with false. The calls
 * nest.
 */
void perfctr_refuse(bool refuse)
{
	spin_lock(&reserve_lock);
	WRITE_ONCE(revokers, revokers + (refuse ? 1 : -1));
	spin_unlock(&reserve_lock);
}

/*
 * Returns whether reservations fail. The caller holds a lock that the revoking thread takes after
 * perfctr_refuse(): either the caller sees the refusal, or the revoking thread sees what the caller
 * has done.
 */
bool perfctr_refuses(void)
{
	return READ_ONCE(revokers);
}

/*
 * Returns whether other code has the counters. If asking disturbs that code, asks at most once a
 * second, and returns the last answer in between.
 */
static bool is_held_by_others(void)
{
	static unsigned long asked;
	static bool known, hold;

	if (!perfctr_usable_pmu())
		return false;
	if (PERFCTR_ASKING_DISTURBS && known && time_before(jiffies, asked + HZ))
		return hold;
	asked = jiffies;
	known = true;
	perfctr_only_ask(true);
	hold = claim_registers();
	if (!hold)
		release_registers();
	perfctr_only_ask(false);
	hold |= perfctr_has_strangers();
	return hold;
}

u32 perfctr_holder(void)
{
	u32 holder = PERFCTR_HOLDER_NONE;

	spin_lock(&reserve_lock);
	if (users)
		holder = PERFCTR_HOLDER_PERFCTR;
	else if (is_held_by_others())
		holder = PERFCTR_HOLDER_OTHER;
	spin_unlock(&reserve_lock);
	return holder;
}

/*
 * Calls fn on all CPUs that are online, and waits. No counters are reserved or released meanwhile.
 */
void perfctr_on_all_cpus(smp_call_func_t fn)
{
	cpus_read_lock();
	spin_lock(&reserve_lock);
	on_each_cpu(fn, NULL, true);
	spin_unlock(&reserve_lock);
	cpus_read_unlock();
}
