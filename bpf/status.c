// SPDX-License-Identifier: GPL-2.0-or-later
/* perfctr-bpfd status: what is loaded, and how much of it is used. */
#include "service.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/bpf.h>

struct usage {
	unsigned int contexts, marks, members;
	unsigned long long missed, lost, dropped;
};

static void add_slot(struct usage *usage, const struct perfctr_bpf_slot *slot)
{
	if (!slot->generation)
		return;
	usage->contexts += slot->kind == PERFCTR_BPF_CONTEXT;
	usage->marks += slot->kind == PERFCTR_BPF_MARKED;
	usage->members += slot->members;
	usage->missed += slot->missed;
	usage->lost += slot->lost;
	usage->dropped += slot->dropped;
}

static int look_at_slots(int directory, const struct perfctr_bpf_info *info, struct usage *usage)
{
	size_t size = (size_t)info->slots * PERFCTR_PAGE_SIZE;
	int map = open_pin(directory, PIN_SLOTS, 0);
	const char *slots;

	if (map < 0)
		return complain("cannot open " PERFCTR_BPF_DIRECTORY
				"/slots (%s); perfctr-bpfd stop, then start, renews it",
				strerror(errno));
	slots = mmap(NULL, size, PROT_READ, MAP_SHARED, map, 0);
	close(map);
	if (slots == MAP_FAILED)
		return complain("cannot map " PERFCTR_BPF_DIRECTORY "/slots (%s)", strerror(errno));
	for (unsigned int i = 0; i < info->slots; i++)
		add_slot(usage, (const void *)(slots + (size_t)i * PERFCTR_PAGE_SIZE));
	munmap((void *)slots, size);
	return 0;
}

/* The inode of the first pid namespace: PROC_PID_INIT_INO of the kernel's linux/proc_ns.h. */
enum { FIRST_PID_NAMESPACE = 0xeffffffc };

/* In another pid namespace the service has another number, or none. */
static bool is_in_first_pid_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) < 0 || status.st_ino == FIRST_PID_NAMESPACE;
}

static void show_clock(const struct perfctr_bpf_info *info)
{
	__u64 age = monotonic_ns() - info->clock[info->current & 1].ns;
	int pid = running_service(info);

	if (pid)
		printf("service  process %d\n", pid);
	else if (!is_in_first_pid_namespace())
		printf("service  cannot be seen from this pid namespace; if it runs, the clock is "
		       "renewed each second\n");
	else
		printf("service  does not run: pages cannot be read live; "
		       "perfctr-bpfd start makes it go on\n");
	printf("clock    %u kHz, renewed %llu ms ago, %ld ns off%s\n", info->tsc_khz,
	       (unsigned long long)age / 1000000, clock_error(info),
	       info->live ? "" : "; not the same on all CPUs: pages cannot be read live");
}

static int read_all(int directory, struct perfctr_bpf_info *info, struct usage *usage)
{
	int map = directory < 0 ? -1 : open_pin(directory, PIN_INFO, BPF_F_RDONLY), result;

	if (map < 0 && errno == EACCES)
		return complain("no permission for " PERFCTR_BPF_DIRECTORY
				"/info; ask root to chmod o+x /sys/fs/bpf");
	if (map < 0)
		return complain("it is not loaded; as root: perfctr-bpfd start");
	result = read_info(map, info);
	close(map);
	if (result < 0 && errno == EPROTO)
		return complain("another version of it is loaded, or what it says is out of range; "
				"perfctr-bpfd stop removes it");
	if (result < 0)
		return complain("cannot read " PERFCTR_BPF_DIRECTORY "/info (%s)", strerror(errno));
	return look_at_slots(directory, info, usage);
}

int show_status(void)
{
	struct perfctr_bpf_info info;
	struct usage usage = { 0 };
	int directory = look_at_directory(), result = read_all(directory, &info, &usage);

	if (directory >= 0)
		close(directory);
	if (result < 0)
		return -1;
	show_clock(&info);
	printf("slots    %u, taken by %u contexts and %u marks; %u for one user\n", info.slots,
	       usage.contexts, usage.marks, info.user_slots);
	printf("members  %u; lost %llu, dropped %llu\n", usage.members, usage.lost, usage.dropped);
	for (__u32 i = 0; i < info.n_events; i++)
		printf("event    %s (experimental)\n", info.event[i].name);
	printf("missed   %llu switches, whose counts were made up for\n", usage.missed);
	return 0;
}
