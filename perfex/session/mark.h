/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex mark: counts processes that bear a mark, and lists and clears marks. */
#ifndef PERFEX_MARK_H
#define PERFEX_MARK_H

#include "session.h"

struct mark_options {
	struct options run;
	pid_t *process;
	size_t n_processes;
	unsigned int scope; /* PERFCTR_MARK_*, which threads of the processes */
	bool list, clear, no_wait;
};

/* A mark, and the session that counts its threads. */
struct marking {
	const struct mark_options *options;
	struct session_run run;
	uint64_t started_ns; /* CLOCK_MONOTONIC */
};

/* mark_count.c */
/* For --pid: adds a process.  Ends perfex if text is not a process number. */
void mark_add_process(struct mark_options *options, const char *text);
/* Ends perfex if the options for processes exclude each other. */
void mark_check_processes(const struct mark_options *options);
/*
 * Opens the mark, and a session that counts its threads.  The policy of the session excludes kernel
 * mode.  Returns false after an error message.
 */
bool mark_open(struct marking *marking, const struct mark_options *options);
/* Opens a session as mark_open() does.  Returns NULL after an error message. */
struct perfctr_session *mark_open_session(const struct marking *marking);
/*
 * Marks the processes, or the command before its first instruction.  Returns 0, or perfex's exit
 * status after an error message; in that case the command has not executed anything.
 */
int mark_start(struct marking *marking);
/* Does the counting end with the command, even if marked threads are left? */
bool mark_ends_with_command(const struct mark_options *options);

/* mark_count.c, mark_list.c: the functions return perfex's exit status. */
/* Counts the events of a recording that has been begun, and writes it. */
int mark_record(const struct mark_options *options, struct recording *recording);
int mark_count(const struct mark_options *options);
int mark_list(const struct mark_options *options);
int mark_clear(const struct mark_options *options);

#endif
