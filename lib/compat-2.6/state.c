// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * perfctr 2.6: states.  A thread keeps its own state until it unlinks the state or exits, even if
 * there are no handles.  The state of another thread lives as long as its handles.  A context of
 * ours begins at 0 with each control, so base keeps the counts from before.
 */
#define _GNU_SOURCE
#include "compat.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../internal.h"

struct compat_state {
	struct perfctr *context; /* NULL: unlinked */
	struct perfctr_pmu_info info;
	unsigned int references;
	pid_t tid;
	bool *here;	 /* false in a forked child, which has no states */
	bool foreign;	 /* another program made it: it can only be read */
	bool controlled; /* it has had a control */
	bool running;
	bool tsc_on;	/* of the last control that was not a stop, like n */
	unsigned int n; /* counters of that control */
	struct vperfctr_control installed;
	struct perfctr_sum_ctrs base;
};

static __thread struct compat_state *own __attribute__((tls_model("initial-exec")));
static pthread_key_t own_key;
static pthread_once_t own_key_once = PTHREAD_ONCE_INIT;
static int own_key_error;

void compat_state_release(struct compat_state *s)
{
	int error = errno;

	if (!s || __atomic_sub_fetch(&s->references, 1, __ATOMIC_ACQ_REL))
		return;
	perfctr_close(s->context);
	munmap(s->here, sizeof(*s->here));
	free(s);
	errno = error;
}

static void release_own(void *state)
{
	own = NULL;
	compat_state_release(state);
}

static void make_own_key(void)
{
	own_key_error = pthread_key_create(&own_key, release_own);
}

/* Makes s the calling thread's own state until the thread exits. */
static int keep_own(struct compat_state *s)
{
	int error;

	pthread_once(&own_key_once, make_own_key);
	error = own_key_error ? own_key_error : pthread_setspecific(own_key, s);
	if (error) {
		errno = error;
		return -1;
	}
	own = s;
	__atomic_add_fetch(&s->references, 1, __ATOMIC_RELAXED);
	return 0;
}

static void drop_own(void)
{
	struct compat_state *s = own;

	own = NULL;
	if (!s)
		return;
	pthread_setspecific(own_key, NULL);
	compat_state_release(s);
}

static bool is_attached(const struct compat_state *s)
{
	return s && s->context && *s->here;
}

static struct compat_state *open_state(pid_t tid, unsigned int flags)
{
	struct compat_state *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->references = 1;
	s->tid = tid;
	s->here = perfctr_map_wiped(sizeof(*s->here));
	if (!s->here) {
		free(s);
		return NULL;
	}
	*s->here = true;
	if (perfctr_get_pmu_info(&s->info) == 0)
		s->context = perfctr_open_tid(tid, flags);
	if (s->context)
		return s;
	compat_state_release(s);
	return NULL;
}

struct compat_state *compat_state_make(pid_t tid)
{
	bool is_own = tid == 0 || tid == gettid();
	struct compat_state *s;

	if (is_own && is_attached(own)) {
		errno = EEXIST;
		return NULL;
	}
	s = open_state(tid, PERFCTR_OPEN_CREATE);
	if (!s) {
		/* 2.6 gave ESRCH to a caller that did not trace the thread. */
		if (!is_own && (errno == EACCES || errno == EPERM))
			errno = ESRCH;
		return NULL;
	}
	if (!is_own)
		return s;
	drop_own();
	if (keep_own(s) == 0)
		return s;
	compat_state_release(s);
	return NULL;
}

struct compat_state *compat_state_find(void)
{
	struct compat_state *s;

	if (is_attached(own)) {
		__atomic_add_fetch(&own->references, 1, __ATOMIC_RELAXED);
		return own;
	}
	s = open_state(0, 0);
	if (s) {
		s->foreign = true;
		s->tsc_on = true;
		return s;
	}
	/*
	 * 2.6 gives EPERM if there is no state to be mapped.  Some backends know that, others
	 * cannot.
	 */
	if (errno == ENOENT || errno == ENOTSUP)
		errno = EPERM;
	return NULL;
}

pid_t compat_state_tid(const struct compat_state *s)
{
	return s->tid;
}

const struct vperfctr_control *compat_state_installed(const struct compat_state *s)
{
	return &s->installed;
}

/* Only the program that made a state may control it: EPERM.  ESRCH: it was unlinked. */
static int check_control(const struct compat_state *s)
{
	if (is_attached(s) && !s->foreign)
		return 0;
	errno = is_attached(s) ? EPERM : ESRCH;
	return -1;
}

static int stop_state(struct compat_state *s)
{
	if (s->controlled && perfctr_stop(s->context) < 0)
		return -1;
	s->running = false;
	s->installed.cpu_control = (struct perfctr_cpu_control){ 0 };
	return 0;
}

static void begin_state(struct compat_state *s, const struct vperfctr_control *c,
			const struct perfctr_sum_ctrs *before)
{
	s->base = *before;
	s->controlled = true;
	s->running = true;
	s->tsc_on = c->cpu_control.tsc_on;
	s->n = c->cpu_control.nractrs + c->cpu_control.nrictrs;
	s->installed = *c;
	s->installed.preserve = 0;
	if (!s->tsc_on)
		s->base.tsc = 0;
	for (unsigned int i = 0; i < s->n; i++)
		if (!(c->preserve >> i & 1))
			s->base.pmc[i] = 0;
}

