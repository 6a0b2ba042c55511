// SPDX-License-Identifier: LGPL-2.1-or-later
/* perf_events: contexts. */
#define _GNU_SOURCE
#include "perf_mark.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int probe_perf(struct perfctr_backend_info *info, struct perfctr_pmu_info *pmu)
{
	if (perfctr_perf_info(pmu) < 0) {
		int error = errno;

		perfctr_perf_open_error(error, info->why, sizeof(info->why));
		errno = error;
		return -1;
	}
	info->capabilities = perfctr_perf_capabilities(pmu);
	info->n_counters = pmu->n_general;
	perfctr_perf_limits(info->capabilities, info->why, sizeof(info->why));
	return 0;
}

struct perf_context {
	struct perfctr base;
	pid_t tid; /* 0: the thread that opened it */
	struct perf_watch watch;
	bool has_control, started;
	/* The set of the thread; and of its tree, if the control has INHERIT. */
	struct perf_set self, tree;
	/* The pages of self's hardware events; NULL: not mapped. */
	const struct perf_event_mmap_page *page[PERFCTR_MAX_COUNTERS];
};

static struct perf_context *context_of(struct perfctr *p)
{
	return (struct perf_context *)p;
}

static const struct perf_context *const_context_of(const struct perfctr *p)
{
	return (const struct perf_context *)p;
}

static struct perf_context *make_context(pid_t tid, unsigned int flags)
{
	struct perf_context *context;

	if (flags & ~PERFCTR_OPEN_CREATE || tid < 0) {
		errno = EINVAL;
		return NULL;
	}
	/* perf_events has no contexts that a second handle could find. */
	if (!(flags & PERFCTR_OPEN_CREATE)) {
		errno = ENOTSUP;
		return NULL;
	}
	context = calloc(1, sizeof(*context));
	if (!context)
		return NULL;
	context->tid = tid == gettid() ? 0 : tid;
	context->base.fd = -1;
	if (perfctr_perf_watch_open(&context->watch, context->tid) < 0) {
		int error = errno;

		free(context);
		errno = error;
		return NULL;
	}
	return context;
}

static void unmap_pages(struct perf_context *context)
{
	for (unsigned int i = 0; i < PERFCTR_MAX_COUNTERS; i++) {
		if (context->page[i])
			munmap((void *)context->page[i], PERFCTR_PAGE_SIZE);
		context->page[i] = NULL;
	}
}

static void close_context(struct perfctr *p)
{
	struct perf_context *context = context_of(p);

	/* A forked child does not have its parent's pages: something else may be mapped there. */
	if (context->watch.maker == getpid())
		unmap_pages(context);
	perfctr_perf_set_close(&context->self);
	perfctr_perf_set_close(&context->tree);
	perfctr_perf_watch_close(&context->watch);
	free(context);
}

static struct perfctr *open_context(pid_t tid, unsigned int flags)
{
	struct perf_context *context = make_context(tid, flags);
	struct perfctr *p;

	if (!context)
		return NULL;
	p = &context->base;
	if (perfctr_perf_info(&p->info) < 0 || (!context->tid && !perfctr_own(p))) {
		int error = errno;

		close_context(p);
		errno = error;
		return NULL;
	}
	p->capabilities = perfctr_perf_capabilities(&p->info);
	return p;
}

/*
 * Maps the pages of self's events for reads by RDPMC.  If the kernel does not allow RDPMC, the
 * pages say so.
 */
static void map_pages(struct perf_context *context, const struct perfctr_control *c)
{
	unmap_pages(context);
	if (context->tid || !context->self.n)
		return;
	for (uint32_t i = 0; i < c->n_events; i++) {
		int fd = context->self.fd[context->self.n_own + i];
		void *page;

		if (perfctr_is_software(c->event[i].counter))
			continue;
		page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
		if (page != MAP_FAILED)
			context->page[i] = page;
	}
}

