/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests of threads, and proofs that a thread may trace others.
 *
 * ptrace(2) has rules of its own, of security modules and of namespaces.  The kernel applies them
 * all when /proc/TID/mem is opened.  A caller that shows such a file, opened with exactly its own
 * credentials, may trace that thread, as long as the thread executes the same program as then.
 */
#ifndef PERFCTR_BPF_REQUEST_H
#define PERFCTR_BPF_REQUEST_H

struct proof {
	__u64 pid; /* of the thread, a struct pid; 0: none */
	__u64 mm;
};

/*
 * A request ends with the walk or read for which it was made, and when the thread executes another
 * program.
 */
struct request {
	__u32 action; /* enum perfctr_bpf_walk; 0: none */
	__u32 slot;
	__u64 generation;
	__s32 tid;
	__u32 scope;   /* PERFCTR_MARK_* */
	__u64 program; /* that made the request: self_exec_id */
	__u64 call[PERFCTR_BPF_ARGUMENTS];
	struct perfctr_bpf_reply reply;
	struct proof proof[PERFCTR_BPF_PROOFS];
	__s32 fd[PERFCTR_BPF_PROOFS]; /* that show the proofs */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct request);
} requests SEC(".maps");

static __u64 mem_operations; /* file operations of /proc/TID/mem */

static __always_inline struct file *file_at(struct task_struct *self, __s32 fd)
{
	struct fdtable *table = BPF_CORE_READ(self, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd), *file = NULL;

	if (fd < 0 || (__u32)fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	return file;
}

/*
 * The caller's other threads may close the file meanwhile, so that the values read could be another
 * file's.  Therefore the file is checked again afterwards.  If the same file is still there, with
 * this process's credentials, which no other process shares, it was there all the time, or the
 * caller could have shown it as well.
 */
static __always_inline void read_proof(struct task_struct *self, __s32 fd, struct proof *proof)
{
	struct file *file = file_at(self, fd);
	struct proof found = { 0 };
	struct inode *inode;
	struct pid *pid;

	if (!file || !mem_operations || (__u64)BPF_CORE_READ(file, f_op) != mem_operations ||
	    BPF_CORE_READ(file, f_cred) != self->cred)
		return;
	inode = BPF_CORE_READ(file, f_inode);
	found.mm = (__u64)BPF_CORE_READ(file, private_data);
	bpf_probe_read_kernel(
		&pid, sizeof(pid),
		(void *)inode -
			__builtin_preserve_field_info(((struct proc_inode *)0)->vfs_inode, 0) +
			__builtin_preserve_field_info(((struct proc_inode *)0)->pid, 0));
	found.pid = (__u64)pid;
	if (found.mm && file_at(self, fd) == file &&
	    (__u64)BPF_CORE_READ(file, f_op) == mem_operations &&
	    BPF_CORE_READ(file, f_cred) == self->cred)
		*proof = found;
}

static __always_inline void read_proofs(struct task_struct *self, struct request *r,
					const struct perfctr_bpf_proofs *proofs)
{
	for (int i = 0; i < PERFCTR_BPF_PROOFS; i++) {
		r->fd[i] = proofs->fd[i];
		if (proofs->fd[i] >= 0)
			read_proof(self, proofs->fd[i], &r->proof[i]);
	}
}

/*
 * The pid and mm of a proof exist while its file is open.  Later their addresses may be used again.
 */
static __noinline bool is_shown_still(struct task_struct *self, __s32 fd, __u64 pid, __u64 mm)
{
	struct proof proof = { 0 };

	read_proof(self, fd, &proof);
	return proof.pid == pid && proof.mm == mm;
}

static __always_inline bool is_proven(struct task_struct *self, const struct request *r,
				      struct task_struct *task)
{
	__u64 pid = (__u64)task->thread_pid, mm = (__u64)task->mm;
	__s32 fd = -1;

	for (int i = 0; mm && fd < 0 && i < PERFCTR_BPF_PROOFS; i++)
		if (r->proof[i].pid == pid && r->proof[i].mm == mm)
			fd = r->fd[i];
	return fd >= 0 && is_shown_still(self, fd, pid, mm);
}

static __always_inline void clear_request(struct request *r, struct task_struct *self)
{
	__builtin_memset(r, 0, sizeof(*r));
	r->program = self->self_exec_id;
}

/* Returns the thread's request, which is empty; NULL: the thread has no room for one. */
static __always_inline struct request *make_request(struct task_struct *self)
{
	struct request *r = bpf_task_storage_get(&requests, self, NULL, 0);

	if (r)
		clear_request(r, self);
	return r;
}

/*
 * Makes room for requests of the thread that reads "self".  There the kernel gives memory only if
 * it has some at once.  In "call" it may sleep until it has, and up to Linux 6.1 no storage of any
 * task is found on that CPU meanwhile.
 */
static __always_inline void make_room(struct task_struct *self)
{
	struct request *r;

	if (bpf_task_storage_get(&requests, self, NULL, 0))
		return;
	r = bpf_task_storage_get(&requests, self, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (r)
		clear_request(r, self);
}

static __always_inline bool has_ended(void)
{
	__u32 zero = 0;
	struct perfctr_bpf_info *i = bpf_map_lookup_elem(&info, &zero);

	return !i || i->ended;
}

static __always_inline struct request *request_of(struct task_struct *task)
{
	struct request *r = bpf_task_storage_get(&requests, task, NULL, 0);

	return r && r->program == task->self_exec_id && !has_ended() ? r : NULL;
}

/* The service shows a file of /proc/self/mem before anybody else can call. */
static __always_inline int learn_owner(struct task_struct *self, __s32 fd)
{
	struct file *file = file_at(self, fd);

	if (mem_operations || !file)
		return -EPERM;
	mem_operations = (__u64)BPF_CORE_READ(file, f_op);
	return 0;
}

#endif
