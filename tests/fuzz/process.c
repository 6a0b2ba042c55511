// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes and threads that come, execute programs, are traced and moved, and die. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU1_ONLINE "/sys/devices/system/cpu/cpu1/online"
#define MAX_DEPTH 2

struct process self;

void publish(pid_t tid)
{
	for (size_t i = 0; i < N_PUBLIC; i++) {
		int none = 0;

		if (atomic_compare_exchange_strong(&shared->worker[self.worker].tid[i], &none, tid))
			return;
	}
}

void retract(pid_t tid)
{
	for (size_t i = 0; i < N_PUBLIC; i++) {
		int old = tid;

		if (atomic_compare_exchange_strong(&shared->worker[self.worker].tid[i], &old, 0))
			return;
	}
}

static pid_t any_public(struct fuzzer *f, unsigned int worker)
{
	size_t start = below(f, N_PUBLIC);
	pid_t tid = 0;

	for (size_t i = 0; i < N_PUBLIC && !tid; i++)
		tid = atomic_load(&shared->worker[worker].tid[(start + i) % N_PUBLIC]);
	return tid;
}

static pid_t any_child(struct fuzzer *f)
{
	return self.child[below(f, N_CHILDREN)];
}

/* 0 means the caller. */
pid_t any_tid(struct fuzzer *f)
{
	switch (below(f, 20)) {
	case 0:
		return awkward(f);
	case 1:
		return below(f, 2) ? 1 : shared->supervisor;
	case 2:
	case 3:
		return any_public(f, below(f, N_WORKERS));
	case 4:
	case 5:
	case 6:
		return any_public(f, self.worker);
	case 7:
	case 8:
	case 9:
	case 10:
		return any_child(f);
	default:
		return 0;
	}
}

void process_init(unsigned int worker, bool privileged)
{
	memset(&self, 0, sizeof(self));
	for (size_t i = 0; i < N_SLOTS; i++)
		atomic_store(&self.slot[i].fd, -1);
	atomic_store(&self.slot[0].fd, open("/dev/perfctr", O_RDWR | O_CLOEXEC));
	self.slot[0].kind = DEVICE;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, self.pair))
		self.pair[0] = self.pair[1] = -1;
	atomic_store(&self.perf, -1);
	self.worker = worker;
	self.privileged = privileged;
	self.user = !privileged;
	publish(getpid());
}

/* The state that a child process has of its parent. */
static void process_fork(struct fuzzer *f, bool beside_threads)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(self.child, 0, sizeof(self.child));
	/*
	 * The kernel copies descriptors and memory one after the other. The threads may end in
	 * between.
	 */
	self.doubtful |= beside_threads;
	atomic_store(&self.threads, 0);
	for (size_t i = 0; i < N_SLOTS; i++)
		self.slot[i].own = false;
	self.depth++;
	f->first = true;
	memory_fork();
}

/* Called before other processes come to hold them, too. */
static void share_slots(void)
{
	for (size_t i = 0; i < N_SLOTS; i++)
		self.slot[i].own = false;
}

static pid_t *empty_child(void)
{
	for (size_t i = 0; i < N_CHILDREN; i++)
		if (!self.child[i])
			return &self.child[i];
	return NULL;
}

static void forget(pid_t *child)
{
	retract(*child);
	*child = 0;
}

static void end_child(pid_t *child)
{
	kill(*child, SIGKILL);
	waitpid(*child, NULL, __WALL);
	forget(child);
}

void process_end(void)
{
	while (atomic_load(&self.threads))
		usleep(1000);
	for (size_t i = 0; i < N_CHILDREN; i++)
		if (self.child[i])
			end_child(&self.child[i]);
	retract(getpid());
}

/* The numbers of the child's operations continue its parent's. */
static void continue_as_child(struct fuzzer *f, bool beside_threads)
{
	char path[sizeof(f->path)];

	process_fork(f, beside_threads);
	if (self.depth == 1 && self.privileged && chance(f, 30)) {
		/* The child keeps descriptors of root. */
		self.privileged = false;
		if (syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY))
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* again: the change of ids has cleared it */
	}
	snprintf(path, sizeof(path), "%.30s.%llu", f->path, (unsigned long long)f->operation);
	memcpy(f->path, path, sizeof(path));
	f->seed = mix(f->seed, f->operation);
	run_operations(f, 0, 10 + below(f, 200));
	if (chance(f, 50))
		process_end();
	_exit(0);
}

void op_fork(struct fuzzer *f)
{
	bool beside_threads = atomic_load(&self.threads) > 0;
	pid_t *child = empty_child(), pid;

	if (!f->first || !child || self.depth == MAX_DEPTH)
		return;
	share_slots();
	pid = fork();
	if (!pid)
		continue_as_child(f, beside_threads);
	if (pid < 0)
		return;
	*child = pid;
	publish(pid);
	/* Mostly the child lives beside its parent for a while. */
	if (chance(f, 20)) {
		waitpid(pid, NULL, 0);
		forget(child);
	}
}

/* The programs that the supervisor has put there. The last one does not exist. */
static const char *any_program(struct fuzzer *f)
{
	static const char *const names[] = { "loop", "loop-root", "loop-secret", "nothing" };

	return names[below(f, ARRAY_SIZE(names))];
}

static void execute(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", shared->directory, name);
	execl(path, name, NULL);
	_exit(0);
}

