// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex compare: runs two commands in turn, and shows their counts side by side. */
#include "result/diff.h"
#include "run/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct compare_options {
	struct options options; /* of both commands */
	struct diff_options diff;
	bool show_output;
};

enum { AT = offsetof(struct compare_options, options) };

static const struct option_row rows[] = {
	EVENT_OPTION(AT, "count EVENT; may be repeated; by default what perfex run counts"),
	GROUP_OPTION(AT, "count the events of a group, and compare its values; may be repeated"),
	RULE_OPTION(AT, 'd',
		    "compare the value of a rule such as\n"
		    "'ipc=instructions/cycles'; may be repeated"),
	RULES_OPTION(AT, "compare the values of the rules in FILE"),
	BACKEND_OPTION(AT),
	MODE_OPTIONS(AT, "; the default", "", ""),
	NUMBER_OPTION("repeat", 'r', "N", "run each command N times; default: 10",
		      struct compare_options, options.runs, 2, 1000000, ""),
	NUMBER_OPTION("warmup", 0, "N", "run each N times first, without counting; default: 1",
		      struct compare_options, options.warmup, 0, 1000000, ""),
	NUMBER_OPTION("timeout", 0, "MS", "give up where a run takes MS milliseconds",
		      struct compare_options, options.timeout_ms, 1, 2000000000,
		      " of milliseconds"),
	FLAG_OPTION("wait", 0, "also wait for processes that outlive a command",
		    struct compare_options, options.wait),
	RERUN_OPTIONS(AT),
	FLAG_OPTION("show-output", 0, "let the commands write to standard output",
		    struct compare_options, show_output),
	DIFF_OPTIONS(offsetof(struct compare_options, diff)),
	{ 0 },
};

static int compare_main(int argc, char **argv);

const struct subcommand compare_subcommand = {
	.name = "compare",
	.summary = "run two commands in turn, and compare their counts",
	.main = compare_main,
	.help = "Usage: perfex compare [OPTION].. [--] A [ARGUMENT].. -- B [ARGUMENT]..\n"
		"Run the commands A and B in turn, and compare time and events: the difference of the\n"
		"means, its interval, and how certain it is that there is one.\n",
	.options = rows,
	.takes_command = true,
	.notes =
		"The standard output of the commands is /dev/null.  Some programs, such as GNU grep and\n"
		"tar, do less work then: use --show-output, or compare commands like\n"
		"  sh -c 'grep .. | cat >/dev/null'\n"
		"A run that fails ends the comparison.\n"
		"Exit status: 0 if they were compared, 1 if a limit is exceeded, 125 if they were not\n"
		"compared, 126 or 127 if a command cannot be executed or was not found.  After a\n"
		"signal perfex dies of it.\n",
};

static const char *const letters[] = { "A", "B" };

enum { A, B, N_SIDES };

struct comparing {
	struct options options[N_SIDES];
	struct recording recording[N_SIDES];
	struct watch watch;
	struct rerun rerun;
	int status;		/* exit status of perfex if something failed */
	unsigned int ignored[N_SIDES]; /* counted runs with a status that is ignored */
	bool outlived[N_SIDES]; /* threads outlived the command, and perfex did not wait for them */
};

/*
 * Ends the first command at the argument "--", and returns the second command, which follows it.
 * Neither command may contain "--".
 */
static char **split_commands(char **argument)
{
	char **second = NULL;

	for (char **word = argument; *word; word++) {
		if (strcmp(*word, "--") != 0)
			continue;
		if (second)
			fail("perfex compare takes two commands with one '--' between them; put "
			     "one that has a '--' of its own into sh -c '...'");
		*word = NULL;
		second = word + 1;
	}
	if (!*argument || !second || !*second)
		fail("perfex compare takes two commands with '--' between them; see perfex "
		     "compare --help");
	return second;
}

static bool give_up(struct comparing *c)
{
	c->status = EXIT_PERFEX;
	return false;
}

/*
 * Returns false, after an error message, if the run failed, took too long or was ended by a signal.
 * what names the run: "A, run 1".
 */
static bool check_end(struct comparing *c, const char *what, const struct sample *sample)
{
	int status = sample->wait_status;

	if (sample->timed_out)
		complain("%s: it took longer than %u ms; nothing is compared", what,
			 c->options[A].timeout_ms);
	else if (WIFSIGNALED(status))
		complain("%s: it died of signal %d (%s); nothing is compared", what,
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) && !c->options[A].ignore_failure)
		complain("%s: it ended with status %d; nothing is compared (--ignore-failure "
			 "compares nevertheless)",
			 what, WEXITSTATUS(status));
	else if (c->watch.stop)
		complain("a signal ended the comparison after %s; nothing is compared", what);
	else
		return true;
	return give_up(c);
}

