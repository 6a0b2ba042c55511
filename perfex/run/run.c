// SPDX-License-Identifier: GPL-2.0-or-later
/* Repetitions and passes, and the progress bar on a terminal. */
#include "run.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct progress {
	bool shown;
	unsigned int done, all;
	uint64_t last_ns; /* time of the last display */
};

/* The least time between two displays: many short runs must not flood the terminal. */
#define PROGRESS_NS 1000000000u

enum { WIDTH = 30 };

/*
 * Writes the bar on a line of its own, wherever the command has left the cursor.  One space less
 * than the terminal has columns moves the cursor to the next line, unless it was in the first
 * column.
 */
static void show_progress(struct progress *progress)
{
	static const char full[] = "##############################",
			  empty[] = "..............................";
	int done = (int)((unsigned long)WIDTH * progress->done / progress->all);
	struct winsize size = { 0 };

	if (!progress->shown || progress->done >= progress->all ||
	    (progress->done && now_ns() - progress->last_ns < PROGRESS_NS))
		return;
	progress->last_ns = now_ns();
	ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	fprintf(stderr, "%*s\r\033[K[%.*s%.*s] run %u of %u\n", size.ws_col ? size.ws_col - 1 : 0,
		"", done, full, WIDTH - done, empty, progress->done + 1, progress->all);
}

static void progress_begin(struct progress *progress, unsigned int all)
{
	*progress = (struct progress){ .shown = all > 1 && isatty(STDERR_FILENO), .all = all };
	show_progress(progress);
}

static void progress_step(struct progress *progress)
{
	progress->done++;
	show_progress(progress);
}

struct runs {
	const struct options *options;
	struct recording recording;
	struct members discarded; /* of warm-ups */
	struct output output;
	struct watch watch;
	struct progress progress;
	struct rerun rerun;
	struct regions regions;
	int process; /* pidfd of the process to attach to */
	struct sample last;
	unsigned int ignored; /* counted runs with a status that --ignore-failure ignores */
	int exit_status; /* of an error of perfex; 0: take that of the last run */
	int signal;	 /* ended perfex before a run; 0: none */
};

