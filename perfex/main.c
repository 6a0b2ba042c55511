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

/* Until the end of the command; without one, of the process. */
static int count(struct options *options, const struct perfctr_pmu_info *info)
{
	struct perfctr_control *control = &options->control;
	bool with_command = options->command[0], ready;
	struct threads threads = { 0 };
	struct command command = { 0 };
	struct members members;
	struct output output;
	struct watch watch;
	int process = -1, status = 0;

	if (perfctr_control_assign(control, info) < 0) {
		complain_of_control(errno, control, info);
		return EXIT_PERFEX;
	}
	control->flags = control_flags(options->view);
	members_begin(&members, options->view);
	if (options->process)
		process = attach_find(options->process);
	watch_begin(&watch, with_command);
	if (with_command) {
		command_fork(&command, options->command, &watch.before);
		process = command.process;
	}
	/* What can be refused is refused while the child has not become the command. */
	if (options->process)
		ready = attach(&threads, options->process, control, info);
	else
		ready = install(&threads, &command, control, info);
	if (!ready || !output_open(&output, options->output))
		goto kill;

	if (with_command) {
		status = command_exec(&command);
		if (status) {
			complain("cannot execute '%s': %m", options->command[0]);
			output_discard(&output);
			return status;
		}
	}
	if (options->process) {
		threads_start(&threads);
	} else if (!start_command(&threads, &command, control, info)) {
		output_discard(&output);
		goto kill;
	}
	output_begin(&output);
	if (with_command)
		command_resume(&command);
	watch_end(&watch, process, &command, &threads, &members);
	if (with_command)
		status = command_wait(&command);
	report(&output, options, &members, &threads);
	return exit_as(status);

kill:
	command_kill(&command);
	return EXIT_PERFEX;
}

int main(int argc, char **argv)
{
	struct perfctr_pmu_info info;
	struct options options;

	parse_options(&options, argc, argv);
	if (options.action == HELP) {
		print_help();
		return 0;
	}
	if (options.action == VERSION) {
		puts("perfex (perfctr) " PERFCTR_VERSION);
		return 0;
	}
	if (perfctr_pmu_info(&info) < 0) {
		complain_of_open(errno);
		return EXIT_PERFEX;
	}
	if (options.action == INFO) {
		print_info(&info);
		return 0;
	}
	return count(&options, &info);
}
