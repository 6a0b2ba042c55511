// SPDX-License-Identifier: GPL-2.0-or-later
/* The library's description of the machine, in values and in text. */
#define _GNU_SOURCE
#include "old.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

bool the_machine_is_called_as_in_2_6(void)
{
	struct perfctr_info info, other;
	struct vperfctr *self = vperfctr_open();

	REQUIRE(self);
	REQUIRE(perfctr_get_info(&info) == 0 && vperfctr_info(self, &other) == 0);
	end_state(self);
	/* The kernel measures the frequency once more in the first seconds. */
	REQUIRE(labs((long)other.cpu_khz - (long)info.cpu_khz) < (long)info.cpu_khz / 100);
	other.cpu_khz = info.cpu_khz;
	REQUIRE(is_same(&info, &other, sizeof(info)));
	return EXPECT(info.abi_version == 0x05020501) &&
	       EXPECT(info.cpu_type == machine.cpu_type) &&
	       EXPECT(perfctr_info_nrctrs(&info) == machine.n_counters) &&
	       EXPECT(info.cpu_features & PERFCTR_FEATURE_RDTSC) &&
	       EXPECT(!!(info.cpu_features & PERFCTR_FEATURE_PCINT) == can_interrupt()) &&
	       EXPECT(!!(info.cpu_features & PERFCTR_FEATURE_RDPMC) ==
		      (machine.n_counters && !runs_on(BPF))) &&
	       EXPECT(info.cpu_khz > 100000) && EXPECT(info.tsc_to_cpu_mult == 1) &&
	       EXPECT(strcmp(perfctr_info_cpu_name(&info), "?") != 0) &&
	       EXPECT(!perfctr_cpu_event_set(info.cpu_type));
}

/* Does print() write this to standard output? */
static bool prints(void (*print)(void), const char *expected)
{
	char text[1024] = "";
	ssize_t length;
	int fds[2];
	pid_t pid;

	REQUIRE(pipe(fds) == 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], 1);
		print();
		fflush(stdout);
		_exit(0);
	}
	close(fds[1]);
	waitpid(pid, NULL, 0);
	for (size_t used = 0; (length = read(fds[0], text + used, sizeof(text) - 1 - used)) > 0;)
		used += (size_t)length;
	close(fds[0]);
	if (strcmp(text, expected) == 0)
		return true;
	printf("printed:\n%s\ninstead of:\n%s\n", text, expected);
	return false;
}

static void print_info(void)
{
	const struct perfctr_info info = {
		.abi_version = 0x05020501,
		.driver_version = "2.6.42",
		.cpu_type = PERFCTR_X86_GENERIC,
		.cpu_features = 6,
		.cpu_khz = 2400000,
	};

	perfctr_info_print(&info);
}

static void print_cpus(void)
{
	struct {
		unsigned int nrwords, mask[2];
	} cpus = { 2, { 0x80000003, 1 } }, none = { 2, { 0, 0 } };
	const struct perfctr_cpus_info info = { (struct perfctr_cpu_mask *)&cpus,
						(struct perfctr_cpu_mask *)&none };

	perfctr_cpus_info_print(&info);
}

static void print_control(void)
{
	struct perfctr_cpu_control control = {
		.tsc_on = 1,
		.nractrs = 1,
		.nrictrs = 1,
		.pmc_map = { 12, 0x8000000c },
		.evntsel = { 0x39000, 0x4100c0 },
		.ireset = { 0, -25 },
	};

	control.p4.escr[0] = 0x4000204;
	control.p4.pebs_enable = 0x1000001;
	control.p4.pebs_matrix_vert = 1;
	perfctr_cpu_control_print(&control);
}

bool text_is_that_of_2_6(void)
{
	return prints(print_info, "abi_version\t\t0x05020501\n"
				  "driver_version\t\t2.6.42\n"
				  "cpu_type\t\t0 (Generic x86 with TSC)\n"
				  "cpu_features\t\t0x6 (rdtsc,pcint)\n"
				  "cpu_khz\t\t\t2400000\n"
				  "tsc_to_cpu_mult\t\t0 (unspecified, assume 1)\n"
				  "cpu_nrctrs\t\t0\n") &&
	       prints(print_cpus, "cpus\t\t\t[0,1,31,32], total: 4\n"
				  "cpus_forbidden\t\t[], total: 0\n") &&
	       prints(print_control, "tsc_on\t\t\t1\n"
				     "nractrs\t\t\t1\n"
				     "nrictrs\t\t\t1\n"
				     "pmc_map[0]\t\t12\n"
				     "evntsel[0]\t\t0x00039000\n"
				     "escr[0]\t\t\t0x04000204\n"
				     "pmc_map[1]\t\t0x8000000C\n"
				     "evntsel[1]\t\t0x004100C0\n"
				     "ireset[1]\t\t-25\n"
				     "pebs_enable\t\t0x01000001\n"
				     "pebs_matrix_vert\t0x00000001\n");
}

bool cpus_are_told(void)
{
	struct perfctr_cpus_info *info = perfctr_cpus_info(-1);
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	bool good;

	REQUIRE(info);
	good = EXPECT(info->cpus->nrwords == 1) && EXPECT(info->cpus->mask[0] == (1u << n) - 1) &&
	       EXPECT(info->cpus_forbidden->nrwords == 1) &&
	       EXPECT(info->cpus_forbidden->mask[0] == 0);
	free(info);
	return good;
}
