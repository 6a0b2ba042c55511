// SPDX-License-Identifier: GPL-2.0-only
/* /dev/perfctr and the descriptors of contexts. */
#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kstrtox.h>
#include <linux/llist.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/poll.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <asm/tsc.h>
#include "../tree/tree.h"
#include "../session/session.h"
#include "../cpu/cpu.h"
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/compat.h"
#include "../kernel/hooks.h"
#include "../kernel/owner.h"
#include "../kernel/parameters.h"
#include "../kernel/user.h"
#include "entry.h"

static char revoked;	/* its address is private_data of a file on which REVOKE was called */

static long device_ioctl_info(void __user *user)
{
	const struct perfctr_pmu *pmu = perfctr_usable_pmu();
	struct perfctr_use contexts, sessions;
	struct perfctr_pmu_info info;
	u32 size;
	int err = perfctr_get_struct(&info, sizeof(info), user, &size);

	if (err)
		return err;
	memset(&info, 0, sizeof(info));
	perfctr_learn_settings();
	info.size = sizeof(info);
	info.abi_version = PERFCTR_ABI_VERSION;
	strscpy_pad(info.family, READ_ONCE(perfctr_family), sizeof(info.family));
	info.features = perfctr_features();
	info.holder = perfctr_holder();
	info.tsc_khz = tsc_khz;
	info.n_contexts = perfctr_context_number();
	info.cost_rdtsc = perfctr_costs.rdtsc;
	info.cost_rdpmc = perfctr_costs.rdpmc;
	info.cost_rdmsr = perfctr_costs.rdmsr;
	info.cost_wrmsr = perfctr_costs.wrmsr;
	perfctr_get_use(&contexts, &sessions);
	info.context_counters = contexts.slots;
	info.session_counters = sessions.slots;
	info.user_session_counters = perfctr_user_session_counters();
	info.disturbances = perfctr_disturbances();
	info.mute_cpus = perfctr_mute_cpus();
	perfctr_kinds_tell(&info);
	if (pmu) {
		info.n_general = pmu->n_general;
		info.n_fixed = pmu->n_fixed;
		info.general_bits = pmu->general_bits;
		info.fixed_bits = pmu->fixed_bits;
		info.evntsel_allowed = pmu->evntsel_allowed;
		info.evntsel_required = pmu->evntsel_required;
		info.fixed_allowed = pmu->fixed_allowed;
		info.evntsel2_allowed = pmu->evntsel2_allowed;
		info.pmu = pmu->pmu;
		info.evntsel_user = pmu->evntsel_user;
		info.evntsel_kernel = pmu->evntsel_kernel;
		info.evntsel2_user = pmu->evntsel2_user;
		info.evntsel2_kernel = pmu->evntsel2_kernel;
		info.p4_pebs_enable_allowed = pmu->p4_pebs_enable_allowed;
		info.p4_pebs_matrix_vert_allowed = pmu->p4_pebs_matrix_vert_allowed;
	}
	return perfctr_put_struct(user, &info, sizeof(info), size);
}

struct descriptor {
	struct perfctr_context *ctx;
	struct perfctr_owner owner;
	bool owns;		/* it made the context; others can only read the context */
	struct llist_node closing;	/* in the list closing */
};

/*
 * May the caller change the context's control and state? Receiving the descriptor from another
 * process does not suffice: the caller itself needs the permission to count.
 */
static int may_change_context(const struct descriptor *d)
{
	if (!d->owns)
		return -EPERM;
	perfctr_learn_settings();
	return perfctr_may_count() ?: perfctr_may_change(&d->owner);
}

/* May the caller have signals sent to task? The rule is that of perf_events. */
static bool may_signal(struct task_struct *task)
{
	bool capable;

	if (same_thread_group(task, current))
		return true;
	rcu_read_lock();
	capable = perfmon_capable() && ns_capable(__task_cred(task)->user_ns, CAP_KILL);
	rcu_read_unlock();
	return capable || perfctr_may_access(task, PTRACE_MODE_ATTACH_REALCREDS);
}

