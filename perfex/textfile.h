/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that perfex reads: rules, experiments, recordings. */
#ifndef PERFEX_TEXTFILE_H
#define PERFEX_TEXTFILE_H

#include <stdbool.h>
#include <stddef.h>

/* What is wrong with a text, and in which line of it, from 1; 0: in none alone. */
struct text_error {
	unsigned int line;
	char text[512];
};

/* Says so in *error, and returns false. */
__attribute__((format(printf, 3, 4))) bool refuse_text(struct text_error *error, unsigned int line,
						       const char *format, ...);

/* Is it "-": standard input, or standard output? */
bool is_standard(const char *path);

/* The whole file ("-": standard input), for free(), a NUL behind it; NULL with errno set. */
char *textfile_read(const char *path, size_t *length);

/* Writes all of it or leaves the file as it was; a link is replaced.  False with errno set. */
bool textfile_write(const char *path, const char *text, size_t length);

/* Likewise, for a file that the user names: through links, and into devices and pipes. */
bool textfile_output(const char *path, const char *text, size_t length);

/* Likewise; NULL or "-": to standard output. */
bool textfile_show(const char *path, const char *text, size_t length);

/* A new text, for free(). */
__attribute__((format(printf, 1, 2))) char *text_print(const char *format, ...);

/* Ends perfex with one line that names the file, the line and what is wrong. */
__attribute__((noreturn)) void textfile_fail(const char *path, const struct text_error *error);

#endif
