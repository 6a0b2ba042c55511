// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu.h"
#include "../perfex.h"

#include <stdbool.h>
#include <string.h>

static const struct {
	uint32_t bit;
	const char *name;
} capabilities[] = {
	{ PERFCTR_CAN_HARDWARE, "hardware" },	{ PERFCTR_CAN_SOFTWARE, "software" },
	{ PERFCTR_CAN_KERNEL, "kernel-mode" },	{ PERFCTR_CAN_SWITCHES, "switches" },
	{ PERFCTR_CAN_LIVE_READ, "live-read" }, { PERFCTR_CAN_RDPMC, "rdpmc" },
	{ PERFCTR_CAN_ISOLATE, "isolation" },	{ PERFCTR_CAN_REMOTE, "remote" },
	{ PERFCTR_CAN_INHERIT, "inheritance" }, { PERFCTR_CAN_EXIT_RECORDS, "exit-records" },
	{ PERFCTR_CAN_MARK, "marks" },		{ PERFCTR_CAN_SESSION, "sessions" },
	{ PERFCTR_CAN_TRACE, "traces" },	{ PERFCTR_CAN_CONSISTENT, "one-instant" },
	{ PERFCTR_CAN_TOTALS, "totals" },	{ PERFCTR_CAN_SAMPLE, "samples" },
	{ PERFCTR_CAN_SIGNAL, "signals" },
};

static void write_backend(FILE *file, const struct perfctr_backend_info *info, bool used)
{
	fprintf(file, "backend %s: %s", info->name,
		used		  ? "used"
		: info->available ? "available"
				  : "not available");
	if (info->available) {
		fprintf(file, "; it has:");
		for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
			if (info->capabilities & capabilities[i].bit)
				fprintf(file, " %s", capabilities[i].name);
	}
	if (*info->why) {
		char why[sizeof(info->why)];

		memcpy(why, info->why, sizeof(why));
		name_commands(why);
		fprintf(file, "; %s", why);
	}
	putc('\n', file);
}

void write_backends(FILE *file, const struct perfctr_backend_info *used)
{
	struct perfctr_backend_info list[8];
	int n = perfctr_backends(list, sizeof(list) / sizeof(list[0]));

	for (int i = 0; i < n; i++)
		write_backend(file, &list[i],
			      used->available && strcmp(list[i].name, used->name) == 0);
}

static const struct {
	uint32_t bit;
	const char *name;
} features[] = {
	{ PERFCTR_FEATURE_TSC, "tsc" },
	{ PERFCTR_FEATURE_RDPMC, "rdpmc" },
	{ PERFCTR_FEATURE_GLOBAL_ENABLE, "global-enable" },
	{ PERFCTR_FEATURE_ISOLATED, "isolated" },
	{ PERFCTR_FEATURE_FAST_RDPMC, "fast-rdpmc" },
	{ PERFCTR_FEATURE_MODULE, "module" },
	{ PERFCTR_FEATURE_INTERRUPT, "interrupt" },
	{ PERFCTR_FEATURE_TOTALS, "totals" },
	{ PERFCTR_FEATURE_SIGNAL, "signal" },
};

static void write_features(FILE *file, uint32_t set)
{
	fprintf(file, "features:");
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (set & features[i].bit)
			fprintf(file, " %s", features[i].name);
	putc('\n', file);
}

static const char *holder_name(uint32_t holder)
{
	switch (holder) {
	case PERFCTR_HOLDER_NONE:
		return "nobody";
	case PERFCTR_HOLDER_PERFCTR:
		return "perfctr";
	case PERFCTR_HOLDER_OTHER:
		return "perf_events or the NMI watchdog";
	}
	return "unknown";
}

static void write_cost(FILE *file, const char *instruction, uint32_t ticks)
{
	if (ticks)
		fprintf(file, "ticks of %s: %u\n", instruction, ticks);
	else
		fprintf(file, "ticks of %s: unknown\n", instruction);
}

static void write_kind(FILE *file, const struct perfctr_kind *kind)
{
	unsigned int general = 0, fixed = 0;

	for (unsigned int i = 0; i < PERFCTR_FIXED_BIT; i++) {
		general += kind->counters >> i & 1;
		fixed += kind->counters >> (PERFCTR_FIXED_BIT + i) & 1;
	}
	fprintf(file,
		"kind of core %s: %u general and %u fixed counters, evntsel allowed 0x%016llx\n",
		kind->name, general, fixed, (unsigned long long)kind->evntsel_allowed);
}

void write_pmu_state(FILE *file, const struct perfctr_pmu_info *info)
{
	fprintf(file, "family: %.*s\n", (int)sizeof(info->family), info->family);
	fprintf(file, "abi version: %u\n", info->abi_version);
	write_features(file, info->features);
	fprintf(file, "counters held by: %s\n", holder_name(info->holder));
}

void write_pmu_limits(FILE *file, const struct perfctr_pmu_info *info)
{
	fprintf(file, "isolation: %s\n",
		info->features & PERFCTR_FEATURE_ISOLATED ? "on, nobody can read foreign counts"
							  : "off, foreign counts may be read");
	fprintf(file, "times disturbed: %llu\n", (unsigned long long)info->disturbances);
	if (info->mute_cpus)
		fprintf(file, "CPUs that count no events: %u\n", info->mute_cpus);
	fprintf(file, "contexts: %u\n", info->n_contexts);
	fprintf(file, "general counters: %u\n", info->n_general);
	fprintf(file, "general counter bits: %u\n", info->general_bits);
	fprintf(file, "fixed counters: %u\n", info->n_fixed);
	fprintf(file, "fixed counter bits: %u\n", info->fixed_bits);
	fprintf(file, "evntsel allowed: 0x%016llx\n", (unsigned long long)info->evntsel_allowed);
	fprintf(file, "evntsel required: 0x%016llx\n", (unsigned long long)info->evntsel_required);
	fprintf(file, "evntsel allowed, fixed: 0x%016llx\n",
		(unsigned long long)info->fixed_allowed);
	fprintf(file, "evntsel2 allowed: 0x%016llx\n", (unsigned long long)info->evntsel2_allowed);
	for (uint32_t k = 0; k < info->n_kinds; k++)
		write_kind(file, &info->kind[k]);
	fprintf(file, "tsc khz: %u\n", info->tsc_khz);
	write_cost(file, "rdtsc", info->cost_rdtsc);
	write_cost(file, "rdpmc", info->cost_rdpmc);
	write_cost(file, "rdmsr", info->cost_rdmsr);
	write_cost(file, "wrmsr", info->cost_wrmsr);
}