static int control_task(struct perfctr_context *ctx, struct task_struct *task,
			struct perfctr_hw_control *hw, struct perfctr_control *control)
{
	if (hw->signals && !may_signal(task)) {
		perfctr_blame_signal(control);
		perfctr_hw_put(hw);
		return -EACCES;
	}
	return perfctr_install(ctx, hw, control);
}

static int control_context(void *descriptor, struct perfctr_control *control)
{
	const struct descriptor *d = descriptor;
	struct perfctr_hw_control *hw = perfctr_compile(control);
	struct task_struct *task;
	int err;

	if (IS_ERR(hw))
		return PTR_ERR(hw);
	task = perfctr_get_task(d->ctx);
	err = task ? perfctr_lock_access(task, PTRACE_MODE_ATTACH_REALCREDS) : -ESRCH;
	if (err) {
		perfctr_hw_put(hw);
	} else {
		err = control_task(d->ctx, task, hw, control);
		perfctr_unlock_access(task);
	}
	if (task)
		put_task_struct(task);
	return err;
}

static int read_context(void *descriptor, struct perfctr_counts *counts)
{
	const struct descriptor *d = descriptor;

	return perfctr_may_read(&d->owner) ?: perfctr_tree_read(d->ctx, counts);
}

static long context_ioctl_get_control(const struct descriptor *d, void __user *user)
{
	struct perfctr_control *control;
	u32 size;
	int err = perfctr_may_read(&d->owner);

	if (err)
		return err;
	control = kzalloc(sizeof(*control), GFP_KERNEL);
	if (!control)
		return -ENOMEM;
	err = perfctr_get_head(control, sizeof(control->size), sizeof(*control), user, &size);
	if (!err) {
		control->size = sizeof(*control);
		err = perfctr_tree_get_control(d->ctx, control);
	}
	if (!err)
		err = perfctr_put_struct(user, control, sizeof(*control), size);
	kfree(control);
	return err;
}

static long context_ioctl_periods(const struct descriptor *d, void __user *user)
{
	struct perfctr_periods periods;
	u32 size;
	int err = perfctr_may_read(&d->owner);

	if (err)
		return err;
	memset(&periods, 0, sizeof(periods));
	err = perfctr_get_head(&periods, offsetof(struct perfctr_periods, late),
			       sizeof(periods), user, &size);
	if (err)
		return err;
	if (periods.scope > PERFCTR_SCOPE_TREE || periods.reserved)
		return -EINVAL;
	periods.size = sizeof(periods);
	periods.n_counters = 0;
	err = perfctr_tree_read_periods(d->ctx, &periods);
	return err ?: perfctr_put_struct(user, &periods, sizeof(periods), size);
}

static long context_ioctl_start(const struct descriptor *d)
{
	return may_change_context(d) ?: perfctr_tree_start(d->ctx);
}

static long context_ioctl_stop(const struct descriptor *d)
{
	if (!d->owns)
		return -EPERM;
	return perfctr_may_change(&d->owner) ?: perfctr_tree_stop(d->ctx);
}

static long context_ioctl_record(const struct descriptor *d, void __user *user)
{
	struct perfctr_exit_record *record;
	u64 generation;
	u32 size;
	int err;

	if (!d->owns)
		return -EPERM;
	err = perfctr_may_read(&d->owner);
	if (err)
		return err;
	record = kmalloc(sizeof(*record), GFP_KERNEL);
	if (!record)
		return -ENOMEM;
	err = perfctr_get_struct(record, sizeof(*record), user, &size);
	if (!err)
		err = perfctr_take_record(d->ctx, record, &generation);
	if (!err) {
		err = perfctr_put_struct(user, record, sizeof(*record), size);
		if (err)
			perfctr_lose_record(d->ctx, record, generation);
	}
	kfree(record);
	return err;
}

