// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel patch: its device, and contexts. */
#define _GNU_SOURCE
#include "patch.h"
#include "../perf/perf.h"
#include "../../privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct patch_context {
	struct perfctr base;
	pid_t tid;
	struct perfctr_patch_software *software; /* NULL: the control has no software events */
};

static struct patch_context *context_of(struct perfctr *p)
{
	return (struct patch_context *)p;
}

static const struct perfctr_patch_software *software_of(const struct perfctr *p)
{
	return ((const struct patch_context *)p)->software;
}

/* Gives ENODEV for a missing device, because ENOENT means a missing context. */
int perfctr_patch_device(void)
{
	int fd = open(PERFCTR_DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == ENXIO))
		errno = ENODEV;
	return fd;
}

int perfctr_patch_call(unsigned long request, void *argument)
{
	int device = perfctr_patch_device();
	int result;

	if (device < 0)
		return -1;
	result = ioctl(device, request, argument);
	perfctr_close_keeping_errno(device);
	return result;
}

/* As the driver last said. */
static enum { UNKNOWN, BUILT_IN, MODULE } driver;

int perfctr_patch_get_info(int device, struct perfctr_pmu_info *info, uint32_t holder)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->holder = holder;
	if (ioctl(device, PERFCTR_IOC_INFO, info) < 0)
		return -1;
	if (info->abi_version != PERFCTR_ABI_VERSION) {
		errno = EPROTO;
		return -1;
	}
	__atomic_store_n(&driver, info->features & PERFCTR_FEATURE_MODULE ? MODULE : BUILT_IN,
			 __ATOMIC_RELAXED);
	info->features |= PERFCTR_FEATURE_SOFTWARE;
	return 0;
}

int perfctr_patch_info(struct perfctr_pmu_info *info)
{
	int device = perfctr_patch_device();

	if (device < 0)
		return -1;
	if (perfctr_patch_get_info(device, info, PERFCTR_HOLDER_ASK) < 0) {
		perfctr_close_keeping_errno(device);
		return -1;
	}
	close(device);
	return 0;
}

/*
 * Asks perf_events, as the driver applies the same rules: level, capability, security module.  The
 * kernel checks these before the period, which is invalid here.  So no event is made, which would
 * cost 16,000 instructions.  If the call is forbidden, the level decides: a container that has the
 * capability may call.
 */
