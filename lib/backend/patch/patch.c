// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel patch: contexts. */
#define _GNU_SOURCE
#include "patch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_there(void)
{
	return access(PERFCTR_DEVICE, F_OK) == 0;
}

static void open_error(int error, char *text, size_t size)
{
	switch (error) {
	case ENODEV:
		snprintf(text, size,
			 "there is no " PERFCTR_DEVICE ": this kernel was built without "
			 "perfctr; boot a kernel with the perfctr patch");
		break;
	case EACCES:
		if (access(PERFCTR_DEVICE, R_OK) < 0)
			snprintf(text, size,
				 "no permission to read " PERFCTR_DEVICE "; ask root to "
				 "chmod a+r it");
		else if (perfctr_paranoia() > 2 && geteuid() != 0)
			snprintf(text, size,
				 "kernel.perf_event_paranoid is %d: root alone may count; ask "
				 "root for: sysctl kernel.perf_event_paranoid=2",
				 perfctr_paranoia());
		else
			snprintf(text, size,
				 "no permission to trace this thread; it must belong to "
				 "you, and its program must be readable, or be root");
		break;
	case EMFILE:
		snprintf(text, size,
			 "too many open files (see 'ulimit -n'), or you have as many counters as "
			 "a user may have; root can raise "
			 "/sys/module/perfctr/parameters/user_kb");
		break;
	case EPROTO:
		snprintf(text, size,
			 "the kernel's perfctr has another ABI version than this "
			 "program's %d; use the programs built with the kernel",
			 PERFCTR_ABI_VERSION);
		break;
	default:
		perfctr_describe_open(error, text, size);
	}
}

static int probe_patch(struct perfctr_backend_info *info)
{
	struct perfctr_pmu_info pmu;

	if (perfctr_patch_info(&pmu) < 0) {
		open_error(errno, info->why, sizeof(info->why));
		return -1;
	}
	info->capabilities = perfctr_patch_capabilities(&pmu);
	info->n_counters = pmu.n_general;
	return 0;
}

/* Without a page, reads are system calls: no reason to fail. */
static void map_page(struct perfctr *p)
{
	void *page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, p->fd, 0);

	if (page != MAP_FAILED)
		perfctr_own_page(p, page);
}

static struct perfctr *open_context(pid_t tid, unsigned int flags)
{
	struct perfctr_open request = { .size = sizeof(request), .flags = flags, .tid = tid };
	struct perfctr *p = calloc(1, sizeof(*p));
	int device, error;

	if (!p)
		return NULL;
	device = perfctr_patch_device();
	if (device < 0)
		goto free_handle;
	if (perfctr_patch_get_info(device, &p->info, 0) < 0)
		goto close_device;
	p->fd = ioctl(device, PERFCTR_IOC_OPEN, &request);
	if (p->fd < 0)
		goto close_device;
	close(device);
	p->capabilities = perfctr_patch_capabilities(&p->info);
	if (tid == 0 || tid == gettid()) {
		error = errno;
		map_page(p);
		errno = error;
	}
	return p;

close_device:
	perfctr_close_keeping_errno(device);
free_handle:
	error = errno;
	free(p);
	errno = error;
	return NULL;
}

static void close_context(struct perfctr *p)
{
	close(p->fd);
	free(p);
}

static int control_context(struct perfctr *p, struct perfctr_control *c)
{
	return ioctl(p->fd, PERFCTR_IOC_CONTROL, c);
}

static int start_context(struct perfctr *p)
{
	return ioctl(p->fd, PERFCTR_IOC_START);
}

static int stop_context(struct perfctr *p)
{
	return ioctl(p->fd, PERFCTR_IOC_STOP);
}

static int read_counts(const struct perfctr *p, struct perfctr_counts *out)
{
	return ioctl(p->fd, PERFCTR_IOC_READ, out);
}

static int next_record(const struct perfctr *p, struct perfctr_record *record)
{
	return ioctl(p->fd, PERFCTR_IOC_RECORD, record);
}

const struct perfctr_backend perfctr_patch_backend = {
	.name = "patch",
	.probe = probe_patch,
	.is_there = is_there,
	.pmu_info = perfctr_patch_info,
	.open_error = open_error,
	.open = open_context,
	.close = close_context,
	.control = control_context,
	.start = start_context,
	.stop = stop_context,
	.read = read_counts,
	.next_record = next_record,
	.group_open = perfctr_patch_group_open,
	.group_close = perfctr_patch_group_close,
	.mark = perfctr_patch_mark,
	.unmark = perfctr_patch_unmark,
	.marked = perfctr_patch_marked,
	.members = perfctr_patch_members,
	.segment_begin = perfctr_patch_segment_begin,
	.segment_end = perfctr_patch_segment_end,
	.session_open = perfctr_patch_session_open,
	.session_close = perfctr_patch_session_close,
	.session_control = perfctr_patch_session_control,
	.session_start = perfctr_patch_session_start,
	.session_stop = perfctr_patch_session_stop,
	.session_read = perfctr_patch_session_read,
	.session_cpus = perfctr_patch_session_cpus,
	.session_totals = perfctr_patch_session_totals,
	.session_trace = perfctr_patch_session_trace,
	.session_lost = perfctr_patch_session_lost,
};
