// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfex.h"

#include <errno.h>

static void complain_of_control(const struct perfctr_control *control,
				const struct perfctr_pmu_info *info)
{
	char error[256];

	perfctr_control_error(errno, control, info, error, sizeof(error));
	complain("%s", error);
}

static void complain_of_open(void)
{
	char error[256];

	perfctr_open_error(errno, error, sizeof(error));
	complain("%s", error);
}

/* The context of the command, its control installed but not started; or NULL, with the reason said. */
static struct perfctr *install(const struct command *command, struct perfctr_control *control,
			       const struct perfctr_pmu_info *info)
{
	struct perfctr *context = perfctr_open_tid(command->pid, PERFCTR_OPEN_CREATE);

	if (!context) {
		complain_of_open();
		return NULL;
	}
	if (perfctr_control(context, control) < 0) {
		complain_of_control(control, info);
		perfctr_close(context);
		return NULL;
	}
	return context;
}

/*
 * The command stands before its first instruction.  Executing a set-user-id program, or one that
 * its user may not read, has dropped the context: then it gets a new one, if perfex may trace it.
 */
static struct perfctr *start(struct perfctr *context, const struct command *command,
			     struct perfctr_control *control, const struct perfctr_pmu_info *info)
{
	if (perfctr_start(context) == 0)
		return context;
	perfctr_close(context);
	context = install(command, control, info);
	if (context && perfctr_start(context) < 0) {
		complain("cannot start the counters: %m");
		perfctr_close(context);
		return NULL;
	}
	return context;
}

static int run(struct options *options, const struct perfctr_pmu_info *info)
{
	struct perfctr_control *control = &options->control;
	struct perfctr_counts counts;
	struct perfctr *context;
	struct command command;
	struct output output;
	int status;

	if (perfctr_control_assign(control, info) < 0) {
		complain_of_control(control, info);
		return EXIT_PERFEX;
	}
	/* What can be refused is refused while the child has not become the command. */
	control->flags = PERFCTR_CONTROL_STOPPED;
	command_fork(&command, options->command);
	context = install(&command, control, info);
	if (!context)
		goto kill;
	if (output_open(&output, options->output) < 0) {
		complain("cannot write '%s': %m", options->output);
		goto kill;
	}

	status = command_exec(&command);
	if (status) {
		complain("cannot execute '%s': %m", options->command[0]);
		goto discard;
	}
	context = start(context, &command, control, info);
	if (!context) {
		command_kill(&command);
		status = EXIT_PERFEX;
		goto discard;
	}
	output_begin(&output);
	command_resume(&command);
	status = command_wait(&command);

	if (perfctr_read(context, &counts) < 0)
		fail("cannot read the counters: %m");
	perfctr_close(context);
	if (output_counts(&output, control, &counts) < 0)
		fail("cannot write '%s': %m", output.path ? output.path : "standard error");
	return exit_as(status);

discard:
	output_discard(&output);
	perfctr_close(context);
	return status;
kill:
	command_kill(&command);
	perfctr_close(context);
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
		complain_of_open();
		return EXIT_PERFEX;
	}
	if (options.action == INFO) {
		print_info(&info);
		return 0;
	}
	return run(&options, &info);
}
