// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: counting on CPUs, for whom the policy says. What runs for which class of threads is
 * worked out when the control is installed; the gates only choose among three masks.
 */
#include <linux/anon_inodes.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/jump_label.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/perfctr_hooks.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stop_machine.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include "session.h"
#include "user.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "perfctr."

/* A session takes its counters from everybody: the unprivileged get no more than these in all. */
static unsigned int user_session_counters = 2;
module_param(user_session_counters, uint, 0644);
MODULE_PARM_DESC(user_session_counters, "counters that unprivileged sessions may take, in all");

#define MAX_USER_TRACE_BYTES	65536

/* Inside a session's lock and cpus_read_lock(). */
static DEFINE_MUTEX(sessions_lock);
static LIST_HEAD(started);
static unsigned int n_placed;
static unsigned int user_counters;	/* of unprivileged sessions */

u32 perfctr_user_session_counters(void)
{
	return READ_ONCE(user_session_counters);
}

static void add_on_cpu(void *s)
{
	perfctr_gate_add(s);
}

static void remove_on_cpu(void *s)
{
	perfctr_gate_remove(s);
}

/*
 * A place among those that a CPU's gate has room for; s may have it already. Half of them are for
 * the privileged alone. Both under sessions_lock, until s is started: who revokes takes it away.
 */
static int take_place(struct perfctr_session *s)
{
	unsigned int places = s->rules.privileged ? PERFCTR_MAX_STARTED : PERFCTR_MAX_STARTED / 2;

	if (s->placed)
		return 0;
	if (n_placed >= places)
		return -ENOSPC;
	s->placed = true;
	n_placed++;
	return 0;
}

/* Unless it is started. */
static void drop_place(struct perfctr_session *s)
{
	if (!s->placed || s->started)
		return;
	s->placed = false;
	n_placed--;
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
	static_branch_dec(&perfctr_gated);
}

static DECLARE_DELAYED_WORK(release_work, release_gate_key);

/* The next four under these locks. */
static void gate_on(void)
{
	if (!cancel_delayed_work(&release_work))
		static_branch_inc_cpuslocked(&perfctr_gated);
}

static void gate_off(void)
{
	if (!schedule_delayed_work(&release_work, RELEASE_AFTER))
		static_branch_dec_cpuslocked(&perfctr_gated);
}

/* What s->hw wants is reserved, there and back. */
static void enter(struct perfctr_session *s)
{
	list_add(&s->list, &started);
	s->started = true;
	gate_on();
	on_each_cpu_mask(s->cpus, add_on_cpu, s, true);
}

static void withdraw(struct perfctr_session *s)
{
	on_each_cpu_mask(s->cpus, remove_on_cpu, s, true);
	gate_off();
	s->started = false;
	list_del(&s->list);
}

/* Both under s->lock. */
static int start(struct perfctr_session *s)
{
	int err = 0;

	lock_sessions();
	if (!s->started) {
		err = take_place(s) ?: perfctr_reserve(s->hw, NULL);
		if (!err)
			enter(s);
		drop_place(s);
	}
	unlock_sessions();
	return err == -EADDRINUSE ? -EBUSY : err;
}

static void stop(struct perfctr_session *s)
{
	lock_sessions();
	if (s->started) {
		withdraw(s);
		perfctr_release(s->hw, NULL);
	}
	drop_place(s);
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
		withdraw(s);
		perfctr_release(s->hw, NULL);
		s->revoked = true;
		drop_place(s);
	}
	unlock_sessions();
}

int perfctr_walk_session_holders(perfctr_holder_fn fn, void *arg)
{
	struct perfctr_session *s;
	int result = 0;

	mutex_lock(&sessions_lock);
	list_for_each_entry(s, &started, list) {
		struct perfctr_holder holder = {};

		if (s->hw->slots && perfctr_describe_session(s, &holder))
			result = fn(&holder, arg);
		if (result)
			break;
	}
	mutex_unlock(&sessions_lock);
	return result;
}

static void change_on_cpu(smp_call_func_t fn, unsigned int cpu)
{
	struct perfctr_session *s;

	mutex_lock(&sessions_lock);
	list_for_each_entry(s, &started, list)
		if (cpumask_test_cpu(cpu, s->cpus))
			smp_call_function_single(cpu, fn, s, true);
	mutex_unlock(&sessions_lock);
}

