// SPDX-License-Identifier: LGPL-2.1-or-later
/* Texts for refused controls: what was wrong, what is allowed, what to do. */
#define _GNU_SOURCE
#include "backend/backend.h"
#include "internal.h"
#include "pmu/machine.h"
#include "event/software.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool nmi_watchdog_runs(void)
{
	FILE *file = fopen("/proc/sys/kernel/nmi_watchdog", "re");
	int first;

	if (!file)
		return false;
	first = getc(file);
	fclose(file);
	return first == '1';
}

static void describe_holder(const struct perfctr_pmu_info *info, char *text, size_t size)
{
	if (info->holder == PERFCTR_HOLDER_PERFCTR)
		snprintf(text, size,
			 "the counters are busy: a session of perfctr has one of them, or wants one "
			 "that others use; see: perfctr_get_pmu_info()");
	else if (nmi_watchdog_runs())
		snprintf(text, size,
			 "the counters are busy: the NMI watchdog holds them; switch it "
			 "off with: sysctl kernel.nmi_watchdog=0");
	else
		snprintf(text, size,
			 "the counters are busy: perf_events holds them, or Processor Trace or "
			 "KVM uses them; end the running perf session, or see perfctr(4)");
}

/* Describes those PERFCTR_BAD_* of ENOTSUP that are not the fault of a single event. */
static bool describe_unable(uint32_t reason, char *text, size_t size)
{
	switch (reason) {
	case PERFCTR_BAD_INHERIT:
		snprintf(text, size,
			 "this backend counts single threads, not what they create; leave "
			 "out PERFCTR_CONTROL_INHERIT, or use another of "
			 "'perfctr_backends()'");
		return true;
	case PERFCTR_BAD_EXIT_RECORDS:
		snprintf(text, size,
			 "this backend keeps no counts of single processes or threads "
			 "that have exited; count their sum, or use another of "
			 "'perfctr_backends()'");
		return true;
	case PERFCTR_BAD_TOTALS:
		snprintf(text, size,
			 "this backend does not count a tree as one; leave out "
			 "PERFCTR_CONTROL_TOTALS, or use another of 'perfctr_backends()'");
		return true;
	}
	return false;
}

void perfctr_control_error(int error, const struct perfctr_control *c,
			   const struct perfctr_pmu_info *info, char *text, size_t size)
{
	char name[PERFCTR_EVNTSEL_TEXT];

	if (error == EINVAL && c->bad_reason == PERFCTR_BAD_PEBS) {
		snprintf(text, size,
			 "p4_pebs_enable 0x%llx, p4_pebs_matrix_vert 0x%llx: only bits "
			 "0x%llx and 0x%llx may be set here",
			 (unsigned long long)c->p4_pebs_enable,
			 (unsigned long long)c->p4_pebs_matrix_vert,
			 (unsigned long long)info->p4_pebs_enable_allowed,
			 (unsigned long long)info->p4_pebs_matrix_vert_allowed);
		return;
	}
	if (error == EINVAL && !c->n_events && (c->p4_pebs_enable || c->p4_pebs_matrix_vert)) {
		snprintf(text, size,
			 "p4_pebs_enable and p4_pebs_matrix_vert tag what an event counts; give an "
			 "event, such as replay_event, too");
		return;
	}
	if (error == ENOTSUP && describe_unable(c->bad_reason, text, size))
		return;
	if (error == EMFILE && c->bad_reason == PERFCTR_BAD_POLICY) {
		snprintf(text, size,
			 "without CAP_PERFMON the sessions of a user have no more than %u counters "
			 "together; end others of yours, get CAP_PERFMON, or more by: echo N "
			 ">/sys/module/perfctr/parameters/user_session_counters",
			 info->user_session_counters);
		return;
	}
	if (error == EACCES && c->bad_reason == PERFCTR_BAD_SIGNAL) {
		perfctr_evntsel_format(&c->event[c->bad_event % PERFCTR_MAX_COUNTERS], name,
				       sizeof(name));
		snprintf(text, size,
			 "event %s: signals to a thread of another process need CAP_PERFMON and "
			 "CAP_KILL, or the right to ptrace it; leave the signal out",
			 name);
		return;
	}
	if ((error == EINVAL || error == EACCES || error == EBUSY || error == ENOTSUP) &&
	    c->bad_reason && c->bad_event < PERFCTR_MAX_COUNTERS) {
		perfctr_describe_bad_event(c, info, text, size);
		return;
	}
	switch (error) {
	case ENOSPC:
		/* All events have counters, so the driver has no place for a session. */
		if (c->event[c->bad_event % PERFCTR_MAX_COUNTERS].counter != PERFCTR_ANY) {
			snprintf(text, size,
				 "no place is left for the session: 16 are started at most, "
				 "without CAP_PERFMON 8 that have half of the counters together; "
				 "end others");
			break;
		}
		perfctr_evntsel_format(&c->event[c->bad_event % PERFCTR_MAX_COUNTERS], name,
				       sizeof(name));
		snprintf(text, size,
			 "event %s: no counter is left for it; this machine has %u "
			 "general counters",
			 name, info->n_general);
		break;
	case EMFILE:
		snprintf(text, size,
			 "without CAP_PERFMON a user has at most 4 sessions that are started, and "
			 "memory as /sys/module/perfctr/parameters/user_kb allows; end others of "
			 "yours, or get CAP_PERFMON");
		break;
	case EBUSY:
		describe_holder(info, text, size);
		break;
	case ENODEV:
		snprintf(text, size,
			 "this machine's event counters cannot be used: %.*s; only the time "
			 "stamp can be counted",
			 (int)sizeof(info->family), info->family);
		break;
	case ENXIO:
		snprintf(text, size,
			 "a CPU of the session counts no events: its counters are unknown, or a "
			 "sibling's; the kernel's log says which, name others");
		break;
	case ESRCH:
		snprintf(text, size,
			 "the thread has exited, or executed a program that changes its "
			 "ids or that it may not read");
		break;
	case EPERM:
		snprintf(text, size, "only the handle that made the context may control it");
		break;
	default:
		perfctr_describe_errno(error, "the control was refused", text, size);
	}
}
