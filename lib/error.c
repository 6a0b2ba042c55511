// SPDX-License-Identifier: LGPL-2.1-or-later
/* Refusals in words: what was wrong, what is allowed, what to do. */
#define _GNU_SOURCE
#include "backend/backend.h"
#include "internal.h"
#include "pmu/machine.h"
#include "event/software.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ESCR_THREAD_1 0x3ull /* T1_USR and T1_OS */

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
			 "that others use; see: perfex info");
	else if (nmi_watchdog_runs())
		snprintf(text, size,
			 "the counters are busy: the NMI watchdog holds them; switch it "
			 "off with: sysctl kernel.nmi_watchdog=0");
	else
		snprintf(text, size,
			 "the counters are busy: perf_events holds them, or Processor Trace or "
			 "KVM uses them; end the running perf session, or see perfctr(4)");
}

/* "0..3 and 0x40000000..0x40000002" */
static void describe_counters(const struct perfctr_pmu_info *info, char *text, size_t size)
{
	size_t length;

	if (info->n_general)
		snprintf(text, size, "0..%u", info->n_general - 1);
	else
		snprintf(text, size, "none");
	length = strlen(text);
	if (info->n_fixed)
		snprintf(text + length, size - length, " and 0x%x..0x%x", PERFCTR_FIXED,
			 PERFCTR_FIXED + info->n_fixed - 1);
}

enum { MODE_ADD_USER, MODE_USER_ONLY, MODE_BOTH };

/* The event as it could be. */
static void with_modes(const struct perfctr_event_control *event,
		       const struct perfctr_pmu_info *info, int how, char *text, size_t size)
{
	struct perfctr_event_control better = *event;

	if (how == MODE_USER_ONLY) {
		better.evntsel &= ~info->evntsel_kernel;
		better.evntsel2 &= ~info->evntsel2_kernel;
	}
	if (how == MODE_BOTH) {
		better.evntsel |= info->evntsel_kernel;
		better.evntsel2 |= info->evntsel2_kernel;
	}
	better.evntsel |= info->evntsel_user;
	better.evntsel2 |= info->evntsel2_user;
	perfctr_event_format(&better, text, size);
}

static bool selects_mode(const struct perfctr_event_control *event,
			 const struct perfctr_pmu_info *info)
{
	return event->evntsel & (info->evntsel_user | info->evntsel_kernel) ||
	       event->evntsel2 & (info->evntsel2_user | info->evntsel2_kernel);
}

static void format_without(const struct perfctr_event_control *event, uint64_t bits, char *text,
			   size_t size)
{
	struct perfctr_event_control better = *event;

	better.evntsel &= ~bits;
	perfctr_event_format(&better, text, size);
}

/* Of PERFCTR_BAD_* with ENOTSUP those that are no single event's. */
static bool describe_unable(uint32_t reason, char *text, size_t size)
{
	switch (reason) {
	case PERFCTR_BAD_INHERIT:
		snprintf(text, size,
			 "this backend counts single threads, not what they create; "
			 "leave out PERFCTR_CONTROL_INHERIT, or use another of 'perfex info'");
		return true;
	case PERFCTR_BAD_RECORD:
		snprintf(text, size,
			 "this backend keeps no counts of single processes or threads "
			 "that have exited; count their sum, or use another of 'perfex info'");
		return true;
	case PERFCTR_BAD_TOTALS:
		snprintf(text, size,
			 "this backend does not count a tree as one; leave out "
			 "PERFCTR_CONTROL_TOTALS, or use another of 'perfex info'");
		return true;
	}
	return false;
}

static void describe_name(const struct perfctr_event_control *event, char *text, size_t size)
{
	const char *name = perfctr_software_name(event->counter);

	if (name)
		snprintf(text, size, "%s", name);
	else
		perfctr_event_format(event, text, size);
}

