/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The members of the kernel's structs that the programs use.  The loader adapts them to the running
 * kernel.
 */
#ifndef PERFCTR_BPF_KERNEL_H
#define PERFCTR_BPF_KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pid {
	unsigned int level; /* of its pid namespace */
};

struct user_namespace {
	struct user_namespace *parent;
	int level; /* 0: the initial one */
	struct {
		unsigned int val;
	} owner;
};

/*
 * The type of members that kernels declare in different ways, and of which only the place matters.
 * It is not an empty struct, because clang 19 crashes on that.
 */
struct any {
	unsigned char first;
};

struct cred {
	struct {
		unsigned int val;
	} uid, gid, suid, sgid, euid, egid;
	struct any cap_permitted, cap_effective; /* 64 bits each, however they are declared */
	struct user_namespace *user_ns; /* in which they are valid */
};

/*
 * The declaration of flags depends on the version.  Before Linux 7.2, it contains the dumpability.
 */
struct mm_struct {
	unsigned long flags;
};

struct mm_struct___bitmap {
	struct any flags;
};

struct inode {
	unsigned char first;
};

/* fs/proc/internal.h */
struct proc_inode {
	struct pid *pid; /* of the directory in /proc that contains it */
	struct inode vfs_inode;
};

struct file {
	const void *f_op;
	const struct cred *f_cred;
	void *private_data;
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct signal_struct {
	struct {
		int counter;
	} live;
};

struct sched_entity {
	__u64 sum_exec_runtime;
	__u64 nr_migrations;
};

struct task_struct {
	unsigned int __state;
	int on_cpu;
	int pid;
	int tgid;
	unsigned int flags;
	unsigned int in_execve : 1;
	__u64 self_exec_id; /* grows with each program that the task executes */
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	struct sched_entity se;
	struct task_struct *real_parent;
	struct pid *thread_pid;
	struct cred *cred;
	struct signal_struct *signal;
	struct files_struct *files;
	struct mm_struct *mm;
	void *exec_state; /* since Linux 7.2 */
};

struct task_struct___byte {
	unsigned char on_cpu; /* since Linux 7 */
};

struct linux_binprm {
	unsigned int secureexec : 1;
	unsigned int interp_flags;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	void *key;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#define TASK_DEAD 0x80 /* include/linux/sched.h */
#define PF_IO_WORKER 0x10
#define PF_USER_WORKER 0x4000
#define PF_KTHREAD 0x200000
#define BINPRM_FLAGS_ENFORCE_NONDUMP 1 /* include/linux/binfmts.h: the program may not be read */
#define MMF_DUMPABLE_MASK 3	       /* include/linux/sched/coredump.h */
#define SUID_DUMP_USER 1
#define CAP_SYS_PTRACE 19
#define MAX_LEVELS 33 /* of user namespaces: kernel/user_namespace.c */

static __always_inline bool is_on_cpu(const struct task_struct *task)
{
	if (__builtin_preserve_field_info(task->on_cpu, BPF_FIELD_BYTE_SIZE) == sizeof(char))
		return ((const struct task_struct___byte *)task)->on_cpu;
	return task->on_cpu;
}

/*
 * The offset of dumpable in struct task_exec_state; 0: there is none.  perfctr-bpfd looks it up
 * itself.  For a type that the kernel lacks, libbpf would search the modules, which needs
 * CAP_SYS_ADMIN.
 */
const volatile __u32 dumpable_at;

/*
 * Not inline, so that no compiler moves the use of an offset that the kernel lacks out of a loop.
 */
static __noinline bool is_dumpable(struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct mm_struct___bitmap *other = (void *)mm;
	__u64 flags = 0;

	if (!mm)
		return false;
	if (bpf_core_field_exists(task->exec_state)) {
		__u32 dumpable = 0;

		if (dumpable_at)
			bpf_probe_read_kernel(&dumpable, sizeof(dumpable),
					      BPF_CORE_READ(task, exec_state) + dumpable_at);
		return dumpable == SUID_DUMP_USER;
	}
	if (bpf_core_field_exists(mm->flags))
		flags = BPF_CORE_READ(mm, flags);
	else
		bpf_probe_read_kernel(&flags, sizeof(flags),
				      __builtin_preserve_access_index(&other->flags));
	return (flags & MMF_DUMPABLE_MASK) == SUID_DUMP_USER;
}

/* May the user watch the task without privilege?  Does not look at marks. */
static __always_inline bool is_open_to(struct task_struct *task, __u32 uid)
{
	const struct cred *cred = BPF_CORE_READ(task, cred);

	return is_dumpable(task) && uid == BPF_CORE_READ(cred, uid.val) &&
	       uid == BPF_CORE_READ(cred, euid.val) && uid == BPF_CORE_READ(cred, suid.val);
}

#endif
