// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static const struct {
	uint32_t bit;
	const char *name;
} capabilities[] = {
	{ PERFCTR_CAN_HARDWARE, "hardware" },	{ PERFCTR_CAN_SOFTWARE, "software" },
	{ PERFCTR_CAN_KERNEL, "kernel-mode" },	{ PERFCTR_CAN_SWITCHES, "switches" },
	{ PERFCTR_CAN_LIVE_READ, "live-read" }, { PERFCTR_CAN_RDPMC, "rdpmc" },
	{ PERFCTR_CAN_ISOLATE, "isolation" },	{ PERFCTR_CAN_REMOTE, "remote" },
	{ PERFCTR_CAN_INHERIT, "inheritance" }, { PERFCTR_CAN_RECORD, "records" },
	{ PERFCTR_CAN_GROUP, "groups" },	{ PERFCTR_CAN_SESSION, "sessions" },
	{ PERFCTR_CAN_TRACE, "traces" },	{ PERFCTR_CAN_CONSISTENT, "one-instant" },
};

static void print_backend(const struct perfctr_backend_info *info, bool used)
{
	printf("backend %s: %s", info->name,
	       used		 ? "used"
	       : info->available ? "available"
				 : "not available");
	if (info->available) {
		printf("; it has:");
		for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
			if (info->capabilities & capabilities[i].bit)
				printf(" %s", capabilities[i].name);
	}
	if (*info->why)
		printf("; %s", info->why);
	putchar('\n');
}

static void print_backends(void)
{
	struct perfctr_backend_info list[8], used = { 0 };
	int n = perfctr_backends(list, sizeof(list) / sizeof(list[0]));

	perfctr_backend(NULL, &used);
	for (int i = 0; i < n; i++)
		print_backend(&list[i], used.available && strcmp(list[i].name, used.name) == 0);
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
};

static void print_features(uint32_t set)
{
	printf("features:");
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (set & features[i].bit)
			printf(" %s", features[i].name);
	putchar('\n');
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

static void print_cost(const char *instruction, uint32_t ticks)
{
	if (ticks)
		printf("ticks of %s: %u\n", instruction, ticks);
	else
		printf("ticks of %s: unknown\n", instruction);
}

/*
 * The kernel's own rules for perf_events. The last line that is at most the paranoia holds; the
 * level 3 is Debian's.
 */
static const struct {
	int paranoia;
	const char *user, *kernel;
} permissions[] = {
	{ INT_MIN, "everybody, the threads that they may trace", "everybody" },
	{ 2, "everybody, the threads that they may trace", "with CAP_PERFMON" },
	{ 3, "with CAP_SYS_ADMIN", "with CAP_SYS_ADMIN" },
};

static void print_permissions(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int paranoia, level = sizeof(permissions) / sizeof(permissions[0]) - 1;
	char why[64] = "";

	if (!file || fscanf(file, "%d", &paranoia) != 1)
		paranoia = 2;
	else
		snprintf(why, sizeof(why), " (kernel.perf_event_paranoid is %d%s)", paranoia,
			 paranoia > 2 ? ", Debian's level" : "");
	if (file)
		fclose(file);
	while (permissions[level].paranoia > paranoia)
		level--;
	printf("counting in user mode: %s%s\n", permissions[level].user, paranoia > 2 ? why : "");
	printf("counting in kernel mode: %s%s\n", permissions[level].kernel, why);
}

static void print_kind(const struct perfctr_kind *kind)
{
	unsigned int general = 0, fixed = 0;

	for (unsigned int i = 0; i < PERFCTR_FIXED_BIT; i++) {
		general += kind->counters >> i & 1;
		fixed += kind->counters >> (PERFCTR_FIXED_BIT + i) & 1;
	}
	printf("kind of core %s: %u general and %u fixed counters, evntsel allowed 0x%016llx\n",
	       kind->name, general, fixed, (unsigned long long)kind->evntsel_allowed);
}

static void print_info(const struct perfctr_pmu_info *info)
{
	printf("family: %.*s\n", (int)sizeof(info->family), info->family);
	printf("abi version: %u\n", info->abi_version);
	print_features(info->features);
	printf("counters held by: %s\n", holder_name(info->holder));
	if (info->holder == PERFCTR_HOLDER_PERFCTR)
		print_holders();
	printf("isolation: %s\n", info->features & PERFCTR_FEATURE_ISOLATED
					  ? "on, nobody can read foreign counts"
					  : "off, foreign counts may be read");
	printf("times disturbed: %llu\n", (unsigned long long)info->disturbances);
	print_permissions();
	printf("contexts: %u\n", info->n_contexts);
	printf("general counters: %u\n", info->n_general);
	printf("general counter bits: %u\n", info->general_bits);
	printf("fixed counters: %u\n", info->n_fixed);
	printf("fixed counter bits: %u\n", info->fixed_bits);
	printf("evntsel allowed: 0x%016llx\n", (unsigned long long)info->evntsel_allowed);
	printf("evntsel required: 0x%016llx\n", (unsigned long long)info->evntsel_required);
	printf("evntsel allowed, fixed: 0x%016llx\n", (unsigned long long)info->fixed_allowed);
	printf("evntsel2 allowed: 0x%016llx\n", (unsigned long long)info->evntsel2_allowed);
	for (uint32_t k = 0; k < info->n_kinds; k++)
		print_kind(&info->kind[k]);
	printf("tsc khz: %u\n", info->tsc_khz);
	print_cost("rdtsc", info->cost_rdtsc);
	print_cost("rdpmc", info->cost_rdpmc);
	print_cost("rdmsr", info->cost_rdmsr);
	print_cost("wrmsr", info->cost_wrmsr);
}

int show_info(void)
{
	struct perfctr_pmu_info info;

	print_backends();
	if (perfctr_get_pmu_info(&info) < 0) {
		complain_of_open(errno);
		return EXIT_PERFEX;
	}
	print_info(&info);
	return 0;
}

static const struct option_rule rules[] = {
	BACKEND_OPTION,
	{ 0 },
};

static int info_main(int argc, char **argv);

const struct subcommand info_subcommand = {
	.name = "info",
	.summary = "show what this machine can count",
	.main = info_main,
	.help = "Usage: perfex info [OPTION]\n"
		"Show what can count here and what this machine can count, what its instructions cost\n"
		"and who may count what.\n",
	.options = rules,
};

static int info_main(int argc, char **argv)
{
	int n = take_options(&info_subcommand, NULL, argc, argv);

	if (n < argc)
		fail("perfex info takes no argument, '%s' is one", argv[n]);
	return show_info();
}
