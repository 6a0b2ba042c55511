// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: asks the security modules whether the caller may access a thread. The kernel does not
 * export the function that asks them. But it asks them when a process uses certain files of /proc.
 * The module uses these files in a mount of its own, because mount options of the administrator's
 * /proc could hide the thread.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include "compat.h"
#include "hooks.h"

static struct vfsmount *proc;
static struct pid_namespace *proc_ns;	/* of the thread numbers in proc, which holds it */
static bool selinux;

static bool has_file_system(const char *name)
{
	struct file_system_type *type = get_fs_type(name);

	if (type)
		module_put(type->owner);
	return type;
}

bool perfctr_has_selinux(void)
{
	return selinux;
}

void perfctr_security_open(void)
{
	struct file_system_type *type = get_fs_type("proc");
	struct vfsmount *mount;

	selinux = has_file_system("selinuxfs");
#ifndef PERFCTR_ALLOW_KERNEL
	if (selinux)
		pr_notice("perfctr: SELinux cannot be asked who may count: use the patch\n");
#endif
	if (!type)
		return;
	mount = kern_mount(type);
	module_put(type->owner);
	if (IS_ERR(mount)) {
		pr_notice("perfctr: without a /proc only callers with CAP_PERFMON may count other processes\n");
		return;
	}
	proc_ns = task_active_pid_ns(current);
	proc = mount;
}

void perfctr_security_close(void)
{
	if (proc)
		kern_unmount(proc);
}

/* The kernel checks PTRACE_MODE_READ for a caller that follows this link. */
static int ask_to_read(pid_t nr)
{
	char name[32];
	struct path path;
	int err;

	snprintf(name, sizeof(name), "%d/ns/mnt", nr);
	err = vfs_path_lookup(proc->mnt_root, proc, name, LOOKUP_FOLLOW, &path);
	if (!err)
		path_put(&path);
	return err;
}

/*
 * The kernel checks PTRACE_MODE_ATTACH for the caller at each read of this file. The module opens
 * the file with the kernel's credentials, because rules about files say nothing about threads. It
 * calls the file's show() without a buffer for the text: a read would allocate one, and the file
 * would keep it until the system call returns.
 */
static int ask_to_attach(pid_t nr)
{
	const struct cred *caller = override_creds(perfctr_kernel_cred);
	struct seq_file *text;
	struct file *file;
	char name[32];
	int err;

	snprintf(name, sizeof(name), "%d/personality", nr);
	file = file_open_root_mnt(proc, name, O_RDONLY, 0);
	revert_creds(caller);
	if (IS_ERR(file))
		return PTR_ERR(file);
	text = file->private_data;
	err = text->op->show(text, SEQ_START_TOKEN);
	fput(file);
	return err;
}

static int ask_about_task(pid_t nr, bool attach)
{
	int err = ask_to_read(nr);

	if (!err && attach)
		err = ask_to_attach(nr);
	switch (err) {
	case 0:
	case -EINTR:
	case -ENOMEM:
		return err;
	case -ENOENT:	/* the thread has exited, or has no namespaces any more */
	case -ESRCH:
		return -ESRCH;
	default:
		return -EACCES;
	}
}

static pid_t number_of_task(struct task_struct *task)
{
	return task_pid_nr_ns(task, proc_ns);
}

/* If the thread has the same number afterwards, no other thread had that number meanwhile. */
int perfctr_ask_security(struct task_struct *task, bool attach)
{
	pid_t nr;
	int err;

	if (!proc || !perfctr_kernel_cred)
		return -EACCES;
	do {
		nr = number_of_task(task);
		if (!nr)	/* the thread has exited, or is outside of proc_ns */
			return pid_alive(task) ? -EACCES : -ESRCH;
		err = ask_about_task(nr, attach);
	} while (number_of_task(task) != nr);
	return err;
}
