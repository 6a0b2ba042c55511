/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex mark: processes with a mark. */
#ifndef PERFEX_MARK_H
#define PERFEX_MARK_H

#include "../run/run.h"

struct mark_options {
	struct options run;
	pid_t *process;
	size_t n_processes;
	unsigned int scope; /* PERFCTR_MARK_*, of the processes */
	bool list, clear, no_wait;
};

/* mark_count.c, mark_list.c; they return perfex's exit status. */
int mark_count(const struct mark_options *options);
int mark_list(const struct mark_options *options);
int mark_clear(const struct mark_options *options);

#endif