/*
 * Reads the sums before a new control.  Sums that cannot be read are an error only if counters
 * shall continue.
 */
static int sum_before(const struct compat_state *s, unsigned int preserve,
		      struct perfctr_sum_ctrs *before)
{
	if (compat_state_sum(s, before) == 0)
		return 0;
	if (errno != EBUSY || preserve)
		return -1;
	*before = s->base;
	return 0;
}

int compat_state_control(struct compat_state *s, const struct vperfctr_control *c)
{
	struct perfctr_control control;
	struct perfctr_sum_ctrs before;

	if (check_control(s) < 0)
		return -1;
	if (compat_is_stop(&c->cpu_control))
		return stop_state(s);
	if (compat_translate(&c->cpu_control, &s->info, c->si_signo, &control) < 0 ||
	    sum_before(s, c->preserve, &before) < 0)
		return -1;
	if (perfctr_set_control(s->context, &control) < 0) {
		errno = compat_refusal(errno, &control);
		return -1;
	}
	begin_state(s, c, &before);
	return 0;
}

bool compat_state_runs(const struct compat_state *s)
{
	struct perfctr_counts counts;

	if (!is_attached(s))
		return false;
	if (s->foreign)
		return perfctr_read(s->context, &counts) == 0 &&
		       counts.flags & PERFCTR_COUNTS_STARTED;
	if (!s->running)
		return false;
	/*
	 * Only a thread's own context has a page here, so the thread is the caller, and has not
	 * exited.
	 */
	return perfctr_tsc_page(s->context) || perfctr_read(s->context, &counts) < 0 ||
	       !(counts.flags & PERFCTR_COUNTS_EXITED);
}

int compat_state_resume(struct compat_state *s)
{
	if (!(s->info.features & PERFCTR_FEATURE_SIGNAL)) {
		errno = ENOSYS;
		return -1;
	}
	if (check_control(s) < 0)
		return -1;
	if (perfctr_resume(s->context) == 0)
		return 0;
	if (errno == EALREADY)
		errno = EPERM;
	return -1;
}

int compat_state_unlink(struct compat_state *s)
{
	struct perfctr_sum_ctrs sum;
	int status, error;

	if (!s->context)
		return 0;
	if (check_control(s) < 0)
		return -1;
	if (s->controlled)
		perfctr_stop(s->context);
	status = compat_state_sum(s, &sum);
	if (status == 0)
		s->base = sum;
	error = errno;
	perfctr_close(s->context);
	s->context = NULL;
	s->running = false;
	if (s == own)
		drop_own();
	errno = error;
	return status;
}

static void add_counts(const struct compat_state *s, uint64_t tsc, const uint64_t *counter,
		       unsigned int n, struct perfctr_sum_ctrs *sum)
{
	sum->tsc = s->base.tsc + (s->tsc_on ? tsc : 0);
	for (unsigned int i = 0; i < n; i++)
		sum->pmc[i] = s->base.pmc[i] + counter[i];
}

/* The program that made a foreign state may have changed its control. */
static unsigned int find_counters(const struct compat_state *s, const struct perfctr_counts *counts)
{
	if (!s->foreign)
		return s->n;
	return counts->n_counters < COMPAT_COUNTERS ? counts->n_counters : COMPAT_COUNTERS;
}

int compat_state_sum(const struct compat_state *s, struct perfctr_sum_ctrs *sum)
{
	struct perfctr_counts counts;
	uint64_t counter[COMPAT_COUNTERS];
	unsigned int n;

	if (!s->context || !(s->controlled || s->foreign)) {
		*sum = s->base;
		return 0;
	}
	if (perfctr_read(s->context, &counts) < 0)
		return -1;
	n = find_counters(s, &counts);
	for (unsigned int i = 0; i < n; i++)
		counter[i] = counts.counter[i];
	*sum = s->base;
	add_counts(s, counts.tsc, counter, n, sum);
	return 0;
}

bool compat_state_sum_live(const struct compat_state *s, struct perfctr_sum_ctrs *sum)
{
	const struct perfctr_page *page;
	struct perfctr_snapshot now;

	/* If a counter interrupts, the counts in the page may be old. */
	if (!s->running || s->installed.cpu_control.nrictrs)
		return false;
	page = s->n ? perfctr_get_page(s->context) : perfctr_tsc_page(s->context);
	if (!page)
		return false;
	perfctr_read_snapshot(page, s->n, &now);
	add_counts(s, now.tsc, now.counter, s->n, sum);
	return true;
}

bool compat_state_tsc_live(const struct compat_state *s, unsigned long long *tsc)
{
	const struct perfctr_page *page = s->context ? perfctr_tsc_page(s->context) : NULL;

	if (s->tsc_on && s->context && !page)
		return false;
	*tsc = s->base.tsc + (s->tsc_on && page ? perfctr_read_tsc(page) : 0);
	return true;
}

unsigned long long compat_state_pmc(const struct compat_state *s, unsigned int i)
{
	if (i >= COMPAT_COUNTERS)
		return 0;
	if (!s->context || !(s->foreign || i < s->n))
		return s->base.pmc[i];
	return s->base.pmc[i] + perfctr_read_counter(s->context, i);
}