static void *read_without_end(void *unused)
{
	struct perfctr_pmu_info info;

	(void)unused;
	for (;;) {
		info.size = sizeof(info);
		syscall(SYS_ioctl, self.slot[0].fd, PERFCTR_IOC_INFO, &info);
	}
	return NULL;
}

/* With a second thread that the exec ends, or without. */
void op_exec(struct fuzzer *f)
{
	const char *name = any_program(f);
	bool threaded = chance(f, 30), wait = chance(f, 50);
	pid_t *child = empty_child(), pid;
	pthread_t thread;

	if (!f->first || !child)
		return;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (threaded)
			pthread_create(&thread, NULL, read_without_end, NULL);
		execute(name);
	}
	if (pid < 0)
		return;
	*child = pid;
	publish(pid);
	if (wait) {
		waitpid(pid, NULL, 0);
		forget(child);
	}
}

void op_vfork(struct fuzzer *f)
{
	const char *name = any_program(f);
	bool executes = chance(f, 50);
	pid_t pid;

	if (!f->first)
		return;
	pid = vfork();
	if (!pid) {
		if (executes)
			execute(name);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* A child that does nothing, or is switched often, so that others can act on it. */
void op_sleeper(struct fuzzer *f)
{
	pid_t *child = empty_child(), pid;
	bool restless = chance(f, 30);

	if (!f->first || !child)
		return;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			if (restless)
				usleep(2000);
			else
				pause();
	}
	if (pid < 0)
		return;
	*child = pid;
	publish(pid);
}

struct start {
	struct fuzzer fuzzer;
	uint64_t operations;
};

static struct start starts[MAX_THREADS];
static atomic_bool start_used[MAX_THREADS];

static void *be_thread(void *argument)
{
	struct start *start = argument;

	publish(gettid());
	run_operations(&start->fuzzer, 0, start->operations);
	retract(gettid());
	atomic_store(&start_used[start - starts], false);
	atomic_fetch_sub(&self.threads, 1);
	return NULL;
}

void op_thread(struct fuzzer *f)
{
	pthread_attr_t attributes;
	struct start *start;
	pthread_t thread;
	size_t i = 0;

	if (!f->first || self.depth == MAX_DEPTH)
		return;
	if (!atomic_load(&self.threads)) /* some were not inherited */
		memset(start_used, 0, sizeof(start_used));
	while (i < MAX_THREADS && atomic_load(&start_used[i]))
		i++;
	if (i == MAX_THREADS)
		return;
	share_slots();
	start = &starts[i];
	snprintf(start->fuzzer.path, sizeof(start->fuzzer.path), "%.30s.%llu", f->path,
		 (unsigned long long)f->operation);
	fuzzer_init(&start->fuzzer, mix(f->seed, f->operation), false);
	start->operations = 10 + below(f, 100);
	atomic_store(&start_used[i], true);
	atomic_fetch_add(&self.threads, 1);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	if (pthread_create(&thread, &attributes, be_thread, start)) {
		atomic_store(&start_used[i], false);
		atomic_fetch_sub(&self.threads, 1);
	}
	pthread_attr_destroy(&attributes);
}

void op_kill(struct fuzzer *f)
{
	static const int signals[] = { SIGSTOP, SIGCONT, SIGUSR1, 0 };
	size_t i = below(f, N_CHILDREN);

	if (!f->first || !self.child[i])
		return;
	if (chance(f, 60))
		end_child(&self.child[i]);
	else
		kill(self.child[i], signals[below(f, ARRAY_SIZE(signals))]);
}

void op_reap(struct fuzzer *f)
{
	size_t i = below(f, N_CHILDREN);

	if (!f->first || !self.child[i])
		return;
	if (waitpid(self.child[i], NULL, WNOHANG) > 0)
		forget(&self.child[i]);
}

/* Attaches, makes a call while the child is stopped, and detaches. */
void op_trace(struct fuzzer *f)
{
	pid_t *child = &self.child[below(f, N_CHILDREN)];
	int status;

	if (!f->first || !*child || ptrace(PTRACE_ATTACH, *child, 0, 0))
		return;
	if (waitpid(*child, &status, __WALL) != *child || !WIFSTOPPED(status)) {
		forget(child);
		return;
	}
	op_call(f);
	/*
	 * The child may wait in a system call that it continues. Then it does not stop again, but
	 * can die.
	 */
	if (chance(f, 30) && !ptrace(PTRACE_SINGLESTEP, *child, 0, 0)) {
		end_child(child);
		return;
	}
	ptrace(PTRACE_DETACH, *child, 0, 0);
}

void op_affinity(struct fuzzer *f)
{
	pid_t tid = chance(f, 60) ? 0 : any_child(f);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	switch (below(f, 3)) {
	case 0:
		CPU_SET(1, &cpus);
		break;
	case 1:
		CPU_SET(1, &cpus);
		__attribute__((fallthrough));
	default:
		CPU_SET(0, &cpus);
	}
	sched_setaffinity(tid, sizeof(cpus), &cpus);
}

/* The supervisor brings the CPU back at the end of the round. */
void op_hotplug(struct fuzzer *f)
{
	int fd;

	if (!self.privileged)
		return;
	fd = open(CPU1_ONLINE, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, chance(f, 40) ? "0" : "1", 1) < 0)
		errno = 0;
	close(fd);
}
