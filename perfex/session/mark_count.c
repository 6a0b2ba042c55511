// SPDX-License-Identifier: GPL-2.0-or-later
/* A group, a session that counts it, and the wait for its last member. */
#include "mark.h"

#include <perfctr_groups.h>

#include <errno.h>
#include <poll.h>

struct marking {
	const struct mark_options *options;
	struct watch watch;
	struct command command;
	struct perfctr_group *group;
	struct perfctr_session *session;
	uint64_t started_ns;
	int wait_status;
};

void complain_of_mark(int error, pid_t pid)
{
	errno = error;
	switch (error) {
	case EBUSY:
		complain(
			"process %d bears the mark of another group, and there is one mark for each "
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
	default:
		complain("cannot change the mark of process %d: %m", pid);
	}
}

void mark_policies(struct perfctr_control *control, const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->event[i].request.rings & PERFCTR_RING_KERNEL)
			control->event[events->event[i].index].flags =
				PERFCTR_EVENT_POLICY | PERFCTR_POLICY_DMR;
}

/* The session counts before anybody bears the mark, so that nothing is missed. */
static bool prepare(struct marking *marking, struct recording *recording)
{
	struct perfctr_control *control = &recording->events.control[0];
	struct perfctr_session_options options = {
		.policy = PERFCTR_POLICY_DP | PERFCTR_POLICY_DMR,
	};

	marking->group = perfctr_group_open(NULL);
	options.group = marking->group;
	marking->session = marking->group ? perfctr_session_open(&options) : NULL;
	if (!marking->session) {
		complain_of_open(errno);
		return false;
	}
	mark_policies(control, &recording->events);
	if (perfctr_session_control(marking->session, control) == 0)
		return true;
	complain_of_control(errno, control, recording->info);
	return false;
}

static bool mark(const struct marking *marking, pid_t pid, unsigned int scope)
{
	if (perfctr_mark(marking->group, pid, scope) >= 0)
		return true;
	complain_of_mark(errno, pid);
	return false;
}

/* When one cannot be marked, the group ends and the marks of the others with it. */
static bool mark_all(const struct marking *marking)
{
	const struct mark_options *options = marking->options;

	for (size_t i = 0; i < options->n_processes; i++)
		if (!mark(marking, options->process[i], options->scope))
			return false;
	return options->n_processes || mark(marking, marking->command.pid, PERFCTR_MARK_PROCESS);
}

/* 0, or perfex's exit status after one line of complaint, and nothing has run. */
static int start(struct marking *marking, struct recording *recording)
{
	char **command = marking->options->run.command;
	int status;

	if (!prepare(marking, recording))
		return EXIT_PERFEX;
	if (command[0]) {
		if (!command_fork(&marking->command, command, &marking->watch))
			return EXIT_PERFEX;
		status = command_exec(&marking->command, command);
		if (status)
			return status;
	}
	if (!mark_all(marking)) {
		command_kill(&marking->command);
		return EXIT_PERFEX;
	}
	marking->started_ns = now_ns();
	return 0;
}

enum { SIGNALS, PROCESS, GROUP };

/* Until there is nothing more to count, or a signal says that it is enough. */
static void wait_for_end(struct marking *marking)
{
	const struct mark_options *options = marking->options;
	struct pollfd fd[] = {
		[SIGNALS] = { marking->watch.signals, POLLIN, 0 },
		[PROCESS] = { marking->command.process, POLLIN, 0 },
		[GROUP] = { perfctr_group_fd(marking->group), POLLIN, 0 },
	};
	bool running = options->run.command[0], end = false;

	while (running || !end) {
		if (poll(fd, GROUP + 1, -1) < 0) {
			if (errno == EINTR)
				continue;
			fail("cannot wait for the end: %m");
		}
		if (fd[SIGNALS].revents)
			end |= watch_signal(&marking->watch, &marking->command);
		/* Who exits takes its mark along: nobody is left now, and nobody can come. */
		if (fd[GROUP].revents && perfctr_members(marking->group, NULL, 0) == 0) {
			fd[GROUP].fd = -1;
			end = true;
		}
		if (fd[PROCESS].revents) {
			marking->wait_status = command_wait(&marking->command);
			fd[PROCESS].fd = -1;
			running = false;
			end |= options->no_wait || options->n_processes || marking->watch.stop;
		}
	}
}

static void finish(struct marking *marking, struct recording *recording)
{
	struct sample sample = { .elapsed_ns = now_ns() - marking->started_ns };

	if (perfctr_session_read(marking->session, &sample.total) < 0)
		fail("cannot read the counters: %m");
	complain_of_revocation(&sample.total);
	sample.wait_status = marking->wait_status;
	recording_add(recording, 0, &sample, true);
}

static void release(const struct marking *marking)
{
	perfctr_session_close(marking->session);
	perfctr_group_close(marking->group);
}

static int count_group(const struct mark_options *options, struct recording *recording,
		       struct output *output)
{
	struct marking marking = {
		.options = options,
		.command = { .process = -1, .go = -1, .failure = -1 },
	};
	int status;

	watch_begin(&marking.watch, options->run.command[0]);
	status = start(&marking, recording);
	if (status) {
		release(&marking);
		output_discard(output);
		return status;
	}
	output_run(output, recording, &(struct interval){ 0 });
	if (marking.command.pid)
		command_resume(&marking.command);
	wait_for_end(&marking);
	finish(&marking, recording);
	release(&marking);
	if (recording->running)
		complain("%u threads bore the mark at the end; what they counted until then is "
			 "included",
			 recording->running);
	if (!output_recording(output, recording))
		return EXIT_PERFEX;
	return exit_as(marking.wait_status);
}

bool session_pmu_info(struct perfctr_pmu_info *info)
{
	if (perfctr_pmu_info(info) < 0) {
		complain_of_open(errno);
		return false;
	}
	info->session_counters |= info->context_counters;
	return true;
}

int mark_count(const struct mark_options *options)
{
	struct recording recording;
	struct perfctr_pmu_info info;
	struct output output;
	int status = EXIT_PERFEX;

	if (!session_pmu_info(&info))
		return EXIT_PERFEX;
	if (recording_begin(&recording, &options->run, &info) &&
	    output_open(&output, &options->run))
		status = count_group(options, &recording, &output);
	recording_free(&recording);
	return status;
}
