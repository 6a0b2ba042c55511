// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel patch: its device. */
#include "patch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

/* A missing device and a missing context shall not look alike: ENOENT is the context's. */
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
	return 0;
}

int perfctr_patch_info(struct perfctr_pmu_info *info)
{
	int device = perfctr_patch_device();
	int result;

	if (device < 0)
		return -1;
	result = perfctr_patch_get_info(device, info, PERFCTR_HOLDER_ASK);
	perfctr_close_keeping_errno(device);
	return result;
}

uint32_t perfctr_patch_capabilities(const struct perfctr_pmu_info *info)
{
	uint32_t capabilities = PERFCTR_CAN_LIVE_READ | PERFCTR_CAN_INHERIT | PERFCTR_CAN_RECORD |
				PERFCTR_CAN_REMOTE | PERFCTR_CAN_GROUP | PERFCTR_CAN_SESSION |
				PERFCTR_CAN_TRACE | PERFCTR_CAN_SWITCHES | PERFCTR_CAN_CONSISTENT;

	if (info->n_general || info->n_fixed)
		capabilities |= PERFCTR_CAN_HARDWARE;
	if (info->features & PERFCTR_FEATURE_RDPMC)
		capabilities |= PERFCTR_CAN_RDPMC;
	if (info->features & PERFCTR_FEATURE_ISOLATED)
		capabilities |= PERFCTR_CAN_ISOLATE;
	return capabilities;
}
