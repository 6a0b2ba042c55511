// SPDX-License-Identifier: GPL-2.0-or-later
/* One run: from the making of the contexts to their sums. */
#include "run.h"

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
static bool install_control(struct counting *counting, struct perfctr_control *control)
{
	struct perfctr *context = perfctr_open_tid(counting->command.pid, PERFCTR_OPEN_CREATE);

	if (!context) {
		complain_of_open(errno);
		return false;
	}
	threads_add(&counting->threads, counting->command.pid, context);
	return threads_control(&counting->threads, 0, control, counting->recording->info);
}

/*
 * The command stands before its first instruction.  Executing a set-user-id program, or one that
 * its user may not read, has dropped the context: then it gets a new one, if perfex may trace it.
 */
static bool start_command(struct counting *counting, struct perfctr_control *control)
{
	if (threads_start(&counting->threads))
		return true;
	if (counting->threads.refused)
		return false;
	threads_close(&counting->threads);
	if (!install_control(counting, control))
		return false;
	if (threads_start(&counting->threads))
		return true;
	if (!counting->threads.refused)
		complain_of_start(errno);
	return false;
}

/* Of what can be refused, all that depends on the command or process. */
static bool prepare_counting(struct counting *counting, struct perfctr_control *control)
{
	control->flags = control_flags(counting->options->view);
	if (counting->options->process)
		return attach(&counting->threads, counting->options->process, control,
			      counting->recording->info);
	return install_control(counting, control);
}

static bool start_counting(struct counting *counting, struct perfctr_control *control)
{
	if (!counting->options->process) {
		if (!start_command(counting, control))
			return false;
	} else if (!counting->options->delay_ms) {
		threads_start(&counting->threads);
		if (counting->threads.refused)
			return false;
	}
	/* The command has not executed anything yet. */
	if (counting->options->delay_ms)
		threads_stop(&counting->threads);
	else
		counting->started_ns = now_ns();
	return true;
}

static void finish_counting(struct counting *counting, struct sample *sample)
{
	threads_stop(&counting->threads);
	if (counting->started_ns)
		sample->elapsed_ns = counting->stopped_ns - counting->started_ns;
	else
		complain("the %s ended within the delay of %u ms: nothing was counted",
			 counting->options->command[0] ? "command" : "process",
			 counting->options->delay_ms);
	sample->timed_out = counting->timed_out;
	if (members_wanted(counting->members))
		members_add_running(counting->members, &counting->threads,
				    counting->options->process);
	threads_read(&counting->threads, counting->scope, &sample->total);
	complain_of_revocation(&sample->total);
	threads_close(&counting->threads);
	if (counting->output && counting->options->interval_ms && counting->started_ns)
		counting_interval(counting, &sample->total);
}

static int give_up_counting(struct counting *counting, int status)
{
	command_kill(&counting->command);
	threads_close(&counting->threads);
	return status;
}

/* 0, or perfex's exit status after one line of complaint, and nothing has run. */
int count_run(struct watch *watch, struct counting *counting, struct perfctr_control *control,
	      struct sample *sample)
{
	const struct options *options = counting->options;
	bool with_command = options->command[0];
	int status;

	*sample = (struct sample){ 0 };
	if (with_command) {
		if (!command_fork(&counting->command, options->command, watch))
			return EXIT_PERFEX;
		counting->process = counting->command.process;
	}
	if (!prepare_counting(counting, control))
		return give_up_counting(counting, EXIT_PERFEX);
	if (with_command) {
		status = command_exec(&counting->command, options->command);
		if (status)
			return give_up_counting(counting, status);
	}
	if (!start_counting(counting, control))
		return give_up_counting(counting, EXIT_PERFEX);
	if (counting->output)
		output_run(counting->output, counting->recording, &counting->interval);
	if (with_command)
		command_resume(&counting->command);
	watch_counting(watch, counting);
	if (with_command)
		sample->wait_status = command_wait(&counting->command);
	finish_counting(counting, sample);
	return 0;
}