void perfctr_sessions_online(unsigned int cpu)
{
	change_on_cpu(add_on_cpu, cpu);
}

void perfctr_sessions_offline(unsigned int cpu)
{
	change_on_cpu(remove_on_cpu, cpu);
}

static bool counts_class(u32 policy, enum perfctr_class class)
{
	if (policy & PERFCTR_POLICY_DIS ||
	    (policy & PERFCTR_POLICY_DP && policy & PERFCTR_POLICY_DU))
		return false;
	switch (class) {
	case PERFCTR_MARKED:
		return !(policy & PERFCTR_POLICY_DMS);
	case PERFCTR_IDLE:
		if (policy & PERFCTR_POLICY_NO_IDLE)
			return false;
		fallthrough;
	default:
		return !(policy & PERFCTR_POLICY_DMR);
	}
}

static void set_classes(struct perfctr_session *s, const struct perfctr_control *control)
{
	enum perfctr_class class;
	u32 i;

	for (class = 0; class < PERFCTR_N_CLASSES; class++) {
		s->open[class] = 0;
		s->time[class] = counts_class(s->rules.policy, class);
		for (i = 0; i < s->hw->n_events; i++)
			if (counts_class(perfctr_event_policy(&control->event[i], s->rules.policy),
					 class))
				s->open[class] |= BIT_ULL(s->hw->event[i].slot);
	}
}

/* Of the limit of the unprivileged: s gets n instead of what it has. */
static int take_user_counters(struct perfctr_session *s, u32 n)
{
	int err = 0;

	if (s->rules.privileged)
		return 0;
	mutex_lock(&sessions_lock);
	if (n > s->user_counters &&
	    user_counters - s->user_counters + n > READ_ONCE(user_session_counters)) {
		err = -EACCES;
	} else {
		user_counters += n - s->user_counters;
		s->user_counters = n;
	}
	mutex_unlock(&sessions_lock);
	return err;
}

static void replace(struct perfctr_session *s, struct perfctr_hw_control *hw,
		    const struct perfctr_control *control)
{
	s->hw = hw;
	s->revoked = false;
	set_classes(s, control);
	perfctr_totals_clear(s);
	if (s->ring)
		perfctr_rings_clear(s);
}

/* hw is taken over unless it is refused. */
static int install(struct perfctr_session *s, struct perfctr_hw_control *hw,
		   struct perfctr_control *control)
{
	bool go = !(control->flags & PERFCTR_CONTROL_STOPPED);
	struct perfctr_hw_control *old = s->hw;
	bool started;
	int err = 0;

	lock_sessions();
	started = s->started;
	if (go)
		err = take_place(s) ?: perfctr_reserve_for(control, hw, started ? old : NULL);
	if (!err) {
		if (started)
			withdraw(s);
		replace(s, hw, control);
		if (started)
			perfctr_release(old, go ? hw : NULL);
		if (go)
			enter(s);
	}
	drop_place(s);
	unlock_sessions();
	kfree(err ? hw : old);
	return err;
}

/* Counts of what others execute, in whichever mode. */
static int may_count_others(void)
{
	return perfctr_may_count_cpus() ?: perfctr_may_count_kernel();
}

/* Whoever has the descriptor now: it does not hand on the right to choose what is counted. */
static struct perfctr_rules rules_of_caller(const struct perfctr_session *s)
{
	struct perfctr_rules rules = s->rules;

	rules.privileged = rules.privileged && perfmon_capable() && !may_count_others();
	return rules;
}

static int may_change(const struct perfctr_session *s)
{
	return perfctr_may_count() ?: perfctr_may_change(&s->owner);
}

/* Under s->lock. */
static int may_see(const struct perfctr_session *s)
{
	int err = 0;

	if (s->open[PERFCTR_UNMARKED] || s->open[PERFCTR_IDLE] || s->time[PERFCTR_UNMARKED] ||
	    s->time[PERFCTR_IDLE])
		err = perfctr_may_count_cpus();
	if (!err && s->hw && s->hw->counts_kernel)
		err = perfctr_may_count_kernel();
	return err;
}

