// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sessions of one CPU. A counter of a session belongs to it alone, so its virtual value is
 * always bias + hardware value: opening a gate reads nothing, closing it only publishes the sums.
 * All gates turn with one write where the PMU has a global enable.
 *
 * A session of members in user mode has nothing to do where none of them runs. It comes to a CPU
 * with the first that does, and nobody else's CPU is interrupted for it.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <asm/msr.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/hooks.h"
#include "internal.h"

struct gate {
	struct perfctr_session *session[PERFCTR_MAX_STARTED];
	unsigned int n;
	unsigned int n_idle;	/* sessions that tell the idle thread from others */
	unsigned int n_kernel;	/* sessions that count kernel mode where RDPMC shows it */
	bool dirty;		/* counters hold what somebody's threads have counted */
	bool shut;		/* the CPU goes down: nobody is admitted late */
	u64 value[PERFCTR_MAX_COUNTERS];
};

static DEFINE_PER_CPU(struct gate, perfctr_gate);
DEFINE_PER_CPU(union perfctr_gate_special, perfctr_gate_special);

#define for_each_session(s, gate, i) \
	for (i = 0; i < (gate)->n && ((s) = (gate)->session[i], true); i++)

static enum perfctr_class class_of(const struct perfctr_session *s, const struct task_struct *task)
{
	if (is_idle_task(task))
		return PERFCTR_IDLE;
	return s->group && perfctr_thread(task)->mark == s->group ? PERFCTR_MARKED :
								    PERFCTR_UNMARKED;
}

static void begin_totals(struct perfctr_cpu_totals *totals)
{
	WRITE_ONCE(totals->seq, totals->seq + 1);
	smp_wmb();	/* seq before what it guards */
}

static void end_totals(struct perfctr_cpu_totals *totals)
{
	smp_wmb();	/* what seq guards before seq */
	WRITE_ONCE(totals->seq, totals->seq + 1);
}

static bool may_wrap(const struct perfctr_session *s, const u64 *value)
{
	u32 i;

	for (i = 0; i < s->hw->n_events; i++)
		if (unlikely(value[i] > s->hw->event[i].most))
			return true;
	return false;
}

/* A counter that has gone back was written by somebody else: what it lost is lost. */
static void add_counters(struct perfctr_session *s, struct perfctr_cpu_totals *totals)
{
	struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);
	u64 *value = this_cpu_ptr(&perfctr_gate)->value;
	u32 i;

	perfctr_read_counters(perfctr_pmu, s->hw, value);
	for (i = 0; i < s->hw->n_events; i++) {
		if (unlikely((s64)(sc->bias[i] + value[i] - totals->counter[i]) < 0)) {
			sc->bias[i] = totals->counter[i] - value[i];
			WRITE_ONCE(s->disturbed, true);
		}
		totals->counter[i] = sc->bias[i] + value[i];
	}
}

/* The counters are stopped. */
static void restart_from_zero(struct perfctr_session *s, const struct perfctr_cpu_totals *totals)
{
	struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);

	perfctr_pmu->clear(s->hw->slots);
	memcpy(sc->bias, totals->counter, sizeof(sc->bias));
}

/* Nothing that s counts is lost between the reading and the clearing. */
static void fold_to_zero(struct perfctr_session *s, struct perfctr_cpu_totals *totals)
{
	perfctr_cpu_freeze(s->hw->slots);
	add_counters(s, totals);
	restart_from_zero(s, totals);
	perfctr_cpu_thaw();
}

static void fold_counters(struct perfctr_session *s, struct perfctr_cpu_totals *totals)
{
	if (!s->hw->n_events)
		return;
	add_counters(s, totals);
	if (may_wrap(s, this_cpu_ptr(&perfctr_gate)->value))
		fold_to_zero(s, totals);
}

static void fold_time(struct perfctr_session *s, struct perfctr_cpu_totals *totals, u64 now)
{
	const struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);

	if (s->time[sc->settled])
		totals->tsc = sc->tsc_bias + now;
}

/* All counters as of one instruction. */
static void fold_at_once(struct perfctr_session *s, struct perfctr_cpu_totals *totals, u64 now)
{
	if (s->hw->counts_kernel)
		perfctr_cpu_freeze(s->hw->slots);
	fold_counters(s, totals);
	fold_time(s, totals, now);
	if (s->hw->counts_kernel)
		perfctr_cpu_thaw();
}

