// SPDX-License-Identifier: GPL-2.0-or-later
/* One run: its slices, in which the sets take turns. */
#include "rotate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

/* Makes the controls ready to start, and the order of the first round. */
static void prepare_sets(struct rotation *rotation)
{
	struct events *events = &rotation->recording.events;
	unsigned int seed = rotation->options->seed;

	for (unsigned int set = 0; set < events->n_passes; set++) {
		session_set_policies(&events->control[set], events, set);
		events->control[set].flags = 0;
	}
	if (!seed && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (unsigned int)now_ns();
	rotation->seed = seed;
	rotation->random[0] = 0x330e; /* as srand48(3) */
	rotation->random[1] = (unsigned short)seed;
	rotation->random[2] = (unsigned short)(seed >> 16);
	rotation->order = allocate(events->n_passes, sizeof(*rotation->order));
	rotation->start = allocate(events->n_passes, sizeof(*rotation->start));
	rotation_shuffle(rotation->order, events->n_passes, rotation->random);
}

static void free_sets(struct rotation *rotation)
{
	for (unsigned int set = 0; rotation->start && set < rotation->recording.events.n_passes;
	     set++)
		series_free(&rotation->start[set]);
	free(rotation->start);
	free(rotation->order);
}

/* Lets the session count the set from now on.  Returns false after an error message. */
static bool begin_slice(struct rotation *rotation, unsigned int set)
{
	struct perfctr_control *control = &rotation->recording.events.control[set];

	rotation->started_ns = now_ns();
	if (perfctr_session_control(rotation->session, control) == 0)
		return true;
	complain_of_control(rotation->recording.options->backend, errno, control,
			    rotation->recording.info);
	return false;
}

/*
 * Lets each set count for a moment, and the first one from now on: a set that is refused is refused
 * before the command runs.
 */
static bool try_sets(struct rotation *rotation)
{
	for (unsigned int i = rotation->recording.events.n_passes; i-- > 0;)
		if (!begin_slice(rotation, rotation->order[i]))
			return false;
	return true;
}

static void end_slice(struct rotation *rotation)
{
	unsigned int set = rotation->order[rotation->turn];
	struct sample sample = { 0 };

	if (perfctr_session_stop(rotation->session) < 0)
		fail("cannot stop the counters: %m");
	sample.time_ns[TIME_ELAPSED] = now_ns() - rotation->started_ns;
	if (perfctr_session_read(rotation->session, &sample.total) < 0)
		fail("cannot read the counters: %m");
	sample.wait_status = rotation->marking.run.wait_status;
	rotation->flags |= sample.total.flags;
	/* A slice in which the processes did not run says nothing. */
	if (!sample.total.tsc)
		return;
	series_add(&rotation->start[set], rotation->started_ns - rotation->marking.started_ns);
	recording_add(&rotation->recording, set, &sample, true);
}

static void next_set(struct rotation *rotation)
{
	unsigned int n = rotation->recording.events.n_passes;

	if (++rotation->turn < n)
		return;
	rotation_shuffle(rotation->order, n, rotation->random);
	rotation->turn = 0;
}

/* The time until the slice ends, in ns. */
static uint64_t rest_of_slice(const struct rotation *rotation)
{
	uint64_t length_ns = rotation->options->slice_ms * UINT64_C(1000000);
	uint64_t passed_ns = now_ns() - rotation->started_ns;

	return passed_ns < length_ns ? length_ns - passed_ns : 0;
}

static int wait_of_slice(void *target)
{
	const struct rotation *rotation = target;

	return rotation->failed ? -1 : (int)((rest_of_slice(rotation) + 999999) / 1000000);
}

static bool end_of_slice(void *target)
{
	struct rotation *rotation = target;

	if (!rotation->failed && !rest_of_slice(rotation)) {
		end_slice(rotation);
		next_set(rotation);
		rotation->failed = !begin_slice(rotation, rotation->order[rotation->turn]);
	}
	return false;
}

/* The part of the time between slices above which estimates are no good. */
#define MOST_GAPS 0.1

/* Says which events lack an estimate, and which estimates may mislead. */
static void complain_of_estimates(const struct rotation *rotation)
{
	const struct events *events = &rotation->recording.events;
	bool again = !rotation->options->mark.n_processes;
	const char *exactly =
		again ? "; perfex --passes=auto runs the command again, and counts" : "";
	unsigned int n_short = 0, n_unsteady = 0;

	for (size_t i = 0; i < events->n; i++) {
		struct estimate estimate = rotation_estimate(rotation, &events->event[i]);

		n_short += isnan(estimate.total);
		n_unsteady += estimate.unsteady;
	}
	if (!rotation->tsc)
		complain("the processes did not run: there is nothing to estimate");
	else if (n_short)
		complain("%u of %zu events were counted in less time than %d slices, and have no "
			 "estimate: give a shorter --slice=MS%s",
			 n_short, events->n, ESTIMATE_SLICES, exactly);
	if (rotation->tsc && rotation_gaps(rotation) > MOST_GAPS)
		complain(
			"warning: no set was counted in %.0f %% of the time, between slices: give a longer "
			"--slice=MS%s",
			100 * rotation_gaps(rotation), exactly);
	if (n_unsteady)
		complain("warning: %u of %zu rates were not steady%s", n_unsteady, events->n,
			 exactly);
}

static int report_rotation(struct rotation *rotation, struct output *output)
{
	const struct perfctr_counts all = { .flags = rotation->flags };

	complain_of_loss(&all);
	complain_of_estimates(rotation);
	if (rotation->recording.running)
		complain("%u thread%s bore the mark at the end; what they counted until then is "
			 "included",
			 rotation->recording.running, rotation->recording.running == 1 ? "" : "s");
	if (!output_recording(output, &rotation->recording) || rotation->failed)
		return EXIT_PERFEX;
	return exit_as(rotation->marking.run.wait_status);
}

/*
 * Starts both sessions before any thread bears the mark, so that nothing is missed.  Returns 0, or
 * perfex's exit status after an error message.
 */
static int start_rotation(struct rotation *rotation)
{
	struct perfctr_control time;
	int status;

	perfctr_control_init(&time);
	if (!mark_open(&rotation->marking, &rotation->options->mark) ||
	    !session_control(&rotation->marking.run, &time, rotation->recording.info))
		return EXIT_PERFEX;
	rotation->session = mark_open_session(&rotation->marking);
	if (!rotation->session)
		return EXIT_PERFEX;
	prepare_sets(rotation);
	if (!try_sets(rotation))
		return EXIT_PERFEX;
	status = mark_start(&rotation->marking);
	/* Before that nothing bore the mark. */
	rotation->started_ns = rotation->marking.started_ns;
	return status;
}

/* Ends the counting: last that of the time, which contains the slices. */
static void stop_rotation(struct rotation *rotation)
{
	struct perfctr_counts time;

	rotation->elapsed_ns = now_ns() - rotation->marking.started_ns;
	if (!rotation->failed)
		end_slice(rotation);
	if (perfctr_session_read(rotation->marking.run.session, &time) < 0)
		fail("cannot read the time: %m");
	rotation->tsc = time.tsc;
	rotation->recording.running = time.members;
}

static int run_rotation(struct rotation *rotation, struct output *output)
{
	struct session_run *run = &rotation->marking.run;
	const struct session_loop loop = {
		.timeout = wait_of_slice,
		.step = end_of_slice,
		.target = rotation,
		.by_members = true,
		.with_command = mark_ends_with_command(&rotation->options->mark),
	};
	int status = start_rotation(rotation);

	if (!status) {
		output_run(output, &rotation->recording, &(struct interval){ 0 });
		if (run->command.pid)
			command_resume(&run->command);
		session_wait(run, &loop);
		stop_rotation(rotation);
	}
	perfctr_session_close(rotation->session);
	session_end(run);
	if (!status)
		return report_rotation(rotation, output);
	output_discard(output);
	return status;
}

/* Returns the format that shows estimates as this one shows counts. */
static const struct format *rotation_format(const struct format *format)
{
	if (format == &csv_format)
		return &rotation_csv;
	return format == &json_format ? &rotation_json : &rotation_text;
}

int rotate_command(struct rotate_options *options)
{
	struct perfctr_pmu_info info = session_pmu_info(&options->mark.run, false);
	const struct format *format = options->mark.run.format;
	struct rotation rotation = { .options = options };
	struct recording *recording = &rotation.recording;
	struct output output;
	int status = EXIT_PERFEX;

	options->mark.run.format = rotation_format(format);
	if (recording_begin(recording, &options->mark.run, &info)) {
		if (recording->events.n_passes == 1) {
			complain("all events fit together: they are counted, and nothing is estimated");
			options->mark.run.format = format;
			status = mark_record(&options->mark, recording);
		} else if (output_open(&output, &options->mark.run)) {
			status = run_rotation(&rotation, &output);
		}
	}
	free_sets(&rotation);
	recording_free(recording);
	return status;
}
