// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every kind of caller x perf_event_paranoid x owner of the thread x kind of count: perfctr and,
 * side by side in the same process, perf_event_open(2). perfctr must never allow what perf_events
 * refuses.
 */
#include "marks.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define USER_ID NOBODY
#define OTHER_ID (NOBODY - 1)

static const struct {
	const char *name;
	uid_t uid;
	uint64_t capabilities;
} callers[] = {
	{ "root", 0, ~0ull >> (63 - CAP_LAST_CAP) },
	{ "root without capabilities", 0, 0 },
	{ "user", USER_ID, 0 },
	{ "user with CAP_PERFMON", USER_ID, BIT_OF(CAP_PERFMON) },
	{ "user with CAP_SYS_ADMIN", USER_ID, BIT_OF(CAP_SYS_ADMIN) },
	{ "user with CAP_SYS_PTRACE", USER_ID, BIT_OF(CAP_SYS_PTRACE) },
	{ "user with CAP_PERFMON and CAP_SYS_PTRACE", USER_ID,
	  BIT_OF(CAP_PERFMON) | BIT_OF(CAP_SYS_PTRACE) },
};

/* The owner of the thread. */
enum owner { SELF, CHILD, OTHERS, ROOTS, UNDUMPABLE, N_OWNERS };
static const char *const owners[] = { "itself", "its child", "another user", "root", "undumpable" };

/*
 * The kind of count: a thread's user or kernel mode, or a CPU's, with all threads that run there.
 */
enum what { USER_MODE, KERNEL_MODE, CPU_USER, CPU_KERNEL, N_WHATS };
static const char *const whats[] = { "user mode", "kernel mode", "a CPU's user mode",
				     "a CPU's kernel mode" };

/* The call of perfctr. */
enum call {
	OPEN_AND_CONTROL,
	READ_HANDED_ON,
	MAP_HANDED_ON,
	START_HANDED_ON,
	CONTROL_HANDED_ON,
	N_CALLS
};
static const char *const calls[] = { "OPEN and CONTROL", "READ by root's descriptor",
				     "mmap of root's descriptor", "START by root's descriptor",
				     "CONTROL by root's descriptor" };

/* Root makes it before the process becomes the caller. */
struct scene {
	pid_t thread[N_OWNERS];
	int context[N_OWNERS][2]; /* of user and kernel mode, or -1 */
	int session[2];		  /* of user and kernel mode, or -1 */
};

struct outcome {
	unsigned int cells, allowed, stricter, wrong;
};

struct identity {
	uid_t uid;
	bool dumpable;
};

static void become_sleeper(const void *identity)
{
	const struct identity *i = identity;

	become(i->uid, i->uid ? 0 : ~0ull >> (63 - CAP_LAST_CAP));
	prctl(PR_SET_DUMPABLE, i->dumpable);
}

static pid_t sleeper_start(uid_t uid, bool dumpable)
{
	return sleeper_as(become_sleeper, &(struct identity){ uid, dumpable });
}

