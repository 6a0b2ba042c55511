// SPDX-License-Identifier: GPL-2.0-only
/*
 * The descriptors of sessions, which count on CPUs for the threads that a policy selects: their
 * calls, and the permission to control, to read and to map a session.
 */
#include <linux/anon_inodes.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/lockdep.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "../machine/machine.h"
#include "../kernel/hooks.h"
#include "../kernel/owner.h"
#include "../kernel/user.h"
#include "internal.h"

/* Returns 0 if the caller may count other threads, in user and in kernel mode. */
static int may_count_others(void)
{
	return perfctr_may_count_cpus() ?: perfctr_may_count_kernel();
}

/*
 * Returns the session's policy for the present caller. A process that passes on the descriptor does
 * not pass on its privilege to choose the events and threads to count.
 */
static struct perfctr_policy policy_of_caller(const struct perfctr_session *s)
{
	struct perfctr_policy policy = s->policy;

	policy.privileged = policy.privileged && perfmon_capable() && !may_count_others();
	return policy;
}

static int may_change_session(const struct perfctr_session *s)
{
	perfctr_learn_settings();
	return perfctr_may_count() ?: perfctr_may_change(&s->owner);
}

/* Called under s->lock. Returns 0 if the caller may see the session's counts. */
static int may_see_session(const struct perfctr_session *s)
{
	int err = 0;

	lockdep_assert_held(&s->lock);
	if (s->open[PERFCTR_UNMARKED] || s->open[PERFCTR_IDLE] || s->time[PERFCTR_UNMARKED] ||
	    s->time[PERFCTR_IDLE])
		err = perfctr_may_count_cpus();
	if (!err && s->hw && s->hw->counts_kernel)
		err = perfctr_may_count_kernel();
	return err;
}

static int take_counters(struct perfctr_session *s, u32 n)
{
	return s->policy.privileged ? 0 : perfctr_take_session_counters(&s->owner, n);
}

/* Called under s->lock. */
static int install_control(struct perfctr_session *s, struct perfctr_control *control)
{
	struct perfctr_policy policy = policy_of_caller(s);
	struct perfctr_hw_control *hw;
	u32 had = s->owner.session_counters, n = control->n_events;
	int err;

	lockdep_assert_held(&s->lock);
	/*
	 * Keep the charge for the counters of the old control until the new one is installed: if
	 * that fails, another session of the user must not have used up the limit meanwhile.
	 */
	err = take_counters(s, max(had, n));
	if (err) {
		control->bad_reason = PERFCTR_BAD_POLICY;
		control->bad_event = control->n_events - 1;
		return err;
	}
	hw = perfctr_compile_session(control, &policy);
	err = PTR_ERR_OR_ZERO(hw) ?: perfctr_session_install(s, hw, control);
	take_counters(s, err ? had : n);
	return err;
}

/* A refused control changes nothing. */
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

static int read_session_locked(struct perfctr_session *s, struct perfctr_counts *counts)
{
	bool at_once = s->started && counts->flags & PERFCTR_COUNTS_CONSISTENT;
	const struct perfctr_cpu_pages pages = {
		.mapped = s->pages.address,
		.told = &s->cpu->told,
		.owner = s,
		.fold = perfctr_gate_fold,
	};
	int err = may_see_session(s);

	if (err)
		return err;
	counts->flags = s->started ? PERFCTR_COUNTS_STARTED : 0;
	if (s->revoked)
		counts->flags |= PERFCTR_COUNTS_REVOKED;
	if (s->mark && READ_ONCE(s->mark->incomplete))
		counts->flags |= PERFCTR_COUNTS_INCOMPLETE;
	counts->members = s->mark ? atomic_read(&s->mark->members) : 0;
	counts->n_counters = s->hw ? s->hw->n_events : 0;
	if (perfctr_sum_cpus(&pages, s->cpus, at_once, counts))
		counts->flags |= PERFCTR_COUNTS_CONSISTENT;
	return 0;
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
	err = read_session_locked(s, counts);
	mutex_unlock(&s->lock);
	return err;
}

static long session_ioctl_consume(struct perfctr_session *s, void __user *user)
{
	struct perfctr_consume consume;
	u32 size;
	int err = perfctr_may_read(&s->owner) ?:
		  perfctr_get_struct(&consume, sizeof(consume), user, &size);

	if (err)
		return err;
	mutex_lock(&s->lock);
	err = perfctr_rings_consume(&s->rings, &consume);
	mutex_unlock(&s->lock);
	return err;
}