static long context_ioctl_samples(const struct descriptor *d, void __user *user)
{
	struct perfctr_samples_args args;
	u32 size;
	int err = may_change_context(d) ?: perfctr_get_struct(&args, sizeof(args), user, &size);

	if (!err)	/* memory that cannot be written is refused before the rings are made */
		err = perfctr_put_struct(user, &args, sizeof(args), size);
	if (!err)
		err = perfctr_open_samples(d->ctx, &args);
	return err ?: perfctr_put_struct(user, &args, sizeof(args), size);
}

static long context_ioctl_sampled(const struct descriptor *d, void __user *user)
{
	struct perfctr_sampled sampled = {};
	u32 size;
	int err = d->owns ? perfctr_may_read(&d->owner) : -EPERM;

	if (!err)
		err = perfctr_get_head(&sampled, sizeof(sampled.size), sizeof(sampled), user,
				       &size);
	if (err)
		return err;
	sampled.size = sizeof(sampled);
	err = perfctr_read_sampled(d->ctx->tree, &sampled);
	return err ?: perfctr_put_struct(user, &sampled, sizeof(sampled), size);
}

static long context_ioctl_consume(const struct descriptor *d, void __user *user)
{
	struct perfctr_consume consume;
	u32 size;
	int err = d->owns ? perfctr_may_read(&d->owner) : -EPERM;

	if (!err)
		err = perfctr_get_struct(&consume, sizeof(consume), user, &size);
	return err ?: perfctr_consume_samples(d->ctx->tree, &consume);
}

static long context_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct descriptor *d = file->private_data;
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case PERFCTR_IOC_READ:
		return perfctr_user_read(user, PERFCTR_SCOPE_TREE, 0, read_context, d);
	case PERFCTR_IOC_CONTROL:
		return may_change_context(d) ?: perfctr_user_control(user, control_context, d);
	case PERFCTR_IOC_GET_CONTROL:
		return context_ioctl_get_control(d, user);
	case PERFCTR_IOC_PERIODS:
		return context_ioctl_periods(d, user);
	case PERFCTR_IOC_SAMPLES:
		return context_ioctl_samples(d, user);
	case PERFCTR_IOC_SAMPLED:
		return context_ioctl_sampled(d, user);
	case PERFCTR_IOC_CONSUME:
		return context_ioctl_consume(d, user);
	case PERFCTR_IOC_START:
		return context_ioctl_start(d);
	case PERFCTR_IOC_STOP:
		return context_ioctl_stop(d);
	case PERFCTR_IOC_RESUME:
		return may_change_context(d) ?: perfctr_tree_resume(d->ctx);
	case PERFCTR_IOC_EXIT_RECORD:
		return context_ioctl_record(d, user);
	default:
		return -ENOTTY;
	}
}

static __poll_t context_poll(struct file *file, struct poll_table_struct *wait)
{
	const struct descriptor *d = file->private_data;
	struct perfctr_tree *tree = d->ctx->tree;
	__poll_t events;

	poll_wait(file, &tree->wait, wait);
	/* Other descriptors cannot take records and samples, and would stay readable forever. */
	if (!d->owns)
		return 0;
	events = perfctr_has_records(tree) ? EPOLLIN | EPOLLRDNORM : 0;
	return events | perfctr_poll_samples(tree);
}

static int context_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct descriptor *d = file->private_data;
	unsigned long offset = vma->vm_pgoff << PAGE_SHIFT;
	int err = perfctr_may_read(&d->owner);

	if (err)
		return err;
	if (offset < PERFCTR_RING_OFFSET)
		return perfctr_mmap(d->ctx, vma);
	return d->owns ? perfctr_mmap_samples(d->ctx->tree, vma, offset - PERFCTR_RING_OFFSET) :
			  -EPERM;
}

/* Closes the tree if d owns it, and frees d. -EINTR: d is not freed, see perfctr_tree_close(). */
static int free_descriptor(struct descriptor *d)
{
	int err = d->owns ? perfctr_tree_close(d->ctx) : 0;

	if (err)
		return err;
	if (d->owns)
		perfctr_set_payer(d->ctx->tree, NULL);
	if (d->ctx)
		perfctr_put(d->ctx);
	perfctr_owner_free(&d->owner);
	kfree(d);
	return 0;
}

