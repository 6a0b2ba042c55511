// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes an archive in cpio's format "newc": a header of text, the name, the contents. */
#define _GNU_SOURCE
#include "exact.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Names and contents begin at multiples of 4. */
static void pad_entry(struct archive *archive)
{
	while (ftello(archive->file) % 4)
		putc('\0', archive->file);
}

static void check_memory(const struct archive *archive)
{
	if (ferror(archive->file))
		fail("no memory is left for the files of the machine");
}

static void write_header(struct archive *archive, unsigned int entry, mode_t mode, time_t time,
			 size_t size, const char *name)
{
	fprintf(archive->file, "070701%08X%08X%08X%08X%08X%08X%08zX%08X%08X%08X%08X%08zX%08X",
		entry, mode, 0, 0, 1, (unsigned int)time, size, 0, 0, 0, 0, strlen(name) + 1, 0);
	fwrite(name, 1, strlen(name) + 1, archive->file);
	pad_entry(archive);
}

static void take_room(struct archive *archive, const char *name, size_t size)
{
	if (size > archive->room)
		fail("the files do not fit into the machine, of whose memory they may take a quarter: "
		     "there is no room for %s; give --memory=MB, --without=PATH, or --no-directory "
		     "and --with=PATH",
		     name);
	archive->room -= size;
}

/*
 * A file takes whole pages, and each entry some memory of the kernel: a page is more than that, and
 * more than the entry's header and padding in the archive.
 */
static void take_pages(struct archive *archive, const char *name, size_t size)
{
	take_room(archive, name,
		  (size + strlen(name) + 2 * MACHINE_PAGE - 1) / MACHINE_PAGE * MACHINE_PAGE);
}

/* Names in the archive have no slash in front. */
static void write_entry(struct archive *archive, const char *name, mode_t mode, const char *data,
			size_t size)
{
	take_pages(archive, name, size);
	write_header(archive, ++archive->entries, mode, 0, size, name + (*name == '/'));
	fwrite(data, 1, size, archive->file);
	pad_entry(archive);
	check_memory(archive);
}

void archive_begin(struct archive *archive, uint64_t room)
{
	int fd = memfd_create("perfctr-files", MFD_CLOEXEC);

	*archive = (struct archive){ .room = room };
	if (fd >= 0)
		archive->file = fdopen(fd, "w+");
	if (!archive->file)
		fail("no memory is left for the files of the machine: %m");
}

void archive_directory(struct archive *archive, const char *name, mode_t mode)
{
	write_entry(archive, name, S_IFDIR | (mode & 07777), "", 0);
}

void archive_link(struct archive *archive, const char *name, const char *target)
{
	write_entry(archive, name, S_IFLNK | 0777, target, strlen(target));
}

void archive_pipe(struct archive *archive, const char *name, mode_t mode)
{
	write_entry(archive, name, S_IFIFO | (mode & 07777), "", 0);
}

void archive_text(struct archive *archive, const char *name, mode_t mode, const char *text,
		  size_t size)
{
	write_entry(archive, name, S_IFREG | (mode & 07777), text, size);
}

/* The size is known at the end only, because a pipe has none, and a file may grow meanwhile. */
bool archive_copy(struct archive *archive, const char *name, const struct stat *status, int fd)
{
	const char *entry = name + (*name == '/');
	unsigned int number = ++archive->entries;
	off_t header = ftello(archive->file), end;
	static char buffer[65536];
	size_t size = 0;
	ssize_t n;

	take_pages(archive, name, MACHINE_PAGE);
	write_header(archive, number, S_IFREG | (status->st_mode & 07777), status->st_mtime, 0,
		     entry);
	while ((n = read(fd, buffer, sizeof(buffer))) != 0) {
		if (n < 0 && errno == EAGAIN)
			poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			break;
		take_room(archive, name, (size_t)n);
		fwrite(buffer, 1, (size_t)n, archive->file);
		check_memory(archive);
		size += (size_t)n;
	}
	if (n < 0) {
		int error = errno;

		fseeko(archive->file, header, SEEK_SET);
		errno = error;
		return false;
	}
	pad_entry(archive);
	end = ftello(archive->file);
	fseeko(archive->file, header, SEEK_SET);
	write_header(archive, number, S_IFREG | (status->st_mode & 07777), status->st_mtime, size,
		     entry);
	fseeko(archive->file, end, SEEK_SET);
	check_memory(archive);
	return true;
}

int archive_end(struct archive *archive)
{
	off_t end;

	write_header(archive, 0, 0, 0, 0, "TRAILER!!!");
	end = ftello(archive->file);
	if (fflush(archive->file) || ftruncate(fileno(archive->file), end))
		fail("no memory is left for the files of the machine: %m");
	return fileno(archive->file);
}
