/* SPDX-License-Identifier: GPL-2.0-only */
/* Interfaces between the files of the room session/. */
#ifndef _PERFCTR_SESSION_INTERNAL_H
#define _PERFCTR_SESSION_INTERNAL_H

#include "session.h"

/*
 * started.c: called under the session's lock. start returns 0, -ENXIO, -ENOSPC or -EMFILE as
 * take_session_place() does, or an error of perfctr_reserve_for(). Neither does anything if the
 * session is already as required.
 */
int perfctr_session_start_locked(struct perfctr_session *s);
void perfctr_session_stop_locked(struct perfctr_session *s);
/*
 * Replaces the session's control by hw, and starts the session unless control's flags have
 * PERFCTR_CONTROL_STOPPED. Returns 0 or an errno as start does; an error changes nothing. Consumes
 * hw in any case: frees it on failure.
 */
int perfctr_session_install(struct perfctr_session *s, struct perfctr_hw_control *hw,
			    struct perfctr_control *control);

/* mark.c */
struct perfctr_mark *perfctr_mark_from_fd(int fd);	/* a holder's reference, or ERR_PTR() */
void perfctr_mark_release(struct perfctr_mark *mark);	/* a holder's */

#endif