static LLIST_HEAD(closing);

static void free_closing_descriptors(struct work_struct *work)
{
	struct descriptor *d, *next;

	llist_for_each_entry_safe(d, next, llist_del_all(&closing), closing) {
		free_descriptor(d);	/* succeeds: a worker is never killed */
		module_put(THIS_MODULE);
	}
}

static DECLARE_WORK(closing_work, free_closing_descriptors);

/* A process that is being killed does not wait until a large tree is closed: a worker closes it. */
static int context_release(struct inode *inode, struct file *file)
{
	struct descriptor *d = file->private_data;

	if (free_descriptor(d)) {
		__module_get(THIS_MODULE);	/* the file's reference lasts until this returns */
		if (llist_add(&d->closing, &closing))
			queue_work(system_unbound_wq, &closing_work);
	}
	return 0;
}

static const struct file_operations context_fops = {
	.owner = THIS_MODULE,
	.release = context_release,
	.unlocked_ioctl = context_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = context_mmap,
	.poll = context_poll,
};

/*
 * Makes a context for task. take: if task has a context already, ends that context as task's exit
 * would; the caller has CAP_PERFMON.
 */
static struct perfctr_context *make_context(struct task_struct *task, bool take)
{
	struct perfctr_context *ctx = perfctr_open_tree(task);

	while (take && ctx == ERR_PTR(-EEXIST)) {
		if (fatal_signal_pending(current))
			return ERR_PTR(-EINTR);
		perfctr_tree_remove_member(task);
		ctx = perfctr_open_tree(task);
	}
	return ctx;
}

static struct perfctr_context *open_task_context(struct task_struct *task, u32 flags)
{
	bool create = flags & PERFCTR_OPEN_CREATE;
	unsigned int mode = create ? PTRACE_MODE_ATTACH_REALCREDS : PTRACE_MODE_READ_REALCREDS;
	int err = perfctr_lock_access(task, mode);
	struct perfctr_context *ctx;

	if (err)
		return ERR_PTR(err);
	if (create)
		ctx = make_context(task, flags & PERFCTR_OPEN_TAKE);
	else
		ctx = perfctr_find(task) ?: ERR_PTR(-ENOENT);
	perfctr_unlock_access(task);
	return ctx;
}

static int open_context(struct descriptor *d, const struct perfctr_open_args *open)
{
	struct task_struct *task;
	struct perfctr_context *ctx;

	task = open->tid ? perfctr_find_task(open->tid) : get_task_struct(current);
	if (!task)
		return -ESRCH;
	ctx = open_task_context(task, open->flags);
	put_task_struct(task);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	d->ctx = ctx;
	d->owns = open->flags & PERFCTR_OPEN_CREATE;
	if (d->owns)
		perfctr_set_payer(ctx->tree, &d->owner);
	return 0;
}

static int check_open_args(const struct perfctr_open_args *open)
{
	if (open->flags & ~(PERFCTR_OPEN_CREATE | PERFCTR_OPEN_TAKE) || open->tid < 0 ||
	    open->reserved)
		return -EINVAL;
	if (!(open->flags & PERFCTR_OPEN_TAKE))
		return 0;
	if (!(open->flags & PERFCTR_OPEN_CREATE))
		return -EINVAL;
	return perfmon_capable() ? 0 : -EPERM;
}

/*
 * The most memory that a descriptor allocates or keeps alive: a context, its tree, and the control,
 * the page and the thresholds that the context may have. Contexts with equal controls share one
 * struct, and each pays for the struct, because each may be the last to use it.
 */
static size_t most_descriptor_bytes(void)
{
	return sizeof(struct descriptor) + perfctr_context_bytes() + sizeof(struct perfctr_tree) +
	       perfctr_hw_most_bytes() + perfctr_thresholds_bytes() + PAGE_SIZE;
}

