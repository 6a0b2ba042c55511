// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine's counters. All are reserved while a context or session that counts events is
 * started, and given back when none is. The registers of a CPU are taken when the first of them
 * comes to that CPU; other CPUs are left alone. Within the driver each counter is either shared by
 * contexts, one after the other, or belongs to one session.
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
 * Nests inside cpus_read_lock() and all other locks. A spinlock for the same reason as hold_lock.
 */
static DEFINE_SPINLOCK(reserve_lock);
static unsigned int users;	/* reservations: controls of contexts, and sessions */
static unsigned int interrupters;	/* the users that have events with periods */
static unsigned int revokers;	/* callers that currently refuse reservations */
static bool held;		/* users != 0 */
static struct perfctr_use contexts_use, sessions_use;
static unsigned int context_users[2][64];	/* reservations, by bit of contexts_use */
static unsigned int session_users[2][64];	/* sessions, each on other CPUs */
static DEFINE_PER_CPU(bool, cpu_taken);

static void take_cpu(void)
{
	perfctr_settle_perf();
	perfctr_pmu->take_cpu(true);
	perfctr_cpu_reset();
}

/*
 * Returns whether the registers of this CPU belong to this driver, or still have to be given back.
 */
bool perfctr_cpu_is_taken(void)
{
	return this_cpu_read(cpu_taken);
}

/* Called with interrupts off, while a context or session is started. */
void perfctr_cpu_take(void)
{
	lockdep_assert_irqs_disabled();
	if (__this_cpu_read(cpu_taken))
		return;
	__this_cpu_write(cpu_taken, true);
	take_cpu();
}

/*
 * Returns whether the counters of this CPU belong to this driver. If they do, takes them now,
 * because they hold counts of other code. Called with interrupts off. give_all_cpus() clears held
 * before it looks for CPUs that are taken.
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

/* Called on the CPU itself with interrupts off. */
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
 * Returns whether a stopped counter can still interrupt, within PERFCTR_LATEST_INTERRUPT. Called
 * under hold_lock, which keeps interrupters from changing. Returns false while there is another
 * user of periods: the interrupt is not given back then.
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
 * Gives the counters' entry of the local APIC back to perf_events, which handles its other
 * interrupts.
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

/* The PMU is tried at the first reservation. Before that, the NMI watchdog may have used it. */
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
 * Counts one user more, or one less, of each bit in mask. Returns the bits that still have users.
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

/* Makes all reservations fail, until it is called again with false. Such calls nest. */
void perfctr_refuse(bool refuse)
{
	spin_lock(&reserve_lock);
	WRITE_ONCE(revokers, revokers + (refuse ? 1 : -1));
	spin_unlock(&reserve_lock);
}

/* The caller holds a lock that the revoking thread takes after perfctr_refuse(). */
bool perfctr_refuses(void)
{
	return READ_ONCE(revokers);
}

/* If asking disturbs other users of the counters, they are asked once a second at most. */
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

/* Nobody reserves or releases counters meanwhile. */
void perfctr_on_all_cpus(smp_call_func_t fn)
{
	cpus_read_lock();
	spin_lock(&reserve_lock);
	on_each_cpu(fn, NULL, true);
	spin_unlock(&reserve_lock);
	cpus_read_unlock();
}
