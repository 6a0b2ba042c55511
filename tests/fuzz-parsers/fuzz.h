/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parsers of text that others wrote, given any text. A parser must take it, or refuse it with one
 * line.
 *
 * targets.c	the table of them
 * library.c	those of the library
 * perfex.c	those of perfex that return
 * contain.c	those of perfex that end the process when they refuse
 * libfuzzer.c	one of them under libFuzzer
 * replay.c	one of them on files
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdio.h>

struct target {
	const char *name;
	/* text[length] is a NUL that is not part of the text; broken promises end in abort() */
	void (*take)(const char *text, size_t length);
	const char *about;
};

extern const struct target targets[]; /* the last one has no name */
/* Returns NULL if there is none, after saying so. */
const struct target *find_target(const char *name);

/* Ends the process, and prints what was expected. */
#define EXPECT(condition)                                                                          \
	((condition) ? (void)0 : expectation_failed(#condition, __FILE__, __LINE__))
__attribute__((noreturn)) void expectation_failed(const char *condition, const char *file,
						  int line);

/*
 * The text must be a line for people: not empty, and without anything that a terminal would obey.
 */
void expect_line(const char *text);

/* For output that nobody reads. */
FILE *nowhere(void);

void fuzz_event(const char *text, size_t length);
void fuzz_table(const char *text, size_t length);
void fuzz_rules(const char *text, size_t length);
void fuzz_experiment(const char *text, size_t length);
void fuzz_recording(const char *text, size_t length);
void fuzz_validation(const char *text, size_t length);
void fuzz_trace(const char *text, size_t length);
void fuzz_samples(const char *text, size_t length);
void fuzz_regions(const char *text, size_t length);
void fuzz_arguments(const char *text, size_t length);

#endif