static long session_ioctl_start(struct perfctr_session *s)
{
	int err = may_change_session(s);

	if (err)
		return err;
	mutex_lock(&s->lock);
	err = s->hw ? may_see_session(s) ?: perfctr_session_start_locked(s) : -EINVAL;
	mutex_unlock(&s->lock);
	return err;
}

static void stop_session(struct perfctr_session *s)
{
	mutex_lock(&s->lock);
	perfctr_session_stop_locked(s);
	mutex_unlock(&s->lock);
}

static long session_ioctl_stop(struct perfctr_session *s)
{
	int err = perfctr_may_change(&s->owner);

	if (!err)
		stop_session(s);
	return err;
}

static long session_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct perfctr_session *s = file->private_data;
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case PERFCTR_IOC_CONTROL:
		return may_change_session(s) ?: perfctr_user_control(user, control_session, s);
	case PERFCTR_IOC_START:
		return session_ioctl_start(s);
	case PERFCTR_IOC_STOP:
		return session_ioctl_stop(s);
	case PERFCTR_IOC_READ:
		return perfctr_user_read(user, PERFCTR_SCOPE_SELF, PERFCTR_COUNTS_CONSISTENT,
					 read_session, s);
	case PERFCTR_IOC_CONSUME:
		return session_ioctl_consume(s, user);
	default:
		return -ENOTTY;
	}
}

static int session_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct perfctr_session *s = file->private_data;
	unsigned long offset = vma->vm_pgoff << PAGE_SHIFT;
	int err = perfctr_may_read(&s->owner);

	/* The mapping outlives the present control, so require what any control may require. */
	if (!err && s->policy.privileged)
		err = may_count_others();
	if (err)
		return err;
	if (!offset)
		return perfctr_buffer_mmap(&s->pages, vma);
	if (offset < PERFCTR_RING_OFFSET)
		return -EINVAL;
	return perfctr_rings_mmap(&s->rings, vma, offset - PERFCTR_RING_OFFSET);
}

static void free_session(struct perfctr_session *s)
{
	perfctr_rings_free(&s->rings);
	perfctr_buffer_free(&s->pages);
	free_percpu(s->cpu);
	free_cpumask_var(s->cpus);
	if (s->mark)
		perfctr_mark_release(s->mark);
	put_pid_ns(s->ns);
	perfctr_owner_free(&s->owner);
	perfctr_opener_free(&s->opener);
	kfree(s);
}

static int session_release(struct inode *inode, struct file *file)
{
	struct perfctr_session *s = file->private_data;

	stop_session(s);
	take_counters(s, 0);
	kfree(s->hw);
	free_session(s);
	return 0;
}

/*
 * Shows the session's counters and CPUs in /proc/PID/fdinfo, for callers that may ptrace the
 * process.
 */
static void show_session(struct seq_file *m, struct file *file)
{
	struct perfctr_session *s = file->private_data;

	mutex_lock(&s->lock);
	seq_printf(m, "perfctr-cpus:\t%*pbl\nperfctr-counters:\t%#llx\n", cpumask_pr_args(s->cpus),
		   READ_ONCE(s->started) ? s->hw->slots : 0);
	mutex_unlock(&s->lock);
}

static const struct file_operations session_fops = {
	.owner = THIS_MODULE,
	.show_fdinfo = show_session,
	.release = session_release,
	.unlocked_ioctl = session_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = session_mmap,
};

static int get_cpus(struct perfctr_session *s, const struct perfctr_session_args *open)
{
	u32 known = BITS_TO_LONGS(nr_cpu_ids) * sizeof(long);
	int zero = 1;

	if (!open->cpus && !open->cpus_bytes) {
		cpumask_copy(s->cpus, cpu_possible_mask);
		return 0;
	}
	if (!open->cpus || !open->cpus_bytes || open->cpus_bytes > PAGE_SIZE)
		return -EINVAL;
	/* A CPU beyond the last possible one is refused like any CPU that does not exist. */
	if (open->cpus_bytes > known)
		zero = check_zeroed_user(u64_to_user_ptr(open->cpus) + known,
					 open->cpus_bytes - known);
	if (zero <= 0)
		return zero ?: -EINVAL;
	s->chosen = true;
	cpumask_clear(s->cpus);
	if (copy_from_user(cpumask_bits(s->cpus), u64_to_user_ptr(open->cpus),
			   min(open->cpus_bytes, known)))
		return -EFAULT;
	/* cpumask_subset() ignores bits beyond the last possible CPU. */
	if (find_next_bit(cpumask_bits(s->cpus), known * BITS_PER_BYTE, nr_cpu_ids) <
	    known * BITS_PER_BYTE)
		return -EINVAL;
	if (cpumask_empty(s->cpus) || !cpumask_subset(s->cpus, cpu_possible_mask))
		return -EINVAL;
	return 0;
}

