// SPDX-License-Identifier: LGPL-2.1-or-later
/* Starts, reads and stops a control, by the context of a thread or the session of a CPU. */
#include "event_set.h"

#include <errno.h>
#include <perfctr_samples.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

/*
 * A number of this process. A forked child does not find it, because its page is wiped at fork.
 * Objects with another number belong to the parent.
 */
static unsigned int *process;
/* The calling thread, if it counts itself. PAPI may be asked for the counts of another thread. */
static __thread const struct counted_thread *own __attribute__((tls_model("initial-exec")));

int count_open(void)
{
	const size_t size = sizeof(*process);
	void *page;

	if (process)
		return PAPI_OK;
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return PAPI_ENOMEM;
	if (madvise(page, size, MADV_WIPEONFORK) < 0) {
		munmap(page, size);
		return PAPI_ESYS;
	}
	process = page;
	return PAPI_OK;
}

static unsigned int process_number(void)
{
	static unsigned int last;

	if (!*process)
		*process = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return *process;
}

int count_error(void)
{
	switch (errno) {
	case EACCES:
	case EPERM:
		return PAPI_EPERM;
	case EBUSY:
	case EEXIST:
	case ENOSPC:
		return PAPI_ECNFLCT;
	case EINVAL:
		return PAPI_EINVAL;
	case ENODEV:
	case ENOTSUP:
		return PAPI_ENOSUPP;
	case ENOMEM:
		return PAPI_ENOMEM;
	default: /* PAPI passes errno on */
		return PAPI_ESYS;
	}
}

void count_close_thread(struct counted_thread *thread)
{
	perfctr_close(thread->context);
	if (own == thread)
		own = NULL;
	*thread = (struct counted_thread){ 0 };
}

int count_may_attach(pid_t tid)
{
	struct perfctr *probe = perfctr_open_with(BACKEND, tid, PERFCTR_OPEN_CREATE);

	/* Another event set of this process may have the context: the start will find out. */
	if (!probe && errno != EEXIST)
		return count_error();
	perfctr_close(probe);
	return PAPI_OK;
}

void count_close_session(struct event_set *set)
{
	perfctr_session_close(set->session);
	set->session = NULL;
}

static struct perfctr_session *session_of(int cpu)
{
	struct perfctr_session_options options = { .size = sizeof(options), .backend = BACKEND };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	options.cpus = &cpus;
	options.cpus_size = sizeof(cpus);
	return perfctr_session_open(&options);
}

int count_on_cpu(struct event_set *set, int cpu)
{
	struct perfctr_session *session = NULL;

	if (cpu >= CPU_SETSIZE)
		return PAPI_EINVAL;
	if (cpu >= 0) {
		session = session_of(cpu);
		if (!session)
			return count_error();
	}
	count_close_session(set);
	set->cpu = cpu;
	set->session = session;
	set->process = process_number();
	set->session_version = 0;
	return PAPI_OK;
}

/* A forked child leaves its parent's session alone, too. */
static int open_session(struct event_set *set)
{
	if (set->session && set->process == process_number())
		return PAPI_OK;
	return count_on_cpu(set, set->cpu);
}

/* A forked child leaves its parent's context alone. */
static int open_context(struct counted_thread *thread, pid_t tid)
{
	if (thread->process != process_number())
		count_close_thread(thread);
	if (thread->context)
		return PAPI_OK;
	thread->context = perfctr_open_with(BACKEND, tid, PERFCTR_OPEN_CREATE);
	if (!thread->context)
		return count_error();
	thread->process = process_number();
	if (!tid)
		own = thread;
	return PAPI_OK;
}

/* A new control clears the sums. */
static int install_control(struct counted_thread *thread, struct event_set *set)
{
	struct perfctr_control control = set->control;
	int status;

	if (set->cpu >= 0)
		status = perfctr_session_control(set->session, &control);
	else
		status = perfctr_set_control(thread->context, &control);
	if (status < 0)
		return -1;
	*(set->cpu >= 0 ? &set->session_version : &thread->version) = set->version;
	memset(set->base, 0, sizeof(set->base));
	/* Events with a period cannot be read by the page. */
	set->page = set->cpu >= 0 || set->inherit || set->overflows
			    ? NULL
			    : perfctr_get_page(thread->context);
	return 0;
}