/*
 * Finds out whether perf_events counts the control now, and whether there is a set of the thread
 * itself.  The set of a tree gives only the sum of all threads.  The thread's own counts need a
 * second set of counters, which it gets if there are enough.
 */
static int try_control(const struct perfctr *p, struct perfctr_control *c, bool *has_self)
{
	const struct perf_target here = { .cpu = -1 };
	uint32_t hardware = 0;

	for (uint32_t i = 0; i < c->n_events; i++)
		hardware += !perfctr_is_software(c->event[i].counter);
	*has_self = true;
	if (!hardware || !(c->flags & PERFCTR_CONTROL_INHERIT))
		return perfctr_perf_try(&here, 1, &p->info, p->capabilities, c);
	*has_self = 2 * hardware <= p->info.n_general &&
		    perfctr_perf_try(&here, 2, &p->info, p->capabilities, c) == 0;
	if (*has_self)
		return 0;
	c->bad_event = 0;
	c->bad_reason = 0;
	return perfctr_perf_try(&here, 1, &p->info, p->capabilities, c);
}

static int open_sets(const struct perfctr *p, bool has_self, struct perf_set *self,
		     struct perf_set *tree, struct perfctr_control *c)
{
	struct perf_target target = { .tid = const_context_of(p)->tid, .cpu = -1 };
	int error;

	if (has_self && perfctr_perf_set_open(self, &target, &p->info, p->capabilities, c) < 0)
		return -1;
	target.inherit = true;
	if (!(c->flags & PERFCTR_CONTROL_INHERIT) ||
	    perfctr_perf_set_open(tree, &target, &p->info, p->capabilities, c) == 0)
		return 0;
	error = errno;
	perfctr_perf_set_close(self);
	errno = error;
	return -1;
}

static int enable_sets(struct perf_context *context, bool on)
{
	if (!context->has_control) {
		errno = EINVAL;
		return -1;
	}
	if (context->self.n && perfctr_perf_set_enable(&context->self, on) < 0)
		return -1;
	if (context->tree.n && perfctr_perf_set_enable(&context->tree, on) < 0)
		return -1;
	context->started = on;
	return 0;
}

static int control_context(struct perfctr *p, struct perfctr_control *c)
{
	struct perf_context *context = context_of(p);
	struct perf_set self = { 0 }, tree = { 0 };
	bool has_self;

	if (perfctr_perf_is_over(context->watch.thread)) {
		errno = ESRCH;
		return -1;
	}
	if (try_control(p, c, &has_self) < 0 || open_sets(p, has_self, &self, &tree, c) < 0)
		return -1;
	perfctr_perf_set_close(&context->self);
	perfctr_perf_set_close(&context->tree);
	context->self = self;
	context->tree = tree;
	context->has_control = true;
	context->started = false;
	map_pages(context, c);
	return c->flags & PERFCTR_CONTROL_STOPPED ? 0 : enable_sets(context, true);
}

/*
 * If a thread executes a program that the user may not read, its events end as if it had exited.
 * To start them would succeed, but they would never count.
 */
static int start_context(struct perfctr *p)
{
	struct perf_context *context = context_of(p);

	if (perfctr_perf_is_over(context->tree.n ? context->watch.tree : context->watch.thread)) {
		errno = ESRCH;
		return -1;
	}
	return enable_sets(context, true);
}

static int stop_context(struct perfctr *p)
{
	return context_of(p)->has_control ? enable_sets(context_of(p), false) : 0;
}

static void subtract_counts(struct perfctr_counts *from, const struct perfctr_counts *less)
{
	from->tsc -= less->tsc;
	from->switches -= less->switches;
	from->migrations -= less->migrations;
	for (uint32_t i = 0; i < from->n_counters; i++)
		from->counter[i] -= less->counter[i];
}

/* Returns the set that counts the scope; NULL: there is none. */
static const struct perf_set *set_of(const struct perf_context *context, uint32_t scope)
{
	const struct perf_set *set = scope == PERFCTR_SCOPE_SELF ? &context->self : &context->tree;

	if (scope == PERFCTR_SCOPE_TREE && !set->n)
		set = &context->self;
	return set->n ? set : NULL;
}

