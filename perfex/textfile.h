/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes whole text files, such as rules, experiments and recordings. */
#ifndef PERFEX_TEXTFILE_H
#define PERFEX_TEXTFILE_H

#include <stdbool.h>
#include <stddef.h>

/* A fault in a text.  line counts from 1; 0: the fault is in no single line. */
struct text_error {
	unsigned int line;
	char text[512];
};

/* Writes the line and the message to *error, and returns false. */
__attribute__((format(printf, 3, 4))) bool refuse_text(struct text_error *error, unsigned int line,
						       const char *format, ...);

/* Returns true if path is "-", which is standard input or standard output. */
bool is_standard(const char *path);

/*
 * Returns the whole file, or standard input for "-", for free().  A NUL follows the text; *length
 * does not include it.  Returns NULL with errno set on an error.
 */
char *textfile_read(const char *path, size_t *length);

/*
 * Replaces the file at path by one with this text.  A symbolic link is replaced too.  On an error,
 * leaves the old file as it was, and returns false with errno set.
 */
bool textfile_write(const char *path, const char *text, size_t length);

/*
 * Writes the text to a file that the user names.  Follows symbolic links, and writes into devices
 * and pipes.  Otherwise as textfile_write().
 */
bool textfile_output(const char *path, const char *text, size_t length);

/* As textfile_output(), but to standard output if path is NULL or "-". */
bool textfile_show(const char *path, const char *text, size_t length);

/* Returns the formatted text, for free().  Ends perfex if there is no memory. */
__attribute__((format(printf, 1, 2))) char *text_print(const char *format, ...);

/* Ends perfex with one line that names the file, the line and what is wrong. */
__attribute__((noreturn)) void textfile_fail(const char *path, const struct text_error *error);

#endif