static void describe_bad_event(const struct perfctr_control *c, const struct perfctr_pmu_info *info,
			       char *text, size_t size)
{
	const struct perfctr_event_control *event = &c->event[c->bad_event];
	uint64_t unknown, allowed = info->evntsel_allowed;
	uint64_t enable_first = perfctr_machine_enable_first(info);
	uint64_t required = info->evntsel_required | enable_first;
	char name[PERFCTR_EVENT_TEXT], other[PERFCTR_EVENT_TEXT] = "another event", counters[64];
	char remedy[PERFCTR_EVENT_TEXT], names[96] = "other events";

	if (event->counter & PERFCTR_FIXED)
		allowed = info->fixed_allowed;
	describe_name(event, name, sizeof(name));
	describe_counters(info, counters, sizeof(counters));

	switch (c->bad_reason) {
	case PERFCTR_BAD_COUNTER:
		snprintf(text, size, "event %s: there is no such counter; this machine has %s",
			 name, counters);
		break;
	case PERFCTR_BAD_DUPLICATE:
		for (uint32_t i = 0; i < c->bad_event; i++)
			if ((c->event[i].counter ^ event->counter) << 1 == 0)
				perfctr_event_format(&c->event[i], other, sizeof(other));
		snprintf(text, size, "event %s: its counter is taken by %s; choose another of %s",
			 name, other, counters);
		break;
	case PERFCTR_BAD_EVNTSEL:
		if (perfctr_software_name(event->counter)) {
			snprintf(text, size,
				 "event %s: this backend counts it in user and kernel mode "
				 "together; leave out ':u'",
				 name);
			break;
		}
		if (!(event->evntsel & ~allowed)) {
			format_without(event, enable_first, remedy, sizeof(remedy));
			snprintf(text, size,
				 "event %s: evntsel bit 0x%llx (enable) is counter 0's alone, and "
				 "enables all; write %s",
				 name, (unsigned long long)enable_first, remedy);
			break;
		}
		snprintf(text, size,
			 "event %s: evntsel bits 0x%llx are reserved; only 0x%llx may be "
			 "set for this counter",
			 name, (unsigned long long)(event->evntsel & ~allowed),
			 (unsigned long long)allowed);
		break;
	case PERFCTR_BAD_EVNTSEL2:
		unknown = event->evntsel2 & ~info->evntsel2_allowed;
		if (info->evntsel2_allowed)
			snprintf(text, size,
				 "event %s: evntsel2 bits 0x%llx are %s; only 0x%llx may be set",
				 name, (unsigned long long)unknown,
				 info->pmu == PERFCTR_PMU_P4 && !(unknown & ~ESCR_THREAD_1) ?
					 "of a second logical processor, which is not counted" :
					 "reserved",
				 (unsigned long long)info->evntsel2_allowed);
		else
			snprintf(text, size,
				 "event %s: this machine has no second event select word; "
				 "leave out /0x%llx",
				 name, (unsigned long long)event->evntsel2);
		break;
	case PERFCTR_BAD_ENABLE:
		if (required)
			snprintf(text, size,
				 "event %s: evntsel bits 0x%llx (enable) must be set; "
				 "write 0x%08llx",
				 name, (unsigned long long)required,
				 (unsigned long long)(event->evntsel | required));
		else
			snprintf(text, size,
				 "event %s: the bit that enables this counter must be "
				 "set",
				 name);
		break;
	case PERFCTR_BAD_MODE:
		if (selects_mode(event, info)) {
			with_modes(event, info, MODE_BOTH, remedy, sizeof(remedy));
			snprintf(text, size,
				 "event %s: it would count in user and kernel mode; write %s to "
				 "ask for both",
				 name, remedy);
			break;
		}
		with_modes(event, info, MODE_ADD_USER, remedy, sizeof(remedy));
		snprintf(text, size,
			 "event %s: it would never count: it selects neither user nor "
			 "kernel mode; write %s for user mode",
			 name, remedy);
		break;
	case PERFCTR_BAD_PRIVILEGE:
		if (perfctr_software_name(event->counter)) {
			snprintf(text, size,
				 "event %s: what the kernel does needs CAP_PERFMON or sysctl "
				 "kernel.perf_event_paranoid=1; without them page-faults:u and "
				 "task-clock can be counted",
				 name);
			break;
		}
		if (!perfctr_machine_has_modes(info)) {
			snprintf(text, size,
				 "event %s: this machine counts user and kernel mode alike, which "
				 "needs CAP_PERFMON or sysctl kernel.perf_event_paranoid=1",
				 name);
			break;
		}
		with_modes(event, info, MODE_USER_ONLY, remedy, sizeof(remedy));
		snprintf(text, size,
			 "event %s: counting in kernel mode needs CAP_PERFMON or sysctl "
			 "kernel.perf_event_paranoid=1; without them write %s for user mode",
			 name, remedy);
		break;
	case PERFCTR_BAD_ROUTE:
		snprintf(text, size,
			 "event %s: this counter cannot count it; see 'perfex check' for "
			 "those that can",
			 name);
		break;
	case PERFCTR_BAD_ERRATUM:
		snprintf(text, size,
			 "event %s: an erratum of this processor spoils what this counter counts, "
			 "or what others count; choose another, or see perfctr(4)",
			 name);
		break;
	case PERFCTR_BAD_REGISTER:
		snprintf(text, size,
			 "event %s: what it counts is told by a further register, which "
			 "perfctr does not set; choose another event",
			 name);
		break;
	case PERFCTR_BAD_CONFLICT:
		snprintf(text, size,
			 "event %s: it needs a register that an earlier event sets "
			 "otherwise; count them in two runs",
			 name);
		break;
	case PERFCTR_BAD_TAKEN:
		snprintf(text, size,
			 "event %s: its counter is taken by a session, or a session wants "
			 "it while others use it; choose another, or end that one",
			 name);
		break;
	case PERFCTR_BAD_POLICY:
		snprintf(text, size,
			 "event %s: without CAP_PERFMON a session counts marked threads in "
			 "user mode and nothing else; get CAP_PERFMON, or leave it out",
			 name);
		break;
	case PERFCTR_BAD_SOFTWARE:
		snprintf(text, size,
			 "event %s: this backend does not count what the operating "
			 "system does; leave it out, or use another of 'perfex info'",
			 name);
		break;
	case PERFCTR_BAD_MEMBER:
		snprintf(text, size,
			 "event %s: this backend counts it of all members together, not of single "
			 "processes or threads; leave it out, or count their sum",
			 name);
		break;
	case PERFCTR_BAD_WHOLE:
		snprintf(text, size,
			 "event %s: a tree that is counted as one does not have it; leave it out, "
			 "or PERFCTR_CONTROL_TOTALS",
			 name);
		break;
	case PERFCTR_BAD_EVENT:
		snprintf(text, size,
			 "event %s: the kernel's perf_events does not count it on this "
			 "machine; see 'perfex list' for those that it knows",
			 name);
		break;
	case PERFCTR_BAD_UNLOADED:
		perfctr_loaded_events(names, sizeof(names));
		snprintf(text, size,
			 "event %s: perfctr-bpfd was started with %s alone; count these, or as "
			 "root: perfctr-bpfd stop, then start it with --event for each",
			 name, names);
		break;
	case PERFCTR_BAD_KIND:
		snprintf(text, size,
			 "event %s: it is not an architectural event, or names a kind of core that "
			 "is not there; say which of %u kinds counts it, as in core::r20c4",
			 name, info->n_kinds);
		break;
	case PERFCTR_BAD_FIELD:
		snprintf(text, size,
			 "event %s: flags must be 0, or PERFCTR_EVENT_STOP, or in a session a policy",
			 name);
		break;
	case PERFCTR_BAD_SIGNAL:
		snprintf(text, size,
			 "event %s: a signal, of 1 to 64, and PERFCTR_EVENT_STOP are for events of "
			 "threads that have a period",
			 name);
		break;
	case PERFCTR_BAD_PERIOD:
		snprintf(text, size,
			 info->features & PERFCTR_FEATURE_INTERRUPT ?
			 "event %s: only events of threads that are counted each for itself have a "
			 "period, of at most 2^63 - 1" :
			 "event %s: no counter interrupts here; leave the period and the signal out",
			 name);
		break;
	default:
		snprintf(text, size,
			 "event %s: refused for reason %u, which this program does not "
			 "know",
			 name, c->bad_reason);
	}
}