/* Under s->lock. */
static int install_control(struct perfctr_session *s, struct perfctr_control *control)
{
	struct perfctr_rules rules = rules_of_caller(s);
	struct perfctr_hw_control *hw;
	u32 had = s->user_counters, n = control->n_events;
	int err;

	/* What it had stays its own until then: others take what is given back. */
	err = take_user_counters(s, max(had, n));
	if (err) {
		control->bad_reason = PERFCTR_BAD_POLICY;
		control->bad_event = control->n_events - 1;
		return err;
	}
	hw = perfctr_compile_session(control, &rules);
	err = PTR_ERR_OR_ZERO(hw) ?: install(s, hw, control);
	take_user_counters(s, err ? had : n);
	return err;
}

/* A refused control leaves everything as it is. */
static int control_session(void *session, struct perfctr_control *control)
{
	struct perfctr_session *s = session;
	int err;

	if (control->flags & ~PERFCTR_CONTROL_STOPPED || control->p4_pebs_enable ||
	    control->p4_pebs_matrix_vert)
		return -EINVAL;
	mutex_lock(&s->lock);
	err = install_control(s, control);
	mutex_unlock(&s->lock);
	return err;
}

struct fold {
	struct perfctr_session *session;
	struct task_struct *reader;
	bool counts_on;		/* some thread but the reader was being counted */
};

static void fold_this_cpu(void *arg)
{
	struct fold *fold = arg;

	if (perfctr_gate_fold(fold->session) && current != fold->reader)
		WRITE_ONCE(fold->counts_on, true);
	/* All counters as of one instruction: what changes the totals next may be a switch. */
	this_cpu_ptr(fold->session->cpu)->told = *perfctr_totals_here(fold->session);
}

static int fold_stopped_cpu(void *arg)
{
	fold_this_cpu(arg);
	return 0;
}

static u64 openings(const struct perfctr_session *s)
{
	unsigned int cpu;
	u64 n = 0;

	for_each_cpu(cpu, s->cpus)
		n += READ_ONCE(s->totals->cpu[cpu].switches);
	return n;
}

/* A CPU whose gate is closed has published what it counted, and is not disturbed. */
static void find_open_gates(const struct perfctr_session *s, struct cpumask *open)
{
	unsigned int cpu;

	for_each_cpu_and(cpu, s->cpus, cpu_online_mask)
		if (perfctr_gate_is_open(s, cpu))
			cpumask_set_cpu(cpu, open);
}

static void add(struct perfctr_counts *counts, const struct perfctr_cpu_totals *totals)
{
	unsigned int i;

	counts->tsc += totals->tsc;
	counts->switches += totals->switches;
	for (i = 0; i < counts->n_counters; i++)
		counts->counter[i] += totals->counter[i];
}

/* But for those in told, who have told theirs. */
static void add_all(const struct perfctr_session *s, struct perfctr_counts *counts,
		    const struct cpumask *told)
{
	unsigned int cpu;

	for_each_cpu(cpu, s->cpus) {
		struct perfctr_cpu_totals *totals = &per_cpu_ptr(s->cpu, cpu)->told;

		if (!cpumask_test_cpu(cpu, told))
			perfctr_totals_copy(s, cpu, totals);
		add(counts, totals);
		if (static_branch_unlikely(&perfctr_kinds))
			counts->kind_tsc[perfctr_kind_of_cpu(cpu)] += totals->tsc;
	}
}

/*
 * At one instant, by stopping the machine, as that holds up everybody, only for who asks for it and
 * may: else it is only said whether something was counted between the first sum and the last.
 */
static void add_started(struct perfctr_session *s, struct perfctr_counts *counts,
			struct cpumask *cpus, bool at_once)
{
	struct fold fold = { .session = s, .reader = current };
	u64 before = openings(s);

	if (at_once) {
		cpumask_and(cpus, s->cpus, cpu_online_mask);
		stop_machine_cpuslocked(fold_stopped_cpu, &fold, cpus);
		add_all(s, counts, cpus);
		return;
	}
	find_open_gates(s, cpus);
	on_each_cpu_mask(cpus, fold_this_cpu, &fold, true);
	add_all(s, counts, cpus);
	if (fold.counts_on || openings(s) != before)
		counts->flags &= ~PERFCTR_COUNTS_CONSISTENT;
}

static int add_cpus(struct perfctr_session *s, struct perfctr_counts *counts, bool at_once)
{
	cpumask_var_t cpus;

	if (!s->started) {
		add_all(s, counts, cpu_none_mask);
		return 0;
	}
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL_ACCOUNT))
		return -ENOMEM;
	cpus_read_lock();
	add_started(s, counts, cpus, at_once);
	cpus_read_unlock();
	free_cpumask_var(cpus);
	return 0;
}