static int check_session_args(const struct perfctr_session_args *open)
{
	if (open->flags || open->policy & ~PERFCTR_EXCLUDE_MASK || open->mark < -1)
		return -EINVAL;
	if (open->n_cpus || open->pages_bytes || open->ring_bytes || open->cpu_bytes ||
	    open->reserved)
		return -EINVAL;
	if (open->trace_bytes > PERFCTR_MAX_RING_BYTES ||
	    (open->trace_bytes && open->trace_bytes < PAGE_SIZE) ||
	    (!open->trace_bytes && open->trace_ticks))
		return -EINVAL;
	if (perfmon_capable() && !may_count_others())
		return 0;
	if (open->mark == -1 || !perfctr_policy_is_harmless(open->policy) ||
	    open->trace_bytes > PERFCTR_MAX_USER_ROOM_BYTES)
		return -EACCES;
	return 0;
}

/* The pages of a session are not for RDPMC. */
static const struct perfctr_hw_control no_control = { .session = true };

/* s is not visible to anybody else yet. */
static int alloc_cpu_pages(struct perfctr_session *s)
{
	struct perfctr_page *page;
	unsigned int cpu;
	int err = perfctr_buffer_alloc(&s->pages, nr_cpu_ids * PERFCTR_MAPPED_PAGE_BYTES);

	for (cpu = 0; !err && cpu < nr_cpu_ids; cpu++) {
		page = perfctr_session_page(s, cpu);
		perfctr_page_init(page, &no_control);
		perfctr_page_blank(page);
	}
	return err;
}

static int fill_session(struct perfctr_session *s, const struct perfctr_session_args *open)
{
	struct perfctr_mark *mark;
	int err = get_cpus(s, open);

	if (err)
		return err;
	if (open->mark != -1) {
		mark = perfctr_mark_from_fd(open->mark);
		if (IS_ERR(mark))
			return PTR_ERR(mark);
		s->mark = mark;
	}
	if (open->trace_bytes)
		err = perfctr_charge(&s->owner, perfctr_rings_bytes(s->cpus, open->trace_bytes));
	if (!err)
		err = alloc_cpu_pages(s);
	if (!err && open->trace_bytes)
		err = perfctr_rings_alloc(&s->rings, s->cpus, open->trace_bytes);
	return err;
}

static struct perfctr_session *alloc_session(const struct perfctr_session_args *open)
{
	struct perfctr_session *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	int err;

	if (!s)
		return ERR_PTR(-ENOMEM);
	mutex_init(&s->lock);
	s->ns = get_pid_ns(task_active_pid_ns(current));
	perfctr_opener_init(&s->opener);
	s->policy.exclude = open->policy;
	s->policy.privileged = perfmon_capable() && !may_count_others();
	s->trace_ticks = open->trace_ticks;
	err = perfctr_owner_init(&s->owner, sizeof(*s) + perfctr_hw_most_bytes() +
					    nr_cpu_ids * (sizeof(*s->cpu) +
							  PERFCTR_MAPPED_PAGE_BYTES));
	if (!err) {
		s->cpu = alloc_percpu_gfp(struct perfctr_session_cpu, GFP_KERNEL_ACCOUNT);
		err = -ENOMEM;
		if (zalloc_cpumask_var(&s->cpus, GFP_KERNEL_ACCOUNT) && s->cpu)
			err = fill_session(s, open);
	}
	if (err) {
		free_session(s);
		return ERR_PTR(err);
	}
	return s;
}

long perfctr_ioctl_session(void __user *user)
{
	struct perfctr_session_args open;
	struct perfctr_session *s;
	u32 size;
	int fd = perfctr_get_struct(&open, sizeof(open), user, &size);

	if (!fd)
		fd = check_session_args(&open);
	if (fd)
		return fd;
	s = alloc_session(&open);
	if (IS_ERR(s))
		return PTR_ERR(s);
	open.n_cpus = nr_cpu_ids;
	open.cpu_bytes = PERFCTR_MAPPED_PAGE_BYTES;
	open.pages_bytes = s->pages.n_pages << PAGE_SHIFT;
	open.ring_bytes = s->rings.ring_bytes;
	fd = perfctr_put_struct(user, &open, sizeof(open), size);
	if (!fd)
		fd = anon_inode_getfd("[perfctr-session]", &session_fops, s, O_CLOEXEC | O_RDWR);
	if (fd < 0)
		free_session(s);
	return fd;
}
