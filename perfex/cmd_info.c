// SPDX-License-Identifier: GPL-2.0-or-later
#include "../lib/privilege.h"
#include "info/pmu.h"
#include "run/options.h"

#include <errno.h>
#include <limits.h>

/*
 * The users that perf_events lets count, by kernel.perf_event_paranoid.  A row applies from its
 * level up to the level of the next row.  Level 3 is a patch of Debian.
 */
static const struct {
	int paranoia; /* the lowest level of the row */
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
	if (perfctr_in_user_namespace())
		puts("user namespace: another than the host's; the capabilities of its processes are "
		     "not the host's, and do not let them count");
}

int show_info(const char *backend)
{
	struct perfctr_backend_info used = { 0 };
	struct perfctr_pmu_info info;

	perfctr_backend(backend, &used);
	write_backends(stdout, &used);
	if (perfctr_get_pmu_info_with(backend, &info) < 0) {
		complain_of_open(backend, errno);
		return EXIT_PERFEX;
	}
	write_pmu_state(stdout, &info);
	if (info.holder == PERFCTR_HOLDER_PERFCTR)
		print_holders();
	if (info.holder == PERFCTR_HOLDER_OTHER && !backend && driver_is_default())
		puts("until they are free: perf_events counts where it can, as --backend=perf_events "
		     "does");
	print_permissions();
	write_pmu_limits(stdout, &info);
	return 0;
}

static int show_process(const char *backend, pid_t pid)
{
	struct perfctr_pmu_info info;

	if (perfctr_get_pmu_info_with(backend, &info) == 0)
		return print_process(backend, pid, &info);
	complain_of_open(backend, errno);
	return EXIT_PERFEX;
}

static const struct option_row rows[] = {
	BACKEND_OPTION(0),
	{ 0 },
};

static int info_main(int argc, char **argv);

const struct subcommand info_subcommand = {
	.name = "info",
	.summary = "show what this machine can count",
	.main = info_main,
	.help = "Usage: perfex info [OPTION] [PID]\n"
		"Show the backends, the counters of this machine and what it costs to read them, and\n"
		"what the caller may count.  With PID, show the events by which any program counts the\n"
		"threads of this process; only the kernel driver knows them.\n",
	.options = rows,
};

static int info_main(int argc, char **argv)
{
	struct options options = { 0 };
	int n = take_options(&info_subcommand, &options, argc, argv);

	if (n + 1 < argc)
		fail("perfex info takes one process, '%s' is too many", argv[n + 1]);
	return n < argc ? show_process(options.backend, parse_pid(argv[n]))
			: show_info(options.backend);
}
