// SPDX-License-Identifier: LGPL-2.1-or-later
/* BPF: contexts. */
#define _GNU_SOURCE
#include "bpf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct context {
	struct perfctr handle;
	struct perfctr_bpf_handle bpf;
	pid_t tid;     /* the thread that opened it, if the context is that thread's own; else 0 */
	bool is_shown; /* another handle, here or in another process, controls it */
	bool has_control;
};

static struct context *context_of(const struct perfctr *p)
{
	return (struct context *)p;
}

static int pmu_info(struct perfctr_pmu_info *info)
{
	struct perfctr_bpf_info from;

	if (perfctr_bpf_read_info(&from) < 0)
		return -1;
	perfctr_bpf_pmu_info(&from, info);
	return 0;
}

static int check_control(struct perfctr_control *c)
{
	struct perfctr_bpf_info info;
	uint64_t events[2];

	return perfctr_bpf_read_info(&info) < 0 ? -1 : perfctr_bpf_encode(c, &info, 0, events);
}

static bool is_there(void)
{
	return access(PERFCTR_BPF_PIN("call"), F_OK) == 0;
}

static void open_error(int error, char *text, size_t size)
{
	const char *what = NULL;

	switch (error) {
	case ENODEV:
		what = "perfctr-bpfd is not loaded (there is no " PERFCTR_BPF_PIN(
			"call") "); as root: perfctr-bpfd start";
		break;
	case EACCES:
		what = access(PERFCTR_BPF_PIN("call"), R_OK) < 0
			       ? "no permission for " PERFCTR_BPF_DIRECTORY
				 "; ask root to chmod o+x /sys/fs/bpf"
			       : "no permission to trace this thread; it must belong to you, or be "
				 "root";
		break;
	case EPERM:
		what = "bpf(2) is refused to this process; run it outside of the container, or let "
		       "the container's seccomp filter pass bpf(2)";
		break;
	case EPROTO:
		what = "another version of perfctr-bpfd is loaded, or what it says is out of "
		       "range; as root: perfctr-bpfd stop, then perfctr-bpfd start of this version";
		break;
	case ENOSPC:
		what = "all slots of perfctr-bpfd are taken; close contexts and marks, or as root: "
		       "perfctr-bpfd stop, then perfctr-bpfd start --slots N";
		break;
	case EDQUOT:
		what = "your share of the slots of perfctr-bpfd is taken; close contexts and marks, "
		       "or as root: perfctr-bpfd stop, then perfctr-bpfd start --user-slots N";
		break;
	case EXDEV:
		what = "threads have other numbers in this pid namespace; run it outside of the "
		       "container";
		break;
	}
	if (what)
		snprintf(text, size, "%s", what);
	else
		perfctr_describe_open(error, text, size);
}

/* Describes which events are experimental, and which values only system calls can read. */
static void describe_limits(const struct perfctr_bpf_info *info, char *text, size_t size)
{
	char names[128];

	perfctr_bpf_list_names(info, names, sizeof(names));
	if (info->n_events)
		snprintf(text, size, "hardware events are experimental, and these: %s", names);
	if (!info->live)
		snprintf(text + strlen(text), size - strlen(text),
			 "%sthe time stamp counter differs from CPU to CPU here: virtual time is "
			 "read by a system call",
			 *text ? "; " : "");
}

static int probe_bpf(struct perfctr_backend_info *info, struct perfctr_pmu_info *pmu)
{
	struct perfctr_bpf_info from;
	int program = -1;

	if (perfctr_bpf_read_info(&from) == 0)
		program = perfctr_bpf_get(PERFCTR_BPF_PIN("call"), 0);
	if (program < 0) {
		open_error(errno, info->why, sizeof(info->why));
		return -1;
	}
	close(program);
	perfctr_bpf_pmu_info(&from, pmu);
	info->capabilities = perfctr_bpf_capabilities(&from);
	describe_limits(&from, info->why, sizeof(info->why));
	return 0;
}
static void close_context(struct perfctr *p)
{
	struct context *context = context_of(p);

	if (context->is_shown)
		context->bpf.generation = 0;
	perfctr_bpf_release(&context->bpf);
	free(context);
}