/* A command that was ended by SIGTERM at the time limit has not failed. */
static bool has_succeeded(const struct runs *runs, const struct sample *sample)
{
	int status = sample->wait_status;

	return status == 0 || failure_is_ignored(runs->options, status) ||
	       (sample->timed_out && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/*
 * A run that was cut short is complete if it is the only one: it has counted to the end of the
 * process.  Of several runs each must reach its time limit.
 */
static bool is_whole(const struct runs *runs, const struct sample *sample)
{
	return has_succeeded(runs, sample) && !(sample->cut_short && runs->progress.all > 1);
}

/* Returns true if the command or process ended within the delay. */
static bool never_began(const struct sample *sample)
{
	return sample->cut_short && !sample->time_ns[TIME_ELAPSED];
}

static void complain_of_delay(const struct runs *runs, const char *what)
{
	const struct options *options = runs->options;

	if (runs->progress.all > 1)
		complain("%s ended within the delay of %u ms: nothing was counted, and there is no "
			 "further run",
			 what, options->delay_ms);
	else
		complain("the %s ended within the delay of %u ms: nothing was counted",
			 options->command[0] ? "command" : "process", options->delay_ms);
}

static void complain_of_run(const struct runs *runs, const char *what, const struct sample *sample,
			    const char *counts)
{
	int status = sample->wait_status;

	if (has_succeeded(runs, sample))
		complain("%s was cut short: no further run; %s", what, counts);
	else if (WIFSIGNALED(status))
		complain("%s died of signal %d (%s): no further run; %s", what, WTERMSIG(status),
			 strsignal(WTERMSIG(status)), counts);
	else
		complain("%s ended with status %d: no further run; %s (--ignore-failure goes on)",
			 what, WEXITSTATUS(status), counts);
}

/* Returns the number of all runs: warm-ups, and the passes of all repetitions. */
static unsigned int count_runs(const struct runs *runs)
{
	const struct options *options = runs->options;

	return options->warmup + options->runs * runs->recording.events.n_passes;
}

/*
 * Returns false if there is to be no further run, after a message if that is unexpected.  counts:
 * for the message, says what becomes of the counts of a failed run.
 */
static bool go_on(struct runs *runs, const char *what, const struct sample *sample,
		  const char *counts)
{
	bool more = runs->progress.done < runs->progress.all;

	if (never_began(sample)) {
		complain_of_delay(runs, what);
		return false;
	}
	if (!is_whole(runs, sample)) {
		if (runs->progress.all > 1)
			complain_of_run(runs, what, sample, counts);
		return false;
	}
	if (more && runs->watch.stop)
		complain("a signal ended the counting after %s; %s", what,
			 runs->recording.pass[0].tsc.n ? "what was counted is kept"
							  : "nothing was counted");
	return more && !runs->watch.stop;
}

static struct counting make_counting(struct runs *runs)
{
	return (struct counting){
		.options = runs->options,
		.variables = runs->regions.variable,
		.process = runs->process,
		.scope = runs->options->view == SELF ? PERFCTR_SCOPE_SELF : PERFCTR_SCOPE_TREE,
		.recording = &runs->recording,
	};
}

static bool begin_run(struct runs *runs)
{
	const struct options *options = runs->options;
	bool is_only = runs->progress.all == 1 && !options->prepare && !options->input;

	if (is_only || rerun_next(&runs->rerun, &runs->watch))
		return true;
	runs->signal = runs->watch.stop;
	if (!runs->signal)
		runs->exit_status = EXIT_PERFEX;
	return false;
}

static bool warm_up(struct runs *runs)
{
	struct perfctr_control *control = &runs->recording.events.control[0];
	char what[32];

	if (runs->recording.members.wanted)
		members_begin(&runs->discarded, runs->options->view);
	for (unsigned int run = 0; run < runs->options->warmup; run++) {
		struct counting counting = make_counting(runs);
		struct sample sample;

		if (!begin_run(runs))
			return false;
		if (runs->discarded.wanted)
			counting.members = &runs->discarded;
		runs->exit_status = count_run(&runs->watch, &counting, control, &sample);
		if (counting.members)
			members_free(counting.members);
		if (runs->exit_status)
			return false;
		/* A warm-up may end within the delay: its counts are discarded anyway. */
		sample.cut_short &= !never_began(&sample);
		runs->last = sample;
		progress_step(&runs->progress);
		snprintf(what, sizeof(what), "warm-up %u", run + 1);
		if (!go_on(runs, what, &sample, "nothing was counted"))
			return false;
	}
	return true;
}

/* Records the counts of a run.  Returns false if it records only the failure. */
static bool keep_run(struct runs *runs, unsigned int run, unsigned int pass,
		     const struct sample *sample)
{
	struct recording *recording = &runs->recording;

	if (recording_add(recording, pass, sample, is_whole(runs, sample)))
		return true;
	recording->failed = true;
	recording->failed_run = run;
	recording->failed_pass = pass;
	if (recording->members.wanted)
		members_forget_run(&recording->members);
	return false;
}

/* Reads the system calls before or after the first run.  Returns false after an error message. */
static bool read_syscalls(struct runs *runs, unsigned int run, unsigned int pass,
			  bool (*read)(struct syscalls *))
{
	if (!runs->options->counts_syscalls || run || pass || read(&runs->recording.syscalls))
		return true;
	runs->exit_status = EXIT_PERFEX;
	return false;
}

/*
 * Returns false.  Complains that this run was not counted, unless nothing ran before it: perfex
 * then ends, and has already reported why.
 */
static bool refuse_run(const struct runs *runs, const char *what)
{
	if (runs->progress.done)
		complain("%s was not counted: no further run", what);
	return false;
}

/* Makes one run.  Returns false if there is to be no further run. */
static bool one_run(struct runs *runs, unsigned int run, unsigned int pass)
{
	unsigned int n_passes = runs->recording.events.n_passes;
	struct counting counting = make_counting(runs);
	struct sample sample;
	char what[64];
	bool kept;

	if (n_passes > 1)
		snprintf(what, sizeof(what), "pass %u of run %u", pass + 1, run + 1);
	else
		snprintf(what, sizeof(what), "run %u", run + 1);
	if (!begin_run(runs))
		return refuse_run(runs, what);
	if (!read_syscalls(runs, run, pass, syscalls_begin))
		return false;
	counting.output = &runs->output;
	counting.interval = (struct interval){ .run = run, .pass = pass };
	if (runs->recording.members.wanted) {
		counting.members = &runs->recording.members;
		members_next_run(counting.members, run, pass);
	}
	runs->exit_status = count_run(&runs->watch, &counting,
					 &runs->recording.events.control[pass], &sample);
	if (runs->exit_status)
		return refuse_run(runs, what);
	if (!read_syscalls(runs, run, pass, syscalls_end))
		return false;
	runs->last = sample;
	if (sample.wait_status)
		runs->ignored += failure_is_ignored(runs->options, sample.wait_status);
	kept = keep_run(runs, run, pass, &sample);
	progress_step(&runs->progress);
	return go_on(runs, what, &sample,
		     kept ? "what it counted is all there is" : "its counts are left out");
}

static void all_runs(struct runs *runs)
{
	for (unsigned int run = 0; run < runs->options->runs; run++)
		for (unsigned int pass = 0; pass < runs->recording.events.n_passes; pass++)
			if (!one_run(runs, run, pass))
				return;
}

static void report_runs(struct runs *runs)
{
	const struct recording *recording = &runs->recording;

	if (!output_recording(&runs->output, recording))
		runs->exit_status = EXIT_PERFEX;
	if (recording->running && !runs->options->process)
		complain("%u thread%s still run%s; what was counted until now is included%s",
			 recording->running, recording->running == 1 ? "" : "s",
			 recording->running == 1 ? "s" : "",
			 recording->options->wait ? "" : "; --wait counts to the end");
	if (runs->ignored)
		complain_of_ignored("", runs->ignored,
				    runs->progress.done - runs->options->warmup);
	if (recording->members.lost)
		complain("%lu exits were too fast to be recorded; they are in the total only",
			 recording->members.lost);
}

static int end_runs(struct runs *runs)
{
	recording_free(&runs->recording);
	if (runs->options->regions)
		regions_free(&runs->regions);
	if (runs->exit_status)
		return runs->exit_status;
	if (runs->signal)
		return exit_as(runs->signal);
	return has_succeeded(runs, &runs->last) ? 0 : exit_as(runs->last.wait_status);
}

/*
 * Without a command and a time limit a run ends only with the process, and then there is no process
 * for a second run.
 */
static bool check_repetition(struct runs *runs)
{
	const struct options *options = runs->options;
	unsigned int n = count_runs(runs);

	if (options->command[0])
		return (n == 1 && !options->input) || rerun_begin(&runs->rerun, n);
	if (options->timeout_ms || n == 1)
		return true;
	complain("process %d would be counted once, and %u runs are to be made: limit a run by "
		 "--timeout=MS or by a command",
		 options->process, n);
	return false;
}

/*
 * The emulator counts the system calls of a thread while its CPU has a counter enabled.  Returns
 * false after an error message if no event of the first pass enables one on every CPU.
 */
static bool can_count_syscalls(const struct recording *recording)
{
	if (!is_driver(recording->backend)) {
		complain("--syscalls needs the processor's own counters, which the driver refuses here");
		return false;
	}
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = &recording->events.event[i];

		if (!event->pass && !event->request.kinds &&
		    (event->request.general || event->request.fixed))
			return true;
	}
	complain("--syscalls needs an event that every CPU counts; add one, such as -e instructions");
	return false;
}

bool prepare_options(struct options *options)
{
	if (!add_rules(options))
		return false;
	options->driver_alone = options->regions || options->view == PER_PROCESS ||
				options->view == PER_THREAD;
	if (!open_events(options, 0))
		return false;
	/* Without events, perfex of perfctr 2.6 counted the time stamp only. */
	if (!options->events.n && !options->format->one_run)
		add_usual_events(options);
	return true;
}

int run_command(const struct options *options)
{
	struct runs runs = {
		.options = options,
		.process = -1,
		.rerun = { .input = options->input,
			   .prepare = options->prepare,
			   .start = NO_START },
	};

	if (options->process)
		runs.process = attach_find(options->process);
	if (!recording_begin(&runs.recording, options, perfctr_events_info(options->database)) ||
	    (options->shows_syscalls && !can_count_syscalls(&runs.recording)) ||
	    !check_repetition(&runs) ||
	    (options->regions && !regions_ask(&runs.regions, &runs.recording)) ||
	    !output_open(&runs.output, options)) {
		recording_free(&runs.recording);
		regions_free(&runs.regions);
		return EXIT_PERFEX;
	}
	watch_begin(&runs.watch, options->command[0]);
	progress_begin(&runs.progress, count_runs(&runs));
	if (warm_up(&runs))
		all_runs(&runs);
	recording_end(&runs.recording);
	if (options->shows_syscalls && runs.recording.syscalls.reader)
		syscalls_name(&runs.recording.syscalls);
	if (runs.recording.pass[0].tsc.n)
		report_runs(&runs);
	else
		output_discard(&runs.output);
	if (options->regions && runs.recording.pass[0].tsc.n)
		regions_check(&runs.regions, options);
	return end_runs(&runs);
}
