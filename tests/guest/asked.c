// SPDX-License-Identifier: GPL-2.0-or-later
#include "asked.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	uid_t uid;
	uint64_t capabilities;
} callers[] = {
	{ "root", 0, ~0ull >> (63 - CAP_LAST_CAP) },
	{ "user", NOBODY, 0 },
	{ "user with CAP_PERFMON", NOBODY, BIT_OF(CAP_PERFMON) },
	{ "user with CAP_SYS_PTRACE", NOBODY, BIT_OF(CAP_SYS_PTRACE) },
};
_Static_assert(ARRAY_SIZE(callers) == MAX_CALLERS, "what is asked has a place for each caller");

static const int levels[N_LEVELS] = { -1, 2 };

/*
 * Root makes it before the process becomes the caller, which inherits the children and descriptors.
 */
struct scene {
	pid_t child;   /* not counted */
	pid_t counted; /* counted and marked by root */
	int context, sampled, session[2], mark_fd;
	size_t ring_bytes; /* of the ring of samples */
	int perf, perf_cpu;
};

static void become_thread(const void *asker)
{
	const struct asker *a = asker;

	if (a->threads_enter)
		a->threads_enter();
	become(NOBODY, 0);
	prctl(PR_SET_DUMPABLE, 1);
}

static pid_t sleeper_start(const struct asker *asker)
{
	return sleeper_as(become_thread, asker);
}

static int close_error(int fd)
{
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int perf_self(const struct scene *scene)
{
	(void)scene;
	return close_error(try_perf_dummy(0, -1, false));
}

static int perf_self_kernel(const struct scene *scene)
{
	(void)scene;
	return close_error(try_perf_dummy(0, -1, true));
}

static int perf_child(const struct scene *scene)
{
	return close_error(try_perf_dummy(scene->child, -1, false));
}

static int perf_child_kernel(const struct scene *scene)
{
	return close_error(try_perf_dummy(scene->child, -1, true));
}

static int perf_counted(const struct scene *scene)
{
	return close_error(try_perf_dummy(scene->counted, -1, false));
}

static int perf_cpu(const struct scene *scene)
{
	(void)scene;
	return close_error(try_perf_dummy(-1, 0, false));
}

static int perf_cpu_kernel(const struct scene *scene)
{
	(void)scene;
	return close_error(try_perf_dummy(-1, 0, true));
}

static int read_perf(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) < 0 ? errno : 0;
}

static int perf_read(const struct scene *scene)
{
	return read_perf(scene->perf);
}

static int perf_cpu_read(const struct scene *scene)
{
	return read_perf(scene->perf_cpu);
}

static int map_at(int fd, off_t offset, size_t size)
{
	void *page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, offset);

	if (page == MAP_FAILED)
		return errno;
	munmap(page, size);
	return 0;
}

static int map(int fd)
{
	return map_at(fd, 0, PERFCTR_PAGE_SIZE);
}

static int perf_map(const struct scene *scene)
{
	return map(scene->perf);
}

static int perf_cpu_map(const struct scene *scene)
{
	return map(scene->perf_cpu);
}

static int no_argument(int fd, unsigned long request)
{
	return ioctl(fd, request, 0) ? errno : 0;
}

/* perf_events asks the same question for ENABLE and DISABLE. */
static int perf_change(const struct scene *scene)
{
	return no_argument(scene->perf, PERF_EVENT_IOC_DISABLE);
}

static int perf_cpu_change(const struct scene *scene)
{
	return no_argument(scene->perf_cpu, PERF_EVENT_IOC_DISABLE);
}

/*
 * Changes the event. perf_events has no call for that: the caller has to open another descriptor.
 */
static int perf_change_event(const struct scene *scene)
{
	return perf_change(scene) ?: perf_counted(scene);
}

static int perf_cpu_change_event(const struct scene *scene)
{
	return perf_cpu_change(scene) ?: perf_cpu(scene);
}

/* perfctr */
static int control(int fd, uint32_t counter, bool kernel, uint64_t period)
{
	struct perfctr_control c =
		control_of(EVENTS({ counter, kernel ? KERNEL(INSTRUCTIONS) : USER(INSTRUCTIONS) }));

	c.flags = PERFCTR_CONTROL_STOPPED;
	c.event[0].period = period;
	return ioctl(fd, PERFCTR_IOC_CONTROL, &c) ? errno : 0;
}

static int count(pid_t thread, bool kernel, uint64_t period)
{
	int fd = try_context_open(thread, PERFCTR_OPEN_CREATE), error;

	if (fd < 0)
		return errno;
	error = control(fd, 0, kernel, period);
	close(fd);
	return error;
}

static int count_self(const struct scene *scene)
{
	(void)scene;
	return count(0, false, 0);
}