static int make_context(struct context *context, pid_t tid)
{
	if (perfctr_bpf_take(&context->bpf, PERFCTR_BPF_CONTEXT) < 0)
		return -1;
	return perfctr_bpf_change(&context->bpf, PERFCTR_BPF_WALK_MARK, tid, PERFCTR_MARK_THREAD) <
			       0
		       ? -1
		       : 0;
}

static int find_context(struct context *context, pid_t tid)
{
	uint64_t id;

	if (perfctr_bpf_look(PERFCTR_BPF_WALK_FIND, tid, &id) < 0)
		return -1;
	if (id == 0) {
		errno = ENOENT;
		return -1;
	}
	context->is_shown = true;
	return perfctr_bpf_find(&context->bpf, id);
}

/* A failure is no error: without the page, reads are system calls. */
static void show_page(struct context *context)
{
	int error = errno;
	void *page = perfctr_bpf_map(&context->bpf);

	if (page && madvise(page, PERFCTR_PAGE_SIZE, MADV_DONTFORK) == 0)
		perfctr_own_page(&context->handle, page);
	else if (page)
		munmap(page, PERFCTR_PAGE_SIZE);
	errno = error;
}

static struct perfctr *open_context(pid_t tid, unsigned int flags)
{
	struct context *context;
	int error;

	if (flags & ~PERFCTR_OPEN_CREATE) {
		errno = EINVAL;
		return NULL;
	}
	context = calloc(1, sizeof(*context));
	if (!context)
		return NULL;
	context->bpf.program = -1;
	context->handle.fd = -1;
	context->tid = tid == 0 || tid == gettid() ? gettid() : 0;
	if ((flags & PERFCTR_OPEN_CREATE ? make_context(context, tid)
					 : find_context(context, tid)) < 0) {
		error = errno;
		close_context(&context->handle);
		errno = error;
		return NULL;
	}
	perfctr_bpf_pmu_info(&context->bpf.info, &context->handle.info);
	context->handle.capabilities = perfctr_bpf_capabilities(&context->bpf.info);
	if (context->tid && context->bpf.info.live)
		show_page(context);
	return &context->handle;
}

/*
 * A thread brings its own sums up to date by a call.  The sums of other threads need a walk through
 * all threads.
 */
static int read_slot(struct context *context, uint32_t scope, struct perfctr_bpf_slot *slot,
		     bool *consistent)
{
	if (scope != PERFCTR_SCOPE_SELF || context->tid != gettid())
		return perfctr_bpf_read_slot(&context->bpf, slot, consistent);
	if (perfctr_bpf_call(&context->bpf, PERFCTR_BPF_FOLD, 0, 0, NULL) < 0)
		return -1;
	*consistent = true;
	return perfctr_bpf_copy(context->bpf.mapped, slot);
}

/* Brings the sums up to date before a change of state, so that they contain all counts up to it. */
static int settle_counts(struct context *context)
{
	struct perfctr_bpf_slot slot;
	bool consistent;

	return perfctr_bpf_read_slot(&context->bpf, &slot, &consistent);
}

static int change_state(struct context *context, uint32_t call)
{
	if (context->is_shown) {
		errno = EPERM;
		return -1;
	}
	if (settle_counts(context) < 0)
		return -1;
	return perfctr_bpf_call(&context->bpf, call, 0, 0, NULL);
}

static int start_context(struct perfctr *p)
{
	if (!context_of(p)->is_shown && !context_of(p)->has_control) {
		errno = EINVAL;
		return -1;
	}
	return change_state(context_of(p), PERFCTR_BPF_START);
}

static int stop_context(struct perfctr *p)
{
	return change_state(context_of(p), PERFCTR_BPF_STOP);
}

static int control_context(struct perfctr *p, struct perfctr_control *c)
{
	struct context *context = context_of(p);
	uint64_t events[2];
	uint32_t flags = c->flags & PERFCTR_CONTROL_INHERIT ? PERFCTR_BPF_INHERIT : 0;

	if (perfctr_bpf_encode(c, &context->bpf.info, 0, events) < 0)
		return -1;
	if (context->is_shown) {
		errno = EPERM;
		return -1;
	}
	if (settle_counts(context) < 0 ||
	    perfctr_bpf_call(&context->bpf, PERFCTR_BPF_CONTROL, flags, c->n_events, events) < 0)
		return -1;
	context->has_control = true;
	return c->flags & PERFCTR_CONTROL_STOPPED ? 0 : start_context(p);
}

