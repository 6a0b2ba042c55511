// SPDX-License-Identifier: GPL-2.0-only
/* /dev/perfctr and the descriptors of contexts. */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/poll.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>
#include "session.h"
#include "user.h"

static struct perfctr_costs costs __ro_after_init;

static long ioctl_info(void __user *user)
{
	const struct perfctr_pmu *pmu = perfctr_pmu;
	struct perfctr_use contexts, sessions;
	struct perfctr_pmu_info info;
	bool ask;
	u32 size;
	int err = perfctr_get_struct(&info, sizeof(info), user, &size);

	if (err)
		return err;
	ask = info.holder == PERFCTR_HOLDER_ASK;
	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	info.abi_version = PERFCTR_ABI_VERSION;
	strscpy_pad(info.family, perfctr_family, sizeof(info.family));
	info.features = perfctr_features();
	info.holder = perfctr_holder(ask);
	info.tsc_khz = tsc_khz;
	info.n_contexts = perfctr_context_number();
	info.cost_rdtsc = costs.rdtsc;
	info.cost_rdpmc = costs.rdpmc;
	info.cost_rdmsr = costs.rdmsr;
	info.cost_wrmsr = costs.wrmsr;
	perfctr_get_use(&contexts, &sessions);
	info.context_counters = contexts.slots;
	info.session_counters = sessions.slots;
	info.user_session_counters = perfctr_user_session_counters();
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

/* The descriptor that made a context rules it; others may only look. */
static bool is_owner(const struct file *file)
{
	return file->f_mode & FMODE_WRITE;
}

static int control_context(void *context, struct perfctr_control *control)
{
	struct perfctr_hw_control *hw = perfctr_compile(control);

	if (IS_ERR(hw))
		return PTR_ERR(hw);
	return perfctr_install(context, hw, control->flags);
}

static int read_context(void *context, struct perfctr_counts *counts)
{
	perfctr_read(context, counts);
	return 0;
}

static long ioctl_record(struct perfctr_context *ctx, void __user *user)
{
	struct perfctr_record *record = kmalloc(sizeof(*record), GFP_KERNEL);
	u32 size;
	int err;

	if (!record)
		return -ENOMEM;
	err = perfctr_get_struct(record, sizeof(*record), user, &size);
	if (!err) {
		mutex_lock(&ctx->tree->lock);
		err = perfctr_next_record(ctx->tree, record);
		mutex_unlock(&ctx->tree->lock);
	}
	if (!err)
		err = perfctr_put_struct(user, record, sizeof(*record), size);
	kfree(record);
	return err;
}

static long context_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct perfctr_context *ctx = file->private_data;
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case PERFCTR_IOC_READ:
		return perfctr_user_read(user, PERFCTR_SCOPE_TREE, read_context, ctx);
	case PERFCTR_IOC_CONTROL:
		if (!is_owner(file))
			return -EPERM;
		return perfctr_user_control(user, control_context, ctx);
	case PERFCTR_IOC_START:
		return is_owner(file) ? perfctr_start(ctx) : -EPERM;
	case PERFCTR_IOC_STOP:
		return is_owner(file) ? perfctr_stop(ctx) : -EPERM;
	case PERFCTR_IOC_RECORD:
		return is_owner(file) ? ioctl_record(ctx, user) : -EPERM;
	default:
		return -ENOTTY;
	}
}

static __poll_t context_poll(struct file *file, struct poll_table_struct *wait)
{
	struct perfctr_context *ctx = file->private_data;

	poll_wait(file, &ctx->tree->wait, wait);
	return READ_ONCE(ctx->tree->n_records) ? EPOLLIN | EPOLLRDNORM : 0;
}

static int context_mmap(struct file *file, struct vm_area_struct *vma)
{
	return perfctr_mmap(file->private_data, vma);
}

static int context_release(struct inode *inode, struct file *file)
{
	struct perfctr_context *ctx = file->private_data;

	if (is_owner(file))
		perfctr_close(ctx);
	perfctr_put(ctx);
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
 * exec_update_lock: permission is checked against the credentials and the image that the context
 * then counts, not against those of before an exec.
 */
static struct perfctr_context *open_task(struct task_struct *task, bool create)
{
	struct rw_semaphore *lock = &task->signal->exec_update_lock;
	unsigned int mode = create ? PTRACE_MODE_ATTACH_REALCREDS : PTRACE_MODE_READ_REALCREDS;
	struct perfctr_context *ctx;

	if (down_read_killable(lock))
		return ERR_PTR(-EINTR);
	if (task != current && !ptrace_may_access(task, mode))
		ctx = ERR_PTR(-EACCES);
	else if (create)
		ctx = perfctr_attach(task);
	else
		ctx = perfctr_find(task) ?: ERR_PTR(-ENOENT);
	up_read(lock);
	return ctx;
}

static long ioctl_open(const void __user *user)
{
	struct perfctr_context *ctx;
	struct perfctr_open open;
	struct task_struct *task;
	bool create;
	u32 size;
	int fd;

	fd = perfctr_get_struct(&open, sizeof(open), user, &size);
	if (fd)
		return fd;
	if (open.flags & ~PERFCTR_OPEN_CREATE || open.tid < 0 || open.reserved)
		return -EINVAL;
	create = open.flags & PERFCTR_OPEN_CREATE;

	task = open.tid ? find_get_task_by_vpid(open.tid) : get_task_struct(current);
	if (!task)
		return -ESRCH;
	ctx = open_task(task, create);
	put_task_struct(task);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);

	fd = anon_inode_getfd("[perfctr]", &context_fops, ctx,
			      O_CLOEXEC | (create ? O_RDWR : O_RDONLY));
	if (fd < 0) {
		if (create)
			perfctr_close(ctx);
		perfctr_put(ctx);
	}
	return fd;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case PERFCTR_IOC_INFO:
		return ioctl_info(user);
	case PERFCTR_IOC_OPEN:
		return ioctl_open(user);
	case PERFCTR_IOC_GROUP:
		return perfctr_ioctl_group(user);
	case PERFCTR_IOC_MARK:
		return perfctr_ioctl_mark(user);
	case PERFCTR_IOC_SESSION:
		return perfctr_ioctl_session(user);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "perfctr",
	.mode = 0666,
	.fops = &device_fops,
};

static int __init perfctr_init(void)
{
	int err = perfctr_contexts_init();

	if (!err)
		err = perfctr_reserve_init();
	if (!err)
		err = misc_register(&device);
	if (err)
		return err;
	perfctr_measure_costs(&costs);
	perfctr_debugfs_init();
	pr_info("perfctr: %s\n", perfctr_family);
	return 0;
}
device_initcall(perfctr_init);
