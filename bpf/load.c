// SPDX-License-Identifier: GPL-2.0-or-later
/* Bringing the programs into the kernel, and out of it. */
#include "service.h"
#include "perfctr.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

static int explain(int error)
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

/* Everybody may use these, nobody but the owner the others. */
static int pin_all(struct perfctr_bpf *programs)
{
	struct {
		const char *path;
		int fd;
		mode_t mode;
	} pins[] = {
		{ PIN("slots"), bpf_map__fd(programs->maps.slots), 0666 },
		{ PIN("info"), bpf_map__fd(programs->maps.info), 0644 },
		{ PIN("call"), bpf_program__fd(programs->progs.call), 0666 },
		{ PIN("walk"), bpf_link__fd(programs->links.walk), 0444 },
		{ PIN("switch"), bpf_link__fd(programs->links.on_switch), 0600 },
		{ PIN("fork"), bpf_link__fd(programs->links.on_fork), 0600 },
		{ PIN("exec"), bpf_link__fd(programs->links.on_exec), 0600 },
		{ PIN("exit"), bpf_link__fd(programs->links.on_exit), 0600 },
		{ PIN("free"), bpf_link__fd(programs->links.on_free), 0600 },
	};

	for (size_t i = 0; i < sizeof(pins) / sizeof(pins[0]); i++)
		if (bpf_obj_pin(pins[i].fd, pins[i].path) < 0 ||
		    chmod(pins[i].path, pins[i].mode) < 0)
			return complain(
				"cannot pin %s (%s); perfctr-bpfd stop removes what is there",
				pins[i].path, strerror(errno));
	return 0;
}

static int fill_in(struct perfctr_bpf *programs, const struct options *options,
		   const struct perfctr_bpf_event *events, __u32 undo)
{
	struct perfctr_bpf_info info = {
		.version = PERFCTR_BPF_VERSION,
		.slots = options->slots,
		.undo = undo,
		.n_events = options->n_events,
	};

	memcpy(info.event, events, sizeof(info.event));
	begin_clock(&info);
	return write_info(bpf_map__fd(programs->maps.info), &info);
}

int load_and_pin(const struct options *options, __u32 undo)
{
	struct perfctr_bpf_event events[PERFCTR_BPF_EVENTS] = { 0 };
	struct perfctr_bpf *programs;
	int result = -1;

	if (read_events(options, events) < 0)
		return -1;
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	if (!options->verbose)
		libbpf_set_print(NULL);
	programs = perfctr_bpf__open();
	if (!programs)
		return explain(errno);
	programs->rodata->n_events = options->n_events;
	/* Only programs write slots from here on; users may map them. */
	if (bpf_map__set_max_entries(programs->maps.slots, options->slots) < 0 ||
	    bpf_map__set_max_entries(programs->maps.counters, (__u32)cpus() * PERFCTR_BPF_EVENTS) <
		    0 ||
	    perfctr_bpf__load(programs) < 0 ||
	    bpf_map_freeze(bpf_map__fd(programs->maps.slots)) < 0 ||
	    fill_in(programs, options, events, undo) < 0)
		explain(errno);
	else if (open_events(bpf_map__fd(programs->maps.counters), events, options->n_events) < 0)
		result = -1;
	else if (perfctr_bpf__attach(programs) < 0)
		explain(errno);
	else
		result = pin_all(programs);
	perfctr_bpf__destroy(programs);
	return result;
}

/* Wait until it is gone: with it goes the last reference to the maps. */
static void end_service(int pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd gone = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		return;
	if (syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) == 0)
		poll(&gone, 1, 3000);
	close(fd);
}

int unpin(void)
{
	static const char *const pins[] = {
		PIN("call"), PIN("walk"), PIN("switch"), PIN("fork"), PIN("exec"),
		PIN("exit"), PIN("free"), PIN("slots"),	 PIN("info"),
	};
	struct perfctr_bpf_info info = { 0 };
	int map = open_info();

	if (map < 0 && access(PERFCTR_BPF_DIRECTORY, F_OK) < 0)
		return complain("it is not loaded: there is no " PERFCTR_BPF_DIRECTORY);
	if (map >= 0) {
		read_info(map, &info);
		close(map);
	}
	for (size_t i = 0; i < sizeof(pins) / sizeof(pins[0]); i++)
		if (unlink(pins[i]) < 0 && errno != ENOENT)
			return complain(
				"cannot remove %s (%s); run perfctr-bpfd stop as the user who started it, or root",
				pins[i], strerror(errno));
	end_service(running_service(&info));
	remove_directory(info.undo);
	return 0;
}
