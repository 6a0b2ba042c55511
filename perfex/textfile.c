// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "textfile.h"
#include "perfex.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_SIZE 65536

char *textfile_read(const char *path, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;
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

/* A file of its own, whatever was there, were it a link. */
static bool write_new(const char *path, const char *text, size_t length)
{
	int fd = unlink(path) == 0 || errno == ENOENT
			 ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
			 : -1;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	bool good;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	good = fwrite(text, 1, length, file) == length;
	return fclose(file) == 0 && good;
}

bool textfile_write(const char *path, const char *text, size_t length)
{
	char *new = text_print("%s.new", path);
	bool good = write_new(new, text, length) && rename(new, path) == 0;
	int error = errno;

	if (!good)
		unlink(new);
	free(new);
	errno = error;
	return good;
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