/* True when the current thread is being counted. */
bool perfctr_gate_fold(struct perfctr_session *s)
{
	struct perfctr_cpu_totals *totals = perfctr_totals_here(s);
	const struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);

	lockdep_assert_irqs_disabled();
	if (!sc->active || perfctr_cpu_paused())
		return false;
	begin_totals(totals);
	fold_at_once(s, totals, rdtsc());
	end_totals(totals);
	return s->open[sc->settled] || s->time[sc->settled];
}

/*
 * Of another CPU. Once it says no, the sums of all until now are in the totals: a reader who looks
 * at their seq afterwards finds it odd while they are being written.
 */
bool perfctr_gate_is_open(const struct perfctr_session *s, unsigned int cpu)
{
	const struct perfctr_session_cpu *sc = per_cpu_ptr(s->cpu, cpu);
	enum perfctr_class settled = READ_ONCE(sc->settled);
	bool open = READ_ONCE(sc->active) && (s->open[settled] || s->time[settled]);

	smp_rmb();	/* settled before the totals */
	return open;
}

/* The hardware has followed sc->class: so do the sums. */
static void settle_session(struct perfctr_session *s, struct task_struct *task, u64 now)
{
	struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);
	struct perfctr_cpu_totals *totals = perfctr_totals_here(s);
	enum perfctr_class old = sc->settled, new = sc->class;
	bool traced = s->rings.cpu && (old == PERFCTR_MARKED || new == PERFCTR_MARKED);

	begin_totals(totals);
	if (traced || s->open[old] & ~s->open[new])
		fold_counters(s, totals);
	if (traced || !s->time[new])
		fold_time(s, totals, now);
	if (s->time[new] && !s->time[old])
		sc->tsc_bias = totals->tsc - now;
	if (s->time[new] > s->time[old] || s->open[new] & ~s->open[old])
		totals->switches++;
	sc->settled = new;
	end_totals(totals);
	if (traced)
		perfctr_trace(s, PERFCTR_TRACE_SWITCH, task, now);
}

/* What is to run for task; true when some session has something to settle. */
static bool turn_gates(struct gate *gate, const struct task_struct *task)
{
	struct perfctr_session *s;
	bool turned = false;
	u64 slots = 0;
	unsigned int i;

	for_each_session(s, gate, i) {
		struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);

		sc->class = class_of(s, task);
		turned |= sc->class != sc->settled;
		slots |= s->open[sc->class];
	}
	__this_cpu_write(perfctr_gate_slots, slots);
	return turned;
}

/* The session's counters, which do not run, begin to count for task. */
static void open_gate(struct perfctr_session *s, struct task_struct *task)
{
	struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);
	struct perfctr_cpu_totals *totals = perfctr_totals_here(s);
	u64 now = rdtsc();

	sc->class = class_of(s, task);
	sc->settled = sc->class;
	sc->tsc_bias = totals->tsc - now;
	begin_totals(totals);
	if (s->time[sc->class] || s->open[sc->class])
		totals->switches++;
	end_totals(totals);
	if (s->hw->n_events) {
		perfctr_cpu_take();
		perfctr_pmu->load(s->hw);
		restart_from_zero(s, totals);
		perfctr_cpu_forget(s->hw->slots);
		__this_cpu_or(perfctr_gate_slots, s->open[sc->class]);
		perfctr_cpu_follow_gate();
	}
	if (s->rings.cpu)
		perfctr_trace(s, PERFCTR_TRACE_SWITCH, task, now);
}

static bool tells_idle(const struct perfctr_session *s)
{
	return s->open[PERFCTR_IDLE] != s->open[PERFCTR_UNMARKED] ||
	       s->time[PERFCTR_IDLE] != s->time[PERFCTR_UNMARKED];
}

/* The idle thread is switched like a marked one while some session wants to know. */
static void count_idle(struct gate *gate, int change)
{
	gate->n_idle += change;
	perfctr_watch_idle(gate->n_idle);
}

/* No count of kernel mode is for user mode to see. */
bool perfctr_gate_shows_kernel(void)
{
	return this_cpu_read(perfctr_gate.n_kernel);
}

static bool shows_kernel(const struct perfctr_session *s)
{
	return s->hw->counts_kernel && !perfctr_pmu->hides;
}

/* No more than PERFCTR_MAX_STARTED are ever started. */
static void add_session(struct gate *gate, struct perfctr_session *s, struct task_struct *task)
{
	struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);

	lockdep_assert_irqs_disabled();
	if (WARN_ON_ONCE(gate->n == PERFCTR_MAX_STARTED))
		return;
	gate->session[gate->n++] = s;
	this_cpu_ptr(&perfctr_gate_special)->n_traced += !!s->rings.cpu;
	if (tells_idle(s))
		count_idle(gate, 1);
	WRITE_ONCE(sc->active, true);
	if (!perfctr_cpu_paused())
		open_gate(s, task);
}

