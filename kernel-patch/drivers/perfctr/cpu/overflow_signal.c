// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals at the ends of periods. A fold cannot send a signal, because its caller may hold the
 * scheduler's locks. The thread sends the signals to itself before it returns to user mode. Until
 * then the signals do not interrupt a wait of the thread in the kernel.
 */
#include <linux/bitops.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>
#include "../machine/pmu.h"
#include "../kernel/compat.h"
#include "../kernel/hooks.h"
#include "internal.h"

/*
 * The signals of one thread. work, queued, ended and events are accessed on the thread's CPU with
 * interrupts off, or by a caller that keeps the thread from running. signal[] never changes.
 */
struct perfctr_signals {
	struct callback_head work;
	refcount_t refs;	/* one for the thresholds, one for the work while queued */
	bool queued;
	bool ended;		/* no more signals are to be sent */
	u32 events;		/* that ended a period since the work ran; bit i: event i */
	u32 lost;		/* signals not sent; written by the thread alone, read anywhere */
	u8 signal[PERFCTR_MAX_COUNTERS];	/* 0: no signal */
};

size_t perfctr_signals_bytes(void)
{
	return sizeof(struct perfctr_signals);
}

static void put_signals(struct perfctr_signals *s)
{
	if (refcount_dec_and_test(&s->refs))
		kfree(s);
}

/* Returns whether the kernel would drop the signal: a standard signal is not queued twice. */
static bool is_signal_pending(int signal)
{
	/* The sighand of a running thread cannot go away. */
	struct sighand_struct *sighand = rcu_dereference_protected(current->sighand, true);
	bool pending;

	if (signal >= SIGRTMIN)
		return false;
	spin_lock_irq(&sighand->siglock);
	pending = sigismember(&current->pending.signal, signal);
	spin_unlock_irq(&sighand->siglock);
	return pending;
}

/* Returns false if the signal is lost. */
static bool send_signal(int signal, u32 events)
{
	struct kernel_siginfo info;

	if (is_signal_pending(signal))
		return false;
	clear_siginfo(&info);
	info.si_signo = signal;
	info.si_code = PERFCTR_SI_OVERFLOW;
	info.si_pid = events;
	return !send_sig_info(signal, &info, current);
}

static u32 take_events(struct perfctr_signals *s)
{
	u32 events;

	local_irq_disable();
	events = s->ended ? 0 : s->events;
	s->events = 0;
	s->queued = false;
	local_irq_enable();
	return events;
}

/* Sends one signal for all events that ask for the same signal. */
static void send_signals(struct callback_head *work)
{
	struct perfctr_signals *s = container_of(work, struct perfctr_signals, work);
	u32 events = take_events(s), same, i;

	while (events) {
		int signal = s->signal[__ffs(events)];

		same = 0;
		for (i = 0; i < PERFCTR_MAX_COUNTERS; i++)
			if (events & BIT(i) && s->signal[i] == signal)
				same |= BIT(i);
		if (!send_signal(signal, same))
			WRITE_ONCE(s->lost, s->lost + 1);
		events &= ~same;
	}
	put_signals(s);
	perfctr_code_put();
}

/* hw has an event with a signal. */
struct perfctr_signals *perfctr_make_signals(const struct perfctr_hw_control *hw, gfp_t gfp)
{
	struct perfctr_signals *s = kzalloc(sizeof(*s), gfp | __GFP_ACCOUNT);
	u32 i;

	if (!s)
		return NULL;
	init_task_work(&s->work, send_signals);
	refcount_set(&s->refs, 1);
	for (i = 0; i < hw->n_events; i++)
		s->signal[i] = perfctr_hw_periods(hw)[i].signal;
	return s;
}

void perfctr_end_signals(struct perfctr_signals *s)
{
	WRITE_ONCE(s->ended, true);
}

void perfctr_free_signals(struct perfctr_signals *s)
{
	perfctr_end_signals(s);
	put_signals(s);
}

/* Each of the events has a signal. */
void perfctr_signal(struct perfctr_signals *s, struct task_struct *task, u32 events)
{
	lockdep_assert_irqs_disabled();
	if (s->ended)
		return;
	s->events |= events;
	if (s->queued)
		return;
	s->queued = true;
	refcount_inc(&s->refs);
	perfctr_code_get();	/* the thread may sleep for any time before it sends them */
	if (!task_work_add(task, &s->work, TWA_RESUME | TWAF_NO_ALLOC))
		return;
	/* The task exits, and handles no signals any more. */
	s->queued = false;
	refcount_dec(&s->refs);
	perfctr_code_put();
}

u32 perfctr_lost_signals(const struct perfctr_signals *s)
{
	return READ_ONCE(s->lost);
}
