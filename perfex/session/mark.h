/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex mark: processes with a mark. */
#ifndef MARK_H
#define MARK_H

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
int mark_list(void);
int mark_clear(const struct mark_options *options);

/*
 * The machine as a session finds it: counters of contexts are no more free for it than those of other
 * sessions.  false: there is no perfctr, and this has been said.
 */
bool session_pmu_info(struct perfctr_pmu_info *info);

/* What anyone may count of his own is the session's policy; events of the kernel get another. */
void mark_policies(struct perfctr_control *control, const struct events *events);

/* Says why a process could not be marked, or its mark not be cleared. */
void complain_of_mark(int error, pid_t pid);

#endif
