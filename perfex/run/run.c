// SPDX-License-Identifier: GPL-2.0-or-later
/* Repetitions and passes; on a terminal, how far they are. */
#include "run.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct progress {
	bool shown;
	unsigned int done, all;
};

enum { WIDTH = 30 };

/* The cursor goes back to the first column, so that the command writes over the bar. */
static void show_progress(const struct progress *progress)
{
	static const char full[] = "##############################",
			  empty[] = "..............................";
	int done = (int)((unsigned long)WIDTH * progress->done / progress->all);

	if (progress->shown && progress->done < progress->all)
		fprintf(stderr, "\r\033[K[%.*s%.*s] run %u of %u\r", done, full, WIDTH - done,
			empty, progress->done + 1, progress->all);
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

static void progress_end(const struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
}

struct session {
	const struct options *options;
	struct recording recording;
	struct members discarded; /* of warm-ups */
	struct output output;
	struct watch watch;
	struct progress progress;
	off_t start; /* of standard input; see rerun.c */
	int process; /* pidfd of the process to attach to */
	struct sample last;
	int exit_status; /* perfex's own; 0: that of the last run */
};

/* The time limit is the user's way to end a run, and no failure of the command. */
static bool has_succeeded(const struct sample *sample)
{
	int status = sample->wait_status;

	return status == 0 ||
	       (sample->timed_out && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void complain_of_run(const char *what, const struct sample *sample, bool kept)
{
	const char *counts = kept ? "what it counted is all there is" : "its counts are left out";
	int status = sample->wait_status;

	if (WIFSIGNALED(status))
		complain("%s died of signal %d (%s): no further run; %s", what, WTERMSIG(status),
			 strsignal(WTERMSIG(status)), counts);
	else
		complain("%s ended with status %d: no further run; %s", what, WEXITSTATUS(status),
			 counts);
}

/* All of them. */
static unsigned int count_runs(const struct session *session)
{
	const struct options *options = session->options;

	return options->warmup + options->runs * session->recording.events.n_passes;
}

/* False: there is no sense in another run. */
static bool go_on(struct session *session, const char *what, const struct sample *sample, bool kept)
{
	bool more = session->progress.done < session->progress.all;

	if (!has_succeeded(sample)) {
		if (session->progress.all > 1)
			complain_of_run(what, sample, kept);
		return false;
	}
	if (more && session->watch.stop)
		complain("a signal ended the counting after %s; what was counted is kept", what);
	return more && !session->watch.stop;
}

static struct counting make_counting(struct session *session)
{
	return (struct counting){
		.options = session->options,
		.process = session->process,
		.scope = session->options->view == SELF ? PERFCTR_SCOPE_SELF : PERFCTR_SCOPE_TREE,
		.recording = &session->recording,
	};
}

static bool begin_run(struct session *session)
{
	if (session->start == NO_START || rerun_rewind(session->start))
		return true;
	session->exit_status = EXIT_PERFEX;
	return false;
}

static bool warm_up(struct session *session)
{
	struct perfctr_control *control = &session->recording.events.control[0];
	char what[32];

	if (session->recording.members.wanted)
		members_begin(&session->discarded, session->options->view);
	for (unsigned int run = 0; run < session->options->warmup; run++) {
		struct counting counting = make_counting(session);
		struct sample sample;

		if (!begin_run(session))
			return false;
		if (session->discarded.wanted)
			counting.members = &session->discarded;
		session->exit_status = count_run(&session->watch, &counting, control, &sample);
		if (counting.members)
			members_free(counting.members);
		if (session->exit_status)
			return false;
		session->last = sample;
		progress_step(&session->progress);
		snprintf(what, sizeof(what), "warm-up %u", run + 1);
		if (!go_on(session, what, &sample, false))
			return false;
	}
	return true;
}

/* False: it was the last. */
static bool one_run(struct session *session, unsigned int run, unsigned int pass)
{
	unsigned int n_passes = session->recording.events.n_passes;
	struct counting counting = make_counting(session);
	struct sample sample;
	char what[64];
	bool kept;

	if (!begin_run(session))
		return false;
	counting.output = &session->output;
	counting.interval = (struct interval){ .run = run, .pass = pass };
	if (session->recording.members.wanted) {
		counting.members = &session->recording.members;
		members_next_run(counting.members, run, pass);
	}
	session->exit_status = count_run(&session->watch, &counting,
					 &session->recording.events.control[pass], &sample);
	if (session->exit_status)
		return false;
	session->last = sample;
	kept = recording_add(&session->recording, pass, &sample, has_succeeded(&sample));
	if (counting.members && !kept)
		members_forget_run(counting.members);
	progress_step(&session->progress);
	snprintf(what, sizeof(what), n_passes > 1 ? "run %u, pass %u," : "run %u", run + 1,
		 pass + 1);
	return go_on(session, what, &sample, kept);
}

static void all_runs(struct session *session)
{
	for (unsigned int run = 0; run < session->options->runs; run++)
		for (unsigned int pass = 0; pass < session->recording.events.n_passes; pass++)
			if (!one_run(session, run, pass))
				return;
}

static void report_runs(struct session *session)
{
	const struct recording *recording = &session->recording;

	if (!output_recording(&session->output, recording))
		session->exit_status = EXIT_PERFEX;
	if (recording->running && !session->options->process)
		complain("%u threads still run; what they counted until now is included",
			 recording->running);
	if (recording->members.lost)
		complain("%lu exits were too fast to be recorded; they are in the total only",
			 recording->members.lost);
}

static int end_session(struct session *session)
{
	recording_free(&session->recording);
	if (session->exit_status)
		return session->exit_status;
	return has_succeeded(&session->last) ? 0 : exit_as(session->last.wait_status);
}

/* Without a command nothing would end a run but the process, after which there is none. */
static bool check_repetition(struct session *session)
{
	const struct options *options = session->options;
	unsigned int runs = count_runs(session);

	if (options->command[0])
		return runs == 1 || rerun_check(runs, &session->start);
	if (options->timeout_ms || runs == 1)
		return true;
	complain("process %d would be counted once, and %u runs are to be made: limit a run by "
		 "--timeout=MS or by a command",
		 options->process, runs);
	return false;
}

int run_command(const struct options *options)
{
	struct session session = { .options = options, .process = -1, .start = NO_START };

	if (options->process)
		session.process = attach_find(options->process);
	if (!recording_begin(&session.recording, options, perfctr_events_info(options->database)) ||
	    !check_repetition(&session) || !output_open(&session.output, options)) {
		recording_free(&session.recording);
		return EXIT_PERFEX;
	}
	watch_begin(&session.watch, options->command[0]);
	progress_begin(&session.progress, count_runs(&session));
	if (warm_up(&session))
		all_runs(&session);
	progress_end(&session.progress);
	if (session.recording.pass[0].tsc.n)
		report_runs(&session);
	else
		output_discard(&session.output);
	return end_session(&session);
}
