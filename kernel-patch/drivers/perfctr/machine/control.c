// SPDX-License-Identifier: GPL-2.0-only
/* Validates a control: checks the request of user space, and translates it into register values. */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/refcount.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "../kernel/owner.h"
#include "../kernel/parameters.h"
#include "machine.h"

#define CONTROL_FLAGS	(PERFCTR_CONTROL_STOPPED | PERFCTR_CONTROL_INHERIT |	\
			 PERFCTR_CONTROL_EXIT_RECORDS |			\
			 PERFCTR_CONTROL_TOTALS | PERFCTR_CONTROL_PHASE)

/* If a PMU has no bits that select modes, each event counts in all modes. */
static bool has_mode_bits(const struct perfctr_pmu *pmu)
{
	return pmu->evntsel_kernel || pmu->evntsel2_kernel;
}

static bool is_kernel_counted(const struct perfctr_pmu *pmu, const struct perfctr_event_control *e)
{
	return !has_mode_bits(pmu) || e->evntsel & pmu->evntsel_kernel ||
	       e->evntsel2 & pmu->evntsel2_kernel;
}

/*
 * Returns the number of a fixed or general counter. If RDPMC takes no such index, the result is
 * greater than the number of any counter.
 */
static u32 counter_number(const struct perfctr_pmu *pmu, u32 counter)
{
	u32 fast = pmu->features & PERFCTR_FEATURE_FAST_RDPMC ? PERFCTR_FAST : 0;

	return counter & ~(PERFCTR_FIXED | fast);
}

static u32 counter_slot(const struct perfctr_pmu *pmu, u32 counter)
{
	u32 n = counter_number(pmu, counter);

	return counter & PERFCTR_FIXED ? PERFCTR_FIXED_SLOT + n : n;
}

/*
 * A thread that reads its own counter uses only EAX of what RDPMC returns. Therefore a switch or a
 * tick sets a counter to 0 once its value has this many bits. When user mode goes on, the value has
 * fewer.
 */
static unsigned int value_bits = 32;
module_param(value_bits, uint, 0444);
MODULE_PARM_DESC(value_bits, "for tests: bits that a counter's value may have, 2 to 32");

static u32 counter_bits(const struct perfctr_pmu *pmu, u32 counter)
{
	return counter & PERFCTR_FIXED ? pmu->fixed_bits : pmu->general_bits;
}

static u32 most_value(u32 bits)
{
	return GENMASK(min(bits, clamp(value_bits, 2U, 32U)) - 2, 0);
}

u32 perfctr_event_policy(const struct perfctr_event_control *e, u32 policy)
{
	return e->flags & PERFCTR_EVENT_POLICY ? e->flags & ~PERFCTR_EVENT_POLICY : policy;
}

static bool has_event_notice(const struct perfctr_event_control *e)
{
	return e->signal || e->flags == PERFCTR_EVENT_STOP;
}

/* policy: of the session; NULL if the event is for a context. */
static u32 check_flags(const struct perfctr_event_control *e, const struct perfctr_policy *policy)
{
	if (!e->flags || (!policy && e->flags == PERFCTR_EVENT_STOP))
		return 0;
	if (!policy || !(e->flags & PERFCTR_EVENT_POLICY) ||
	    e->flags & ~(PERFCTR_EVENT_POLICY | PERFCTR_EXCLUDE_MASK))
		return PERFCTR_BAD_FIELD;
	return 0;
}

static u32 check_privilege(const struct perfctr_pmu *pmu, const struct perfctr_event_control *e,
			   const struct perfctr_policy *policy)
{
	if (policy)
		return policy->privileged ||
		       (has_mode_bits(pmu) &&
			perfctr_policy_is_harmless(perfctr_event_policy(e, policy->exclude))) ?
		       0 : PERFCTR_BAD_POLICY;
	return is_kernel_counted(pmu, e) && perfctr_may_count_kernel() ? PERFCTR_BAD_PRIVILEGE : 0;
}

static bool has_counter(const struct perfctr_pmu *pmu, const struct perfctr_event_control *e)
{
	u32 n = counter_number(pmu, e->counter);

	if (e->kinds)
		return n < 32 &&
		       perfctr_kinds_counters(pmu, e->kinds) &
			       BIT_ULL(counter_slot(pmu, e->counter));
	return n < (e->counter & PERFCTR_FIXED ? pmu->n_fixed : pmu->n_general);
}

