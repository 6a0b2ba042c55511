// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions that are started: how many there may be, their gates on each CPU. What runs for which
 * class of threads is worked out when the control is installed; the gates only choose among three
 * masks.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/hooks.h"
#include "../kernel/owner.h"
#include "internal.h"

/* Inside a session's lock and cpus_read_lock(). */
static DEFINE_MUTEX(sessions_lock);
static LIST_HEAD(started);
static unsigned int n_placed;
static unsigned int user_counters;	/* of those that are not privileged */

static void add_session_on_cpu(void *s)
{
	perfctr_gate_add(s);
}

static void admit_sessions_on_cpu(void *unused)
{
	perfctr_gate_admit();
}

static void remove_session_on_cpu(void *s)
{
	perfctr_gate_remove(s);
}

static bool is_session_active_on(int cpu, void *session)
{
	const struct perfctr_session *s = session;

	return READ_ONCE(per_cpu_ptr(s->cpu, cpu)->active);
}

/* It counts members in user mode and nothing else: where none runs it has nothing to do. */
static bool is_admitted_late(const struct perfctr_session *s)
{
	return s->group && !s->hw->counts_kernel && !s->open[PERFCTR_UNMARKED] &&
	       !s->open[PERFCTR_IDLE] && !s->time[PERFCTR_UNMARKED] && !s->time[PERFCTR_IDLE];
}

/* Under cpus_read_lock(): what a CPU of s executes is not counted. */
static bool has_mute_cpu(const struct perfctr_session *s)
{
	unsigned int cpu;

	for_each_cpu_and(cpu, s->cpus, cpu_online_mask)
		if (perfctr_cpu_is_mute(cpu))
			return true;
	return false;
}

/* Contexts want counters too: users' sessions leave half of them, however many users there are. */
static bool may_take_counters(const struct perfctr_session *s, const struct perfctr_hw_control *hw)
{
	u32 others = user_counters - (s->started ? s->hw->n_events : 0);
	u32 limit = perfctr_user_session_counters();

	if (s->policy.privileged || !hw->n_events)
		return true;
	return others + hw->n_events <=
	       max(limit, (u32)(perfctr_pmu->n_general + perfctr_pmu->n_fixed) / 2);
}

static void count_counters(const struct perfctr_session *s, int change)
{
	if (!s->policy.privileged)
		user_counters += change * (int)s->hw->n_events;
}

/* For users without privilege; one of them has half of these. */
#define USER_PLACES	(PERFCTR_MAX_STARTED / 2)

/*
 * A place for s with hw among those that a CPU's gate has room for; it may have it already. Both
 * under sessions_lock, until s is started: who revokes takes it away.
 */
static int take_session_place(struct perfctr_session *s, const struct perfctr_hw_control *hw)
{
	unsigned int places = s->policy.privileged ? PERFCTR_MAX_STARTED : USER_PLACES;

	lockdep_assert_held(&sessions_lock);
	if (s->chosen && has_mute_cpu(s))
		return -ENXIO;
	if (!may_take_counters(s, hw))
		return -ENOSPC;
	if (s->placed)
		return 0;
	if (n_placed >= places)
		return -ENOSPC;
	if (!perfctr_take_session_place(&s->owner, USER_PLACES / 2))
		return -EMFILE;
	s->placed = true;
	n_placed++;
	return 0;
}

/* Unless it is started. */
static void drop_session_place(struct perfctr_session *s)
{
	lockdep_assert_held(&sessions_lock);
	if (!s->placed || s->started)
		return;
	s->placed = false;
	n_placed--;
	perfctr_give_session_place(&s->owner);
}

static void lock_sessions(void)
{
	cpus_read_lock();
	mutex_lock(&sessions_lock);
}

static void unlock_sessions(void)
{
	mutex_unlock(&sessions_lock);
	cpus_read_unlock();
}

/*
 * The kernel's code is written, on all CPUs, for the first session that is started and for the
 * last: for that one some time after it has stopped, so that no user has it written all the time.
 */
#define RELEASE_AFTER	HZ

static void release_gate_key(struct work_struct *work)
{
	cpus_read_lock();
	perfctr_set_gated(false);
	cpus_read_unlock();
}

static DECLARE_DELAYED_WORK(release_work, release_gate_key);