static bool may_count_kernel(void)
{
	struct perf_event_attr impossible = {
		.size = sizeof(impossible),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1ull << 63,
	};
	int fd = (int)syscall(SYS_perf_event_open, &impossible, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int level;

	if (fd < 0 && perfctr_perf_is_forbidden(errno)) {
		level = perfctr_paranoia();
		return level >= -1 && level <= 1;
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno == EINVAL;
}

uint32_t perfctr_patch_capabilities(const struct perfctr_pmu_info *info)
{
	uint32_t capabilities = PERFCTR_CAN_LIVE_READ | PERFCTR_CAN_INHERIT |
				PERFCTR_CAN_EXIT_RECORDS | PERFCTR_CAN_REMOTE | PERFCTR_CAN_MARK |
				PERFCTR_CAN_SESSION | PERFCTR_CAN_TRACE | PERFCTR_CAN_SWITCHES |
				PERFCTR_CAN_CONSISTENT | PERFCTR_CAN_SOFTWARE;

	if (info->n_general || info->n_fixed)
		capabilities |= PERFCTR_CAN_HARDWARE;
	if (info->features & PERFCTR_FEATURE_RDPMC)
		capabilities |= PERFCTR_CAN_RDPMC;
	if (info->features & PERFCTR_FEATURE_TOTALS)
		capabilities |= PERFCTR_CAN_TOTALS;
	if (info->features & PERFCTR_FEATURE_INTERRUPT)
		capabilities |= PERFCTR_CAN_SAMPLE;
	if (info->features & PERFCTR_FEATURE_SIGNAL)
		capabilities |= PERFCTR_CAN_SIGNAL;
	if (info->features & PERFCTR_FEATURE_ISOLATED)
		capabilities |= PERFCTR_CAN_ISOLATE;
	if (may_count_kernel())
		capabilities |= PERFCTR_CAN_KERNEL;
	return capabilities;
}

bool perfctr_patch_is_there(void)
{
	return access(PERFCTR_DEVICE, F_OK) == 0;
}

bool perfctr_patch_is_module(void)
{
	struct perfctr_pmu_info info;
	int error = errno;

	if (__atomic_load_n(&driver, __ATOMIC_RELAXED) == UNKNOWN)
		perfctr_patch_info(&info);
	errno = error;
	return __atomic_load_n(&driver, __ATOMIC_RELAXED) == MODULE;
}

/*
 * A device of a volume does not open: its file system is mounted without devices, by EACCES, or the
 * control group of the container denies it, by EPERM.
 */
static bool device_opens(void)
{
	int device = perfctr_patch_device();

	if (device >= 0)
		close(device);
	return device >= 0;
}

static void describe_missing_device(char *text, size_t size)
{
	if (!perfctr_patch_is_there() && access("/sys/module/perfctr", F_OK) == 0)
		snprintf(text, size,
			 "there is no " PERFCTR_DEVICE " here, but this kernel has perfctr: give "
			 "the container --device " PERFCTR_DEVICE);
	else
		snprintf(text, size,
			 "there is no " PERFCTR_DEVICE ": load the module as root by: "
			 "modprobe perfctr, or build it first by: make module "
			 "(docs/install.md)");
}

/*
 * Returns false if the group has no name in /etc/group.  getgrgid() also knows other groups, but
 * needs the shared C library for them.
 */
static bool name_group(gid_t gid, char *name, size_t size)
{
	FILE *file = fopen("/etc/group", "re");
	struct group entry = { 0 }, *group = NULL;
	char text[4096];

	while (file && fgetgrent_r(file, &entry, text, sizeof(text), &group) == 0 &&
	       entry.gr_gid != gid)
		;
	if (group)
		snprintf(name, size, "%s", group->gr_name);
	if (file)
		fclose(file);
	return group;
}

/* The administrator has given the device to a group: perfctr(4), device_mode. */
static void describe_unreadable_device(char *text, size_t size)
{
	const char *root = perfctr_root();
	struct stat device;
	char group[64];

	if (stat(PERFCTR_DEVICE, &device) < 0 || !(device.st_mode & S_IRGRP) || !device.st_gid)
		snprintf(text, size,
			 "no permission to read " PERFCTR_DEVICE "; ask %s to chmod a+r it, or to "
			 "give it a group (docs/install.md)",
			 root);
	else if (name_group(device.st_gid, group, sizeof(group)))
		snprintf(text, size,
			 "only members of the group %s may open " PERFCTR_DEVICE
			 "; ask %s for: usermod -aG %s USER, then log in again",
			 group, root, group);
	else
		snprintf(text, size,
			 "only members of the group %u may open " PERFCTR_DEVICE
			 ", and this group has no name here; ask %s for a group that you are in",
			 device.st_gid, root);
}

static void describe_refusal(int error, char *text, size_t size)
{
	const char *root = perfctr_root();

	if (access(PERFCTR_DEVICE, R_OK) < 0 && errno != EPERM)
		describe_unreadable_device(text, size);
	else if (!device_opens())
		snprintf(text, size,
			 "this container may not open " PERFCTR_DEVICE
			 ": it needs --device " PERFCTR_DEVICE ", a volume is not enough");
	else if (error == EPERM)
		perfctr_describe_open(error, text, size);
	else if (perfctr_paranoia() > 2 && !perfctr_is_administrator())
		snprintf(text, size,
			 "kernel.perf_event_paranoid is %d: %s alone may count; ask %s for: "
			 "sysctl kernel.perf_event_paranoid=2",
			 perfctr_paranoia(), root, root);
	else
		snprintf(text, size,
			 "no permission to trace this thread; it must belong to you, and its "
			 "program must be readable, or be %s",
			 root);
}

void perfctr_patch_open_error(int error, char *text, size_t size)
{
	char holder[64];

	switch (error) {
	case EEXIST:
		if (perfctr_patch_name_holder(holder, sizeof(holder)))
			snprintf(text, size,
				 "the thread is being counted already, by %s; perfctr_mark_open() "
				 "counts a program that counts itself, perfctr_region_begin() "
				 "regions of one that does not",
				 holder);
		else
			perfctr_describe_open(error, text, size);
		break;
	case ENODEV:
		describe_missing_device(text, size);
		break;
	case EACCES:
	case EPERM:
		describe_refusal(error, text, size);
		break;
	case EMFILE:
		snprintf(text, size,
			 "too many open files (see 'ulimit -n'), or you have as many counters as "
			 "a user may have; %s can raise "
			 "/sys/module/perfctr/parameters/user_kb",
			 perfctr_root());
		break;
	case ENXIO:
		snprintf(text, size,
			 "the perfctr module cannot trace the kernel; ask %s for: sysctl "
			 "kernel.ftrace_enabled=1; the kernel's log says more",
			 perfctr_root());
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

int perfctr_patch_probe(struct perfctr_backend_info *info, struct perfctr_pmu_info *pmu)
{
	if (perfctr_patch_info(pmu) < 0) {
		perfctr_patch_open_error(errno, info->why, sizeof(info->why));
		return -1;
	}
	info->capabilities = perfctr_patch_capabilities(pmu);
	info->n_counters = pmu->n_general;
	return 0;
}

/* A failure is no error: without a page, reads are system calls. */
static void map_page(struct perfctr *p)
{
	void *page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, p->fd, 0);

	if (page != MAP_FAILED)
		perfctr_own_page(p, page);
}

struct perfctr *perfctr_patch_open(pid_t tid, unsigned int flags)
{
	struct perfctr_open_args request = { .size = sizeof(request), .flags = flags, .tid = tid };
	struct patch_context *context = calloc(1, sizeof(*context));
	struct perfctr *p = &context->base;
	int device, error;

	if (!context)
		return NULL;
	context->tid = tid;
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
	free(context);
	errno = error;
	return NULL;
}

void perfctr_patch_close(struct perfctr *p)
{
	if (software_of(p))
		perfctr_patch_software_free(context_of(p)->software);
	close(p->fd);
	free(p);
}

static bool has_software(const struct perfctr_control *c)
{
	for (uint32_t i = 0; i < c->n_events && i < PERFCTR_MAX_COUNTERS; i++)
		if (perfctr_is_software(c->event[i].counter))
			return true;
	return false;
}

static int control_with_software(struct perfctr *p, struct perfctr_control *c,
				 struct perfctr_patch_software *software)
{
	if (ioctl(p->fd, PERFCTR_IOC_CONTROL, perfctr_patch_software_rest(software)) < 0) {
		perfctr_patch_software_refuse(software, c);
		return -1;
	}
	return c->flags & PERFCTR_CONTROL_STOPPED ? 0
						  : perfctr_patch_software_enable(software, true);
}

int perfctr_patch_control(struct perfctr *p, struct perfctr_control *c)
{
	struct patch_context *context = context_of(p);
	struct perfctr_patch_software *software = NULL;
	int error;

	if (!has_software(c)) {
		if (ioctl(p->fd, PERFCTR_IOC_CONTROL, c) < 0)
			return -1;
	} else {
		software = perfctr_patch_software_open(p, context->tid, c);
		if (!software)
			return -1;
		if (control_with_software(p, c, software) < 0) {
			error = errno;
			perfctr_patch_software_free(software);
			errno = error;
			return -1;
		}
	}
	if (context->software)
		perfctr_patch_software_free(context->software);
	context->software = software;
	p->reordered = software && perfctr_patch_software_reorders(software);
	return 0;
}

int perfctr_patch_get_control(const struct perfctr *p, struct perfctr_control *c)
{
	return ioctl(p->fd, PERFCTR_IOC_GET_CONTROL, c) < 0 ? -1 : 0;
}

int perfctr_patch_start(struct perfctr *p)
{
	if (ioctl(p->fd, PERFCTR_IOC_START) < 0)
		return -1;
	return software_of(p) ? perfctr_patch_software_enable(software_of(p), true) : 0;
}

int perfctr_patch_stop(struct perfctr *p)
{
	if (ioctl(p->fd, PERFCTR_IOC_STOP) < 0)
		return -1;
	return software_of(p) ? perfctr_patch_software_enable(software_of(p), false) : 0;
}

int perfctr_patch_read(const struct perfctr *p, struct perfctr_counts *out)
{
	if (ioctl(p->fd, PERFCTR_IOC_READ, out) < 0)
		return -1;
	return software_of(p) ? perfctr_patch_software_read(software_of(p), p, out) : 0;
}

int perfctr_patch_next_record(const struct perfctr *p, struct perfctr_exit_record *record)
{
	if (ioctl(p->fd, PERFCTR_IOC_EXIT_RECORD, record) < 0)
		return -1;
	if (software_of(p) && record->tid)
		perfctr_patch_software_place(software_of(p), p->info.tsc_khz,
					     &(struct perfctr_counts){ 0 }, &record->counts);
	return 0;
}
