/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of perfex exact. */
#ifndef PERFEX_EXACT_OPTIONS_H
#define PERFEX_EXACT_OPTIONS_H

#include "baseline.h"
#include "exact.h"

struct exact_options {
	struct word_list with, without, environment;
	struct word_list passed; /* options of perfex run */
	const char *processor, *input, *regions, *prepare;
	const char *directory;	  /* the current one's name in the machine; NULL: its own */
	const char *other_format; /* option that asks for a format that a comparison has not */
	struct baseline baseline;
	char *output;
	unsigned int memory_mb;
	unsigned int cpus; /* 0: as many as one core has */
	bool no_directory, find_files, syscalls, shell, append;
	bool has_old_format; /* that of perfctr 2.6 */
	char **command;
};

/*
 * contents.c: makes an archive with all files of the machine but its job.  Ends perfex with a
 * message if something cannot be in the machine.
 */
struct contents {
	struct files files;
	char *directory; /* the current one's name in the machine */
	char *shell;	 /* runs in place of COMMAND; NULL: none */
	bool has_input;
	bool has_counters; /* the machine */
};

/* Do the variables have one of this name?  variable: NAME=VALUE */
bool contents_has_variable(const struct word_list *variables, const char *variable);
void contents_gather(struct contents *contents, const struct exact_options *options,
		     const struct machine *machine);
/* Adds the job of the machine, and ends the archive.  Returns its descriptor. */
int contents_add_job(struct contents *contents, const struct exact_options *options);
void contents_free(struct contents *contents);

#endif
