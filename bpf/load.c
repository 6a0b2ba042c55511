// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the programs into the kernel, and pins them. */
#include "service.h"
#include "perfctr.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

static bool may_load(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	__u64 capabilities;

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	capabilities = (__u64)data[1].effective << 32 | data[0].effective;
	if (capabilities & 1ull << CAP_SYS_ADMIN)
		return true;
	return capabilities & 1ull << CAP_BPF && capabilities & 1ull << CAP_PERFMON;
}

/* The clock of a time namespace is not the one that BPF programs read. */
static bool is_in_time_namespace(void)
{
	FILE *file = fopen("/proc/self/timens_offsets", "re");
	long long seconds, ns;
	bool found = false;

	/* This kernel has no time namespaces. */
	if (!file)
		return false;
	if (fscanf(file, "monotonic %lld %lld", &seconds, &ns) == 2)
		found = seconds || ns;
	fclose(file);
	return found;
}

/*
 * If users may load programs of their own, these could write the maps that users get for reading.
 */
int check_system(void)
{
	FILE *file = fopen("/proc/sys/kernel/unprivileged_bpf_disabled", "re");
	int disabled = file ? fgetc(file) : EOF;

	if (file)
		fclose(file);
	if (disabled == '0')
		return complain("users may load BPF programs here, and could change all counts; "
				"as root: sysctl kernel.unprivileged_bpf_disabled=2");
	if (is_in_time_namespace())
		return complain("the clock of this time namespace is not the kernel's; run "
				"perfctr-bpfd outside of the container");
	return 0;
}

static int explain_failure(int error)
{
	if (!may_load())
		return complain("loading BPF programs needs the capabilities CAP_BPF and "
				"CAP_PERFMON; run perfctr-bpfd as root, or by systemctl start "
				"perfctr-bpfd");
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return complain("the kernel does not describe its types (/sys/kernel/btf/vmlinux "
				"is missing); boot one with CONFIG_DEBUG_INFO_BTF=y, such as "
				"Debian's");
	if (error == ENOSYS)
		return complain("the kernel has no bpf(2), or this container hides it; boot one "
				"with CONFIG_BPF_SYSCALL=y, or run perfctr-bpfd outside of the "
				"container");
	if (error == EPERM)
		return complain("bpf(2) is refused although the capabilities are there; run "
				"perfctr-bpfd outside of the container, and see "
				"kernel_lockdown(7)");
	return complain("the kernel refuses the BPF programs (%s); it must be Linux 6.1 or later "
			"with CONFIG_BPF_EVENTS=y; perfctr-bpfd start --verbose tells more",
			strerror(error));
}

static int pin_all(int directory, const struct perfctr_bpf *programs, const struct bpf_link *self)
{
	const struct bpf_link *birth = programs->links.on_fork ?: programs->links.on_first_wakeup;
	const int pins[PINS] = {
		[PIN_SLOTS] = bpf_map__fd(programs->maps.slots),
		[PIN_INFO] = bpf_map__fd(programs->maps.info),
		[PIN_SELF] = bpf_link__fd(self),
		[PIN_WALK] = bpf_link__fd(programs->links.walk),
		[PIN_COUNT] = bpf_program__fd(programs->progs.count),
		[PIN_KEEP] = bpf_program__fd(programs->progs.keep),
		[PIN_SWITCH] = bpf_link__fd(programs->links.on_switch),
		[PIN_FORK] = bpf_link__fd(birth),
		[PIN_EXEC] = bpf_link__fd(programs->links.on_exec),
		[PIN_EXIT] = bpf_link__fd(programs->links.on_exit),
		[PIN_FREE] = bpf_link__fd(programs->links.on_free),
		[PIN_CALL] = bpf_program__fd(programs->progs.call),
	};

	for (int pin = 0; pin < PINS; pin++)
		if (make_pin(directory, pin, pins[pin]) < 0)
			return -1;
	return 0;
}