static bool run_side(struct comparing *c, int side, unsigned int run, bool counted)
{
	struct recording *recording = &c->recording[side];
	struct counting counting = {
		.options = &c->options[side],
		.process = -1,
		.scope = PERFCTR_SCOPE_TREE,
		.recording = recording,
	};
	struct sample sample;
	char what[32];

	if (!rerun_next(&c->rerun, &c->watch))
		return give_up(c);
	c->status = count_run(&c->watch, &counting, &recording->events.control[0], &sample);
	snprintf(what, sizeof(what), "%s, %s %u", letters[side], counted ? "run" : "warm-up",
		 run + 1);
	if (c->status || !check_end(c, what, &sample))
		return false;
	c->outlived[side] |= sample.total.members;
	if (counted) {
		c->ignored[side] += failure_is_ignored(counting.options, sample.wait_status);
		recording_add(recording, 0, &sample, true);
	}
	return true;
}

/*
 * Runs each command n times, in rounds of A and B.  Every other round begins with B, so that the
 * effect of the first run of a round on the second is not always on the same command.  Returns
 * false if a run failed.
 */
static bool run_rounds(struct comparing *c, unsigned int n, bool counted)
{
	for (unsigned int run = 0; run < n; run++)
		for (int i = 0; i < N_SIDES; i++)
			if (!run_side(c, run % 2 ? N_SIDES - 1 - i : i, run, counted))
				return false;
	return true;
}

/* Returns the document that perfex run --json would write, for document_free(). */
static struct document *make_document(const struct recording *recording)
{
	const struct style style = { 0 };
	struct document *document;
	struct text_error error;
	struct text text;

	json_format.recording(text_open(&text), &style, recording);
	text_close(&text);
	document = document_parse(text.text, text.size, &error);
	if (!document)
		fail("%s", error.text);
	free(text.text);
	return document;
}

static int write_comparison(const struct comparing *c, struct diff_options *options)
{
	struct diff diff = {
		.a.document = make_document(&c->recording[A]),
		.b.document = make_document(&c->recording[B]),
	};
	struct text_error error;
	int status;

	if (!diff_make_for(&diff, options, &error))
		fail("%s", error.text);
	status = diff_write(stdout, &diff, options);
	if (diff_is_for_people(options))
		diff_write_conclusion(stdout, &diff);
	diff_free(&diff);
	document_free(diff.a.document);
	document_free(diff.b.document);
	return status;
}

/*
 * Redirects standard output to /dev/null.  Returns a duplicate of the old one for restore_output().
 */
static int hide_output(void)
{
	int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (own < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
		fail("cannot throw away what the commands write: %m");
	close(nowhere);
	return own;
}

static void restore_output(int own)
{
	if (dup2(own, STDOUT_FILENO) < 0)
		fail("cannot write to standard output again: %m");
	close(own);
}

static bool begin_sides(struct comparing *c)
{
	for (int side = 0; side < N_SIDES; side++)
		if (!recording_begin(&c->recording[side], &c->options[side],
				     perfctr_events_info(c->options[side].database)))
			return false;
	c->rerun.input = c->options[A].input;
	c->rerun.prepare = c->options[A].prepare;
	return rerun_begin(&c->rerun, N_SIDES * (c->options[A].warmup + c->options[A].runs));
}

static void report_side(const struct comparing *c, int side)
{
	char head[8];

	if (c->outlived[side])
		complain("%s: processes outlived the command; what they counted until then is "
			 "included; --wait counts to the end",
			 letters[side]);
	snprintf(head, sizeof(head), "%s: ", letters[side]);
	if (c->ignored[side])
		complain_of_ignored(head, c->ignored[side], c->options[side].runs);
}

static int compare_commands(struct comparing *c, struct compare_options *options)
{
	bool compared;
	int own = -1;

	watch_begin(&c->watch, true);
	if (!options->show_output)
		own = hide_output();
	compared = run_rounds(c, c->options[A].warmup, false) &&
		   run_rounds(c, c->options[A].runs, true);
	if (own >= 0)
		restore_output(own);
	for (int side = 0; compared && side < N_SIDES; side++)
		report_side(c, side);
	return compared ? write_comparison(c, &options->diff) : c->status;
}

static int compare_main(int argc, char **argv)
{
	struct compare_options options = {
		.options = {
			.action = RUN,
			.modes = PERFCTR_MODE_USER,
			.runs = 10,
			.warmup = 1,
			.passes = 1,
			.confidence = 95,
			.log_fd = NO_LOG_FD,
			.format = &json_format,
		},
		.diff = { .confidence = 95, .write = diff_write_text },
	};
	struct comparing c = { 0 };
	int n = take_options(&compare_subcommand, &options, argc, argv);
	char **second = split_commands(argv + n);
	int status = EXIT_PERFEX;

	options.options.command = argv + n;
	if (prepare_options(&options.options)) {
		complain_of_left_out(&options.options);
		c.options[A] = c.options[B] = options.options;
		c.options[B].command = second;
		if (begin_sides(&c))
			status = compare_commands(&c, &options);
		for (int side = 0; side < N_SIDES; side++)
			recording_free(&c.recording[side]);
	}
	free_options(&options.options);
	limits_free(&options.diff.limits);
	/* The signal has ended the comparison, even if a command died of it first. */
	return c.watch.stop ? exit_as(c.watch.stop) : status;
}
