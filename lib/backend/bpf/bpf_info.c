// SPDX-License-Identifier: LGPL-2.1-or-later
/* BPF: how perfctr-bpfd was started. */
#include "bpf.h"
#include "../perf/perf.h"

#include <stdio.h>
#include <string.h>

uint32_t perfctr_bpf_capabilities(const struct perfctr_bpf_info *info)
{
	return (info->n_events ? PERFCTR_CAN_HARDWARE : 0) |
	       (info->live ? PERFCTR_CAN_LIVE_READ : 0) | PERFCTR_CAN_INHERIT | PERFCTR_CAN_REMOTE |
	       PERFCTR_CAN_SOFTWARE | PERFCTR_CAN_MARK | PERFCTR_CAN_SWITCHES | PERFCTR_CAN_KERNEL;
}

void perfctr_bpf_pmu_info(const struct perfctr_bpf_info *from, struct perfctr_pmu_info *info)
{
	*info = (struct perfctr_pmu_info){
		.size = sizeof(*info),
		.abi_version = PERFCTR_ABI_VERSION,
		.family = "none (BPF)",
		.features = PERFCTR_FEATURE_TSC | PERFCTR_FEATURE_SOFTWARE,
		.tsc_khz = from->tsc_khz,
		.pmu = PERFCTR_PMU_NONE,
	};
	if (!from->n_events)
		return;
	perfctr_perf_machine(info);
	snprintf(info->family, sizeof(info->family), "BPF, experimental");
}

void perfctr_bpf_list_names(const struct perfctr_bpf_info *info, char *text, size_t size)
{
	*text = '\0';
	for (uint32_t i = 0; i < info->n_events; i++)
		snprintf(text + strlen(text), size - strlen(text), "%s%s", i ? ", " : "",
			 info->event[i].name);
}

void perfctr_bpf_loaded_events(char *text, size_t size)
{
	struct perfctr_bpf_info info = { 0 };

	if (perfctr_bpf_read_info(&info) == 0 && info.n_events)
		perfctr_bpf_list_names(&info, text, size);
}
