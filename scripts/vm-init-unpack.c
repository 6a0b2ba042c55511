// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unpacks the machine's files. The kernel could do it while it boots, but then the boot, and with it
 * the kernel's random numbers and the phase of its timers, would depend on the files.
 */
#define _GNU_SOURCE
#include "vm-init-unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A header is text: "070701", and 13 numbers of 8 hexadecimal digits. */
enum { MAGIC = 6, DIGITS = 8, HEADER = MAGIC + 13 * DIGITS };
enum { FIELD_MODE = 1, FIELD_TIME = 5, FIELD_SIZE = 6, FIELD_NAME_SIZE = 11 };

struct entry {
	mode_t mode;
	time_t time;
	size_t size;
	const char *name, *data;
};

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

static uint32_t read_field(const char *header, unsigned int field)
{
	char digits[DIGITS + 1] = { 0 };

	memcpy(digits, header + MAGIC + field * DIGITS, DIGITS);
	return strtoul(digits, NULL, 16);
}

/* Returns the size of the entry in the archive, or 0 if it is damaged. */
static size_t read_entry(struct entry *entry, const char *header, size_t left)
{
	size_t name_size, data;

	if (left < HEADER || memcmp(header, "070701", MAGIC))
		return 0;
	entry->mode = read_field(header, FIELD_MODE);
	entry->time = read_field(header, FIELD_TIME);
	entry->size = read_field(header, FIELD_SIZE);
	name_size = read_field(header, FIELD_NAME_SIZE);
	data = padded(HEADER + name_size);
	if (!name_size || data > left || entry->size > left - data || header[HEADER + name_size - 1])
		return 0;
	entry->name = header + HEADER;
	entry->data = header + data;
	return padded(data + entry->size);
}

static bool write_file(const struct entry *entry)
{
	int fd = open(entry->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t written = 0;
	ssize_t n = 0;

	if (fd < 0)
		return false;
	while (n >= 0 && written < entry->size) {
		n = write(fd, entry->data + written, entry->size - written);
		written += n > 0 ? n : 0;
	}
	return !close(fd) && n >= 0;
}

static bool make_link(const struct entry *entry)
{
	char *target = strndup(entry->data, entry->size);
	bool made = target && !symlink(target, entry->name);

	free(target);
	return made;
}

/* The directories of the kernel's own archive are there already. */
static bool make_entry(const struct entry *entry)
{
	switch (entry->mode & S_IFMT) {
	case S_IFREG:
		return write_file(entry);
	case S_IFLNK:
		return make_link(entry);
	case S_IFDIR:
		return !mkdir(entry->name, 0700) || errno == EEXIST;
	case S_IFIFO:
		return !mkfifo(entry->name, 0600);
	default:
		errno = EINVAL;
		return false;
	}
}

/* A directory's time changes with each file that is made in it. */
static bool set_times(const struct entry *entry)
{
	const struct timespec times[] = { { .tv_sec = entry->time }, { .tv_sec = entry->time } };

	return !utimensat(AT_FDCWD, entry->name, times, AT_SYMLINK_NOFOLLOW) &&
	       (S_ISLNK(entry->mode) || !chmod(entry->name, entry->mode & 07777));
}

static const char *for_each(const char *archive, size_t size, bool (*action)(const struct entry *))
{
	struct entry entry;
	size_t length;

	for (; (length = read_entry(&entry, archive, size)); archive += length, size -= length) {
		if (!strcmp(entry.name, "TRAILER!!!"))
			return NULL;
		if (!action(&entry))
			return entry.name;
	}
	errno = EINVAL;
	return "the archive, which is damaged";
}

const char *unpack(const struct shared *shared)
{
	const size_t room = shared->archive_room;
	char *archive = shared_map(shared, 0, room);
	const char *failed;

	if (archive == MAP_FAILED)
		return "/dev/mem";
	failed = for_each(archive, room, make_entry) ?: for_each(archive, room, set_times);
	munmap(archive, room);
	return failed;
}
