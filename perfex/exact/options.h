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
	bool no_directory, find_files, append;
	char **command;
};

/*
 * contents.c: makes the archive.  Ends perfex with a message if something cannot be in the machine.
 * Returns the archive's descriptor.
 */
int contents_archive(const struct exact_options *options, const struct machine *machine,
		     struct files *files);

#endif
