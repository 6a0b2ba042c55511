// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "textfile.h"
#include "perfex.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_SIZE 65536

bool is_standard(const char *path)
{
	return strcmp(path, "-") == 0;
}

char *textfile_read(const char *path, size_t *length)
{
	int fd = is_standard(path) ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	int error = 0;
	char *text = NULL;
	ssize_t n;

	if (fd < 0)
		return NULL;
	*length = 0;
	do {
		text = realloc(text, *length + READ_SIZE + 1);
		if (!text)
			fail("out of memory");
		n = read(fd, text + *length, READ_SIZE);
		if (n < 0 && errno != EINTR)
			error = errno;
		if (n > 0)
			*length += (size_t)n;
	} while (n > 0 || (n < 0 && !error));
	close(fd);
	text[*length] = '\0';
	if (!error)
		return text;
	free(text);
	errno = error;
	return NULL;
}

static bool write_and_close(int fd, const char *text, size_t length)
{
	bool good = write_all(fd, text, length);

	return close(fd) == 0 && good;
}

/*
 * Gives the new file the owner, group and mode of the regular file at path, as far as perfex may.
 * If there is no such file, the new one gets the mode of any new file.
 */
static void take_over(int fd, const char *path)
{
	struct stat old;
	mode_t mask;

	if (lstat(path, &old) < 0 || !S_ISREG(old.st_mode)) {
		mask = umask(0);
		umask(mask);
		fchmod(fd, 0666 & ~mask);
	} else if (fchown(fd, old.st_uid, old.st_gid) == 0 || old.st_uid == geteuid()) {
		fchmod(fd, old.st_mode & 07777);
	}
}

/* Writes a new file beside path, and renames it to path. */
bool textfile_write(const char *path, const char *text, size_t length)
{
	char *new = text_print("%s.XXXXXX", path);
	int fd = mkostemp(new, O_CLOEXEC), error;
	bool good = fd >= 0;

	if (good) {
		take_over(fd, path);
		good = write_and_close(fd, text, length) && rename(new, path) == 0;
	}
	error = errno;
	if (!good && fd >= 0)
		unlink(new);
	free(new);
	errno = error;
	return good;
}

/* Fails if path is a FIFO without a reader, instead of waiting for one. */
static bool write_into(const char *path, const char *text, size_t length)
{
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd >= 0 && fcntl(fd, F_SETFL, 0) == 0 && write_and_close(fd, text, length);
}

/*
 * Returns true if name is a name of the file.  A file without a name can still be reached, such as
 * a removed one by /dev/stdout.
 */
static bool has_name(const char *name, const struct stat *file)
{
	struct stat status;

	return name && stat(name, &status) == 0 && status.st_dev == file->st_dev &&
	       status.st_ino == file->st_ino;
}

bool textfile_output(const char *path, const char *text, size_t length)
{
	struct stat status;
	bool exists = stat(path, &status) == 0;
	char *real = exists ? realpath(path, NULL) : NULL;
	int error;
	bool good;

	if (exists && (!S_ISREG(status.st_mode) || !has_name(real, &status)))
		good = write_into(path, text, length);
	else
		good = textfile_write(real ? real : path, text, length);
	error = errno;
	free(real);
	errno = error;
	return good;
}

bool textfile_show(const char *path, const char *text, size_t length)
{
	if (path && !is_standard(path))
		return textfile_output(path, text, length);
	return fwrite(text, 1, length, stdout) == length && fflush(stdout) == 0;
}

bool refuse_text(struct text_error *error, unsigned int line, const char *format, ...)
{
	va_list arguments;

	error->line = line;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return false;
}

char *text_print(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		fail("out of memory");
	va_end(arguments);
	return text;
}

void textfile_fail(const char *path, const struct text_error *error)
{
	if (error->line)
		fail("'%s', line %u: %s", path, error->line, error->text);
	fail("'%s': %s", path, error->text);
}