/* The control is installed already: the sums continue, and their present values become the base. */
static int resume_control(struct counted_thread *thread, struct event_set *set)
{
	if (count_rebase(thread, set, NULL) != PAPI_OK)
		return -1;
	return set->cpu >= 0 ? perfctr_session_start(set->session) : perfctr_start(thread->context);
}

static int start_control(struct counted_thread *thread, struct event_set *set)
{
	uint64_t version = set->cpu >= 0 ? set->session_version : thread->version;

	/* Periods begin again, with the counts. */
	if (version != set->version || set->overflows)
		return install_control(thread, set);
	return resume_control(thread, set);
}

int count_start(struct counted_thread *thread, struct event_set *set)
{
	int status;

	/* The set has been attached since: another thread would get the signals. */
	if ((set->tid || set->cpu >= 0) && set->overflows)
		return PAPI_EINVAL;
	status = set->cpu >= 0 ? open_session(set) : open_context(thread, set->tid);
	if (status != PAPI_OK)
		return status;
	if (start_control(thread, set) < 0 &&
	    (errno != EBUSY || events_avoid_busy(set) != PAPI_OK || start_control(thread, set) < 0))
		return count_error();
	thread->started = 1;
	return PAPI_OK;
}

/* A set that a forked child inherits in started state belongs to its parent. */
int count_stop(struct counted_thread *thread, struct event_set *set)
{
	int status;

	if ((set->cpu >= 0 ? set->process : thread->process) != *process)
		return PAPI_OK;
	if (set->cpu >= 0)
		status = perfctr_session_stop(set->session);
	else
		status = perfctr_stop(thread->context);
	thread->started = 0;
	/* A thread that has exited does not count. */
	return status < 0 && errno != ESRCH ? count_error() : PAPI_OK;
}

void count_resume(struct counted_thread *thread)
{
	if (thread->context && thread->process == *process)
		perfctr_resume(thread->context);
}

static int read_by_call(struct counted_thread *thread, struct event_set *set)
{
	struct perfctr_counts counts;
	int status;

	if (set->cpu >= 0)
		status = perfctr_session_read(set->session, &counts);
	else
		status = perfctr_read_scope(thread->context,
					    set->inherit ? PERFCTR_SCOPE_TREE : PERFCTR_SCOPE_SELF,
					    &counts);
	if (status < 0)
		return count_error();
	for (uint32_t i = 0; i < set->control.n_events; i++)
		set->counts[i] = (long long)(counts.counter[i] - set->base[i]);
	return PAPI_OK;
}

static void read_stopped(struct event_set *set, const struct perfctr_snapshot *sums)
{
	for (uint32_t i = 0; i < set->control.n_events; i++)
		set->counts[i] = (long long)(sums->counter[i] - set->base[i]);
}

/* As perfctr_read_snapshot(), without the time stamp, and less the base. */
static void read_page(struct event_set *set)
{
	const struct perfctr_page *page = set->page;
	const uint32_t n = set->control.n_events;
	struct perfctr_snapshot sums;
	uint64_t ticket;

	do {
		ticket = page->counter[0].ticket;
		for (uint32_t i = 0; i < n; i++)
			set->counts[i] = (long long)(perfctr_sum_pmc(&page->counter[i],
								     page->counter[i].ticket) -
						     set->base[i]);
		if (__builtin_expect(perfctr_recheck(&page->counter[0], ticket), 1))
			return;
	} while (!perfctr_read_stopped(page, n, &sums));
	read_stopped(set, &sums);
}

/* PAPI's timer may expire, and its handler read, before the set is started. */
int count_read(struct counted_thread *thread, struct event_set *set)
{
	if ((set->cpu >= 0 ? set->session_version : thread->version) != set->version)
		return PAPI_ENOTRUN;
	if (!set->page || own != thread || thread->process != *process)
		return read_by_call(thread, set);
	read_page(set);
	return PAPI_OK;
}

int count_rebase(struct counted_thread *thread, struct event_set *set, const long long *counts)
{
	int status = count_read(thread, set);

	if (status != PAPI_OK)
		return status;
	for (uint32_t i = 0; i < set->control.n_events; i++)
		set->base[i] += (uint64_t)(set->counts[i] - (counts ? counts[i] : 0));
	return PAPI_OK;
}
