// SPDX-License-Identifier: LGPL-2.1-or-later
/* perfctr 2.6: describes the machine.  The types end with the processors of 2010. */
#define _GNU_SOURCE
#include "compat.h"

#include <cpuid.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of each type, and the number of its counters; 0: as many as the machine has. */
static const struct {
	const char *name;
	unsigned int counters;
} types[] = {
	[PERFCTR_X86_GENERIC] = { "Generic x86 with TSC", 0 },
	[PERFCTR_X86_INTEL_P5] = { "Intel Pentium", 2 },
	[PERFCTR_X86_INTEL_P5MMX] = { "Intel Pentium MMX", 2 },
	[PERFCTR_X86_INTEL_P6] = { "Intel Pentium Pro", 2 },
	[PERFCTR_X86_INTEL_PII] = { "Intel Pentium II", 2 },
	[PERFCTR_X86_INTEL_PIII] = { "Intel Pentium III", 2 },
	[PERFCTR_X86_CYRIX_MII] = { "Cyrix 6x86MX/MII/III", 2 },
	[PERFCTR_X86_WINCHIP_C6] = { "WinChip C6", 2 },
	[PERFCTR_X86_WINCHIP_2] = { "WinChip 2/3", 2 },
	[PERFCTR_X86_AMD_K7] = { "AMD K7", 4 },
	[PERFCTR_X86_VIA_C3] = { "VIA C3", 1 },
	[PERFCTR_X86_INTEL_P4] = { "Intel Pentium 4", 18 },
	[PERFCTR_X86_INTEL_P4M2] = { "Intel Pentium 4 Model 2", 18 },
	[PERFCTR_X86_AMD_K8] = { "AMD K8", 4 },
	[PERFCTR_X86_INTEL_PENTM] = { "Intel Pentium M", 2 },
	[PERFCTR_X86_AMD_K8C] = { "AMD K8 Revision C", 4 },
	[PERFCTR_X86_INTEL_P4M3] = { "Intel Pentium 4 Model 3", 18 },
	[PERFCTR_X86_INTEL_CORE] = { "Intel Core", 2 },
	[PERFCTR_X86_INTEL_CORE2] = { "Intel Core 2", 5 },
	[PERFCTR_X86_AMD_FAM10H] = { "AMD Family 10h", 4 },
	[PERFCTR_X86_INTEL_ATOM] = { "Intel Atom", 0 },
	[PERFCTR_X86_INTEL_NHLM] = { "Intel Nehalem", 7 },
	[PERFCTR_X86_INTEL_WSTMR] = { "Intel Westmere", 7 },
};

enum { N_TYPES = sizeof(types) / sizeof(types[0]) };

