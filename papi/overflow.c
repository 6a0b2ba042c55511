// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * PAPI_overflow() and PAPI_profil(): each end of an event's period sends its thread a signal.  The
 * thread counts none of the set's events until the handler has returned.
 */
#include "event_set.h"

#include <errno.h>

#include "extras.h"
#include "linux-context.h"

int overflow_follow(struct event_set *set)
{
	if (set->has_handler == !!set->overflows)
		return PAPI_OK;
	set->has_handler = !!set->overflows;
	/* PAPI counts the users of the signal. */
	return set->overflows
		       ? _papi_hwi_start_signal(OVERFLOW_SIGNAL, NEED_CONTEXT, perfctr_component)
		       : _papi_hwi_stop_signal(OVERFLOW_SIGNAL);
}

int overflow_set(struct event_set *set, int event, int threshold)
{
	/* The thread that counts gets the signal, and may have no handler. */
	if (event < 0 || event >= PERFCTR_MAX_COUNTERS || set->tid || set->cpu >= 0)
		return PAPI_EINVAL;
	events_set_threshold(set, event, threshold);
	return overflow_follow(set);
}

/*
 * Handles the end of a period, or of PAPI's own timer: then PAPI reads the counts and checks if an
 * overflow is due.
 */
void overflow_dispatch(int number, hwd_siginfo_t *info, void *ucontext)
{
	_papi_hwi_context_t interrupted = { .si = info, .ucontext = ucontext };
	ThreadInfo_t *thread = _papi_hwi_lookup_thread(0);
	int is_period = number == OVERFLOW_SIGNAL, former_errno = errno;

	if (!thread || (is_period && info->si_code != PERFCTR_SI_OVERFLOW))
		return;
	_papi_hwi_dispatch_overflow_signal(&interrupted, GET_OVERFLOW_ADDRESS(interrupted), NULL,
					   is_period ? (long long)(unsigned int)info->si_pid : 0, 0,
					   &thread, perfctr_component);
	if (is_period)
		count_resume(thread->context[perfctr_component]);
	errno = former_errno;
}
