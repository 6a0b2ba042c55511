// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sessions: a set for each root of a mark, or one for each CPU. */
#define _GNU_SOURCE
#include "perf_mark.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct perf_session {
	struct perfctr_session base;
	struct perf_mark *mark;	   /* NULL: the session counts CPUs, or the mark is closed */
	struct perf_session *next; /* the next session of the mark */
	bool by_cpu;
	unsigned int policy;
	unsigned int n_cpus; /* by_cpu: one more than the largest number */
	unsigned char *cpus; /* by_cpu: bitmap, as in the options */
	size_t cpus_size;
	struct perfctr_control control;
	bool has_control, started;
	/* One for each root of the mark, or for each CPU.  An empty set counts nothing. */
	struct perf_set *set;
	unsigned int n_sets;
};

static struct perf_session *session_of(struct perfctr_session *session)
{
	return (struct perf_session *)session;
}

static const struct perf_session *const_session_of(const struct perfctr_session *session)
{
	return (const struct perf_session *)session;
}

struct perf_session *perfctr_perf_session_next(const struct perf_session *s)
{
	return s->next;
}

void perfctr_perf_session_orphan(struct perf_session *s)
{
	s->mark = NULL;
}

/* Checks that sets on threads or on CPUs can do what the options want. */
static int check_options(const struct perfctr_session_options *options)
{
	const unsigned int modes = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_USER;

	if (options->trace_bytes || options->trace_ticks)
		return perfctr_unable();
	if (options->mark)
		return (options->policy & ~modes) == PERFCTR_EXCLUDE_UNMARKED && !options->cpus
			       ? 0
			       : perfctr_unable();
	return options->policy & ~modes ? perfctr_unable() : 0;
}

static int take_cpus(struct perf_session *s, const struct perfctr_session_options *options)
{
	s->by_cpu = true;
	s->n_cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	s->cpus_size = options->cpus ? options->cpus_size : (s->n_cpus + CHAR_BIT - 1) / CHAR_BIT;
	s->cpus = malloc(s->cpus_size + 1);
	if (!s->cpus)
		return -1;
	memset(s->cpus, 0xff, s->cpus_size);
	if (options->cpus)
		memcpy(s->cpus, options->cpus, s->cpus_size);
	return 0;
}

static bool has_cpu(const struct perf_session *s, unsigned int cpu)
{
	return cpu / CHAR_BIT < s->cpus_size && s->cpus[cpu / CHAR_BIT] >> cpu % CHAR_BIT & 1;
}

/* Do the options name a CPU that does not exist?  The kernel patch refuses that, too. */
static bool names_too_much(const struct perf_session *s, const struct perfctr_session_options *o)
{
	for (unsigned int cpu = s->n_cpus; o->cpus && cpu < o->cpus_size * CHAR_BIT; cpu++)
		if (has_cpu(s, cpu))
			return true;
	return false;
}

/* Finds out at open whether this user has the privilege that counting on a CPU needs. */
static int try_cpu(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
	};
	int fd = perfctr_perf_event(&attr, -1, 0, -1);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

struct perfctr_session *perfctr_perf_session_open(const struct perfctr_session_options *options)
{
	struct perf_session *s;
	int error;

	if (check_options(options) < 0)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->policy = options->policy;
	if (perfctr_perf_info(&s->base.info) < 0)
		goto free;
	s->base.capabilities = perfctr_perf_capabilities(&s->base.info);
	if (options->mark) {
		s->mark = (struct perf_mark *)options->mark;
		s->next = s->mark->sessions;
		s->mark->sessions = s;
		return &s->base;
	}
	if (take_cpus(s, options) < 0 || try_cpu() < 0)
		goto free;
	if (!names_too_much(s, options))
		return &s->base;
	errno = EINVAL;
free:
	error = errno;
	free(s->cpus);
	free(s);
	errno = error;
	return NULL;
}

static void close_sets(struct perf_set *set, unsigned int n)
{
	int error = errno;

	for (unsigned int i = 0; i < n; i++)
		perfctr_perf_set_close(&set[i]);
	errno = error;
}

void perfctr_perf_session_close(struct perfctr_session *session)
{
	struct perf_session *s = session_of(session);

	if (s->mark) {
		struct perf_session **link = &s->mark->sessions;

		while (*link != s)
			link = &(*link)->next;
		*link = s->next;
	}
	close_sets(s->set, s->n_sets);
	free(s->set);
	free(s->cpus);
	free(s);
}

/* Fills in the place where set i counts; false: nowhere. */
static bool place_of_set(const struct perf_session *s, unsigned int i, struct perf_target *target)
{
	*target = (struct perf_target){
		.tid = -1,
		.cpu = -1,
		.inherit = !s->by_cpu,
		.policy = s->policy,
	};
	if (s->by_cpu) {
		target->cpu = (int)i;
		return has_cpu(s, i);
	}
	target->tid = s->mark->root[i].tid;
	return s->mark->root[i].watch.tree >= 0;
}