void perfctr_control_error(int error, const struct perfctr_control *c,
			   const struct perfctr_pmu_info *info, char *text, size_t size)
{
	char name[PERFCTR_EVENT_TEXT];

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
		perfctr_event_format(&c->event[c->bad_event % PERFCTR_MAX_COUNTERS], name,
				     sizeof(name));
		snprintf(text, size,
			 "event %s: signals to a thread of another process need CAP_PERFMON and "
			 "CAP_KILL, or the right to ptrace it; leave the signal out",
			 name);
		return;
	}
	if ((error == EINVAL || error == EACCES || error == EBUSY || error == ENOTSUP) &&
	    c->bad_reason && c->bad_event < PERFCTR_MAX_COUNTERS) {
		describe_bad_event(c, info, text, size);
		return;
	}
	switch (error) {
	case ENOSPC:
		/* The counters are given: it is the driver that has no place. */
		if (c->event[c->bad_event % PERFCTR_MAX_COUNTERS].counter != PERFCTR_ANY) {
			snprintf(text, size,
				 "no place is left for the session: 16 are started at most, "
				 "without CAP_PERFMON 8 that have half of the counters together; "
				 "end others");
			break;
		}
		perfctr_event_format(&c->event[c->bad_event % PERFCTR_MAX_COUNTERS], name,
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
