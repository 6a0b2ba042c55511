// SPDX-License-Identifier: LGPL-2.1-or-later
/* perfctr 2.6: text on standard output, in the words that scripts know. */
#include "compat.h"

#include <stdio.h>

void perfctr_info_print(const struct perfctr_info *info)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} features[] = {
		{ PERFCTR_FEATURE_RDPMC, "rdpmc" },
		{ PERFCTR_FEATURE_RDTSC, "rdtsc" },
		{ PERFCTR_FEATURE_PCINT, "pcint" },
	};
	const char *before = " (";

	printf("abi_version\t\t0x%08X\n", info->abi_version);
	printf("driver_version\t\t%.32s\n", info->driver_version);
	printf("cpu_type\t\t%u (%s)\n", info->cpu_type, perfctr_info_cpu_name(info));
	printf("cpu_features\t\t%#x", info->cpu_features);
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (info->cpu_features & features[i].bit) {
			printf("%s%s", before, features[i].name);
			before = ",";
		}
	printf("%s\n", *before == ',' ? ")" : "");
	printf("cpu_khz\t\t\t%u\n", info->cpu_khz);
	printf("tsc_to_cpu_mult\t\t%u%s\n", info->tsc_to_cpu_mult,
	       info->tsc_to_cpu_mult ? "" : " (unspecified, assume 1)");
	printf("cpu_nrctrs\t\t%u\n", perfctr_info_nrctrs(info));
}

static void print_cpus(const char *name, const struct perfctr_cpu_mask *cpus)
{
	const unsigned int *mask = cpus->mask;
	unsigned int n = 0;

	printf("%s[", name);
	for (unsigned int cpu = 0; cpu < 32 * cpus->nrwords; cpu++)
		if (mask[cpu / 32] >> cpu % 32 & 1)
			printf("%s%u", n++ ? "," : "", cpu);
	printf("], total: %u\n", n);
}

void perfctr_cpus_info_print(const struct perfctr_cpus_info *info)
{
	print_cpus("cpus\t\t\t", info->cpus);
	print_cpus("cpus_forbidden\t\t", info->cpus_forbidden);
}

static void print_counter(const struct perfctr_cpu_control *c, unsigned int i)
{
	printf(c->pmc_map[i] < COMPAT_COUNTERS ? "pmc_map[%u]\t\t%u\n" : "pmc_map[%u]\t\t0x%08X\n",
	       i, c->pmc_map[i]);
	printf("evntsel[%u]\t\t0x%08X\n", i, c->evntsel[i]);
	if (c->p4.escr[i])
		printf("escr[%u]\t\t\t0x%08X\n", i, c->p4.escr[i]);
	if (i >= c->nractrs)
		printf("ireset[%u]\t\t%d\n", i, c->ireset[i]);
}

void perfctr_cpu_control_print(const struct perfctr_cpu_control *control)
{
	printf("tsc_on\t\t\t%u\n", control->tsc_on);
	printf("nractrs\t\t\t%u\n", control->nractrs);
	if (control->nrictrs)
		printf("nrictrs\t\t\t%u\n", control->nrictrs);
	for (unsigned int i = 0; i < control->nractrs + control->nrictrs && i < COMPAT_COUNTERS;
	     i++)
		print_counter(control, i);
	if (control->p4.pebs_enable)
		printf("pebs_enable\t\t0x%08X\n", control->p4.pebs_enable);
	if (control->p4.pebs_matrix_vert)
		printf("pebs_matrix_vert\t0x%08X\n", control->p4.pebs_matrix_vert);
}
