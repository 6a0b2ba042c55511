// SPDX-License-Identifier: GPL-2.0-only
/*
 * Started sessions: how many there may be, and how they enter and leave the gates of their CPUs.
 * When a control is installed, set_classes() computes which counters run for each class of threads.
 * The gates only choose one of three masks.
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

/* Nests inside a session's lock and cpus_read_lock(). */
static DEFINE_MUTEX(sessions_lock);
static LIST_HEAD(started);
static unsigned int n_placed;
static unsigned int user_counters;	/* counters of unprivileged sessions */

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

/*
 * Returns whether a CPU admits s only when it runs a member: a session that counts only members in
 * user mode has nothing to count on other CPUs.
 */
static bool is_admitted_late(const struct perfctr_session *s)
{
	return s->mark && !s->hw->counts_kernel && !s->open[PERFCTR_UNMARKED] &&
	       !s->open[PERFCTR_IDLE] && !s->time[PERFCTR_UNMARKED] && !s->time[PERFCTR_IDLE];
}

/*
 * Called under cpus_read_lock(). Returns whether s has an online CPU whose events are not counted.
 */
static bool has_mute_cpu(const struct perfctr_session *s)
{
	unsigned int cpu;

	for_each_cpu_and(cpu, s->cpus, cpu_online_mask)
		if (perfctr_cpu_is_mute(cpu))
			return true;
	return false;
}

/*
 * Contexts need counters too. All unprivileged sessions together leave half of the counters to
 * contexts, unless the administrator allows a single user more than half.
 */
static bool may_take_counters(const struct perfctr_session *s, const struct perfctr_hw_control *hw)
{
	u32 others = user_counters - (s->started ? s->hw->n_events : 0);
	u32 limit = perfctr_user_session_counters();

	if (s->policy.privileged || !hw->n_events)
		return true;
	return others + hw->n_events <= max(limit, perfctr_n_counters() / 2);
}

static void count_counters(const struct perfctr_session *s, int change)
{
	if (!s->policy.privileged)
		user_counters += change * (int)s->hw->n_events;
}

/* Places for unprivileged sessions. Each user has at most half of these places. */
#define USER_PLACES	(PERFCTR_MAX_STARTED / 2)

/*
 * Takes one of the places that a CPU's gate has for started sessions, unless s has one already. s
 * is about to count by hw. The caller holds sessions_lock until s is started, because a revoke
 * drops the place of a started session.
 *
 * Returns 0, -ENXIO if the session's opener has named CPUs and one of them is mute, -ENOSPC if
 * places or counters are used up, or -EMFILE if the user's places are used up.
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

/* Gives back the place of s, if it has one, unless s is started. */
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
 * Turning gates on or off patches the kernel's code on all CPUs. The first session that starts
 * turns them on. They are turned off some time after the last session has stopped, so no user can
 * cause the patching all the time.
 */
#define RELEASE_AFTER	HZ	/* jiffies: one second */

static void release_gate_key(struct work_struct *work)
{
	cpus_read_lock();
	perfctr_set_gated(false);
	cpus_read_unlock();
}

static DECLARE_DELAYED_WORK(release_work, release_gate_key);

/* No session is left. Waits until the gates are turned off. */
void perfctr_sessions_exit(void)
{
	flush_delayed_work(&release_work);
}

/* The following two functions are called between lock_sessions() and unlock_sessions(). */
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

/* Interrupts only the CPUs that run a member already. The others admit s when they do. */
static void enter_session_late(struct perfctr_session *s)
{
	unsigned int cpu;

	perfctr_gate_announce(s);
	for_each_cpu_and(cpu, s->cpus, cpu_online_mask) {
		if (perfctr_cpu_runs(cpu, s->mark))
			smp_call_function_single(cpu, admit_sessions_on_cpu, NULL, true);
		cond_resched();
	}
}

/*
 * Sessions without a common CPU may have the same counters. Registers beside the counters may be
 * shared by the hardware threads of a core, so for these a session on any CPU is in the way.
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

/*
 * Called under cpus_read_lock(). A mute CPU does not write its page, and the counts of its threads
 * are missing there.
 */
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

/*
 * The counters of a session are reserved while it is in gates: the caller reserves them before
 * enter_gates(), and releases them after leave_gates().
 */
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
	holder->type = PERFCTR_HOLDS_SESSION;
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
