// SPDX-License-Identifier: GPL-2.0-or-later
/* The directory in which the programs and maps are pinned. */
#define _GNU_SOURCE
#include "service.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
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
 * The lock keeps two services that start at once from both mounting it.  Any user can hold that
 * lock, so a service that does not get it soon goes on without.
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
		complain(
			"there is no bpf file system on " BPFFS
			", and it cannot be mounted (%s); as root: mount -t bpf -o mode=0711 bpf " BPFFS,
			strerror(errno));
	if (fd >= 0)
		close(fd);
	return result;
}

/* If everybody may write to the directory above, anybody can have made this one. */
static int check_owner(int directory)
{
	struct stat status;

	if (fstat(directory, &status) < 0)
		return complain("cannot look at " PERFCTR_BPF_DIRECTORY " (%s)", strerror(errno));
	if (status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	return complain(
		PERFCTR_BPF_DIRECTORY
		" is user %u's, mode %04o; it must be user %u's, and no other may write it; "
		"run perfctr-bpfd as that user, or as root: rm -r " PERFCTR_BPF_DIRECTORY,
		status.st_uid, status.st_mode & 07777, geteuid());
}

static int explain_directory(int error)
{
	if (error == ENOTDIR || error == ELOOP)
		complain(PERFCTR_BPF_DIRECTORY
			 " is no directory, but a link or a file that somebody has "
			 "made; as root: rm " PERFCTR_BPF_DIRECTORY);
	else
		complain("cannot open " PERFCTR_BPF_DIRECTORY
			 " (%s); run perfctr-bpfd as the user who started it",
			 strerror(error));
	errno = error;
	return -1;
}

int open_directory(void)
{
	int fd = open(PERFCTR_BPF_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return errno == ENOENT ? -1 : explain_directory(errno);
	if (check_owner(fd) == 0)
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

int look_at_directory(void)
{
	return open(PERFCTR_BPF_DIRECTORY, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
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
	/*
	 * Mode 0711 lets other users open the pins by name.  It does not let them open the
	 * directory itself, and so not lock it.  The umask must not change this mode.
	 */
	mask = umask(0);
	result = mkdir(PERFCTR_BPF_DIRECTORY, 0711);
	umask(mask);
	if (result < 0 && errno != EEXIST)
		return complain("cannot make " PERFCTR_BPF_DIRECTORY
				" (%s); run perfctr-bpfd as root",
				strerror(errno));
	result = open_directory();
	return result < 0 && errno == ENOENT ? explain_directory(ENOENT) : result;
}

static bool is_still_there(int directory)
{
	struct stat here, there;

	return fstat(directory, &here) == 0 && lstat(PERFCTR_BPF_DIRECTORY, &there) == 0 &&
	       here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

int lock_directory(int directory)
{
	if (flock(directory, LOCK_EX | LOCK_NB) < 0)
		return -1;
	if (is_still_there(directory))
		return 0;
	errno = ENOENT;
	return -1;
}

/*
 * rmdir() takes a name, not a descriptor.  A process that is held up between the check and the
 * call, as by a freezer, can remove the directory of the next start while that is still empty.
 * That start fails with "No such file or directory", and can be repeated.
 */
void remove_directory(int directory)
{
	if (is_still_there(directory))
		rmdir(PERFCTR_BPF_DIRECTORY);
}

void undo_changes(__u32 undo)
{
	struct stat status;

	/* A service that has made a directory meanwhile needs these changes. */
	if (lstat(PERFCTR_BPF_DIRECTORY, &status) == 0)
		return;
	if (undo & PERFCTR_BPF_UNDO_MODE && stat(BPFFS, &status) == 0)
		chmod(BPFFS, status.st_mode & 07777 & ~S_IXOTH);
	/* Fails if others use the file system meanwhile: then it stays mounted. */
	if (undo & PERFCTR_BPF_UNDO_MOUNT)
		umount(BPFFS);
}

/* Everybody may use the pins that others may read.  Only the owner may use the rest. */
static const struct {
	const char *name;
	mode_t mode;
} pins[PINS] = {
	[PIN_SLOTS] = { "slots", 0666 }, /* or users could not map it */
	[PIN_INFO] = { "info", 0644 },	 [PIN_SELF] = { "self", 0444 },
	[PIN_WALK] = { "walk", 0444 },	 [PIN_COUNT] = { "count", 0600 },
	[PIN_KEEP] = { "keep", 0600 },	 [PIN_SWITCH] = { "switch", 0600 },
	[PIN_FORK] = { "fork", 0600 },	 [PIN_EXEC] = { "exec", 0600 },
	[PIN_EXIT] = { "exit", 0600 },	 [PIN_FREE] = { "free", 0600 },
	[PIN_CALL] = { "call", 0666 },
};

/* Up to Linux 6.4 bpf(2) takes no descriptor of a directory, but this path leads there. */
struct pin_path {
	char text[64];
};

static struct pin_path path_of(int directory, enum pin pin)
{
	struct pin_path path;

	snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d/%s", directory, pins[pin].name);
	return path;
}

int open_pin(int directory, enum pin pin, __u32 flags)
{
	LIBBPF_OPTS(bpf_obj_get_opts, options, .file_flags = flags);

	return bpf_obj_get_opts(path_of(directory, pin).text, &options);
}

int make_pin(int directory, enum pin pin, int fd)
{
	mode_t mask = umask(0177);
	int result = bpf_obj_pin(fd, path_of(directory, pin).text);

	umask(mask);
	if (result < 0 || fchmodat(directory, pins[pin].name, pins[pin].mode, 0) < 0)
		return complain("cannot pin " PERFCTR_BPF_DIRECTORY "/%s (%s)", pins[pin].name,
				strerror(errno));
	return 0;
}

bool is_pinned(int directory, enum pin pin)
{
	return faccessat(directory, pins[pin].name, F_OK, 0) == 0;
}

bool are_all_pinned(int directory)
{
	struct stat status;

	for (int pin = 0; pin < PINS; pin++)
		if (fstatat(directory, pins[pin].name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    (status.st_mode & 07777) != pins[pin].mode)
			return false;
	return true;
}

/* Removes the last pin first, because clients look for it. */
int remove_pins(int directory)
{
	int error = 0;

	for (int pin = PINS - 1; pin >= 0; pin--)
		if (unlinkat(directory, pins[pin].name, 0) < 0 && errno != ENOENT)
			error = errno;
	return error ? complain("cannot remove what is in " PERFCTR_BPF_DIRECTORY
				" (%s); run perfctr-bpfd stop as the user who started it",
				strerror(error))
		     : 0;
}
