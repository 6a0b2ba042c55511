// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sessions of one CPU: which of their counters run, and when. A counter of a session belongs to
 * that session alone, so its virtual value is always bias + hardware value: opening a gate reads no
 * counter, and closing one only publishes the sums. Where the PMU has a global enable, one write
 * turns all gates.
 *
 * A session that counts only members in user mode has nothing to count on a CPU that runs no
 * member. A CPU admits such a session late, when it first runs a member. Other CPUs are never
 * interrupted for the session.
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
#include "accumulator.h"
#include "internal.h"

struct gate {
	struct perfctr_session *session[PERFCTR_MAX_STARTED];
	unsigned int n;
	unsigned int n_idle;	/* sessions that distinguish the idle thread from other threads */
	unsigned int n_kernel;	/* sessions that count kernel mode in counters that RDPMC shows */
	bool dirty;		/* gates turned since the last scrub: counters may hold counts */
	bool shut;		/* the CPU goes offline: no session is admitted late */
};

static DEFINE_PER_CPU(struct gate, perfctr_gate);
DEFINE_PER_CPU(union perfctr_gate_special, perfctr_gate_special);

#define for_each_session(s, gate, i) \
	for (i = 0; i < (gate)->n && ((s) = (gate)->session[i], true); i++)

static enum perfctr_class session_class_of(const struct perfctr_session *s,
					   const struct task_struct *task)
{
	if (is_idle_task(task))
		return PERFCTR_IDLE;
	return s->mark && perfctr_thread(task)->mark == s->mark ? PERFCTR_MARKED :
								  PERFCTR_UNMARKED;
}

static struct perfctr_page *session_page_here(struct perfctr_session *s)
{
	return perfctr_session_page(s, smp_processor_id());
}

static bool is_counting_class(const struct perfctr_session *s, enum perfctr_class class)
{
	return s->open[class] || s->time[class];
}

/* Readers on other CPUs learn from the page whether its CPU counts. */
static void settle_class(struct perfctr_session *s, struct perfctr_page *page,
			 enum perfctr_class class)
{
	u32 flags = page->flags & ~PERFCTR_PAGE_COUNTING;

	this_cpu_ptr(s->cpu)->settled = class;
	WRITE_ONCE(page->flags,
		   is_counting_class(s, class) ? flags | PERFCTR_PAGE_COUNTING : flags);
}

/* A reader that sees the new value of switches also sees PERFCTR_PAGE_COUNTING. */
static void count_opening(struct perfctr_page *page)
{
	smp_wmb();	/* flags before switches */
	WRITE_ONCE(page->switches, page->switches + 1);
}

static void fold_time(struct perfctr_session *s, struct perfctr_page *page, u64 now)
{
	if (s->time[this_cpu_ptr(s->cpu)->settled])
		page->tsc.sum = page->tsc.bias + now;
}

static void begin_time(struct perfctr_page *page, u64 now)
{
	page->tsc.bias = page->tsc.sum - now;
}

bool perfctr_gate_fold(void *session)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);
	struct perfctr_session *s = session;
	struct perfctr_page *page = session_page_here(s);

	lockdep_assert_irqs_disabled();
	perfctr_page_begin(page);
	fold_time(s, page, rdtsc());
	if (s->hw->n_events)
		perfctr_fold_at_once(cpu, page, s->hw);
	perfctr_page_end(page);
	return true;
}

/* The hardware already runs the counters of sc->class. Brings the session's page in line. */
static void settle_session(struct perfctr_session *s, struct task_struct *task, u64 now)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);
	struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);
	struct perfctr_page *page = session_page_here(s);
	enum perfctr_class old = sc->settled, new = sc->class;
	bool traced = s->rings.cpu && (old == PERFCTR_MARKED || new == PERFCTR_MARKED);

	perfctr_page_begin(page);
	if (s->hw->n_events && (traced || s->open[old] & ~s->open[new]))
		perfctr_fold_at_once(cpu, page, s->hw);
	if (traced || !s->time[new])
		fold_time(s, page, now);
	if (s->time[new] && !s->time[old])
		begin_time(page, now);
	settle_class(s, page, new);
	if (s->time[new] > s->time[old] || s->open[new] & ~s->open[old])
		count_opening(page);
	perfctr_page_end(page);
	if (traced)
		perfctr_trace(s, PERFCTR_TRACE_SWITCH, task, now);
}

/* Chooses the slots that run for task. Returns whether some session has to be settled. */
static bool turn_gates(struct gate *gate, const struct task_struct *task)
{
	struct perfctr_session *s;
	bool turned = false;
	u64 slots = 0;
	unsigned int i;

	for_each_session(s, gate, i) {
		struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);

		sc->class = session_class_of(s, task);
		turned |= sc->class != sc->settled;
		slots |= s->open[sc->class];
	}
	__this_cpu_write(perfctr_gate_slots, slots);
	return turned;
}