/* None is left. */
void perfctr_sessions_exit(void)
{
	flush_delayed_work(&release_work);
}

/* The next two under these locks. */
static void turn_gates_on(void)
{
	lockdep_assert_held(&sessions_lock);
	if (!cancel_delayed_work(&release_work))
		perfctr_set_gated(true);
}

static void turn_gates_off(void)
{
	lockdep_assert_held(&sessions_lock);
	if (!schedule_delayed_work(&release_work, RELEASE_AFTER))
		perfctr_set_gated(false);
}

/* No CPU is interrupted where no member runs. */
static void enter_session_late(struct perfctr_session *s)
{
	unsigned int cpu;

	perfctr_gate_announce(s);
	for_each_cpu_and(cpu, s->cpus, cpu_online_mask) {
		if (perfctr_cpu_runs(cpu, s->group))
			smp_call_function_single(cpu, admit_sessions_on_cpu, NULL, true);
		cond_resched();
	}
}

/*
 * Each session counts on its CPUs alone: elsewhere others may have the same counters. Registers
 * that are no counters may be one for the threads of a core.
 */
static int reserve_session_control(const struct perfctr_session *s, struct perfctr_control *control,
				   const struct perfctr_hw_control *hw)
{
	const struct perfctr_session *other;
	struct perfctr_use met = {};

	lockdep_assert_held(&sessions_lock);
	list_for_each_entry(other, &started, list) {
		bool meets = other != s && cpumask_intersects(s->cpus, other->cpus);

		if (meets)
			met.slots |= other->hw->slots;
		if (meets || (other != s && cpu_smt_possible()))
			met.shared |= other->hw->shared;
	}
	return perfctr_reserve_for(control, hw, &met);
}

/* Under cpus_read_lock(). A mute CPU does not write its page: what it executes is missing there. */
static void mark_mute_cpus(struct perfctr_session *s)
{
	struct perfctr_page *page;
	unsigned int cpu;

	lockdep_assert_held(&sessions_lock);
	for_each_cpu_and(cpu, s->cpus, cpu_online_mask) {
		if (!perfctr_cpu_is_mute(cpu))
			continue;
		page = perfctr_session_page(s, cpu);
		perfctr_page_begin(page);
		page->flags |= PERFCTR_PAGE_DISTURBED;
		perfctr_page_end(page);
	}
}

/* What s->hw wants is reserved, there and back. */
static void enter_gates(struct perfctr_session *s)
{
	lockdep_assert_held(&sessions_lock);
	list_add(&s->list, &started);
	s->started = true;
	count_counters(s, 1);
	mark_mute_cpus(s);
	turn_gates_on();
	if (is_admitted_late(s))
		enter_session_late(s);
	else
		on_each_cpu_mask(s->cpus, add_session_on_cpu, s, true);
}

static void leave_gates(struct perfctr_session *s)
{
	lockdep_assert_held(&sessions_lock);
	if (is_admitted_late(s))
		perfctr_gate_withdraw(s);
	on_each_cpu_cond_mask(is_session_active_on, remove_session_on_cpu, s, true, s->cpus);
	turn_gates_off();
	count_counters(s, -1);
	s->started = false;
	list_del(&s->list);
}

/* Both under s->lock. */
int perfctr_session_start_locked(struct perfctr_session *s)
{
	int err = 0;

	lockdep_assert_held(&s->lock);
	lock_sessions();
	if (!s->started) {
		err = take_session_place(s, s->hw) ?: reserve_session_control(s, NULL, s->hw);
		if (!err)
			enter_gates(s);
		drop_session_place(s);
	}
	unlock_sessions();
	return err;
}

void perfctr_session_stop_locked(struct perfctr_session *s)
{
	lockdep_assert_held(&s->lock);
	lock_sessions();
	if (s->started) {
		leave_gates(s);
		perfctr_release(s->hw);
	}
	drop_session_place(s);
	unlock_sessions();
}

/* Those that hold counters. */
void perfctr_revoke_sessions(void)
{
	struct perfctr_session *s, *next;

	lock_sessions();
	list_for_each_entry_safe(s, next, &started, list) {
		if (!s->hw->slots)
			continue;
		leave_gates(s);
		perfctr_release(s->hw);
		s->revoked = true;
		drop_session_place(s);
	}
	unlock_sessions();
}