/* Checks a period that is not 0. A period must fit in a signed value. */
static u32 check_period(const struct perfctr_event_control *e, const struct perfctr_policy *policy)
{
	return policy || !(perfctr_features() & PERFCTR_FEATURE_INTERRUPT) ||
	       e->period > S64_MAX || e->counter & PERFCTR_FAST ? PERFCTR_BAD_PERIOD : 0;
}

/* Checks the signal or stop at the end of a period, if there is one. */
static u32 check_notice(const struct perfctr_event_control *e, const struct perfctr_policy *policy)
{
	return policy || !e->period || !valid_signal(e->signal) ? PERFCTR_BAD_SIGNAL : 0;
}

static u64 evntsel_allowed(const struct perfctr_pmu *pmu, const struct perfctr_event_control *e)
{
	return e->kinds ? perfctr_kinds_evntsel(pmu, e->kinds) : pmu->evntsel_allowed;
}

static u32 check_event(const struct perfctr_pmu *pmu, const struct perfctr_event_control *e,
		       const struct perfctr_policy *policy)
{
	bool fixed = e->counter & PERFCTR_FIXED;

	if (!perfctr_kinds_exist(pmu, e->kinds))
		return PERFCTR_BAD_KIND;
	if (!has_counter(pmu, e))
		return PERFCTR_BAD_COUNTER;
	if (check_flags(e, policy))
		return PERFCTR_BAD_FIELD;
	if (e->period && check_period(e, policy))
		return PERFCTR_BAD_PERIOD;
	if (has_event_notice(e) && check_notice(e, policy))
		return PERFCTR_BAD_SIGNAL;
	if (e->evntsel & ~(fixed ? pmu->fixed_allowed : evntsel_allowed(pmu, e)))
		return PERFCTR_BAD_EVNTSEL;
	if (e->evntsel2 & ~pmu->evntsel2_allowed)
		return PERFCTR_BAD_EVNTSEL2;
	if (~e->evntsel & pmu->evntsel_required)
		return PERFCTR_BAD_ENABLE;
	if (!(e->evntsel & pmu->evntsel_user) && !(e->evntsel2 & pmu->evntsel2_user) &&
	    !is_kernel_counted(pmu, e))
		return PERFCTR_BAD_MODE;
	return check_privilege(pmu, e, policy);
}

static u32 check_events(const struct perfctr_pmu *pmu, struct perfctr_control *control,
			const struct perfctr_policy *policy)
{
	u32 i, j, bad;

	for (i = 0; i < control->n_events; i++) {
		control->bad_event = i;
		bad = check_event(pmu, &control->event[i], policy);
		if (bad)
			return bad;
		/* Each member would need its own distance to the next threshold. */
		if (control->event[i].period && control->flags & PERFCTR_CONTROL_TOTALS)
			return PERFCTR_BAD_PERIOD;
		for (j = 0; j < i; j++)
			if (counter_slot(pmu, control->event[j].counter) ==
			    counter_slot(pmu, control->event[i].counter))
				return PERFCTR_BAD_DUPLICATE;
		bad = pmu->check ? pmu->check(control, i) : 0;
		if (bad)
			return bad;
	}
	control->bad_event = 0;
	if (control->p4_pebs_enable & ~pmu->p4_pebs_enable_allowed ||
	    control->p4_pebs_matrix_vert & ~pmu->p4_pebs_matrix_vert_allowed)
		return PERFCTR_BAD_PEBS;
	return 0;
}

/*
 * Equal controls are one object. Between two threads with the same control, the context switch
 * writes no event register and need not stop the counters.
 */
static DEFINE_HASHTABLE(controls, 10);
static DEFINE_SPINLOCK(controls_lock);
static atomic64_t last_id = ATOMIC64_INIT(0);

/* Size in bytes of the events, and of the periods that follow them if there are any. */
static size_t tail_size(u32 n_events, bool interrupts)
{
	return n_events * (sizeof(struct perfctr_hw_event) +
			   (interrupts ? sizeof(struct perfctr_hw_period) : 0));
}