static int count_self_kernel(const struct scene *scene)
{
	(void)scene;
	return count(0, true, 0);
}

static int count_child(const struct scene *scene)
{
	return count(scene->child, false, 0);
}

static int count_child_kernel(const struct scene *scene)
{
	return count(scene->child, true, 0);
}

static int count_child_periods(const struct scene *scene)
{
	return count(scene->child, false, 1000003);
}

static int sample_child(const struct scene *scene)
{
	struct perfctr_samples_args args = { .size = sizeof(args), .room_bytes = 1 << 12 };
	int fd = try_context_open(scene->child, PERFCTR_OPEN_CREATE), error;

	if (fd < 0)
		return errno;
	error = ioctl(fd, PERFCTR_IOC_SAMPLES, &args) ? errno : 0;
	close(fd);
	return error;
}

static int look_at_counted(const struct scene *scene)
{
	return close_error(try_context_open(scene->counted, 0));
}

static int on_mark(uint32_t action, pid_t thread, int mark_fd)
{
	return try_mark(action, PERFCTR_MARK_THREAD, thread, mark_fd) < 0 ? errno : 0;
}

static int mark_child(const struct scene *scene)
{
	int error = on_mark(PERFCTR_MARK_SET, scene->child, scene->mark_fd);

	return error ?: on_mark(PERFCTR_MARK_CLEAR, scene->child, scene->mark_fd);
}

static int get_mark(const struct scene *scene)
{
	return on_mark(PERFCTR_MARK_GET, scene->counted, -1);
}

static int clear_mark(const struct scene *scene)
{
	return on_mark(PERFCTR_MARK_CLEAR, scene->counted, -1);
}

static int open_session(int mark_fd, uint32_t policy, bool kernel)
{
	struct perfctr_session_args open = session_of(mark_fd, policy);
	int fd = try_session(&open), error;

	if (fd < 0)
		return errno;
	error = control(fd, 3, kernel, 0);
	close(fd);
	return error;
}

static int count_marked(const struct scene *scene)
{
	return open_session(scene->mark_fd, MARKED | NOT_PRIVILEGED, false);
}

static int count_cpus(const struct scene *scene)
{
	(void)scene;
	return open_session(-1, NOT_PRIVILEGED, false);
}

static int count_cpus_kernel(const struct scene *scene)
{
	(void)scene;
	return open_session(-1, 0, true);
}

static int count_marked_kernel(const struct scene *scene)
{
	return open_session(scene->mark_fd, MARKED, true);
}

static int read_counts(int fd)
{
	struct perfctr_counts counts = { .size = sizeof(counts) };

	return ioctl(fd, PERFCTR_IOC_READ, &counts) ? errno : 0;
}

static int read_context(const struct scene *scene)
{
	return read_counts(scene->context);
}

static int read_session(const struct scene *scene)
{
	return read_counts(scene->session[0]);
}

static int map_context(const struct scene *scene)
{
	return map(scene->context);
}

static int map_session(const struct scene *scene)
{
	return map(scene->session[0]);
}

static int get_control(const struct scene *scene)
{
	struct perfctr_control c = { .size = sizeof(c) };

	return ioctl(scene->context, PERFCTR_IOC_GET_CONTROL, &c) ? errno : 0;
}

/* The context has no record. EAGAIN: the caller may ask for one. */
static int take_record(const struct scene *scene)
{
	struct perfctr_exit_record record = { .size = sizeof(record) };

	if (ioctl(scene->context, PERFCTR_IOC_EXIT_RECORD, &record) && errno != EAGAIN)
		return errno;
	return 0;
}

static int read_periods(const struct scene *scene)
{
	struct perfctr_periods periods = { .size = sizeof(periods) };

	return ioctl(scene->context, PERFCTR_IOC_PERIODS, &periods) ? errno : 0;
}

static int read_sampled(const struct scene *scene)
{
	struct perfctr_sampled sampled = { .size = sizeof(sampled) };

	return ioctl(scene->sampled, PERFCTR_IOC_SAMPLED, &sampled) ? errno : 0;
}

static int consume(int fd)
{
	struct perfctr_consume nothing = { .size = sizeof(nothing) };

	return ioctl(fd, PERFCTR_IOC_CONSUME, &nothing) ? errno : 0;
}

static int consume_samples(const struct scene *scene)
{
	return consume(scene->sampled);
}

static int consume_trace(const struct scene *scene)
{
	return consume(scene->session[1]);
}

static int map_samples(const struct scene *scene)
{
	return map_at(scene->sampled, PERFCTR_RING_OFFSET, scene->ring_bytes);
}

static int start_context(const struct scene *scene)
{
	return no_argument(scene->context, PERFCTR_IOC_START);
}