void perfctr_gate_add(struct perfctr_session *s)
{
	struct gate *gate = this_cpu_ptr(&perfctr_gate);

	if (__this_cpu_read(perfctr_cpu.mute))
		return;
	add_session(gate, s, current);
	/* Now: where RDPMC stays allowed all the same, counters are folded and cleared. */
	if (shows_kernel(s)) {
		gate->n_kernel++;
		perfctr_update_pce();
	}
}

/*
 * On the CPU itself: shut before its sessions leave it, open before they come back. Stopping a
 * session takes it out of the gates of online CPUs alone, and frees it; so no session may enter the
 * gate of a CPU that goes down. A member with migration disabled can still be switched to there
 * until the scheduler has emptied the CPU. It executes no user mode before it moves away, so the
 * session misses none of its user-mode counts.
 */
void perfctr_gate_shut(bool shut)
{
	this_cpu_write(perfctr_gate.shut, shut);
}

/* Those of task's group that have not come here yet; task runs here, or from now on. */
static void admit_late(struct gate *gate, struct task_struct *task)
{
	struct perfctr_group *group = perfctr_thread(task)->mark;
	unsigned int cpu = smp_processor_id();
	struct perfctr_session *s;

	if (!group || !test_bit(cpu, group->late) || __this_cpu_read(perfctr_cpu.mute) ||
	    gate->shut)
		return;
	raw_spin_lock(&group->lock);
	if (test_and_clear_bit(cpu, group->late))
		atomic_dec(this_cpu_ptr(&perfctr_gate_special.n_late));
	list_for_each_entry(s, &group->sessions, late)
		if (cpumask_test_cpu(cpu, s->cpus) && !this_cpu_ptr(s->cpu)->active)
			add_session(gate, s, task);
	raw_spin_unlock(&group->lock);
}

void perfctr_gate_admit(void)
{
	lockdep_assert_irqs_disabled();
	if (!perfctr_cpu_paused())
		admit_late(this_cpu_ptr(&perfctr_gate), current);
}

void perfctr_gate_announce_on(struct perfctr_session *s, unsigned int cpu)
{
	if (!test_and_set_bit(cpu, s->group->late))
		atomic_inc(per_cpu_ptr(&perfctr_gate_special.n_late, cpu));
}

/* CPUs admit s from now on. */
void perfctr_gate_announce(struct perfctr_session *s)
{
	unsigned long flags;
	unsigned int cpu;

	raw_spin_lock_irqsave(&s->group->lock, flags);
	list_add(&s->late, &s->group->sessions);
	raw_spin_unlock_irqrestore(&s->group->lock, flags);
	for_each_cpu(cpu, s->cpus)
		perfctr_gate_announce_on(s, cpu);
}

/* No CPU admits s any more; those that have are seen to be active. */
void perfctr_gate_withdraw(struct perfctr_session *s)
{
	struct perfctr_group *group = s->group;
	unsigned long flags;
	unsigned int cpu;

	raw_spin_lock_irqsave(&group->lock, flags);
	list_del(&s->late);
	raw_spin_unlock_irqrestore(&group->lock, flags);
	if (!list_empty(&group->sessions))
		return;
	for_each_set_bit(cpu, group->late, nr_cpu_ids)
		if (test_and_clear_bit(cpu, group->late))
			atomic_dec(per_cpu_ptr(&perfctr_gate_special.n_late, cpu));
}

/* From the context switch, before it writes anything. True: perfctr_gate_settle() is to follow. */
bool perfctr_gate_turn(struct task_struct *prev, struct task_struct *next)
{
	struct gate *gate = this_cpu_ptr(&perfctr_gate);

	lockdep_assert_irqs_disabled();
	if (unlikely(this_cpu_read(perfctr_gate_special.any)) && perfctr_thread(next)->mark) {
		admit_late(gate, next);
		if (__this_cpu_read(perfctr_gate_special.n_traced)) {
			turn_gates(gate, next);
			return true;
		}
	}
	if (!gate->n)
		return false;
	if (perfctr_thread(prev)->mark == perfctr_thread(next)->mark &&
	    is_idle_task(prev) == is_idle_task(next))
		return false;
	return turn_gates(gate, next);
}

