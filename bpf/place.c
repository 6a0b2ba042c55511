// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the programs and maps are pinned, and the map that tells who pinned them. */
#include "service.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define BPFFS "/sys/fs/bpf"
#define LOCK_TRIES 100 /* times 20 ms */

static bool is_mounted(void)
{
	struct statfs fs;

	return statfs(BPFFS, &fs) == 0 && fs.f_type == BPF_FS_MAGIC;
}

/*
 * Two that start at once shall not both mount it.  Any user can have the lock as well, so who does
 * not get it soon goes on.
 */
static int mount_once(__u32 *undo)
{
	struct timespec pause = { .tv_nsec = 20000000 };
	int fd = open(BPFFS, O_RDONLY | O_DIRECTORY | O_CLOEXEC), result = 0;

	for (int i = 0; fd >= 0 && i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) < 0; i++)
		nanosleep(&pause, NULL);
	if (!is_mounted()) {
		result = mount("bpf", BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0711");
		*undo |= result ? 0 : PERFCTR_BPF_UNDO_MOUNT;
	}
	if (result < 0)
		complain("there is no bpf file system on " BPFFS
			 ", and it cannot be mounted (%s); as root: mount -t bpf bpf " BPFFS,
			 strerror(errno));
	if (fd >= 0)
		close(fd);
	return result;
}

int make_directory(__u32 *undo)
{
	struct stat status;
	mode_t mask;
	int result;

	*undo = 0;
	if (!is_mounted() && mount_once(undo) < 0)
		return -1;
	/* systemd mounts it for root alone. */
	if (stat(BPFFS, &status) == 0 && !(status.st_mode & S_IXOTH) &&
	    chmod(BPFFS, (status.st_mode & 07777) | S_IXOTH) == 0)
		*undo |= PERFCTR_BPF_UNDO_MODE;
	/* Who cannot read it cannot lock it either; everybody may search it, whatever the umask. */
	mask = umask(0);
	result = mkdir(PERFCTR_BPF_DIRECTORY, 0711);
	umask(mask);
	if (result < 0 && errno != EEXIST)
		return complain("cannot make " PERFCTR_BPF_DIRECTORY
				" (%s); run perfctr-bpfd as root",
				strerror(errno));
	return 0;
}

static bool is_directory(int fd)
{
	struct stat here, there;

	return fstat(fd, &here) == 0 && stat(PERFCTR_BPF_DIRECTORY, &there) == 0 &&
	       here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

/* Not one that was removed meanwhile. */
int lock_directory(void)
{
	int fd = open(PERFCTR_BPF_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int error;

	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_directory(fd))
		return fd;
	error = errno == EWOULDBLOCK ? EWOULDBLOCK : ENOENT;
	close(fd);
	errno = error;
	return -1;
}

int remove_pins(void)
{
	DIR *directory = opendir(PERFCTR_BPF_DIRECTORY);
	struct dirent *entry;
	int error = 0;

	if (!directory)
		return errno == ENOENT ? 0
				       : complain("cannot read " PERFCTR_BPF_DIRECTORY
						  " (%s); run perfctr-bpfd stop as the user who "
						  "started it, or root",
						  strerror(errno));
	/* Clients look for this one first. */
	unlinkat(dirfd(directory), "call", 0);
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.' && unlinkat(dirfd(directory), entry->d_name, 0) < 0 &&
		    errno != ENOENT)
			error = errno;
	closedir(directory);
	return error ? complain("cannot remove what is in " PERFCTR_BPF_DIRECTORY
				" (%s); run perfctr-bpfd stop as the user who started it, or root",
				strerror(error))
		     : 0;
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
	if (info->version == PERFCTR_BPF_VERSION)
		return 0;
	errno = EPROTO;
	return -1;
}

int write_info(int map, const struct perfctr_bpf_info *info)
{
	__u32 zero = 0;

	return bpf_map_update_elem(map, &zero, info, BPF_ANY);
}

/* What follows its name, which may contain anything: from the last parenthesis on. */
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

/* Its number may be another process's by now. */
int running_service(const struct perfctr_bpf_info *info)
{
	return info->pid && start_of(info->pid) == info->pid_start ? (int)info->pid : 0;
}