static int stop_context(const struct scene *scene)
{
	return no_argument(scene->context, PERFCTR_IOC_STOP);
}

/* The context does not wait. EALREADY: the caller may resume it. */
static int resume_context(const struct scene *scene)
{
	int error = no_argument(scene->context, PERFCTR_IOC_RESUME);

	return error == EALREADY ? 0 : error;
}

static int control_context(const struct scene *scene)
{
	return control(scene->context, 0, false, 0);
}

static int start_session(const struct scene *scene)
{
	return no_argument(scene->session[0], PERFCTR_IOC_START);
}

static int stop_session(const struct scene *scene)
{
	return no_argument(scene->session[0], PERFCTR_IOC_STOP);
}

static int control_session(const struct scene *scene)
{
	return control(scene->session[0], 1, false, 0);
}

enum {
	ATTACHES = 1 /* needs the rights of ptrace(2), or CAP_PERFMON */
};

static const struct {
	const char *name;
	int (*perfctr)(const struct scene *scene);
	int (*perf)(const struct scene *scene);
	unsigned int flags;
} calls[] = {
	{ "OPEN and CONTROL of itself", count_self, perf_self, 0 },
	{ "OPEN and CONTROL of itself, kernel mode", count_self_kernel, perf_self_kernel, 0 },
	{ "OPEN and CONTROL of a child", count_child, perf_child, ATTACHES },
	{ "OPEN and CONTROL of a child, kernel mode", count_child_kernel, perf_child_kernel,
	  ATTACHES },
	{ "OPEN and CONTROL of a child, periods", count_child_periods, perf_child, ATTACHES },
	{ "OPEN and SAMPLES of a child", sample_child, perf_child, ATTACHES },
	{ "OPEN of a counted thread", look_at_counted, perf_counted, 0 },
	{ "MARK of a child", mark_child, perf_child, ATTACHES },
	{ "MARK, GET", get_mark, perf_counted, 0 },
	{ "SESSION of a mark", count_marked, perf_self, 0 },
	{ "SESSION of a mark, kernel mode", count_marked_kernel, perf_self_kernel, 0 },
	{ "SESSION of CPUs", count_cpus, perf_cpu, 0 },
	{ "SESSION of CPUs, kernel mode", count_cpus_kernel, perf_cpu_kernel, 0 },
	{ "READ", read_context, perf_read, 0 },
	{ "READ of a session", read_session, perf_cpu_read, 0 },
	{ "mmap", map_context, perf_map, 0 },
	{ "mmap of a session", map_session, perf_cpu_map, 0 },
	{ "GET_CONTROL", get_control, perf_read, 0 },
	{ "RECORD", take_record, perf_read, 0 },
	{ "PERIODS", read_periods, perf_read, 0 },
	{ "SAMPLED", read_sampled, perf_read, 0 },
	{ "mmap of samples", map_samples, perf_map, 0 },
	{ "CONSUME of samples", consume_samples, perf_map, 0 },
	{ "CONSUME of a trace", consume_trace, perf_cpu_map, 0 },
	{ "START", start_context, perf_change, 0 },
	{ "STOP", stop_context, perf_change, 0 },
	{ "RESUME", resume_context, perf_change, 0 },
	{ "CONTROL", control_context, perf_change_event, 0 },
	{ "START of a session", start_session, perf_cpu_change, 0 },
	{ "STOP of a session", stop_session, perf_cpu_change, 0 },
	{ "CONTROL of a session", control_session, perf_cpu_change_event, 0 },
	{ "MARK, CLEAR", clear_mark, perf_counted, ATTACHES }, /* the last one, because the mark is gone then */
};
_Static_assert(ARRAY_SIZE(calls) <= MAX_CALLS, "what is asked has a place for each call");

static int open_samples(pid_t thread, size_t *ring_bytes)
{
	struct perfctr_samples_args args = { .size = sizeof(args), .room_bytes = 1 << 16 };
	int fd = context_open(thread, PERFCTR_OPEN_CREATE);

	EXPECT(ioctl(fd, PERFCTR_IOC_SAMPLES, &args) == 0);
	EXPECT(control(fd, 0, false, 1000003) == 0);
	*ring_bytes = args.ring_bytes;
	return fd;
}

/* The trace is small enough for an ordinary user. */
static int open_traced(void)
{
	struct perfctr_session_args open = session_of(-1, NOT_PRIVILEGED);
	int fd;

	open.trace_bytes = PERFCTR_PAGE_SIZE;
	fd = try_session(&open);
	EXPECT(fd >= 0);
	return fd;
}

