// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: registers the probes that notify the driver of switches, births and exits while the
 * driver has descriptors, or threads in its table. At other times no probe is registered. Only the
 * function tracer's entries stay until the module is unloaded: see entry/module/events.c.
 */
#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/threads.h>
#include <linux/workqueue.h>
#include <asm/msr-index.h>
#include <asm/nmi.h>
#include "../hooks.h"
#include "compat.h"

DEFINE_PER_CPU(bool, perfctr_idle_watched);
atomic_t perfctr_n_gated;
static const struct perfctr_events *events;

static atomic_t users;		/* descriptors, and threads in the table */
static DEFINE_MUTEX(events_lock);
static bool begun;

void perfctr_set_events(const struct perfctr_events *told)
{
	events = told;
}

static int begin_events(void)
{
	int err = perfctr_vector_begin();

	if (err)
		return err;
	err = events->begin();
	if (err)
		perfctr_vector_end();
	return err;
}

int perfctr_hooks_get(void)
{
	int err = 0;

	if (mutex_lock_killable(&events_lock))
		return -EINTR;
	perfctr_learn_settings();
	if (!begun)
		err = begin_events();
	if (!err) {
		begun = true;
		atomic_inc(&users);
	}
	mutex_unlock(&events_lock);
	return err;
}

static void end_unused_events(struct work_struct *work)
{
	mutex_lock(&events_lock);
	if (begun && !atomic_read(&users)) {
		events->end();
		perfctr_vector_end();
		begun = false;
	}
	mutex_unlock(&events_lock);
}

static DECLARE_DELAYED_WORK(end_work, end_unused_events);

/*
 * The probes stay registered for this time. Otherwise a program that opens and closes one context
 * after the other would make the kernel patch its own code all the time.
 */
#define END_AFTER	(2 * HZ)

void perfctr_hooks_hold(void)
{
	atomic_inc(&users);
}

void perfctr_hooks_put(void)
{
	if (atomic_dec_and_test(&users))
		mod_delayed_work(system_wq, &end_work, END_AFTER);
}

bool perfctr_hooks_in_use(void)
{
	return atomic_read(&users);
}

void perfctr_hooks_flush(void)
{
	cancel_delayed_work_sync(&end_work);
	end_unused_events(NULL);
}

bool perfctr_may_rdpmc_now(struct mm_struct *mm)
{
	return events->may_rdpmc(mm);
}

bool perfctr_cpu_is_not_perfs(void)
{
	return events->cpu_is_taken();
}

void perfctr_tell_rdpmc(struct mm_struct *mm)
{
	events->rdpmc_enabled(mm);
}

void perfctr_watch_idle(bool watch)
{
	__this_cpu_write(perfctr_idle_watched, watch);
}

void perfctr_set_gated(bool gated)
{
	atomic_add(gated ? 1 : -1, &perfctr_n_gated);
}

int perfctr_pid_max(void)
{
	return PID_MAX_LIMIT;
}

/* A kernel that knows these addresses lets perf_events use them, but its reservations omit them. */
bool perfctr_excludes_v6(void)
{
#ifdef MSR_IA32_PMC_V6_GP0_CTR
	return false;
#else
	return true;
#endif
}

bool perfctr_evntsel_is_reserved(unsigned int msr)
{
	if (!reserve_evntsel_nmi(msr))
		return true;
	release_evntsel_nmi(msr);
	return false;
}

bool perfctr_counter_is_reserved(unsigned int msr)
{
	if (!reserve_perfctr_nmi(msr))
		return true;
	release_perfctr_nmi(msr);
	return false;
}
