// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the programs and maps are pinned, and the map that tells who pinned them. */
#include "service.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BPFFS "/sys/fs/bpf"

static bool is_mounted(void)
{
	struct statfs fs;

	return statfs(BPFFS, &fs) == 0 && fs.f_type == BPF_FS_MAGIC;
}

int make_directory(__u32 *undo)
{
	struct stat status;

	*undo = 0;
	if (!is_mounted()) {
		if (mount("bpf", BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0711") < 0)
			return complain(
				"there is no bpf file system on " BPFFS
				", and it cannot be mounted (%s); as root: mount -t bpf bpf " BPFFS,
				strerror(errno));
		*undo |= PERFCTR_BPF_UNDO_MOUNT;
	}
	/* systemd mounts it for root alone. */
	if (stat(BPFFS, &status) == 0 && !(status.st_mode & S_IXOTH) &&
	    chmod(BPFFS, (status.st_mode & 07777) | S_IXOTH) == 0)
		*undo |= PERFCTR_BPF_UNDO_MODE;
	if (mkdir(PERFCTR_BPF_DIRECTORY, 0755) < 0 && errno != EEXIST)
		return complain("cannot make " PERFCTR_BPF_DIRECTORY
				" (%s); run perfctr-bpfd as root",
				strerror(errno));
	return 0;
}

void remove_directory(__u32 undo)
{
	struct stat status;

	rmdir(PERFCTR_BPF_DIRECTORY);
	if (undo & PERFCTR_BPF_UNDO_MODE && stat(BPFFS, &status) == 0)
		chmod(BPFFS, status.st_mode & 07777 & ~S_IXOTH);
	/* Fails when others use it meanwhile: then it stays. */
	if (undo & PERFCTR_BPF_UNDO_MOUNT)
		umount(BPFFS);
}

/* Whoever may only read gets a descriptor for reading. */
int open_info(void)
{
	LIBBPF_OPTS(bpf_obj_get_opts, reading, .file_flags = BPF_F_RDONLY);
	int map = bpf_obj_get(PIN("info"));

	return map < 0 && errno == EACCES ? bpf_obj_get_opts(PIN("info"), &reading) : map;
}

int read_info(int map, struct perfctr_bpf_info *info)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(map, &zero, info);
}

int write_info(int map, const struct perfctr_bpf_info *info)
{
	__u32 zero = 0;

	return bpf_map_update_elem(map, &zero, info, BPF_ANY);
}

/* Its number may be another process's by now. */
int running_service(const struct perfctr_bpf_info *info)
{
	char path[32], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/comm", info->pid);
	file = info->pid ? fopen(path, "re") : NULL;
	if (!file)
		return 0;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return strcmp(name, "perfctr-bpfd\n") == 0 ? (int)info->pid : 0;
}
