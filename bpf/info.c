// SPDX-License-Identifier: GPL-2.0-or-later
/* The map "info", which tells what is loaded, and by which process. */
#include "service.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void open_info(struct pinned *pinned)
{
	pinned->keep = open_pin(pinned->directory, PIN_KEEP, 0);
	pinned->info = open_pin(pinned->directory, PIN_INFO, BPF_F_RDONLY);
}

void close_info(struct pinned *pinned)
{
	if (pinned->info >= 0)
		close(pinned->info);
	if (pinned->keep >= 0)
		close(pinned->keep);
	pinned->info = pinned->keep = -1;
}

int read_info(int map, struct perfctr_bpf_info *info)
{
	struct bpf_map_info shape = { 0 };
	__u32 zero = 0, length = sizeof(shape);

	if (bpf_obj_get_info_by_fd(map, &shape, &length) < 0)
		return -1;
	if (shape.type != BPF_MAP_TYPE_ARRAY || shape.value_size != sizeof(*info)) {
		errno = EPROTO;
		return -1;
	}
	if (bpf_map_lookup_elem(map, &zero, info) < 0)
		return -1;
	if (perfctr_bpf_is_sound(info))
		return 0;
	errno = EPROTO;
	return -1;
}

int change_info(int keep, const struct perfctr_bpf_kept *to)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = to, .ctx_size_in = sizeof(*to));

	if (bpf_prog_test_run_opts(keep, &run) < 0)
		return -1;
	if (!run.retval)
		return 0;
	errno = -(int)run.retval;
	return -1;
}

/* Field 22 of /proc/PID/stat.  The name in field 2 may contain anything: begin behind its ')'. */
__u64 start_of(__u32 pid)
{
	char path[32], line[1024] = "";
	unsigned long long start = 0;
	const char *rest;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = pid ? fopen(path, "re") : NULL;
	if (!file)
		return 0;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	rest = strrchr(line, ')');
	if (!rest || sscanf(rest,
			    ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			    "%*s %*s %*s %llu",
			    &start) != 1)
		return 0;
	return start;
}

/* Compares the start, because another process may have the number by now. */
int running_service(const struct perfctr_bpf_info *info)
{
	return info->pid && start_of(info->pid) == info->pid_start ? (int)info->pid : 0;
}