static int perf_events(enum what what, pid_t thread)
{
	bool kernel = what == KERNEL_MODE || what == CPU_KERNEL;
	bool cpu = what == CPU_USER || what == CPU_KERNEL;
	int fd = try_perf_dummy(cpu ? -1 : thread, cpu ? 0 : -1, kernel);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Each session has a counter of its own: root's two sessions and the caller's. */
static int control(int fd, enum what what, uint32_t counter)
{
	bool kernel = what == KERNEL_MODE || what == CPU_KERNEL;
	struct perfctr_control c =
		control_of(EVENTS({ counter, kernel ? KERNEL(INSTRUCTIONS) : USER(INSTRUCTIONS) }));

	c.flags = PERFCTR_CONTROL_STOPPED;
	return ioctl(fd, PERFCTR_IOC_CONTROL, &c) ? errno : 0;
}

static uint32_t counter_of_root(enum what what)
{
	return what == CPU_USER ? 1 : what == CPU_KERNEL ? 2 : 0;
}

static int open_and_control(enum what what, pid_t thread)
{
	bool cpu = what == CPU_USER || what == CPU_KERNEL;
	struct perfctr_session_args open = session_of(-1, what == CPU_USER ? NOT_PRIVILEGED : 0);
	int fd, error;

	fd = cpu ? try_session(&open) : try_context_open(thread, PERFCTR_OPEN_CREATE);
	if (fd < 0)
		return errno;
	error = control(fd, what, cpu ? 3 : 0);
	close(fd);
	return error;
}

static int read_it(int fd)
{
	struct perfctr_counts counts = { .size = sizeof(counts) };

	return ioctl(fd, PERFCTR_IOC_READ, &counts) ? errno : 0;
}

static int map_it(int fd)
{
	void *page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return errno;
	munmap(page, PERFCTR_PAGE_SIZE);
	return 0;
}

static int start_it(int fd)
{
	if (ioctl(fd, PERFCTR_IOC_START))
		return errno;
	EXPECT(ioctl(fd, PERFCTR_IOC_STOP) == 0);
	return 0;
}

static int perfctr(const struct scene *scene, enum call call, enum what what, enum owner owner)
{
	bool cpu = what == CPU_USER || what == CPU_KERNEL;
	int fd = cpu ? scene->session[what == CPU_KERNEL]
		     : scene->context[owner][what == KERNEL_MODE];

	switch (call) {
	case OPEN_AND_CONTROL:
		return open_and_control(what, owner == SELF ? 0 : scene->thread[owner]);
	case READ_HANDED_ON:
		return read_it(fd);
	case MAP_HANDED_ON:
		return map_it(fd);
	case START_HANDED_ON:
		return start_it(fd);
	default:
		return control(fd, what, counter_of_root(what));
	}
}

/*
 * Would perf_events refuse to open such a count? perf_events checks nothing when a descriptor that
 * was handed on is read or started: that is what a descriptor is for. perfctr then checks the mode
 * that is counted.
 */
static bool is_refused(enum call call, enum what what, const struct scene *scene, enum owner owner)
{
	pid_t thread = owner == SELF ? 0 : scene->thread[owner];

	if ((call == READ_HANDED_ON || call == MAP_HANDED_ON || call == START_HANDED_ON) &&
	    what == USER_MODE)
		return false;
	if (call == READ_HANDED_ON || call == MAP_HANDED_ON || call == START_HANDED_ON)
		thread = 0;
	return perf_events(what, thread) != 0;
}

static void try_cell(const struct scene *scene, const char *caller, int level, enum call call,
		     enum what what, enum owner owner, struct outcome *outcome)
{
	bool refused = is_refused(call, what, scene, owner);
	int error = perfctr(scene, call, what, owner);

	outcome->cells++;
	outcome->allowed += !error;
	outcome->stricter += error && !refused;
	if (error || !refused)
		return;
	outcome->wrong++;
	fprintf(stderr, "%s, level %d, %s, %s of %s: perfctr allows what perf_events refuses\n",
		caller, level, calls[call], whats[what], owners[owner]);
}

static void try_all(const struct scene *scene, const char *caller, int level,
		    struct outcome *outcome)
{
	for (enum call call = 0; call < N_CALLS; call++)
		for (enum what what = 0; what < N_WHATS; what++)
			for (enum owner owner = 0; owner < N_OWNERS; owner++) {
				bool cpu = what == CPU_USER || what == CPU_KERNEL;

				/*
				 * A CPU has no owner, and root has no descriptor of the caller's
				 * own thread.
				 */
				if (cpu ? owner != SELF : call != OPEN_AND_CONTROL && owner == SELF)
					continue;
				try_cell(scene, caller, level, call, what, owner, outcome);
			}
}

static void set_scene(struct scene *scene)
{
	memset(scene, -1, sizeof(*scene));
	scene->thread[CHILD] = sleeper_start(USER_ID, true);
	scene->thread[OTHERS] = sleeper_start(OTHER_ID, true);
	scene->thread[ROOTS] = sleeper_start(0, true);
	scene->thread[UNDUMPABLE] = sleeper_start(USER_ID, false);
}

/* Root counts other threads than those that the caller tries to count. */
static void count_for_root(struct scene *scene)
{
	pid_t pid;

	for (enum owner owner = CHILD; owner < N_OWNERS; owner++)
		for (int kernel = 0; kernel < 2; kernel++) {
			pid = sleeper_start(owner == ROOTS    ? 0
					    : owner == OTHERS ? OTHER_ID
							      : USER_ID,
					    owner != UNDUMPABLE);
			scene->context[owner][kernel] = try_context_open(pid, PERFCTR_OPEN_CREATE);
			EXPECT(scene->context[owner][kernel] >= 0);
			EXPECT(control(scene->context[owner][kernel],
				       kernel ? KERNEL_MODE : USER_MODE, 0) == 0);
		}
}

/* After all forks: a child would keep the sessions open. */
static void open_sessions(struct scene *scene)
{
	for (int kernel = 0; kernel < 2; kernel++) {
		enum what what = kernel ? CPU_KERNEL : CPU_USER;

		scene->session[kernel] = session_open(-1, kernel ? 0 : NOT_PRIVILEGED);
		EXPECT(control(scene->session[kernel], what, counter_of_root(what)) == 0);
	}
}

static void try_caller(size_t caller, int level, struct outcome *outcome)
{
	struct scene scene;

	set_scene(&scene);
	count_for_root(&scene);
	open_sessions(&scene);
	become(callers[caller].uid, callers[caller].capabilities);
	prctl(PR_SET_DUMPABLE, 1);
	try_all(&scene, callers[caller].name, level, outcome);
}

START_TEST(perfctr_allows_nobody_what_perf_events_refuses)
{
	struct outcome *sum =
		mmap(NULL, sizeof(*sum), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int before = set_paranoid(2);
	pid_t pid;

	ck_assert(sum != MAP_FAILED);
	for (int level = -1; level <= 3; level++) {
		set_paranoid(level);
		for (size_t caller = 0; caller < ARRAY_SIZE(callers); caller++) {
			int status;

			pid = fork();
			if (pid == 0) {
				try_caller(caller, level, sum);
				_exit(0);
			}
			ck_assert_int_eq(wait_for(pid, &status), pid);
			ck_assert_msg(status == 0, "%s: wait status %#x", callers[caller].name,
				      status);
		}
	}
	set_paranoid(before);
	printf("matrix: %u cells, %u allowed, %u stricter than perf_events, %u where perfctr allows what "
	       "perf_events refuses\n",
	       sum->cells, sum->allowed, sum->stricter, sum->wrong);
	ck_assert_uint_eq(sum->wrong, 0);
	ck_assert_uint_gt(sum->allowed, 0);
	ck_assert_uint_lt(sum->allowed, sum->cells);
}
END_TEST

SUITE(matrix, perfctr_allows_nobody_what_perf_events_refuses)