static bool is_gone(const struct perf_target *target, int error)
{
	return error == ESRCH || (target->cpu >= 0 && error == ENODEV);
}

/* Opens sets first .. n - 1 of set[]. */
static int open_sets(const struct perf_session *s, struct perf_set *set, unsigned int first,
		     unsigned int n, struct perfctr_control *c)
{
	for (unsigned int i = first; i < n; i++) {
		struct perf_target target;

		set[i] = (struct perf_set){ 0 };
		if (!place_of_set(s, i, &target))
			continue;
		/* The thread may have exited, or the CPU may have gone offline. */
		if (perfctr_perf_set_open(&set[i], &target, &s->base.info, s->base.capabilities,
					  c) < 0 &&
		    !is_gone(&target, errno)) {
			close_sets(set + first, i - first);
			return -1;
		}
	}
	return 0;
}

static int enable_sets(const struct perf_session *s, unsigned int first, bool on)
{
	for (unsigned int i = first; i < s->n_sets; i++)
		if (s->set[i].n && perfctr_perf_set_enable(&s->set[i], on) < 0)
			return -1;
	return 0;
}

int perfctr_perf_session_follow(struct perf_session *s)
{
	unsigned int first = s->n_sets, n = s->mark->n_roots;
	struct perf_set *set;

	if (!s->has_control || n == first)
		return 0;
	set = reallocarray(s->set, n, sizeof(*set));
	if (!set)
		return -1;
	s->set = set;
	if (open_sets(s, set, first, n, &s->control) < 0)
		return -1;
	s->n_sets = n;
	return s->started ? enable_sets(s, first, true) : 0;
}

void perfctr_perf_session_keep(struct perf_session *s, unsigned int n)
{
	if (s->n_sets <= n)
		return;
	close_sets(s->set + n, s->n_sets - n);
	s->n_sets = n;
}

static unsigned int count_places(const struct perf_session *s)
{
	if (s->by_cpu)
		return s->n_cpus;
	return s->mark ? s->mark->n_roots : 0;
}

int perfctr_perf_session_control(struct perfctr_session *session, struct perfctr_control *c)
{
	struct perf_session *s = session_of(session);
	const struct perf_target here = { .cpu = -1, .policy = s->policy };
	unsigned int n = count_places(s);
	struct perf_set *set;

	if (perfctr_perf_try(&here, 1, &session->info, session->capabilities, c) < 0)
		return -1;
	set = malloc((n + 1) * sizeof(*set));
	if (!set)
		return -1;
	if (open_sets(s, set, 0, n, c) < 0) {
		free(set);
		return -1;
	}
	close_sets(s->set, s->n_sets);
	free(s->set);
	s->set = set;
	s->n_sets = n;
	s->control = *c;
	s->has_control = true;
	s->started = false;
	return c->flags & PERFCTR_CONTROL_STOPPED ? 0 : perfctr_perf_session_start(session);
}

static int enable_session(struct perf_session *s, bool on)
{
	if (!s->has_control) {
		errno = EINVAL;
		return -1;
	}
	if (enable_sets(s, 0, on) < 0)
		return -1;
	s->started = on;
	return 0;
}

int perfctr_perf_session_start(struct perfctr_session *session)
{
	return enable_session(session_of(session), true);
}

int perfctr_perf_session_stop(struct perfctr_session *session)
{
	return enable_session(session_of(session), false);
}

int perfctr_perf_session_read(const struct perfctr_session *session, struct perfctr_counts *out)
{
	const struct perf_session *s = const_session_of(session);

	if (s->mark)
		out->members = (uint32_t)perfctr_perf_members(&s->mark->base, NULL, 0);
	if (s->started)
		out->flags |= PERFCTR_COUNTS_STARTED;
	for (unsigned int i = 0; i < s->n_sets; i++)
		if (s->set[i].n && perfctr_perf_set_add(&s->set[i], &session->info, out) < 0)
			return -1;
	/* If no members are left, none ran during the read.  On CPUs something always runs. */
	if (!s->by_cpu && !out->members)
		out->flags |= PERFCTR_COUNTS_CONSISTENT;
	return 0;
}

unsigned int perfctr_perf_session_cpus(const struct perfctr_session *session)
{
	return const_session_of(session)->n_cpus;
}

void perfctr_perf_session_read_cpu(const struct perfctr_session *session, unsigned int cpu,
				   struct perfctr_counts *out)
{
	const struct perf_session *s = const_session_of(session);
	struct perfctr_counts counts = *out;

	out->n_counters = session->n_counters;
	if (cpu >= s->n_sets || !s->set[cpu].n)
		return;
	if (perfctr_perf_set_add(&s->set[cpu], &session->info, &counts) == 0)
		*out = counts;
	else
		out->flags |= PERFCTR_COUNTS_DISTURBED;
}