static int read_locked(struct perfctr_session *s, struct perfctr_counts *counts)
{
	bool at_once = counts->flags & PERFCTR_COUNTS_CONSISTENT;
	int err = may_see(s);

	if (err)
		return err;
	counts->flags = PERFCTR_COUNTS_CONSISTENT;
	if (s->started)
		counts->flags |= PERFCTR_COUNTS_STARTED;
	if (s->revoked)
		counts->flags |= PERFCTR_COUNTS_REVOKED;
	if (READ_ONCE(s->disturbed))
		counts->flags |= PERFCTR_COUNTS_DISTURBED;
	counts->members = s->group ? atomic_read(&s->group->members) : 0;
	counts->n_counters = s->totals->n_counters;
	return add_cpus(s, counts, at_once);
}

static int read_session(void *session, struct perfctr_counts *counts)
{
	struct perfctr_session *s = session;
	int err = perfctr_may_read(&s->owner);

	if (!err && counts->flags && !perfmon_capable())
		err = -EPERM;
	if (!err)
		err = mutex_lock_killable(&s->lock);
	if (err)
		return err;
	err = read_locked(s, counts);
	mutex_unlock(&s->lock);
	return err;
}

static long ioctl_consume(struct perfctr_session *s, void __user *user)
{
	struct perfctr_consume consume;
	u32 size;
	int err = perfctr_get_struct(&consume, sizeof(consume), user, &size);

	if (err)
		return err;
	mutex_lock(&s->lock);
	err = perfctr_rings_consume(s, &consume);
	mutex_unlock(&s->lock);
	return err;
}

static long ioctl_start(struct perfctr_session *s)
{
	int err = may_change(s);

	if (err)
		return err;
	mutex_lock(&s->lock);
	err = s->hw ? may_see(s) ?: start(s) : -EINVAL;
	mutex_unlock(&s->lock);
	return err;
}

static long ioctl_stop(struct perfctr_session *s)
{
	mutex_lock(&s->lock);
	stop(s);
	mutex_unlock(&s->lock);
	return 0;
}

static long session_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct perfctr_session *s = file->private_data;
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case PERFCTR_IOC_CONTROL:
		return may_change(s) ?: perfctr_user_control(user, control_session, s);
	case PERFCTR_IOC_START:
		return ioctl_start(s);
	case PERFCTR_IOC_STOP:
		return ioctl_stop(s);
	case PERFCTR_IOC_READ:
		return perfctr_user_read(user, PERFCTR_SCOPE_SELF, PERFCTR_COUNTS_CONSISTENT,
					 read_session, s);
	case PERFCTR_IOC_CONSUME:
		return ioctl_consume(s, user);
	default:
		return -ENOTTY;
	}
}

static int session_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct perfctr_session *s = file->private_data;
	unsigned long offset = vma->vm_pgoff << PAGE_SHIFT;
	int err = perfctr_may_read(&s->owner);

	/* A mapping stays, whatever control comes next. */
	if (!err && s->rules.privileged)
		err = may_count_others();
	if (err)
		return err;
	if (!offset)
		return perfctr_buffer_mmap(&s->totals_buffer, vma);
	if (!s->ring || offset < PERFCTR_RING_OFFSET)
		return -EINVAL;
	return perfctr_rings_mmap(s, vma, offset - PERFCTR_RING_OFFSET);
}

static void free_session(struct perfctr_session *s)
{
	perfctr_rings_free(s);
	perfctr_buffer_free(&s->totals_buffer);
	free_percpu(s->cpu);
	free_cpumask_var(s->cpus);
	if (s->group)
		perfctr_group_let_go(s->group);
	put_pid_ns(s->ns);
	perfctr_disown(&s->owner);
	perfctr_opener_free(&s->opener);
	kfree(s);
}

static int session_release(struct inode *inode, struct file *file)
{
	struct perfctr_session *s = file->private_data;

	ioctl_stop(s);
	take_user_counters(s, 0);
	kfree(s->hw);
	free_session(s);
	return 0;
}

static const struct file_operations session_fops = {
	.owner = THIS_MODULE,
	.release = session_release,
	.unlocked_ioctl = session_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = session_mmap,
};

