/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What mark, system and trace have in common: a session, the command that it counts, the wait for
 * the end.
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
 * The machine as a session finds it: counters of contexts are no more free for it than those of
 * other sessions.  With some_cpus those of sessions are unknown: they may be others' CPUs.
 */
struct perfctr_pmu_info session_pmu_info(const struct options *options, bool some_cpus);

void session_begin(struct session_run *run, const struct options *options);
/* The control, installed; false: it is refused, which has been said. */
bool session_control(const struct session_run *run, struct perfctr_control *control,
		     const struct perfctr_pmu_info *info);
/*
 * Likewise the control of the events, stopped, of a session of some CPUs: the events get counters
 * that no session has on these, of which info learns.
 */
bool session_control_here(const struct session_run *run, struct events *events,
			  struct perfctr_pmu_info *info);
/*
 * Anyone may count their own threads in user mode, which is the session's policy; events of the
 * kernel get another.
 */
void session_set_policies(struct perfctr_control *control, const struct events *events);
/*
 * Stops the command, if there is one, before its first instruction.  0, or perfex's exit status
 * after one line of complaint, and nothing has run.
 */
int session_launch(struct session_run *run);
void session_end(struct session_run *run);

/* Why nothing was opened; lack: what a backend that cannot do it has not, and who has. */
void complain_of_lack(const char *backend, int error, const char *lack);
/* Says why a process could not be marked, or its mark not be cleared. */
void complain_of_mark(int error, pid_t pid);

struct session_loop {
	/* How many milliseconds to wait, -1: for ever; NULL: so always. */
	int (*timeout)(void *target);
	/* After each wait; true: that was all.  NULL: nothing. */
	bool (*step)(void *target);
	void *target;
	bool by_members;   /* it is also the end when nobody bears a mark any more */
	bool with_command; /* it is also the end when the command ends */
};

/*
 * Until there is nothing more to count or a signal says that it is enough, and the command has
 * ended.  False: step() said that that was all.
 */
bool session_wait(struct session_run *run, const struct session_loop *loop);

#endif