static long device_ioctl_open(const void __user *user)
{
	struct perfctr_open_args open;
	struct descriptor *d;
	u32 size;
	int fd;

	fd = perfctr_get_struct(&open, sizeof(open), user, &size);
	if (!fd)
		fd = check_open_args(&open);
	if (fd)
		return fd;
	d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
	if (!d)
		return -ENOMEM;
	fd = perfctr_owner_init(&d->owner, most_descriptor_bytes());
	if (!fd)
		fd = open_context(d, &open);
	if (!fd)
		fd = anon_inode_getfd("[perfctr]", &context_fops, d,
				      O_CLOEXEC | (d->owns ? O_RDWR : O_RDONLY));
	if (fd < 0)
		free_descriptor(d);
	return fd;
}

/*
 * Stops everything that holds counters. Nothing that counts events can be started until this
 * descriptor of the device is closed: meanwhile the counters are the caller's to use.
 */
static long device_ioctl_revoke(struct file *file)
{
	if (!perfmon_capable())
		return -EACCES;
	if (xchg(&file->private_data, &revoked) != &revoked)
		perfctr_refuse(true);
	return perfctr_stop_holders();
}

static int device_release(struct inode *inode, struct file *file)
{
	if (file->private_data == &revoked)
		perfctr_refuse(false);
	return 0;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	int err;

	if (cmd == PERFCTR_IOC_INFO)
		return device_ioctl_info(user);
	err = perfctr_may_count();
	if (err)
		return err;
	switch (cmd) {
	case PERFCTR_IOC_OPEN:
		return device_ioctl_open(user);
	case PERFCTR_IOC_KIND_CPUS:
		return perfctr_ioctl_kind_cpus(user);
	case PERFCTR_IOC_OPEN_MARK:
		return perfctr_ioctl_open_mark(user);
	case PERFCTR_IOC_MARK:
		return perfctr_ioctl_mark(user);
	case PERFCTR_IOC_SESSION:
		return perfctr_ioctl_session(user);
	case PERFCTR_IOC_HOLDERS:
		return perfctr_ioctl_holders(user);
	case PERFCTR_IOC_REVOKE:
		return device_ioctl_revoke(file);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.release = device_release,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static char *device_mode = "0666";
module_param(device_mode, charp, 0444);
MODULE_PARM_DESC(device_mode, "permissions of /dev/perfctr, in octal, until udev changes them (0666)");

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "perfctr",
	.fops = &device_fops,
};

/* Rather no device than one with other permissions than the administrator wanted. */
static int __init read_device_mode(void)
{
	if (kstrtou16(device_mode, 8, &device.mode) || device.mode > 0777) {
		pr_err("perfctr: device_mode=%s is no octal number from 0 to 0777: no /dev/perfctr\n",
		       device_mode);
		return -EINVAL;
	}
	return 0;
}

static int __init perfctr_init(void)
{
	int err = read_device_mode();

	if (err)
		return err;
	err = perfctr_events_init();
	if (err)
		return err;
	err = perfctr_lifecycle_init();
	if (err)
		goto no_lifecycle;
	err = perfctr_contexts_init();
	if (err)
		goto no_contexts;
	perfctr_measure_rdtsc();
	err = misc_register(&device);
	if (err)
		goto no_device;
	perfctr_debugfs_init();
	pr_info("perfctr: %s\n", perfctr_family);
	return 0;

no_device:
	perfctr_contexts_exit();
no_contexts:
	perfctr_lifecycle_exit();
no_lifecycle:
	perfctr_events_exit();
	return err;
}
module_init(perfctr_init);

/* Called for the module only, when no descriptor is left. */
static void __exit perfctr_exit(void)
{
	misc_deregister(&device);
	flush_work(&closing_work);	/* the worker may still run after the last close */
	perfctr_debugfs_exit();
	perfctr_sessions_exit();
	perfctr_events_exit();
	perfctr_contexts_exit();
	perfctr_lifecycle_exit();
}
module_exit(perfctr_exit);