/* Starts to count for task. The counters of the session do not run yet. */
static void open_gate(struct perfctr_session *s, struct task_struct *task)
{
	struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);
	struct perfctr_page *page = session_page_here(s);
	u64 now = rdtsc();

	sc->class = session_class_of(s, task);
	perfctr_page_begin(page);
	page->cpu = smp_processor_id();
	if (static_branch_unlikely(&perfctr_kinds))
		perfctr_kind_enter(page);
	begin_time(page, now);
	settle_class(s, page, sc->class);
	if (is_counting_class(s, sc->class))
		count_opening(page);
	if (s->hw->n_events) {
		perfctr_cpu_take();
		perfctr_pmu->load(s->hw);
		clear_counters(cpu, s->hw, s->hw->slots);
		renew_biases(cpu, page, s->hw);
	}
	perfctr_page_end(page);
	if (s->hw->n_events) {
		perfctr_cpu_forget(s->hw->slots);
		__this_cpu_or(perfctr_gate_slots, s->open[sc->class]);
		perfctr_cpu_follow_gate();
	}
	if (s->rings.cpu)
		perfctr_trace(s, PERFCTR_TRACE_SWITCH, task, now);
}

static bool has_own_idle_class(const struct perfctr_session *s)
{
	return s->open[PERFCTR_IDLE] != s->open[PERFCTR_UNMARKED] ||
	       s->time[PERFCTR_IDLE] != s->time[PERFCTR_UNMARKED];
}

/*
 * The idle thread is watched like a marked thread while a session distinguishes it from other
 * threads.
 */
static void count_idle(struct gate *gate, int change)
{
	gate->n_idle += change;
	perfctr_watch_idle(gate->n_idle);
}

/* The caller then forbids RDPMC: user mode must not see counts of kernel mode. */
bool perfctr_gate_shows_kernel(void)
{
	return this_cpu_read(perfctr_gate.n_kernel);
}

static bool has_visible_kernel_counts(const struct perfctr_session *s)
{
	return s->hw->counts_kernel && !perfctr_pmu->hides;
}

/* At most PERFCTR_MAX_STARTED sessions are started at a time. */
static void add_session(struct gate *gate, struct perfctr_session *s, struct task_struct *task)
{
	struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);

	lockdep_assert_irqs_disabled();
	if (WARN_ON_ONCE(gate->n == PERFCTR_MAX_STARTED))
		return;
	gate->session[gate->n++] = s;
	this_cpu_ptr(&perfctr_gate_special)->n_traced += !!s->rings.cpu;
	if (has_own_idle_class(s))
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
	/*
	 * Only after the gate is open: if RDPMC stays allowed for another reason,
	 * perfctr_update_pce() clears the session's counters.
	 */
	if (has_visible_kernel_counts(s)) {
		gate->n_kernel++;
		perfctr_update_pce();
	}
}

/*
 * A CPU that goes offline shuts its gate before it removes its sessions, and opens the gate before
 * it adds them again.
 *
 * A session that stops leaves the gates of online CPUs only, and may then be freed. So no session
 * may enter the gate of a CPU that goes offline. The CPU can still switch to a member that has
 * migration disabled, until the scheduler has emptied the CPU. Such a member executes nothing in
 * user mode before it migrates, so the session misses no user-mode counts.
 */
void perfctr_gate_shut(bool shut)
{
	this_cpu_write(perfctr_gate.shut, shut);
}

/*
 * Admits the sessions of task's mark that this CPU has not admitted yet. task runs here, or is
 * about to be switched in.
 */
static void admit_late_sessions(struct gate *gate, struct task_struct *task)
{
	struct perfctr_mark *mark = perfctr_thread(task)->mark;
	unsigned int cpu = smp_processor_id();
	struct perfctr_session *s;

	if (!mark || !test_bit(cpu, mark->late) || __this_cpu_read(perfctr_cpu.mute) ||
	    gate->shut)
		return;
	raw_spin_lock(&mark->lock);
	if (test_and_clear_bit(cpu, mark->late))
		atomic_dec(this_cpu_ptr(&perfctr_gate_special.n_late));
	list_for_each_entry(s, &mark->sessions, late)
		if (cpumask_test_cpu(cpu, s->cpus) && !this_cpu_ptr(s->cpu)->active)
			add_session(gate, s, task);
	raw_spin_unlock(&mark->lock);
}

void perfctr_gate_admit(void)
{
	lockdep_assert_irqs_disabled();
	if (!perfctr_cpu_paused())
		admit_late_sessions(this_cpu_ptr(&perfctr_gate), current);
}

void perfctr_gate_announce_on(struct perfctr_session *s, unsigned int cpu)
{
	if (!test_and_set_bit(cpu, s->mark->late))
		atomic_inc(per_cpu_ptr(&perfctr_gate_special.n_late, cpu));
}

void perfctr_gate_announce(struct perfctr_session *s)
{
	unsigned long flags;
	unsigned int cpu;

	raw_spin_lock_irqsave(&s->mark->lock, flags);
	list_add_tail(&s->late, &s->mark->sessions);
	raw_spin_unlock_irqrestore(&s->mark->lock, flags);
	for_each_cpu(cpu, s->cpus)
		perfctr_gate_announce_on(s, cpu);
}

