// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfex.h"

#include <errno.h>

static uint32_t control_flags(enum view view)
{
	static const uint32_t flags[] = {
		[TREE] = PERFCTR_CONTROL_INHERIT,
		[SELF] = 0,
		[PER_PROCESS] = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_RECORD,
		[PER_THREAD] = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_RECORD,
	};

	return PERFCTR_CONTROL_STOPPED | flags[view];
}

/* A context for the command, its control installed but not started. */
static bool install(struct threads *threads, const struct command *command,
		    struct perfctr_control *control, const struct perfctr_pmu_info *info)
{
	struct perfctr *context = perfctr_open_tid(command->pid, PERFCTR_OPEN_CREATE);

	if (!context) {
		complain_of_open(errno);
		return false;
	}
	threads_add(threads, command->pid, context);
	return threads_control(threads, 0, control, info);
}

/*
 * The command stands before its first instruction.  Executing a set-user-id program, or one that
 * its user may not read, has dropped the context: then it gets a new one, if perfex may trace it.
 */
static bool start_command(struct threads *threads, const struct command *command,
			  struct perfctr_control *control, const struct perfctr_pmu_info *info)
{
	if (threads_start(threads))
		return true;
	threads_close(threads);
	if (!install(threads, command, control, info))
		return false;
	if (threads_start(threads))
		return true;
	complain("cannot start the counters: %m");
	return false;
}

static void report(struct output *output, const struct options *options, struct members *members,
		   struct threads *threads)
{
	struct perfctr_counts total;

	threads_stop(threads);
	if (members_wanted(members))
		members_add_running(members, threads, options->process);
	threads_read(threads, options->view == SELF ? PERFCTR_SCOPE_SELF : PERFCTR_SCOPE_TREE,
		     &total);
	threads_close(threads);
	output_counts(output, &options->control, members, &total);
	if (total.members && !options->process)
		complain("%u threads still run; what they counted until now is included",
			 total.members);
	if (members->lost)
		complain("%lu exits were too fast to be recorded; they are in the total only",
			 members->lost);
}

/* All that can be refused, while the child has not become the command. */
static bool prepare(struct threads *threads, struct output *output, const struct command *command,
		    struct options *options, const struct perfctr_pmu_info *info)
{
	bool ready;

	if (options->process)
		ready = attach(threads, options->process, &options->control, info);
	else
		ready = install(threads, command, &options->control, info);
	return ready && output_open(output, options->output);
}

static bool start(struct threads *threads, const struct command *command, struct options *options,
		  const struct perfctr_pmu_info *info)
{
	if (!options->process)
		return start_command(threads, command, &options->control, info);
	threads_start(threads);
	return true;
}

static int refuse(struct command *command, struct threads *threads)
{
	command_kill(command);
	threads_close(threads);
	return EXIT_PERFEX;
}

/* Until the end of the command; without one, of the process whose pidfd it gets. */
static int count(struct options *options, int process, const struct perfctr_pmu_info *info)
{
	bool with_command = options->command[0];
	struct threads threads = { 0 };
	struct command command = { 0 };
	struct members members;
	struct output output;
	struct watch watch;
	int status = 0;

	watch_begin(&watch, with_command);
	if (with_command) {
		command_fork(&command, options->command, &watch.before);
		process = command.process;
	}
	if (!prepare(&threads, &output, &command, options, info))
		return refuse(&command, &threads);
	if (with_command) {
		status = command_exec(&command);
		if (status) {
			complain("cannot execute '%s': %m", options->command[0]);
			output_discard(&output);
			threads_close(&threads);
			return status;
		}
	}
	if (!start(&threads, &command, options, info)) {
		output_discard(&output);
		return refuse(&command, &threads);
	}
	output_begin(&output);
	if (with_command)
		command_resume(&command);

	members_begin(&members, options->view);
	watch_end(&watch, process, &command, &threads, &members);
	if (with_command)
		status = command_wait(&command);
	report(&output, options, &members, &threads);
	return exit_as(status);
}

int run(struct options *options)
{
	struct perfctr_pmu_info info;
	int process = -1;

	if (options->process)
		process = attach_find(options->process);
	if (perfctr_pmu_info(&info) < 0) {
		complain_of_open(errno);
		return EXIT_PERFEX;
	}
	if (perfctr_control_assign(&options->control, &info) < 0) {
		complain_of_control(errno, &options->control, &info);
		return EXIT_PERFEX;
	}
	options->control.flags = control_flags(options->view);
	return count(options, process, &info);
}
