// SPDX-License-Identifier: GPL-2.0-or-later
/* Creates a mark and a session that counts its threads, and waits for the last of them. */
#include "mark.h"
#include "session.h"

#include <errno.h>

struct marking {
	const struct mark_options *options;
	struct session_run run;
	uint64_t started_ns;
};

/* Starts the session before any thread bears the mark, so that nothing is missed. */
static bool prepare_marking(struct marking *marking, struct recording *recording)
{
	struct perfctr_control *control = &recording->events.control[0];
	struct perfctr_pmu_info info = *recording->info;
	struct perfctr_session_options options = {
		.size = sizeof(options),
		.policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED,
	};

	marking->run.mark = perfctr_mark_open_with(marking->options->run.backend, NULL);
	options.mark = marking->run.mark;
	marking->run.session = marking->run.mark ? perfctr_session_open(&options) : NULL;
	if (!marking->run.session) {
		complain_of_open(marking->options->run.backend, errno);
		return false;
	}
	if (!marking->options->run.usual_events) {
		session_set_policies(control, &recording->events);
		return session_control(&marking->run, control, &info);
	}
	if (session_start_usual(&marking->run, &recording->events, &info, true))
		return true;
	complain_of_start(marking->options->run.backend, errno);
	return false;
}

static bool mark_process(const struct marking *marking, pid_t pid, unsigned int scope)
{
	if (perfctr_mark_set(marking->run.mark, pid, scope) >= 0)
		return true;
	complain_of_mark(errno, pid);
	return false;
}

/*
 * Returns false, after an error message, if a process cannot be marked.  perfex then ends, and so
 * does the mark, also on the other processes.
 */
static bool mark_all(const struct marking *marking)
{
	const struct mark_options *options = marking->options;

	for (size_t i = 0; i < options->n_processes; i++)
		if (!mark_process(marking, options->process[i], options->scope))
			return false;
	return options->n_processes ||
	       mark_process(marking, marking->run.command.pid, PERFCTR_MARK_PROCESS);
}

/*
 * Returns 0, or perfex's exit status after an error message; in that case the command has not
 * executed anything.
 */
static int start_marking(struct marking *marking, struct recording *recording)
{
	int status;

	if (!prepare_marking(marking, recording))
		return EXIT_PERFEX;
	status = session_launch(&marking->run);
	if (status)
		return status;
	if (!mark_all(marking)) {
		command_kill(&marking->run.command);
		return EXIT_PERFEX;
	}
	marking->started_ns = now_ns();
	tell_substitute(&marking->options->run);
	return 0;
}

static void finish_marking(struct marking *marking, struct recording *recording)
{
	struct sample sample = {
		.time_ns = { [TIME_ELAPSED] = now_ns() - marking->started_ns },
	};

	if (perfctr_session_read(marking->run.session, &sample.total) < 0)
		fail("cannot read the counters: %m");
	complain_of_loss(&sample.total);
	sample.wait_status = marking->run.wait_status;
	recording_add(recording, 0, &sample, true);
}

static int count_mark(const struct mark_options *options, struct recording *recording,
		      struct output *output)
{
	struct marking marking = { .options = options };
	const struct session_loop loop = {
		.by_members = true,
		.with_command = options->no_wait || options->n_processes,
	};
	int status;

	session_begin(&marking.run, &options->run);
	status = start_marking(&marking, recording);
	if (status) {
		session_end(&marking.run);
		output_discard(output);
		return status;
	}
	output_run(output, recording, &(struct interval){ 0 });
	if (marking.run.command.pid)
		command_resume(&marking.run.command);
	session_wait(&marking.run, &loop);
	finish_marking(&marking, recording);
	session_end(&marking.run);
	if (recording->running)
		complain("%u thread%s bore the mark at the end; what they counted until then is "
			 "included",
			 recording->running, recording->running == 1 ? "" : "s");
	if (!output_recording(output, recording))
		return EXIT_PERFEX;
	return exit_as(marking.run.wait_status);
}

int mark_count(const struct mark_options *options)
{
	struct recording recording;
	struct perfctr_pmu_info info = session_pmu_info(&options->run, false);
	struct output output;
	int status = EXIT_PERFEX;

	if (recording_begin(&recording, &options->run, &info) &&
	    output_open(&output, &options->run))
		status = count_mark(options, &recording, &output);
	recording_free(&recording);
	return status;
}
