/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The common part of perfex mark, system and trace: a session, the command that it counts, and the
 * wait for the end.
 */
#ifndef PERFEX_SESSION_H
#define PERFEX_SESSION_H

#include "../run/run.h"

#include <perfctr_sessions.h>

struct session_run {
	const struct options *options;
	struct watch watch;
	struct command command;
	struct perfctr_mark *mark; /* NULL: there is none */
	struct perfctr_session *session;
	int wait_status; /* of the command */
};

/*
 * Returns the PMU as a session finds it: neither counters of contexts nor counters of other
 * sessions are free.  some_cpus: the session has only some CPUs.  Other sessions may have other
 * CPUs, so their counters are taken as free.
 */
struct perfctr_pmu_info session_pmu_info(const struct options *options, bool some_cpus);

/*
 * defaults.c: adds usual events, which a session can count now.  Called if the command line names
 * none.  modes: PERFCTR_MODE_*, of the events.  some_cpus: as for session_pmu_info().
 */
void session_add_usual_events(struct options *options, unsigned int modes, bool some_cpus);
/*
 * Starts the session with the usual events, on other counters or with none if others have taken
 * theirs, and says so.  policies: sets those of session_set_policies().  Returns false, with errno,
 * if it is refused nevertheless.
 */
bool session_start_usual(const struct session_run *run, struct events *events,
			 struct perfctr_pmu_info *info, bool policies);

void session_begin(struct session_run *run, const struct options *options);
/* Installs the control.  Returns false, after an error message, if it is refused. */
bool session_control(const struct session_run *run, struct perfctr_control *control,
		     const struct perfctr_pmu_info *info);
/*
 * Installs the control of the events, stopped, in a session of some CPUs.  Gives the events
 * counters that no other session has on these CPUs, and updates info.  Returns false after an error
 * message.
 */
bool session_control_here(const struct session_run *run, struct events *events,
			  struct perfctr_pmu_info *info);
/*
 * The policy of the session excludes kernel mode, so that all users may count their own threads.
 * Sets another policy for events of kernel mode.  control: of the pass
 */
void session_set_policies(struct perfctr_control *control, const struct events *events,
			  unsigned int pass);
/*
 * Starts the command, if there is one, and stops it before its first instruction.  Returns 0, or
 * perfex's exit status after an error message; in that case the command has not executed anything.
 */
int session_launch(struct session_run *run);
void session_end(struct session_run *run);

/*
 * Says why nothing was opened.  lack: for ENOTSUP, what the backend lacks, and which backends have
 * it.
 */
void complain_of_lack(const char *backend, int error, const char *lack);
/* Says why a process could not be marked, or its mark not be cleared. */
void complain_of_mark(int error, pid_t pid);

struct session_loop {
	/* Returns the time to wait in milliseconds, or -1 for no limit.  NULL: no limit. */
	int (*timeout)(void *target);
	/* Called after each wait; returns true to end the loop.  NULL: not called. */
	bool (*step)(void *target);
	void *target;
	bool by_members;   /* also ends when no thread bears the mark any more */
	bool with_command; /* also ends with the command */
};

/*
 * Waits until there is nothing more to count, or a signal ends the counting.  In both cases also
 * waits for the command.  Returns false if step() has ended the loop.
 */
bool session_wait(struct session_run *run, const struct session_loop *loop);

#endif