/* Afterwards the caller sees s->cpu->active of each CPU that has admitted s. */
void perfctr_gate_withdraw(struct perfctr_session *s)
{
	struct perfctr_mark *mark = s->mark;
	unsigned long flags;
	unsigned int cpu;

	raw_spin_lock_irqsave(&mark->lock, flags);
	list_del(&s->late);
	raw_spin_unlock_irqrestore(&mark->lock, flags);
	if (!list_empty(&mark->sessions))
		return;
	for_each_set_bit(cpu, mark->late, nr_cpu_ids)
		if (test_and_clear_bit(cpu, mark->late))
			atomic_dec(per_cpu_ptr(&perfctr_gate_special.n_late, cpu));
}

bool perfctr_gate_turn(struct task_struct *prev, struct task_struct *next)
{
	struct gate *gate = this_cpu_ptr(&perfctr_gate);

	lockdep_assert_irqs_disabled();
	if (unlikely(this_cpu_read(perfctr_gate_special.any)) && perfctr_thread(next)->mark) {
		admit_late_sessions(gate, next);
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

void perfctr_gate_update(void)
{
	struct gate *gate = this_cpu_ptr(&perfctr_gate);

	lockdep_assert_irqs_disabled();
	if (perfctr_cpu_paused())
		return;
	smp_mb();	/* mark before late; a START writes late before it reads marks */
	admit_late_sessions(gate, current);
	if (!gate->n || !turn_gates(gate, current))
		return;
	perfctr_cpu_follow_gate();
	perfctr_gate_settle(current, rdtsc());
}

/* Code that may execute RDPMC must find no counts of other threads in the counters. */
void perfctr_gate_scrub(void)
{
	struct gate *gate = this_cpu_ptr(&perfctr_gate);
	struct perfctr_session *s;
	unsigned int i;

	lockdep_assert_irqs_disabled();
	if (!gate->n || !(gate->dirty || __this_cpu_read(perfctr_gate_slots)))
		return;
	for_each_session(s, gate, i) {
		struct perfctr_page *page = session_page_here(s);

		if (!s->hw->n_events)
			continue;
		perfctr_page_begin(page);
		perfctr_fold_and_clear(this_cpu_ptr(&perfctr_cpu), page, s->hw, s->hw->slots);
		perfctr_page_end(page);
	}
	gate->dirty = false;
}

static void tick_session(struct perfctr_session *s, u64 now, bool intact)
{
	struct perfctr_page *page = session_page_here(s);

	perfctr_page_begin(page);
	if (page->flags & PERFCTR_PAGE_COUNTING)
		fold_time(s, page, now);
	/* At once: other readers, and processes that have mapped the page, see this fold. */
	if (page->flags & PERFCTR_PAGE_COUNTING && s->hw->n_events)
		perfctr_fold_at_once(this_cpu_ptr(&perfctr_cpu), page, s->hw);
	if (!intact && s->hw->n_events)
		page->flags |= PERFCTR_PAGE_DISTURBED;
	perfctr_page_end(page);
}

void perfctr_gate_tick(u64 now, bool intact)
{
	struct gate *gate = this_cpu_ptr(&perfctr_gate);
	struct perfctr_session *s;
	unsigned int i;

	lockdep_assert_irqs_disabled();
	for_each_session(s, gate, i) {
		struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);

		tick_session(s, now, intact);
		if (s->rings.cpu && s->trace_ticks && ++sc->ticks >= s->trace_ticks) {
			sc->ticks = 0;
			perfctr_trace(s, PERFCTR_TRACE_TICK, current, now);
		}
	}
}

/* Stops, folds and clears the session's counters: no later user may read their counts. */
static void close_gate(struct perfctr_session *s)
{
	struct perfctr_page *page = session_page_here(s);
	u64 now = rdtsc();

	perfctr_page_begin(page);
	if (s->hw->n_events) {
		__this_cpu_and(perfctr_gate_slots, ~s->hw->slots);
		perfctr_cpu_follow_gate();
		perfctr_fold_and_clear(this_cpu_ptr(&perfctr_cpu), page, s->hw, s->hw->slots);
	}
	fold_time(s, page, now);
	WRITE_ONCE(page->flags, page->flags & ~PERFCTR_PAGE_COUNTING);
	perfctr_page_end(page);
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
	if (has_own_idle_class(s))
		count_idle(gate, -1);
	this_cpu_ptr(&perfctr_gate_special)->n_traced -= !!s->rings.cpu;
	gate->n_kernel -= has_visible_kernel_counts(s);
	for (i = 0; gate->session[i] != s; i++)
		;
	gate->session[i] = gate->session[--gate->n];
}

/* pause: the counters are about to lose their contents. Otherwise they may count again. */
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
		admit_late_sessions(gate, current);
}