/* CPUID leaf 1 */
static unsigned int model_and_stepping(unsigned int *stepping)
{
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		eax = 0;
	*stepping = eax & 0xf;
	return (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
}

static unsigned int type_of_p6(unsigned int model)
{
	switch (model) {
	case 3:
	case 5:
	case 6:
		return PERFCTR_X86_INTEL_PII;
	case 7:
	case 8:
	case 10:
	case 11:
		return PERFCTR_X86_INTEL_PIII;
	case 9:
	case 13:
		return PERFCTR_X86_INTEL_PENTM;
	default:
		return PERFCTR_X86_INTEL_P6;
	}
}

/*
 * Chooses a type by the number of counters: architectural events mean the same on all later
 * processors.
 */
static unsigned int type_of_arch(const struct perfctr_pmu_info *info)
{
	if (info->n_general >= 4)
		return PERFCTR_X86_INTEL_WSTMR;
	if (info->n_fixed >= 3)
		return PERFCTR_X86_INTEL_CORE2;
	/* 64-bit programs do not know INTEL_CORE. */
	return sizeof(long) == 4 ? PERFCTR_X86_INTEL_CORE : PERFCTR_X86_INTEL_ATOM;
}

static unsigned int wanted_type(void)
{
	const char *wanted = secure_getenv("PERFCTR_CPU_TYPE");
	char *end;
	unsigned long type;

	if (!wanted || !*wanted)
		return N_TYPES;
	type = strtoul(wanted, &end, 10);
	return *end || type >= N_TYPES ? N_TYPES : (unsigned int)type;
}

unsigned int compat_cpu_type(const struct perfctr_pmu_info *info)
{
	unsigned int stepping, model = model_and_stepping(&stepping);

	switch (info->pmu) {
	case PERFCTR_PMU_ARCH:
		return type_of_arch(info);
	case PERFCTR_PMU_P5:
		return PERFCTR_X86_INTEL_P5;
	case PERFCTR_PMU_P5_MMX:
		return PERFCTR_X86_INTEL_P5MMX;
	case PERFCTR_PMU_P6:
		return type_of_p6(model);
	case PERFCTR_PMU_P4:
		return model < 2    ? PERFCTR_X86_INTEL_P4
		       : model == 2 ? PERFCTR_X86_INTEL_P4M2
				    : PERFCTR_X86_INTEL_P4M3;
	case PERFCTR_PMU_K7:
		return PERFCTR_X86_AMD_K7;
	case PERFCTR_PMU_K8:
		return model > 5 || (model >= 4 && stepping >= 8) ? PERFCTR_X86_AMD_K8C
								  : PERFCTR_X86_AMD_K8;
	case PERFCTR_PMU_AMD:
		return PERFCTR_X86_AMD_FAM10H;
	case PERFCTR_PMU_MII:
		return PERFCTR_X86_CYRIX_MII;
	case PERFCTR_PMU_WINCHIP_C6:
		return PERFCTR_X86_WINCHIP_C6;
	case PERFCTR_PMU_WINCHIP_2:
		return PERFCTR_X86_WINCHIP_2;
	case PERFCTR_PMU_VIA_C3:
		return PERFCTR_X86_VIA_C3;
	default:
		return PERFCTR_X86_GENERIC;
	}
}

int perfctr_get_info(struct perfctr_info *info)
{
	unsigned int wanted = wanted_type();
	struct perfctr_backend_info backend;
	struct perfctr_pmu_info pmu;

	if (perfctr_get_pmu_info(&pmu) < 0 || perfctr_backend(NULL, &backend) < 0)
		return -1;
	memset(info, 0, sizeof(*info));
	info->abi_version = PERFCTR_ABI_VERSION;
	snprintf(info->driver_version, sizeof(info->driver_version), "%s %s", perfctr_version(),
		 backend.name);
	info->cpu_type = wanted < N_TYPES ? wanted : compat_cpu_type(&pmu);
	info->cpu_features = PERFCTR_FEATURE_RDTSC;
	if (pmu.features & COMPAT_PMU_RDPMC || backend.capabilities & PERFCTR_CAN_RDPMC)
		info->cpu_features |= PERFCTR_FEATURE_RDPMC;
	if (pmu.features & PERFCTR_FEATURE_SIGNAL)
		info->cpu_features |= PERFCTR_FEATURE_PCINT;
	info->cpu_khz = pmu.tsc_khz;
	info->tsc_to_cpu_mult = 1;
	return 0;
}

unsigned int perfctr_info_nrctrs(const struct perfctr_info *info)
{
	unsigned int counters = info->cpu_type < N_TYPES ? types[info->cpu_type].counters : 0;
	int error = errno;
	struct perfctr_pmu_info pmu;

	if (info->cpu_type == PERFCTR_X86_GENERIC || info->cpu_type >= N_TYPES)
		return 0;
	if (perfctr_get_pmu_info(&pmu) == 0 &&
	    (!counters || pmu.n_general + pmu.n_fixed < counters))
		counters = pmu.n_general + pmu.n_fixed;
	errno = error;
	return counters < COMPAT_COUNTERS ? counters : COMPAT_COUNTERS;
}

const char *perfctr_info_cpu_name(const struct perfctr_info *info)
{
	return info->cpu_type < N_TYPES ? types[info->cpu_type].name : "?";
}

const struct perfctr_event_set *perfctr_cpu_event_set(unsigned int cpu_type)
{
	return NULL;
}

/* A list such as "0-3,5". */
int compat_online_cpus(unsigned int *mask, unsigned int words)
{
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	unsigned int first, last, n = 0;
	char after = ',';

	if (!file)
		return -1;
	while (after == ',' && fscanf(file, "%u", &first) == 1) {
		last = first;
		after = 0;
		if (fscanf(file, "%c", &after) == 1 && after == '-') {
			after = 0;
			if (fscanf(file, "%u%c", &last, &after) < 1)
				break;
		}
		for (unsigned int cpu = first; cpu <= last; cpu++)
			if (cpu / 32 < words)
				mask[cpu / 32] |= 1u << cpu % 32;
		n = last + 1;
	}
	fclose(file);
	return (int)n;
}

static struct perfctr_cpus_info *make_cpus_info(void)
{
	int n = compat_online_cpus(NULL, 0);
	unsigned int words = n > 0 ? ((unsigned int)n + 31) / 32 : 1;
	struct perfctr_cpus_info *info;
	size_t mask_bytes = sizeof(unsigned int) * (words + 1);

	if (n < 0)
		return NULL;
	info = calloc(1, sizeof(*info) + 2 * mask_bytes);
	if (!info)
		return NULL;
	info->cpus = (struct perfctr_cpu_mask *)(info + 1);
	info->cpus_forbidden = (struct perfctr_cpu_mask *)((char *)(info + 1) + mask_bytes);
	info->cpus->nrwords = words;
	info->cpus_forbidden->nrwords = words;
	compat_online_cpus(info->cpus->mask, words);
	return info;
}

struct perfctr_cpus_info *perfctr_cpus_info(int fd)
{
	return make_cpus_info();
}

struct perfctr_cpus_info *vperfctr_cpus_info(const struct vperfctr *self)
{
	return make_cpus_info();
}

struct perfctr_cpus_info *gperfctr_cpus_info(const struct gperfctr *global)
{
	return make_cpus_info();
}

int vperfctr_info(const struct vperfctr *self, struct perfctr_info *info)
{
	return perfctr_get_info(info);
}

int rvperfctr_info(const struct rvperfctr *remote, struct perfctr_info *info)
{
	return perfctr_get_info(info);
}

int gperfctr_info(const struct gperfctr *global, struct perfctr_info *info)
{
	return perfctr_get_info(info);
}
