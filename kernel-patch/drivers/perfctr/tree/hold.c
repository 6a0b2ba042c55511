// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which contexts hold hardware: those that are started and count events. A control's counters are
 * reserved for the first and released by the last of them; births and exits of others change a
 * number.
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
 * For changes of hw->holders from and to 0. All threads of the machine share it. It is a spinlock,
 * so that a thread does not lose its CPU while it holds the lock: a thread of low priority on a
 * busy CPU would keep all others waiting.
 */
static DEFINE_SPINLOCK(hold_lock);

/*
 * Asked once by who is about to start something, under the tree's lock: where others of the same
 * control are still to be stopped by who revokes, to hold it would succeed.
 */
int perfctr_may_hold(const struct perfctr_hw_control *hw)
{
	return hw && hw->n_events && perfctr_refuses() ? -EBUSY : 0;
}

/* control: to name the event that is to blame, or NULL. */
int perfctr_hold(struct perfctr_hw_control *hw, struct perfctr_control *control)
{
	int err = 0;

	if (!hw->n_events || atomic_inc_not_zero(&hw->holders))
		return 0;
	spin_lock(&hold_lock);
	if (!atomic_inc_not_zero(&hw->holders)) {
		err = perfctr_reserve_for(control, hw, NULL);
		if (!err) {
			perfctr_hw_get(hw);	/* the holders' */
			atomic_set(&hw->holders, 1);
		}
	}
	spin_unlock(&hold_lock);
	return err;
}

/*
 * The last holder of periods sleeps until no interrupt of theirs can be pending: otherwise a CPU
 * would wait for it with interrupts off.
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

/* ctx is about to be started, under the tree's lock. Its thread may leave it meanwhile. */
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

/* ctx is new, and holds what somebody holds who goes on with it meanwhile. Must not sleep. */
void perfctr_hold_too(struct perfctr_context *ctx, struct perfctr_hw_control *hw)
{
	if (!hw->n_events)
		return;
	atomic_inc(&hw->holders);
	WRITE_ONCE(ctx->held, hw);
}

/* ctx is stopped. Whoever sees that first does it. */
void perfctr_release_hold(struct perfctr_context *ctx)
{
	struct perfctr_hw_control *hw = xchg(&ctx->held, NULL);

	if (hw)
		perfctr_drop_hold(hw);
}