static int get_cpus(struct perfctr_session *s, const struct perfctr_session_open *open)
{
	u32 known = BITS_TO_LONGS(nr_cpu_ids) * sizeof(long);

	if (!open->cpus && !open->cpus_bytes) {
		cpumask_copy(s->cpus, cpu_possible_mask);
		return 0;
	}
	if (!open->cpus || !open->cpus_bytes || open->cpus_bytes > PAGE_SIZE)
		return -EINVAL;
	/* CPUs behind the last possible one are refused with the others that do not exist. */
	if (open->cpus_bytes > known &&
	    check_zeroed_user(u64_to_user_ptr(open->cpus) + known, open->cpus_bytes - known) != 1)
		return -EINVAL;
	cpumask_clear(s->cpus);
	if (copy_from_user(cpumask_bits(s->cpus), u64_to_user_ptr(open->cpus),
			   min(open->cpus_bytes, known)))
		return -EFAULT;
	if (cpumask_empty(s->cpus) || !cpumask_subset(s->cpus, cpu_possible_mask))
		return -EINVAL;
	return 0;
}

static int check_open(const struct perfctr_session_open *open)
{
	if (open->flags || open->policy & ~PERFCTR_POLICY_ALL || open->n_cpus ||
	    open->totals_bytes || open->ring_bytes || open->group < -1)
		return -EINVAL;
	if (open->trace_bytes > PERFCTR_MAX_RING_BYTES ||
	    (open->trace_bytes && open->trace_bytes < PAGE_SIZE) ||
	    (!open->trace_bytes && open->trace_ticks))
		return -EINVAL;
	if (perfmon_capable() && !may_count_others())
		return 0;
	if (open->group == -1 || !perfctr_policy_is_harmless(open->policy) ||
	    open->trace_bytes > MAX_USER_TRACE_BYTES)
		return -EACCES;
	return 0;
}

static int fill(struct perfctr_session *s, const struct perfctr_session_open *open)
{
	struct perfctr_group *group;
	int err = get_cpus(s, open);

	if (err)
		return err;
	if (open->group != -1) {
		group = perfctr_group_from_fd(open->group);
		if (IS_ERR(group))
			return PTR_ERR(group);
		s->group = group;
	}
	err = perfctr_charge(&s->owner, (size_t)s->trace_bytes * cpumask_weight(s->cpus));
	if (!err)
		err = perfctr_totals_alloc(s);
	if (!err && s->trace_bytes)
		err = perfctr_rings_alloc(s);
	return err;
}

static struct perfctr_session *alloc_session(const struct perfctr_session_open *open)
{
	struct perfctr_session *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	int err;

	if (!s)
		return ERR_PTR(-ENOMEM);
	mutex_init(&s->lock);
	s->ns = get_pid_ns(task_active_pid_ns(current));
	perfctr_opener_init(&s->opener);
	s->rules.policy = open->policy;
	s->rules.privileged = perfmon_capable() && !may_count_others();
	s->trace_bytes = open->trace_bytes;
	s->trace_ticks = open->trace_ticks;
	err = perfctr_own(&s->owner, sizeof(*s) + nr_cpu_ids * (sizeof(*s->cpu) +
								sizeof(s->totals->cpu[0])));
	if (!err) {
		s->cpu = alloc_percpu_gfp(struct perfctr_session_cpu, GFP_KERNEL_ACCOUNT);
		err = zalloc_cpumask_var(&s->cpus, GFP_KERNEL_ACCOUNT) && s->cpu ? fill(s, open) :
									    -ENOMEM;
	}
	if (err) {
		free_session(s);
		return ERR_PTR(err);
	}
	return s;
}

long perfctr_ioctl_session(void __user *user)
{
	struct perfctr_session_open open;
	struct perfctr_session *s;
	u32 size;
	int fd = perfctr_get_struct(&open, sizeof(open), user, &size);

	if (!fd)
		fd = check_open(&open);
	if (fd)
		return fd;
	s = alloc_session(&open);
	if (IS_ERR(s))
		return PTR_ERR(s);
	open.n_cpus = s->totals->n_cpus;
	open.totals_bytes = s->totals_buffer.n_pages << PAGE_SHIFT;
	open.ring_bytes = s->ring_bytes;
	fd = perfctr_put_struct(user, &open, sizeof(open), size);
	if (!fd)
		fd = anon_inode_getfd("[perfctr-session]", &session_fops, s, O_CLOEXEC | O_RDWR);
	if (fd < 0)
		free_session(s);
	return fd;
}
