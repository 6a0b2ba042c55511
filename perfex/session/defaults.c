// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events that perfex mark and perfex system count if the command line names none.  Nobody has asked
 * for them, so where others have the counters they are left out, and nothing is refused.
 */
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Two, because a user's sessions may have two counters without CAP_PERFMON. */
static const char *const of_processor[] = { "instructions", "cycles" };
enum { N_OF_PROCESSOR = sizeof(of_processor) / sizeof(of_processor[0]) };

static const char *const of_system[] = { "page-faults", "context-switches", "cpu-migrations" };

#define MOST_TRIES 4 /* of counters that others may take at the same time */

static void complain_left_out(const char *why, bool held)
{
	char *holders = name_holders(held);

	complain("%s%s; left out: instructions, cycles", why, holders);
	free(holders);
}

static void leave_out(struct options *options, const char *reason, bool told)
{
	for (unsigned int i = 0; i < N_OF_PROCESSOR; i++)
		options->left_out[options->n_left_out++] =
			(struct left_out){ of_processor[i], reason, told };
}

static void add_events_of_processor(struct options *options, unsigned int modes, bool some_cpus)
{
	struct perfctr_pmu_info info = session_pmu_info(options, some_cpus);
	struct perfctr_request requests[N_OF_PROCESSOR];
	struct perfctr_control control;
	char error[512];

	for (unsigned int i = 0; i < N_OF_PROCESSOR; i++)
		if (perfctr_events_parse(options->database, of_processor[i], modes, &requests[i],
					 error, sizeof(error)) < 0) {
			leave_out(options, "the backend has no such event", false);
			return;
		}
	if (perfctr_requests_assign(&info, requests, N_OF_PROCESSOR, &control, error,
				    sizeof(error)) < 0) {
		complain_left_out(error, info.session_counters);
		leave_out(options, "others have the counters", true);
		return;
	}
	for (unsigned int i = 0; i < N_OF_PROCESSOR; i++)
		append_events(&options->events, of_processor[i]);
	options->usual_events = true;
}

void session_add_usual_events(struct options *options, unsigned int modes, bool some_cpus)
{
	struct perfctr_backend_info info = { 0 };
	unsigned int n;

	if (perfctr_backend(options->backend, &info) < 0)
		return;
	if (info.capabilities & PERFCTR_CAN_HARDWARE) {
		if (options->modes & PERFCTR_MODE_KERNEL &&
		    !(info.capabilities & PERFCTR_CAN_KERNEL))
			leave_out(options, "kernel mode is for the privileged", false);
		else
			add_events_of_processor(options, modes, some_cpus);
		return;
	}
	/* Sessions of the driver count no events of the operating system. */
	if (is_driver(options->backend))
		leave_out(options, "the driver has no counters here", false);
	if (is_driver(options->backend) || !(info.capabilities & PERFCTR_CAN_SOFTWARE))
		return;
	n = info.capabilities & PERFCTR_CAN_SWITCHES ? sizeof(of_system) / sizeof(of_system[0]) : 1;
	for (unsigned int i = 0; i < n; i++)
		append_events(&options->events, i == 0 && !(info.capabilities & PERFCTR_CAN_KERNEL)
							? "page-faults:u"
							: of_system[i]);
}

static bool leave_out_at_start(const struct session_run *run, struct events *events)
{
	struct perfctr_pmu_info now = *perfctr_events_info(run->options->database);
	struct perfctr_control *control = &events->control[0];
	int error = errno;
	char why[512];

	perfctr_get_pmu_info_with(run->options->backend, &now);
	perfctr_control_error(error, control, &now, why, sizeof(why));
	complain_left_out(why, error == EBUSY && now.holder == PERFCTR_HOLDER_PERFCTR);
	events->n = 0;
	*control = (struct perfctr_control){ .size = sizeof(*control) };
	return perfctr_session_control(run->session, control) == 0;
}

/* Gives the events counters that are free now.  Returns false if there are none. */
static bool assign_again(const struct session_run *run, struct events *events,
			 struct perfctr_pmu_info *info)
{
	struct perfctr_pmu_info now;
	char error[512];

	if (events->n != N_OF_PROCESSOR ||
	    perfctr_get_pmu_info_with(run->options->backend, &now) < 0)
		return false;
	info->session_counters = now.session_counters | now.context_counters;
	return events_try_assign(events, run->options, info, error, sizeof(error));
}

bool session_start_usual(const struct session_run *run, struct events *events,
			 struct perfctr_pmu_info *info, bool policies)
{
	struct perfctr_control *control = &events->control[0];

	for (unsigned int i = 0;; i++) {
		int error;

		if (policies)
			session_set_policies(control, events, 0);
		if (perfctr_session_control(run->session, control) == 0)
			return true;
		error = errno;
		if (i == MOST_TRIES || error != EBUSY || !assign_again(run, events, info)) {
			errno = error;
			return leave_out_at_start(run, events);
		}
	}
}