static void make_scene(const struct asker *asker, struct scene *scene)
{
	pid_t sampled;

	scene->child = sleeper_start(asker);
	scene->counted = sleeper_start(asker);
	sampled = sleeper_start(asker);
	scene->mark_fd = mark_open();
	mark(scene->counted, scene->mark_fd);
	scene->context = context_open(scene->counted, PERFCTR_OPEN_CREATE);
	EXPECT(control(scene->context, 0, false, 0) == 0);
	scene->sampled = open_samples(sampled, &scene->ring_bytes);
	scene->session[0] = session_open(-1, NOT_PRIVILEGED);
	EXPECT(control(scene->session[0], 1, false, 0) == 0);
	scene->session[1] = open_traced();
	scene->perf = try_perf_dummy(scene->counted, -1, false);
	scene->perf_cpu = try_perf_dummy(-1, 0, false);
	EXPECT(scene->perf >= 0 && scene->perf_cpu >= 0);
}

/* Tries one of the two children. The other one has the same credentials. */
static bool may_attach(const struct scene *scene)
{
	if (ptrace(PTRACE_ATTACH, scene->child, NULL, NULL))
		return false;
	EXPECT(wait_for(scene->child, NULL) == scene->child);
	EXPECT(ptrace(PTRACE_DETACH, scene->child, NULL, NULL) == 0);
	return true;
}

static bool is_refused(size_t caller, size_t call, const struct scene *scene)
{
	if (calls[call].perf(scene))
		return true;
	return calls[call].flags & ATTACHES &&
	       !(callers[caller].capabilities & BIT_OF(CAP_PERFMON)) && !may_attach(scene);
}

/* Without a security module, root is only refused what the machine does not have. */
static bool is_root(const struct asker *asker, size_t caller)
{
	return caller == 0 && !asker->enter;
}

static void ask(const struct asker *asker, size_t caller, size_t level, size_t call,
		const struct scene *scene, struct asked *asked)
{
	bool refused = is_refused(caller, call, scene);
	bool allowed = calls[call].perfctr(scene) == 0;

	asked->cells++;
	asked->allowed += allowed;
	asked->refused += refused;
	asked->allows[caller][level][call] = allowed;
	if (is_root(asker, caller) && !allowed)
		fprintf(stderr, "%s: refused to root\n", calls[call].name);
	EXPECT(allowed || !is_root(asker, caller));
	if (!refused || !allowed)
		return;
	asked->wrong++;
	fprintf(stderr, "%s, %s, level %d, %s: perfctr allows what Linux refuses\n", asker->name,
		callers[caller].name, levels[level], calls[call].name);
}

static void ask_as(const struct asker *asker, size_t caller, size_t level, struct asked *asked)
{
	struct scene scene;

	if (asker->enter && asker->before)
		asker->enter(asker);
	make_scene(asker, &scene);
	if (asker->enter && !asker->before)
		asker->enter(asker);
	become(callers[caller].uid, callers[caller].capabilities);
	prctl(PR_SET_DUMPABLE, 1);
	for (size_t call = 0; call < ARRAY_SIZE(calls); call++)
		ask(asker, caller, level, call, &scene, asked);
}

static void ask_in_child(const struct asker *asker, size_t caller, size_t level,
			 struct asked *asked)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ask_as(asker, caller, level, asked);
		_exit(0);
	}
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_msg(status == 0, "%s, %s, level %d: wait status %#x", asker->name,
		      callers[caller].name, levels[level], status);
}

const struct asked *ask_all(const struct asker *asker)
{
	struct asked *asked = mmap(NULL, sizeof(*asked), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int before = set_paranoid(2);

	ck_assert(asked != MAP_FAILED);
	for (size_t level = 0; level < N_LEVELS; level++) {
		set_paranoid(levels[level]);
		for (size_t caller = 0; caller < MAX_CALLERS; caller++)
			ask_in_child(asker, caller, level, asked);
	}
	set_paranoid(before);
	printf("%s: %u cells, %u allowed, %u refused by Linux, %u of them allowed by perfctr\n",
	       asker->name, asked->cells, asked->allowed, asked->refused, asked->wrong);
	return asked;
}

void expect_same(const struct asked *asked, const struct asked *without)
{
	unsigned int others = 0;

	for (size_t caller = 0; caller < MAX_CALLERS; caller++)
		for (size_t level = 0; level < N_LEVELS; level++)
			for (size_t call = 0; call < ARRAY_SIZE(calls); call++) {
				bool allowed = asked->allows[caller][level][call];

				if (allowed == without->allows[caller][level][call])
					continue;
				others++;
				fprintf(stderr,
					"%s, level %d, %s: %s only without a security module\n",
					callers[caller].name, levels[level], calls[call].name,
					allowed ? "refused" : "allowed");
			}
	ck_assert_uint_eq(others, 0);
}