static const uint64_t *sums_of(const struct perfctr_bpf_slot *slot, uint32_t scope, uint64_t *sums)
{
	for (int i = 0; i < PERFCTR_BPF_FIELDS; i++)
		sums[i] = scope == PERFCTR_SCOPE_SELF	    ? slot->own[i]
			  : scope == PERFCTR_SCOPE_CHILDREN ? slot->exited[i]
							    : slot->own[i] + slot->below[i];
	return sums;
}

static int read_counts(const struct perfctr *p, struct perfctr_counts *out)
{
	struct context *context = context_of(p);
	struct perfctr_bpf_slot slot;
	uint64_t sums[PERFCTR_BPF_FIELDS];
	uint32_t events[PERFCTR_MAX_COUNTERS];
	bool consistent, alive;

	if (out->scope > PERFCTR_SCOPE_TREE) {
		errno = EINVAL;
		return -1;
	}
	if (read_slot(context, out->scope, &slot, &consistent) < 0)
		return -1;
	if (slot.n_events > PERFCTR_MAX_COUNTERS) {
		errno = EPROTO;
		return -1;
	}
	sums_of(&slot, out->scope, sums);
	for (uint32_t i = 0; i < PERFCTR_MAX_COUNTERS; i++)
		events[i] = slot.event[i];
	if (perfctr_bpf_whole(sums, slot.n_events, events) < 0)
		return -1;
	alive = !(slot.flags & (PERFCTR_BPF_EXITED | PERFCTR_BPF_DROPPED));
	out->members = (out->scope != PERFCTR_SCOPE_CHILDREN && alive) +
		       (out->scope == PERFCTR_SCOPE_TREE ? slot.members : 0);
	if (slot.page.flags & PERFCTR_PAGE_STARTED)
		out->flags |= PERFCTR_COUNTS_STARTED;
	if (!alive)
		out->flags |= PERFCTR_COUNTS_EXITED;
	if (consistent)
		out->flags |= PERFCTR_COUNTS_CONSISTENT;
	out->tsc = perfctr_bpf_time(&context->bpf, sums[PERFCTR_BPF_TIME]);
	out->switches = sums[PERFCTR_BPF_PUT];
	out->migrations = sums[PERFCTR_BPF_MOVED];
	out->n_counters = slot.n_events;
	for (uint32_t i = 0; i < slot.n_events && i < PERFCTR_MAX_COUNTERS; i++)
		out->counter[i] = perfctr_bpf_value(slot.event[i], sums);
	return 0;
}

const struct perfctr_backend perfctr_bpf_backend = {
	.name = "bpf",
	.probe = probe_bpf,
	.is_there = is_there,
	.check = check_control,
	.pmu_info = pmu_info,
	.loaded_events = perfctr_bpf_loaded_events,
	.open_error = open_error,
	.open = open_context,
	.close = close_context,
	.control = control_context,
	.start = start_context,
	.stop = stop_context,
	.read = read_counts,
	.mark_open = perfctr_bpf_mark_open,
	.mark_close = perfctr_bpf_mark_close,
	.mark = perfctr_bpf_mark_set,
	.unmark = perfctr_bpf_mark_clear,
	.marked = perfctr_bpf_mark_get,
	.members = perfctr_bpf_members,
	.segment_begin = perfctr_bpf_segment_begin,
	.segment_end = perfctr_bpf_segment_end,
	.session_open = perfctr_bpf_session_open,
	.session_close = perfctr_bpf_session_close,
	.session_control = perfctr_bpf_session_control,
	.session_start = perfctr_bpf_session_start,
	.session_stop = perfctr_bpf_session_stop,
	.session_read = perfctr_bpf_session_read,
	.session_cpus = perfctr_bpf_session_cpus,
	.session_read_cpu = perfctr_bpf_session_read_cpu,
};
