// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Births that fail after the child has inherited everything: copy_process() finds an error after
 * copy_thread().
 */
#include "fuzz.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define AS_THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)

/* Nobody can write to these addresses. */
static uint64_t nowhere(struct fuzzer *f)
{
	uint64_t behind = (uintptr_t)f->arena + ARENA_PAGES * PAGE_BYTES;
	const uint64_t addresses[] = { behind, behind - below(f, 3) - 1, ~0ull << 12, 8 };

	return addresses[below(f, ARRAY_SIZE(addresses))];
}

/*
 * Makes a process that does not run on, if it comes to be after all. A thread must not come to be.
 */
static bool clone_fails(struct clone_args *args)
{
	long pid = syscall(SYS_clone3, args, sizeof(*args));

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return true;
	waitpid(pid, NULL, __WALL);
	return false;
}

static bool bad_pidfd(struct fuzzer *f)
{
	struct clone_args args = { .flags = CLONE_PIDFD, .pidfd = nowhere(f) };

	if (chance(f, 60))
		args.flags |= AS_THREAD;
	else
		args.exit_signal = SIGCHLD;
	return clone_fails(&args);
}

/* The number exists, or the caller may not choose it. */
static bool bad_tid(struct fuzzer *f)
{
	pid_t tid = 1;
	struct clone_args args = {
		.flags = chance(f, 50) ? AS_THREAD : 0,
		.set_tid = (uintptr_t)&tid,
		.set_tid_size = 1,
	};

	return clone_fails(&args);
}

static bool bad_cgroup(struct fuzzer *f)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP | (chance(f, 50) ? AS_THREAD : 0),
		.cgroup = chance(f, 50) ? (uint64_t)self.slot[0].fd : 1u << 20,
	};

	return clone_fails(&args);
}

/* No descriptor is left for the process. */
static bool no_pidfd(struct fuzzer *f)
{
	struct rlimit limit, none;
	int pidfd;
	struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
	};
	bool failed;

	if (!f->alone || getrlimit(RLIMIT_NOFILE, &limit))
		return false;
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = limit.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &none))
		return false;
	failed = clone_fails(&args);
	setrlimit(RLIMIT_NOFILE, &limit);
	return failed;
}

void op_failing_birth(struct fuzzer *f)
{
	static bool (*const births[])(struct fuzzer * f) = { bad_pidfd, bad_pidfd, bad_tid,
							     bad_cgroup, no_pidfd };
	unsigned int n = 1 + below(f, 4);

	while (n--)
		if (births[below(f, ARRAY_SIZE(births))](f))
			atomic_fetch_add(&shared->failed_births, 1);
}
