// SPDX-License-Identifier: LGPL-2.1-or-later
/* perf_events: the PMU, and what this user may count. */
#include "perf.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* May this user open the event, on the calling thread (cpu -1) or on a CPU? */
static bool may_open_on(int cpu, uint32_t type, uint64_t config, bool kernel)
{
	struct perf_event_attr attr = {
		.type = type,
		.config = config,
		.exclude_kernel = !kernel,
		.disabled = 1,
	};
	int fd = perfctr_perf_event(&attr, cpu < 0 ? 0 : -1, cpu, -1);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool may_open(uint32_t type, uint64_t config, bool kernel)
{
	return may_open_on(-1, type, config, kernel);
}

/* A machine with two kinds of cores has two PMUs with other names, and none that is called cpu. */
static bool has_pmu(void)
{
	return access("/sys/bus/event_source/devices/cpu", F_OK) == 0 &&
	       may_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false);
}

/*
 * The file has "0" for never, "1" for events that are mapped, "2" for always
 * (arch/x86/events/core.c).
 */
static bool may_rdpmc(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/cpu/rdpmc", "re");
	int first = '0';

	if (file) {
		first = getc(file);
		fclose(file);
	}
	return first == '1' || first == '2';
}

int perfctr_perf_info(struct perfctr_pmu_info *info)
{
	if (perfctr_perf_may_watch() < 0)
		return -1;
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->abi_version = PERFCTR_ABI_VERSION;
	info->features = PERFCTR_FEATURE_TSC | PERFCTR_FEATURE_SOFTWARE;
	info->tsc_khz = perfctr_perf_tsc_khz();
	snprintf(info->family, sizeof(info->family), "no PMU, as in many VMs");
	if (has_pmu())
		perfctr_perf_machine(info);
	return 0;
}

uint32_t perfctr_perf_capabilities(const struct perfctr_pmu_info *info)
{
	uint32_t capabilities =
		PERFCTR_CAN_INHERIT | PERFCTR_CAN_REMOTE | PERFCTR_CAN_SOFTWARE | PERFCTR_CAN_MARK;

	if (info->n_general)
		capabilities |= PERFCTR_CAN_HARDWARE | (may_rdpmc() ? PERFCTR_CAN_RDPMC : 0);
	if (may_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, true))
		capabilities |= PERFCTR_CAN_KERNEL | PERFCTR_CAN_SWITCHES;
	if (may_open_on(0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, true))
		capabilities |= PERFCTR_CAN_SESSION;
	return capabilities;
}