static void describe_session(const struct perfctr_session *s, struct perfctr_holder *holder)
{
	holder->kind = PERFCTR_HOLDS_SESSION;
	holder->started = 1;
	holder->counters = s->hw->slots;
	perfctr_opener_describe(&s->opener, holder);
}

int perfctr_walk_session_holders(perfctr_holder_fn fn, void *arg)
{
	struct perfctr_session *s;
	int result = 0;

	mutex_lock(&sessions_lock);
	list_for_each_entry(s, &started, list) {
		struct perfctr_holder holder = {};

		if (s->hw->slots && perfctr_opener_is_seen(&s->opener)) {
			describe_session(s, &holder);
			result = fn(&holder, arg);
		}
		if (result)
			break;
	}
	mutex_unlock(&sessions_lock);
	return result;
}

void perfctr_sessions_online(unsigned int cpu)
{
	struct perfctr_session *s;

	mutex_lock(&sessions_lock);
	perfctr_gate_shut(false);
	list_for_each_entry(s, &started, list) {
		if (!cpumask_test_cpu(cpu, s->cpus))
			continue;
		mark_mute_cpus(s);
		if (!is_admitted_late(s))
			smp_call_function_single(cpu, add_session_on_cpu, s, true);
	}
	mutex_unlock(&sessions_lock);
}

void perfctr_sessions_offline(unsigned int cpu)
{
	struct perfctr_session *s;

	mutex_lock(&sessions_lock);
	perfctr_gate_shut(true);
	list_for_each_entry(s, &started, list) {
		if (!cpumask_test_cpu(cpu, s->cpus))
			continue;
		smp_call_function_single(cpu, remove_session_on_cpu, s, true);
		if (is_admitted_late(s))
			perfctr_gate_announce_on(s, cpu);
	}
	mutex_unlock(&sessions_lock);
}

static bool is_class_counted(u32 policy, enum perfctr_class class)
{
	if (policy & PERFCTR_EXCLUDE_ALL ||
	    (policy & PERFCTR_EXCLUDE_KERNEL && policy & PERFCTR_EXCLUDE_USER))
		return false;
	switch (class) {
	case PERFCTR_MARKED:
		return !(policy & PERFCTR_EXCLUDE_MARKED);
	case PERFCTR_IDLE:
		if (policy & PERFCTR_EXCLUDE_IDLE)
			return false;
		fallthrough;
	default:
		return !(policy & PERFCTR_EXCLUDE_UNMARKED);
	}
}

static void set_classes(struct perfctr_session *s, const struct perfctr_control *control)
{
	enum perfctr_class class;
	u32 i, exclude;

	for (class = 0; class < PERFCTR_N_CLASSES; class++) {
		s->open[class] = 0;
		s->time[class] = is_class_counted(s->policy.exclude, class);
		for (i = 0; i < s->hw->n_events; i++) {
			exclude = perfctr_event_policy(&control->event[i], s->policy.exclude);
			if (is_class_counted(exclude, class))
				s->open[class] |= BIT_ULL(s->hw->event[i].slot);
		}
	}
}

static void replace_session_control(struct perfctr_session *s, struct perfctr_hw_control *hw,
				    const struct perfctr_control *control)
{
	unsigned int cpu;

	s->hw = hw;
	s->revoked = false;
	set_classes(s, control);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		perfctr_page_clear(perfctr_session_page(s, cpu), hw);
	if (s->rings.cpu)
		perfctr_trace_clear(s);
}

/* Takes hw over in any case: if it fails, hw is freed. */
int perfctr_session_install(struct perfctr_session *s, struct perfctr_hw_control *hw,
			    struct perfctr_control *control)
{
	bool go = !(control->flags & PERFCTR_CONTROL_STOPPED);
	struct perfctr_hw_control *old = s->hw;
	bool started;
	int err = 0;

	lockdep_assert_held(&s->lock);
	lock_sessions();
	started = s->started;
	if (go)
		err = take_session_place(s, hw) ?: reserve_session_control(s, control, hw);
	if (!err) {
		if (started)
			leave_gates(s);
		replace_session_control(s, hw, control);
		if (started)
			perfctr_release(old);
		if (go)
			enter_gates(s);
	}
	drop_session_place(s);
	unlock_sessions();
	kfree(err ? hw : old);
	return err;
}
