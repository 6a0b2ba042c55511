// SPDX-License-Identifier: GPL-2.0-or-later
/* Creates a mark and a session that counts its threads, and waits for the last of them. */
#include "mark.h"

#include <errno.h>
#include <stdlib.h>

void mark_add_process(struct mark_options *options, const char *text)
{
	pid_t pid = parse_pid(text);

	options->process = reallocarray(options->process, options->n_processes + 1, sizeof(pid_t));
	if (!options->process)
		fail("out of memory");
	options->process[options->n_processes++] = pid;
}

void mark_check_processes(const struct mark_options *options)
{
	if (options->scope == PERFCTR_MARK_TREE && !options->n_processes)
		fail("--tree is for running processes; give --pid=PID");
	if (options->no_wait && options->n_processes)
		fail("--no-wait and --pid exclude each other: with --pid the end of the command is "
		     "the end");
}

struct perfctr_session *mark_open_session(const struct marking *marking)
{
	const struct perfctr_session_options options = {
		.size = sizeof(options),
		.policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED,
		.mark = marking->run.mark,
	};
	struct perfctr_session *session =
		marking->run.mark ? perfctr_session_open(&options) : NULL;

	if (!session)
		complain_of_open(marking->options->run.backend, errno);
	return session;
}

bool mark_open(struct marking *marking, const struct mark_options *options)
{
	marking->options = options;
	session_begin(&marking->run, &options->run);
	marking->run.mark = perfctr_mark_open_with(options->run.backend, NULL);
	marking->run.session = mark_open_session(marking);
	return marking->run.session;
}

static bool control_marking(struct marking *marking, struct recording *recording)
{
	struct perfctr_control *control = &recording->events.control[0];
	struct perfctr_pmu_info info = *recording->info;

	if (!marking->options->run.usual_events) {
		session_set_policies(control, &recording->events, 0);
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

bool mark_ends_with_command(const struct mark_options *options)
{
	return options->no_wait || options->n_processes;
}

int mark_start(struct marking *marking)
{
	int status = session_launch(&marking->run);

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
	struct marking marking;
	const struct session_loop loop = {
		.by_members = true,
		.with_command = mark_ends_with_command(options),
	};
	int status = EXIT_PERFEX;

	/* The session is started before any thread bears the mark, so that nothing is missed. */
	if (mark_open(&marking, options) && control_marking(&marking, recording))
		status = mark_start(&marking);
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

int mark_record(const struct mark_options *options, struct recording *recording)
{
	struct output output;

	return output_open(&output, &options->run) ? count_mark(options, recording, &output)
						    : EXIT_PERFEX;
}

int mark_count(const struct mark_options *options)
{
	struct recording recording;
	struct perfctr_pmu_info info = session_pmu_info(&options->run, false);
	int status = EXIT_PERFEX;

	if (recording_begin(&recording, &options->run, &info))
		status = mark_record(options, &recording);
	recording_free(&recording);
	return status;
}