/* Shows the programs a file of the kind that users will show. */
static int teach_programs(const struct perfctr_bpf *programs)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC), result;
	struct perfctr_bpf_arguments arguments = {
		.value = { [0] = PERFCTR_BPF_LEARN, [3] = (__u64)fd },
	};
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &arguments, .ctx_size_in = sizeof(arguments));

	if (fd < 0)
		return -1;
	result = bpf_prog_test_run_opts(bpf_program__fd(programs->progs.call), &run);
	if (result == 0 && run.retval) {
		errno = -(int)run.retval;
		result = -1;
	}
	close(fd);
	return result;
}

static struct bpf_link *attach_self(const struct perfctr_bpf *programs)
{
	union bpf_iter_link_info which = { .map.map_fd = (__u32)bpf_map__fd(programs->maps.info) };
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &which,
		    .link_info_len = sizeof(which));

	return bpf_program__attach_iter(programs->progs.self, &options);
}

/* Fills in the map "info".  From then on only programs can write it, whatever its mode. */
static int fill_in(struct perfctr_bpf *programs, const struct options *options,
		   const struct perfctr_bpf_event *events, __u32 undo)
{
	int map = bpf_map__fd(programs->maps.info);
	__u32 zero = 0;
	struct perfctr_bpf_info info = {
		.version = PERFCTR_BPF_VERSION,
		.slots = options->slots,
		.user_slots = options->user_slots ?: options->slots / 4,
		.sources = PERFCTR_BPF_SOURCES,
		.undo = undo,
		.n_events = options->n_events,
	};

	memcpy(info.event, events, sizeof(info.event));
	begin_clock(&info);
	return bpf_map_update_elem(map, &zero, &info, BPF_ANY) < 0 ? -1 : bpf_map_freeze(map);
}

/* Before Linux 7, programs at tracepoints cannot be preempted. */
static bool is_before_linux_7(void)
{
	struct utsname name;

	return uname(&name) == 0 && strtoul(name.release, NULL, 10) < 7;
}

/* Only programs can write slots when this is done.  Users may map them. */
static int fit_and_load(struct perfctr_bpf *programs, const struct options *options)
{
	programs->rodata->n_events = options->n_events;
	programs->rodata->dumpable_at = offset_in_kernel("task_exec_state", "dumpable");
	bpf_program__set_autoattach(programs->progs.self, false);
	bpf_program__set_autoload(is_before_linux_7() ? programs->progs.on_first_wakeup
						      : programs->progs.on_fork,
				  false);
	if (bpf_map__set_max_entries(programs->maps.slots, options->slots) < 0 ||
	    bpf_map__set_max_entries(programs->maps.holders, options->slots) < 0 ||
	    bpf_map__set_max_entries(programs->maps.counters, (__u32)cpus() * PERFCTR_BPF_EVENTS) <
		    0 ||
	    perfctr_bpf__load(programs) < 0 ||
	    bpf_map_freeze(bpf_map__fd(programs->maps.slots)) < 0)
		return -1;
	return teach_programs(programs);
}

bool is_of_this_build(const struct perfctr_bpf_info *info)
{
	return strncmp(info->sources, PERFCTR_BPF_SOURCES, sizeof(info->sources)) == 0;
}

int load_and_pin(int directory, const struct options *options, __u32 undo)
{
	struct perfctr_bpf_event events[PERFCTR_BPF_EVENTS] = { 0 };
	struct perfctr_bpf *programs;
	struct bpf_link *self = NULL;
	int result = -1;

	if (read_events(options, events) < 0)
		return -1;
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	if (!options->verbose)
		libbpf_set_print(NULL);
	programs = perfctr_bpf__open();
	if (!programs)
		return explain_failure(errno);
	if (fit_and_load(programs, options) < 0 || fill_in(programs, options, events, undo) < 0)
		explain_failure(errno);
	else if (open_events(bpf_map__fd(programs->maps.counters), events, options->n_events) < 0)
		result = -1;
	else if (perfctr_bpf__attach(programs) < 0 || !(self = attach_self(programs)))
		explain_failure(errno);
	else
		result = pin_all(directory, programs, self);
	bpf_link__destroy(self);
	perfctr_bpf__destroy(programs);
	return result;
}