void perfctr_gate_settle(struct task_struct *next, u64 now)
{
	struct gate *gate = this_cpu_ptr(&perfctr_gate);
	struct perfctr_session *s;
	unsigned int i;

	gate->dirty = true;
	for_each_session(s, gate, i) {
		const struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);

		if (sc->class != sc->settled || (s->rings.cpu && sc->class == PERFCTR_MARKED))
			settle_session(s, next, now);
	}
}

/* The mark of the current thread has changed. */
void perfctr_gate_update(void)
{
	struct gate *gate = this_cpu_ptr(&perfctr_gate);

	lockdep_assert_irqs_disabled();
	if (perfctr_cpu_paused())
		return;
	smp_mb();	/* the mark before late: who starts a session looks the other way round */
	admit_late(gate, current);
	if (!gate->n || !turn_gates(gate, current))
		return;
	perfctr_cpu_follow_gate();
	perfctr_gate_settle(current, rdtsc());
}

/* Code that may RDPMC is about to run: it must find nothing of what others have counted. */
void perfctr_gate_scrub(void)
{
	struct gate *gate = this_cpu_ptr(&perfctr_gate);
	struct perfctr_session *s;
	unsigned int i;

	lockdep_assert_irqs_disabled();
	if (!gate->n || !(gate->dirty || __this_cpu_read(perfctr_gate_slots)))
		return;
	for_each_session(s, gate, i) {
		struct perfctr_cpu_totals *totals = perfctr_totals_here(s);

		if (!s->hw->n_events)
			continue;
		begin_totals(totals);
		fold_to_zero(s, totals);
		end_totals(totals);
	}
	gate->dirty = false;
}

/* Somebody else has written to registers of this CPU. */
void perfctr_gate_disturbed(void)
{
	struct gate *gate = this_cpu_ptr(&perfctr_gate);
	struct perfctr_session *s;
	unsigned int i;

	for_each_session(s, gate, i)
		if (s->hw->n_events)
			WRITE_ONCE(s->disturbed, true);
}

void perfctr_gate_tick(u64 now)
{
	struct gate *gate = this_cpu_ptr(&perfctr_gate);
	struct perfctr_session *s;
	unsigned int i;

	lockdep_assert_irqs_disabled();
	for_each_session(s, gate, i) {
		struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);
		struct perfctr_cpu_totals *totals = perfctr_totals_here(s);

		if (s->open[sc->settled] || s->time[sc->settled]) {
			begin_totals(totals);
			fold_counters(s, totals);
			fold_time(s, totals, now);
			end_totals(totals);
		}
		if (s->rings.cpu && s->trace_ticks && ++sc->ticks >= s->trace_ticks) {
			sc->ticks = 0;
			perfctr_trace(s, PERFCTR_TRACE_TICK, current, now);
		}
	}
}

/* They stop, and leave nothing behind that others could read. */
static void close_gate(struct perfctr_session *s)
{
	struct perfctr_cpu_totals *totals = perfctr_totals_here(s);
	u64 now = rdtsc();

	begin_totals(totals);
	if (s->hw->n_events) {
		__this_cpu_and(perfctr_gate_slots, ~s->hw->slots);
		perfctr_cpu_follow_gate();
		add_counters(s, totals);
		restart_from_zero(s, totals);
	}
	fold_time(s, totals, now);
	end_totals(totals);
	if (s->rings.cpu)
		perfctr_trace(s, PERFCTR_TRACE_STOP, current, now);
}

void perfctr_gate_remove(struct perfctr_session *s)
{
	struct gate *gate = this_cpu_ptr(&perfctr_gate);
	struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);
	unsigned int i;

	lockdep_assert_irqs_disabled();
	if (!sc->active)
		return;
	if (!perfctr_cpu_paused())
		close_gate(s);
	WRITE_ONCE(sc->active, false);
	if (tells_idle(s))
		count_idle(gate, -1);
	this_cpu_ptr(&perfctr_gate_special)->n_traced -= !!s->rings.cpu;
	gate->n_kernel -= shows_kernel(s);
	for (i = 0; gate->session[i] != s; i++)
		;
	gate->session[i] = gate->session[--gate->n];
}

/* Before the counters lose their contents, and after. */
void perfctr_gate_pause(bool pause)
{
	struct gate *gate = this_cpu_ptr(&perfctr_gate);
	struct perfctr_session *s;
	unsigned int i;

	lockdep_assert_irqs_disabled();
	for_each_session(s, gate, i) {
		if (pause)
			close_gate(s);
		else
			open_gate(s, current);
	}
	if (!pause)
		admit_late(gate, current);
}
