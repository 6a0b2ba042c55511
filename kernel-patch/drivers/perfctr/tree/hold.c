// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds: a context holds its control's counters while it is started and counts events. The first
 * holder of a control reserves the counters, and the last one releases them. All other births and
 * exits only change the number of holders.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/spinlock.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "internal.h"

/*
 * Held while hw->holders changes from or to 0. All threads of the machine share the lock. It is a
 * spinlock because a thread of low priority that is preempted while it holds a mutex would keep all
 * others waiting. On PREEMPT_RT the lock's holder can be preempted all the same.
 */
static DEFINE_SPINLOCK(hold_lock);

/*
 * Called once, under the tree's lock, by a caller that is about to start something. -EBUSY: the
 * administrator has revoked the counters. perfctr_hold() does not notice this while the revoke is
 * still stopping other contexts of the control: it finds a holder, and succeeds.
 */
int perfctr_may_hold(const struct perfctr_hw_control *hw)
{
	return hw && hw->n_events && perfctr_refuses() ? -EBUSY : 0;
}

/*
 * Takes a hold of hw, and reserves the counters if it is the first hold. If another user has a
 * counter, control->bad_event names the event that needs it; control may be NULL. 0, or an error of
 * perfctr_reserve_for().
 */
int perfctr_hold(struct perfctr_hw_control *hw, struct perfctr_control *control)
{
	int err = 0;

	if (!hw->n_events || atomic_inc_not_zero(&hw->holders))
		return 0;
	spin_lock(&hold_lock);
	if (!atomic_inc_not_zero(&hw->holders)) {
		err = perfctr_reserve_for(control, hw, NULL);
		if (!err) {
			perfctr_hw_get(hw);	/* one reference for all holders */
			atomic_set(&hw->holders, 1);
		}
	}
	spin_unlock(&hold_lock);
	return err;
}

/*
 * Drops a hold of hw, and releases the counters if it was the last hold. If hw has periods, the
 * last holder first sleeps until none of their interrupts can be pending. Otherwise a CPU would
 * have to wait for the pending interrupt with interrupts off.
 */
void perfctr_drop_hold(struct perfctr_hw_control *hw)
{
	bool last;

	if (!hw->n_events)
		return;
	for (;;) {
		if (atomic_add_unless(&hw->holders, -1, 1))
			return;
		spin_lock(&hold_lock);
		if (!hw->interrupts || !perfctr_may_interrupt())
			break;
		spin_unlock(&hold_lock);
		usleep_range(PERFCTR_LATEST_INTERRUPT, 2 * PERFCTR_LATEST_INTERRUPT);
	}
	last = atomic_dec_and_test(&hw->holders);
	if (last)
		perfctr_release(hw);
	spin_unlock(&hold_lock);
	if (last)
		perfctr_hw_put(hw);
}

/*
 * Takes a hold for ctx, which is about to be started, unless ctx has one. Under the tree's lock.
 * The thread of ctx may exit meanwhile, and release the hold.
 */
int perfctr_hold_for(struct perfctr_context *ctx)
{
	int err;

	lockdep_assert_held(&ctx->tree->lock);
	if (!ctx->hw || !ctx->hw->n_events || READ_ONCE(ctx->held))
		return 0;
	err = perfctr_hold(ctx->hw, NULL);
	if (!err)
		WRITE_ONCE(ctx->held, ctx->hw);
	return err;
}

/*
 * Takes a hold for the new context ctx. The caller makes sure that another context holds hw
 * meanwhile, so nothing has to be reserved. Does not sleep.
 */
void perfctr_hold_too(struct perfctr_context *ctx, struct perfctr_hw_control *hw)
{
	if (!hw->n_events)
		return;
	atomic_inc(&hw->holders);
	WRITE_ONCE(ctx->held, hw);
}

/* ctx is stopped. Several callers may find it stopped: the first one releases its hold. */
void perfctr_release_hold(struct perfctr_context *ctx)
{
	struct perfctr_hw_control *hw = xchg(&ctx->held, NULL);

	if (hw)
		perfctr_drop_hold(hw);
}