/* The size in bytes of the largest control: all counters have events with periods. */
size_t perfctr_hw_most_bytes(void)
{
	return sizeof(struct perfctr_hw_control) + tail_size(perfctr_n_counters(), true);
}

/* The seed keeps users from choosing controls that collide in the table. */
static u32 hash_control(const struct perfctr_hw_control *hw)
{
	size_t bytes = tail_size(hw->n_events, hw->interrupts);
	static u32 seed __read_mostly;

	get_random_once(&seed, sizeof(seed));
	return jhash2((const u32 *)hw->event, bytes / sizeof(u32),
		      jhash(hw->extra, sizeof(hw->extra), seed));
}

/* Called under controls_lock. */
static struct perfctr_hw_control *find_same_control(const struct perfctr_hw_control *hw, u32 hash)
{
	struct perfctr_hw_control *other;

	lockdep_assert_held(&controls_lock);
	hash_for_each_possible(controls, other, node, hash)
		if (other->n_events == hw->n_events && other->interrupts == hw->interrupts &&
		    !memcmp(other->extra, hw->extra, sizeof(hw->extra)) &&
		    !memcmp(other->event, hw->event, tail_size(hw->n_events, hw->interrupts)))
			return other;
	return NULL;
}

static void add_control(struct perfctr_hw_control *hw, u32 hash)
{
	lockdep_assert_held(&controls_lock);
	hw->id = atomic64_inc_return(&last_id);
	refcount_set(&hw->refs, 1);
	hash_add(controls, &hw->node, hash);
}

/*
 * A control of totals is not shared with other trees. If two threads have the same control, the
 * switch expects that each has a page of its own.
 */
static struct perfctr_hw_control *init_own_control(struct perfctr_hw_control *hw)
{
	hw->id = atomic64_inc_return(&last_id);
	refcount_set(&hw->refs, 1);
	return hw;
}

static struct perfctr_hw_control *share_control(struct perfctr_hw_control *hw)
{
	struct perfctr_hw_control *other;
	u32 hash = hash_control(hw);

	spin_lock(&controls_lock);
	other = find_same_control(hw, hash);
	if (other)
		refcount_inc(&other->refs);
	else
		add_control(hw, hash);
	spin_unlock(&controls_lock);
	if (!other)
		return hw;
	kfree(hw);
	return other;
}

void perfctr_hw_get(struct perfctr_hw_control *hw)
{
	refcount_inc(&hw->refs);
}

void perfctr_hw_put(struct perfctr_hw_control *hw)
{
	if (hw && refcount_dec_and_lock(&hw->refs, &controls_lock)) {
		__acquire(&controls_lock);	/* sparse does not know __cond_acquires() */
		hash_del(&hw->node);
		spin_unlock(&controls_lock);
		kfree(hw);
	}
}

/* A policy that excludes kernel or user mode overrides the mode bits of the event. */
static void apply_policy(const struct perfctr_pmu *pmu, struct perfctr_event_control *e, u32 policy)
{
	if (policy & PERFCTR_EXCLUDE_KERNEL) {
		e->evntsel &= ~pmu->evntsel_kernel;
		e->evntsel2 &= ~pmu->evntsel2_kernel;
	}
	if (policy & PERFCTR_EXCLUDE_USER) {
		e->evntsel &= ~pmu->evntsel_user;
		e->evntsel2 &= ~pmu->evntsel2_user;
	}
}

/* Members that share the root's context have no records and no periods. */
static bool has_compatible_flags(u32 flags)
{
	return !(flags & PERFCTR_CONTROL_TOTALS) ||
	       (flags & PERFCTR_CONTROL_INHERIT &&
		!(flags & (PERFCTR_CONTROL_EXIT_RECORDS | PERFCTR_CONTROL_PHASE)));
}

