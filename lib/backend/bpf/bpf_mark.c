// SPDX-License-Identifier: LGPL-2.1-or-later
/* BPF: marks. */
#define _GNU_SOURCE
#include "bpf.h"
#include "bpf_mark.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 20000000 /* BPF programs cannot wake poll(2), so it wakes this often */

static int make_timer(void)
{
	const struct itimerspec often = {
		.it_value.tv_nsec = LOOK_NS,
		.it_interval.tv_nsec = LOOK_NS,
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0)
		timerfd_settime(fd, 0, &often, NULL);
	return fd;
}

struct perfctr_mark *perfctr_bpf_mark_open(uint64_t *id)
{
	struct perfctr_bpf_mark *mark = calloc(1, sizeof(*mark));
	int error;

	if (!mark)
		return NULL;
	if (perfctr_bpf_take(&mark->bpf, PERFCTR_BPF_MARKED) < 0) {
		error = errno;
		free(mark);
		errno = error;
		return NULL;
	}
	mark->handle.fd = make_timer();
	if (mark->handle.fd < 0) {
		error = errno;
		perfctr_bpf_release(&mark->bpf);
		free(mark);
		errno = error;
		return NULL;
	}
	mark->users = 1;
	*id = perfctr_bpf_id(mark->bpf.slot, mark->bpf.generation);
	return &mark->handle;
}

void perfctr_bpf_mark_ref(struct perfctr_bpf_mark *mark)
{
	__atomic_add_fetch(&mark->users, 1, __ATOMIC_RELAXED);
}

void perfctr_bpf_mark_unref(struct perfctr_bpf_mark *mark)
{
	if (__atomic_sub_fetch(&mark->users, 1, __ATOMIC_ACQ_REL))
		return;
	perfctr_bpf_release(&mark->bpf);
	free(mark);
}

void perfctr_bpf_mark_close(struct perfctr_mark *handle)
{
	close(handle->fd);
	perfctr_bpf_mark_unref((struct perfctr_bpf_mark *)handle);
}

static struct perfctr_bpf_handle *mark_of(const struct perfctr_mark *mark)
{
	return &((struct perfctr_bpf_mark *)mark)->bpf;
}

static int change_marks(const struct perfctr_bpf_handle *h, uint32_t walk, pid_t tid,
			unsigned int scope)
{
	if (scope > PERFCTR_MARK_TREE) {
		errno = EINVAL;
		return -1;
	}
	return perfctr_bpf_change(h, walk, tid, scope);
}

int perfctr_bpf_mark_set(struct perfctr_mark *mark, pid_t tid, unsigned int scope)
{
	return change_marks(mark_of(mark), PERFCTR_BPF_WALK_MARK, tid, scope);
}

int perfctr_bpf_mark_clear(struct perfctr_mark *mark, pid_t tid, unsigned int scope)
{
	struct perfctr_bpf_handle any;
	int changed;

	if (mark)
		return change_marks(mark_of(mark), PERFCTR_BPF_WALK_UNMARK, tid, scope);
	if (perfctr_bpf_any(&any) < 0)
		return -1;
	changed = change_marks(&any, PERFCTR_BPF_WALK_UNMARK, tid, scope);
	perfctr_bpf_release(&any);
	return changed;
}

int perfctr_bpf_mark_get(pid_t tid, uint64_t *id)
{
	return perfctr_bpf_look(PERFCTR_BPF_WALK_GET, tid, id);
}

int perfctr_bpf_members(const struct perfctr_mark *mark, pid_t *tids, unsigned int room)
{
	struct perfctr_bpf_handle *h = mark_of(mark);
	struct perfctr_bpf_reply reply;
	uint64_t expirations;

	/* Reads the timer, so that poll(2) waits until it expires again. */
	if (read(mark->fd, &expirations, sizeof(expirations)) < 0)
		errno = 0;
	perfctr_bpf_settle(h);
	if (!room)
		return (int)*(const volatile uint32_t *)&h->mapped->members;
	if (perfctr_bpf_walk(h, PERFCTR_BPF_WALK_MEMBERS, 0, 0, &reply, tids, room) < 0)
		return -1;
	return (int)reply.found;
}

int perfctr_bpf_segment_begin(struct perfctr_mark *mark)
{
	return perfctr_bpf_call(mark_of(mark), PERFCTR_BPF_MARK, 0, 0, NULL) < 0 ? -1 : 0;
}

int perfctr_bpf_segment_end(struct perfctr_mark *mark)
{
	return perfctr_bpf_call(mark_of(mark), PERFCTR_BPF_UNMARK, 0, 0, NULL) < 0 ? -1 : 0;
}
