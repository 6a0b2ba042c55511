// SPDX-License-Identifier: GPL-2.0-or-later
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

void complain_of_mark(int error, pid_t pid)
{
	errno = error;
	switch (error) {
	case EBUSY:
		complain("process %d bears another mark, and there is one mark for each "
			 "thread; take it away by: perfex mark --clear -p %d",
			 pid, pid);
		break;
	case EACCES:
		complain(
			"no permission to change the mark of process %d; it must belong to you, and "
			"its program must be readable, or get CAP_PERFMON",
			pid);
		break;
	case ESRCH:
		complain("there is no process %d", pid);
		break;
	case EAGAIN:
		complain("the mark of a thread of process %d is changed back again and again, or threads "
			 "are created faster than they are found; try again",
			 pid);
		break;
	default:
		complain("cannot change the mark of process %d: %m", pid);
	}
}

void complain_of_lack(const char *backend, int error, const char *lack)
{
	struct perfctr_backend_info info = { 0 };

	if (error == ENOTSUP && perfctr_backend(backend, &info) == 0)
		complain("the %s backend %s", info.name, lack);
	else
		complain_of_open(backend, error);
}

void session_set_policies(struct perfctr_control *control, const struct events *events,
			  unsigned int pass)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->event[i].pass == pass &&
		    events->event[i].request.modes & PERFCTR_MODE_KERNEL)
			control->event[events->event[i].index].flags =
				PERFCTR_EVENT_POLICY | PERFCTR_EXCLUDE_UNMARKED;
}

struct perfctr_pmu_info session_pmu_info(const struct options *options, bool some_cpus)
{
	struct perfctr_pmu_info info = *perfctr_events_info(options->database);

	if (some_cpus)
		info.session_counters = 0;
	info.session_counters |= info.context_counters;
	return info;
}

void session_begin(struct session_run *run, const struct options *options)
{
	*run = (struct session_run){
		.options = options,
		.command = { .process = -1, .go = -1, .failure = -1 },
	};
	watch_begin(&run->watch, options->command[0]);
}

void session_end(struct session_run *run)
{
	perfctr_session_close(run->session);
	perfctr_mark_close(run->mark);
}

bool session_control(const struct session_run *run, struct perfctr_control *control,
		     const struct perfctr_pmu_info *info)
{
	if (perfctr_session_control(run->session, control) == 0)
		return true;
	complain_of_control(run->options->backend, errno, control, info);
	return false;
}

static uint64_t counter_bit(uint32_t counter)
{
	uint32_t n = counter & ~(PERFCTR_FIXED | PERFCTR_FAST);

	return UINT64_C(1) << (counter & PERFCTR_FIXED ? PERFCTR_FIXED_BIT + n : n);
}

/*
 * Returns the mask of the counters that get this event from the same unit, or 0 if counters have no
 * units.
 */
static uint64_t fed_likewise(const struct perfctr_pmu_info *info,
			     const struct perfctr_event_control *event)
{
	const char *route = perfctr_family_route(info, event), *other_route;
	struct perfctr_event_control other = *event;
	uint64_t counters = 0;

	for (other.counter = 0; route && other.counter < info->n_general; other.counter++) {
		other_route = perfctr_family_route(info, &other);
		if (other_route && strcmp(route, other_route) == 0)
			counters |= counter_bit(other.counter);
	}
	return counters;
}

static struct perfctr_request *request_of(const struct events *events, uint32_t index)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->event[i].index == index)
			return &events->event[i].request;
	return NULL;
}

/*
 * Notes the reason of a refusal in info or in the request.  Normally the counter is taken, so no
 * event may use it.  But if a unit feeds the counter, and no other session or context was known to
 * have the counter, the unit is taken, so this event may use no counter of that unit.  Returns
 * false if there is another reason, or if the event has no other counter left.
 */
static bool learn_taken(const struct events *events, const struct perfctr_control *control,
			uint64_t others, struct perfctr_pmu_info *info)
{
	const struct perfctr_event_control *bad = &control->event[control->bad_event];
	struct perfctr_request *request;
	uint64_t bit, fed;

	if (errno != EBUSY || control->bad_reason != PERFCTR_BAD_TAKEN)
		return false;
	request = request_of(events, control->bad_event);
	if (request && request->counter != PERFCTR_ANY)
		return false;
	bit = counter_bit(bad->counter);
	fed = fed_likewise(info, bad);
	if (request && fed && !(others & bit)) {
		request->general &= ~fed;
		return request->general;
	}
	if (info->session_counters & bit)
		return false;
	info->session_counters |= bit;
	return true;
}

/*
 * Only a session that counts is told which counters others have on its CPUs.  So this one counts
 * for a moment.
 */
bool session_control_here(const struct session_run *run, struct events *events,
			  struct perfctr_pmu_info *info)
{
	struct perfctr_control *control = &events->control[0];
	const struct perfctr_pmu_info *before = perfctr_events_info(run->options->database);
	const uint64_t others = before->session_counters | before->context_counters;

	while (before->session_counters && perfctr_session_control(run->session, control) < 0) {
		if (!learn_taken(events, control, others, info)) {
			complain_of_control(run->options->backend, errno, control, info);
			return false;
		}
		if (!events_assign(events, run->options, info))
			return false;
	}
	control->flags = PERFCTR_CONTROL_STOPPED;
	return session_control(run, control, info);
}

int session_launch(struct session_run *run)
{
	if (!run->options->command[0])
		return 0;
	if (!command_fork(&run->command, run->options, NULL, &run->watch))
		return EXIT_PERFEX;
	return command_exec(&run->command, run->options->command);
}

enum { SIGNALS, PROCESS, MARK };

bool session_wait(struct session_run *run, const struct session_loop *loop)
{
	struct pollfd fd[] = {
		[SIGNALS] = { run->watch.signals, POLLIN, 0 },
		[PROCESS] = { run->command.process, POLLIN, 0 },
		[MARK] = { loop->by_members ? perfctr_mark_fd(run->mark) : -1, POLLIN, 0 },
	};
	bool running = run->command.pid, end = false;

	while (running || !end) {
		if (poll(fd, MARK + 1, loop->timeout ? loop->timeout(loop->target) : -1) < 0) {
			if (errno == EINTR)
				continue;
			fail("cannot wait for the end: %m");
		}
		if (fd[SIGNALS].revents)
			end |= watch_signal(&run->watch, &run->command);
		/*
		 * A thread loses its mark when it exits.  No thread has the mark now, and no thread
		 * can get it any more.
		 */
		if (fd[MARK].revents && perfctr_members(run->mark, NULL, 0) == 0) {
			fd[MARK].fd = -1;
			end = true;
		}
		if (fd[PROCESS].revents) {
			run->wait_status = command_wait(&run->command, NULL);
			fd[PROCESS].fd = -1;
			running = false;
			end |= loop->with_command || run->watch.stop;
		}
		if (loop->step && (running || !end) && loop->step(loop->target))
			return false;
	}
	return true;
}