static int check_control(struct perfctr_control *control, const struct perfctr_policy *policy)
{
	if (control->flags & ~CONTROL_FLAGS || !has_compatible_flags(control->flags) ||
	    control->bad_event || control->bad_reason || control->reserved ||
	    control->n_events > PERFCTR_MAX_COUNTERS)
		return -EINVAL;
	if (!control->n_events && (control->p4_pebs_enable || control->p4_pebs_matrix_vert))
		return -EINVAL;
	if (!control->n_events)
		return 0;
	if (!perfctr_usable_pmu())
		return -ENODEV;
	control->bad_reason = check_events(perfctr_pmu, control, policy);
	switch (control->bad_reason) {
	case 0:
		return 0;
	case PERFCTR_BAD_PRIVILEGE:
	case PERFCTR_BAD_POLICY:
		return -EACCES;
	default:
		return -EINVAL;
	}
}

/*
 * The least distance to an overflow in events. Some processors mishandle an overflow by the next
 * event.
 */
#define LEAST_DISTANCE	2

static void add_period(const struct perfctr_pmu *pmu, struct perfctr_hw_event *event,
		       struct perfctr_hw_period *p, const struct perfctr_event_control *e)
{
	p->period = e->period;
	p->kernel = is_kernel_counted(pmu, e);
	p->signal = e->signal;
	p->stop = e->flags == PERFCTR_EVENT_STOP;
	p->bits = counter_bits(pmu, event->rdpmc);
	p->least = LEAST_DISTANCE;
	p->grain = 1;
	event->evntsel |= pmu->evntsel_interrupt;
	if (pmu->limit_distance)
		pmu->limit_distance(event, p);
}

static void build_event(const struct perfctr_pmu *pmu, const struct perfctr_event_control *e,
			struct perfctr_hw_event *event)
{
	event->rdpmc = e->counter;
	event->slot = counter_slot(pmu, e->counter);
	event->most = most_value(counter_bits(pmu, e->counter));
	event->kinds = e->kinds;
	event->evntsel = e->evntsel;
	event->evntsel2 = e->evntsel2;
}

/* The bits that the event adds to perfctr_hw_control.shared. */
static u64 shared_bits_of_event(const struct perfctr_pmu *pmu, const struct perfctr_hw_event *event)
{
	return pmu->shared ? pmu->shared(event) : 0;
}

static struct perfctr_hw_control *build_control(const struct perfctr_control *control)
{
	const struct perfctr_pmu *pmu = perfctr_pmu;
	struct perfctr_hw_control *hw;
	bool interrupts = false;
	u32 i;

	for (i = 0; i < control->n_events; i++)
		interrupts |= control->event[i].period != 0;
	hw = kzalloc(sizeof(*hw) + tail_size(control->n_events, interrupts), GFP_KERNEL_ACCOUNT);
	if (!hw)
		return ERR_PTR(-ENOMEM);
	hw->n_events = control->n_events;
	hw->interrupts = interrupts;
	for (i = 0; i < hw->n_events; i++) {
		build_event(pmu, &control->event[i], &hw->event[i]);
		hw->slots |= BIT_ULL(hw->event[i].slot);
		hw->shared |= shared_bits_of_event(pmu, &hw->event[i]);
		hw->counts_kernel |= is_kernel_counted(pmu, &control->event[i]);
		if (control->event[i].period)
			add_period(pmu, &hw->event[i], &perfctr_hw_periods(hw)[i],
				   &control->event[i]);
		hw->notifies |= has_event_notice(&control->event[i]);
		hw->signals |= control->event[i].signal != 0;
	}
	hw->special = hw->counts_kernel || hw->interrupts;
	hw->partial = hw->n_events && perfctr_kinds_lack(pmu, hw->slots);
	if (hw->n_events && pmu->compile)
		pmu->compile(hw, control);
	return hw;
}

static void tell_period(const struct perfctr_hw_period *p, struct perfctr_event_control *e)
{
	e->period = p->period;
	e->signal = p->signal;
	e->flags = p->stop ? PERFCTR_EVENT_STOP : 0;
	if (p->period)
		e->evntsel &= ~perfctr_pmu->evntsel_interrupt;
}

/*
 * The reverse of compiling. The caller has set control to 0. Leaves control->flags alone, which hw
 * does not have.
 */
