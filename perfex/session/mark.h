/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex mark: counts processes that bear a mark, and lists and clears marks. */
#ifndef PERFEX_MARK_H
#define PERFEX_MARK_H

#include "../run/run.h"

struct mark_options {
	struct options run;
	pid_t *process;
	size_t n_processes;
	unsigned int scope; /* PERFCTR_MARK_*, which threads of the processes */
	bool list, clear, no_wait;
};

/* mark_count.c, mark_list.c: the functions return perfex's exit status. */
int mark_count(const struct mark_options *options);
int mark_list(const struct mark_options *options);
int mark_clear(const struct mark_options *options);

#endif
