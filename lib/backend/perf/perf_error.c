// SPDX-License-Identifier: LGPL-2.1-or-later
/* Texts for refusals of perf_event_open(2): the reason, and the remedy. */
#include "perf.h"
#include "../../internal.h"
#include "../../privilege.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void perfctr_perf_open_error(int error, char *text, size_t size)
{
	switch (error) {
	case EACCES:
		if (perfctr_paranoia() > 2)
			snprintf(
				text, size,
				"perf_events is for the privileged here (kernel.perf_event_paranoid "
				"is %d): get CAP_SYS_ADMIN, as CAP_PERFMON may not be enough at this "
				"level, or let %s run: sysctl kernel.perf_event_paranoid=2",
				perfctr_paranoia(), perfctr_root());
		else
			snprintf(text, size,
				 "no permission to count this thread; it must belong to you, and "
				 "its program must be readable, or get CAP_PERFMON");
		break;
	case EPERM:
		snprintf(text, size,
			 "perf_event_open(2) is forbidden here (EPERM), as containers do by a "
			 "seccomp filter: allow it there, with podman or docker by "
			 "--cap-add=PERFMON or a profile of your own");
		break;
	case ENOSYS:
		snprintf(text, size,
			 "there is no perf_event_open(2) here (ENOSYS): the kernel lacks "
			 "CONFIG_PERF_EVENTS, or the seccomp filter of a container hides it; "
			 "allow it there");
		break;
	case EMFILE:
		snprintf(text, size,
			 "too many open files: perf_events takes one for each event of each "
			 "thread; raise the limit by: ulimit -n 65536");
		break;
	default:
		perfctr_describe_open(error, text, size);
	}
}

void perfctr_perf_limits(uint32_t capabilities, char *text, size_t size)
{
	const char *between = "";

	if (!(capabilities & PERFCTR_CAN_HARDWARE)) {
		snprintf(text, size,
			 "no PMU that perf_events can use: in a virtual machine, let its host "
			 "give it one (KVM: -cpu host,pmu=on)");
		between = "; ";
	}
	if (!(capabilities & PERFCTR_CAN_KERNEL))
		snprintf(text + strlen(text), size - strlen(text),
			 "%suser mode alone (kernel.perf_event_paranoid is %d): get CAP_PERFMON, "
			 "or sysctl kernel.perf_event_paranoid=1",
			 between, perfctr_paranoia());
}