static int read_counts(const struct perfctr *p, struct perfctr_counts *out)
{
	const struct perf_context *context = const_context_of(p);
	const struct perf_set *set = set_of(context, out->scope);
	bool exited = perfctr_perf_is_over(context->watch.thread), over;
	struct perfctr_counts self = { 0 };

	if (out->scope > PERFCTR_SCOPE_TREE) {
		errno = EINVAL;
		return -1;
	}
	if (context->started)
		out->flags |= PERFCTR_COUNTS_STARTED;
	if (exited)
		out->flags |= PERFCTR_COUNTS_EXITED;
	if (!context->has_control ||
	    (out->scope == PERFCTR_SCOPE_CHILDREN && !context->tree.n && context->self.n)) {
		out->members = out->scope == PERFCTR_SCOPE_CHILDREN ? 0 : !exited;
		out->flags |= PERFCTR_COUNTS_CONSISTENT;
		return 0;
	}
	if (!set || (out->scope == PERFCTR_SCOPE_CHILDREN && !context->self.n))
		return perfctr_unable();
	over = set == &context->self ? exited : perfctr_perf_is_over(context->watch.tree);
	if (out->scope == PERFCTR_SCOPE_CHILDREN &&
	    perfctr_perf_set_add(&context->self, &p->info, &self) < 0)
		return -1;
	if (perfctr_perf_set_add(set, &p->info, out) < 0)
		return -1;
	if (out->scope == PERFCTR_SCOPE_CHILDREN)
		subtract_counts(out, &self);
	/* While the root runs, perf_events does not tell whether other threads run. */
	out->members = !over && (out->scope != PERFCTR_SCOPE_CHILDREN || exited);
	/*
	 * The counts of one thread are read at once.  Threads of a tree may run between reads of
	 * their counts.
	 */
	if (over || set == &context->self)
		out->flags |= PERFCTR_COUNTS_CONSISTENT;
	return 0;
}

static uint64_t read_pmc(uint32_t counter)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
	return low | (uint64_t)high << 32;
}

/* The protocol is that of struct perf_event_mmap_page in linux/perf_event.h. */
static bool read_counter(const struct perfctr *p, unsigned int i, uint64_t *value)
{
	const struct perf_event_mmap_page *page;
	uint32_t seq, index;
	unsigned int unused;

	page = i < PERFCTR_MAX_COUNTERS ? const_context_of(p)->page[i] : NULL;
	if (!page)
		return false;
	do {
		seq = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		index = page->index;
		if (!page->cap_user_rdpmc || !index)
			return false;
		unused = 64 - page->pmc_width;
		*value = (uint64_t)page->offset +
			 (uint64_t)((int64_t)(read_pmc(index - 1) << unused) >> unused);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != seq);
	return true;
}

const struct perfctr_backend perfctr_perf_backend = {
	.name = "perf_events",
	.probe = probe_perf,
	.pmu_info = perfctr_perf_info,
	.open_error = perfctr_perf_open_error,
	.open = open_context,
	.close = close_context,
	.control = control_context,
	.start = start_context,
	.stop = stop_context,
	.read = read_counts,
	.read_counter = read_counter,
	.mark_open = perfctr_perf_mark_open,
	.mark_close = perfctr_perf_mark_close,
	.mark = perfctr_perf_mark_set,
	.members = perfctr_perf_members,
	.session_open = perfctr_perf_session_open,
	.session_close = perfctr_perf_session_close,
	.session_control = perfctr_perf_session_control,
	.session_start = perfctr_perf_session_start,
	.session_stop = perfctr_perf_session_stop,
	.session_read = perfctr_perf_session_read,
	.session_cpus = perfctr_perf_session_cpus,
	.session_read_cpu = perfctr_perf_session_read_cpu,
};