void perfctr_tell_control(const struct perfctr_hw_control *hw, struct perfctr_control *control)
{
	u32 i;

	control->n_events = hw->n_events;
	for (i = 0; i < hw->n_events; i++) {
		struct perfctr_event_control *e = &control->event[i];

		e->counter = hw->event[i].rdpmc;
		e->kinds = hw->event[i].kinds;
		e->evntsel = hw->event[i].evntsel;
		e->evntsel2 = hw->event[i].evntsel2;
		if (hw->interrupts)
			tell_period(&perfctr_hw_periods(hw)[i], e);
	}
	if (hw->n_events && perfctr_pmu->tell)
		perfctr_pmu->tell(hw, control);
}

/* Names the first event that needs a register in use: its counter, or another register. */
static void blame_event(struct perfctr_control *control, const struct perfctr_hw_control *hw,
			const struct perfctr_use *use)
{
	u32 i;

	control->bad_reason = PERFCTR_BAD_TAKEN;
	for (i = 0; i < hw->n_events; i++) {
		if (use->slots & BIT_ULL(hw->event[i].slot) ||
		    use->shared & shared_bits_of_event(perfctr_pmu, &hw->event[i])) {
			control->bad_event = i;
			return;
		}
	}
}

/*
 * Returns a reference to the validated control, or ERR_PTR(). If one event is at fault, names it in
 * bad_event and bad_reason.
 */
struct perfctr_hw_control *perfctr_compile(struct perfctr_control *control)
{
	struct perfctr_hw_control *hw;
	int err = check_control(control, NULL);

	if (err)
		return ERR_PTR(err);
	hw = build_control(control);
	if (IS_ERR(hw))
		return hw;
	return control->flags & PERFCTR_CONTROL_TOTALS ? init_own_control(hw) : share_control(hw);
}

/* Blames the first event that counts kernel mode. */
void perfctr_blame_kernel(struct perfctr_control *control)
{
	u32 i;

	control->bad_reason = PERFCTR_BAD_PRIVILEGE;
	for (i = 0; i < control->n_events; i++) {
		if (is_kernel_counted(perfctr_pmu, &control->event[i])) {
			control->bad_event = i;
			return;
		}
	}
}

/* Blames the first event that has a signal. */
void perfctr_blame_signal(struct perfctr_control *control)
{
	u32 i;

	control->bad_reason = PERFCTR_BAD_SIGNAL;
	for (i = 0; i < control->n_events; i++) {
		if (control->event[i].signal) {
			control->bad_event = i;
			return;
		}
	}
}

/*
 * Reserves the registers of hw, a compiled control. Errors are those of perfctr_reserve(), with
 * -EBUSY instead of -EADDRINUSE.
 *
 * met: for a session, the registers that other sessions have on its CPUs; NULL for a context.
 * control: the control that hw was compiled from, in which the event to blame is stored; or NULL.
 */
int perfctr_reserve_for(struct perfctr_control *control, const struct perfctr_hw_control *hw,
			const struct perfctr_use *met)
{
	struct perfctr_use contexts, others;
	int err = met && perfctr_in_use(hw, met) ? -EADDRINUSE : perfctr_reserve(hw);

	if (err != -EADDRINUSE)
		return err;
	if (control) {
		perfctr_get_use(&contexts, &others);
		if (met) {
			others.slots = contexts.slots | met->slots;
			others.shared = contexts.shared | met->shared;
		}
		blame_event(control, hw, &others);
	}
	return -EBUSY;
}

/* Like perfctr_compile(), for a session. The result is not shared: the caller frees it. */
struct perfctr_hw_control *perfctr_compile_session(struct perfctr_control *control,
						   const struct perfctr_policy *policy)
{
	struct perfctr_hw_control *hw;
	int err = check_control(control, policy);
	u32 i;

	if (err)
		return ERR_PTR(err);
	for (i = 0; i < control->n_events; i++) {
		if (perfctr_pmu->marks_uops && perfctr_pmu->marks_uops(&control->event[i])) {
			control->bad_event = i;
			control->bad_reason = PERFCTR_BAD_CONFLICT;
			return ERR_PTR(-EINVAL);
		}
		apply_policy(perfctr_pmu, &control->event[i],
			     perfctr_event_policy(&control->event[i], policy->exclude));
	}
	hw = build_control(control);
	if (IS_ERR(hw))
		return hw;
	hw->session = true;
	hw->id = atomic64_inc_return(&last_id);
	return hw;
}
