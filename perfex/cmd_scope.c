// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfex scope: a child runs perfex run or perfex system, which counts and writes its intervals
 * into a pipe.  The parent reads the pipe and draws the intervals.
 */
#define _GNU_SOURCE
#include "perfex.h"
#include "scope/scope.h"
#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct scope_options {
	struct word_list arguments; /* of the child */
	const char *process;
	bool all_cpus, marked, self;
	unsigned int interval_ms;
	const char *output;
	const char *events; /* typed while drawing, instead of --event; NULL: none were typed */
	char **command;
};

/* Takes ownership of argument, which must come from malloc(). */
static void add_argument(struct scope_options *options, char *argument)
{
	append_word(&options->arguments, argument);
}

/* Passes the option on to the child, which has the same option and checks its argument. */
static void pass_option(void *target, const struct option_row *row, const char *argument)
{
	if (argument)
		add_argument(target, text_print("--%s=%s", row->name, argument));
	else
		add_argument(target, text_print("--%s", row->name));
}

static const struct option_row rows[] = {
	CALL_OPTION("event", 'e', "EVENT",
		    "count EVENT; may be repeated; by default as perfex does", pass_option, 0),
	CALL_OPTION("backend", 0, "NAME", "count by NAME: patch, bpf or perf_events", pass_option,
		    0),
	CALL_OPTION("user", 0, NULL, "count in user mode unless EVENT says otherwise", pass_option,
		    0),
	CALL_OPTION("kernel", 0, NULL, "count in kernel mode", pass_option, 0),
	CALL_OPTION("both", 0, NULL, "count in both modes", pass_option, 0),
	TEXT_OPTION("pid", 'p', "PID", "watch process PID, with all its threads",
		    struct scope_options, process),
	FLAG_OPTION("self", 0, "watch only COMMAND's first thread, or PID's present threads",
		    struct scope_options, self),
	FLAG_OPTION("all-cpus", 'a', "watch all that runs on all CPUs", struct scope_options,
		    all_cpus),
	FLAG_OPTION("mark", 0, "mark COMMAND, and watch the marked on all CPUs",
		    struct scope_options, marked),
	NUMBER_OPTION("interval", 'I', "MS", "a point every MS milliseconds; default: 100",
		      struct scope_options, interval_ms, 10, 86400000, " of milliseconds"),
	TEXT_OPTION("output", 'o', "FILE", "save to FILE; default: perfex-scope-N.json",
		    struct scope_options, output),
	{ 0 },
};

static int scope_main(int argc, char **argv);

const struct subcommand scope_subcommand = {
	.name = "scope",
	.summary = "watch two events over the time, on a terminal",
	.main = scope_main,
	.help = "Usage: perfex scope [OPTION].. [--] COMMAND [ARGUMENT]..\n"
		"       perfex scope [OPTION].. -p PID\n"
		"       perfex scope [OPTION].. -a [[--] COMMAND [ARGUMENT]..]\n"
		"Draw the rates of two events on the terminal, while COMMAND or a process runs, or of all\n"
		"CPUs.  What COMMAND would write to the terminal goes nowhere; errors are shown at the\n"
		"end.\n",
	.options = rows,
	.takes_command = true,
	.notes =
		"Keys: q quit; space pause; 1, 2 the next event of this pane; e other events, of a\n"
		"process or all CPUs; +, - scale; = the same scale for both; a automatic scales;\n"
		"<, > time of a column; s save.\n\n"
		"Exit status: as of perfex run.\n",
};

static void check_options(const struct scope_options *options)
{
	bool command = options->command[0];

	if (options->all_cpus + options->marked + !!options->process > 1)
		fail("--pid, --all-cpus and --mark exclude each other; give one");
	if (options->self && (options->all_cpus || options->marked))
		fail("--self is of a command or a process; leave out --all-cpus or --mark");
	if (!command && !options->process && !options->all_cpus)
		fail("nothing to watch; give a command, --pid=PID or --all-cpus, see perfex scope "
		     "--help");
	if (command && options->process)
		fail("--pid and a command exclude each other: the scope ends when you type q");
	if (options->output && is_standard(options->output))
		fail("--output=-: the scope draws on the terminal; give a file");
}

static bool is_event_option(const char *argument)
{
	return strncmp(argument, "--event=", strlen("--event=")) == 0;
}

static void replace_events(struct scope_options *options)
{
	size_t n = 0;

	for (size_t i = 0; i < options->arguments.n; i++)
		if (!is_event_option(options->arguments.word[i]))
			options->arguments.word[n++] = options->arguments.word[i];
	options->arguments.n = n;
	add_argument(options, text_print("--event=%s", options->events));
}

/* Returns the command line of the child, which writes its intervals into the descriptor. */
static char **make_arguments(struct scope_options *options, int descriptor, int *argc)
{
	bool system = options->all_cpus || options->marked;
	size_t n = 0;
	char **argv;

	if (options->events)
		replace_events(options);
	add_argument(options, text_print("--json"));
	add_argument(options, text_print("--interval=%u", options->interval_ms));
	add_argument(options, system ? text_print("--output=/dev/fd/%d", descriptor)
				     : text_print("--log-fd=%d", descriptor));
	if (options->marked)
		add_argument(options, text_print("--policy=marked"));
	if (options->self)
		add_argument(options, text_print("--self"));
	if (options->process)
		add_argument(options, text_print("--pid=%s", options->process));
	add_argument(options, text_print("--"));
	while (options->command[n])
		n++;
	argv = allocate(1 + options->arguments.n + n, sizeof(*argv));
	argv[0] = text_print(system ? "system" : "run");
	memcpy(argv + 1, options->arguments.word, options->arguments.n * sizeof(*argv));
	memcpy(argv + 1 + options->arguments.n, options->command, n * sizeof(*argv));
	*argc = (int)(1 + options->arguments.n + n);
	return argv;
}

/*
 * Keeps the child off the terminal, on which the parent draws.  Standard input and output become
 * /dev/null, and standard error becomes the file errors, each only if it is a terminal.
 */
static void leave_terminal(FILE *errors)
{
	static const int signals[] = { SIGTSTP, SIGWINCH };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	signals_forget();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			dup2(fd == STDERR_FILENO ? fileno(errors) : null, fd);
}

static pid_t start_counting(struct scope_options *options, FILE *errors, int *source)
{
	int ends[2], argc;
	char **argv;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		fail("cannot make a pipe: %m");
	pid = fork();
	if (pid < 0)
		fail("cannot fork: %m");
	/* Give the child a process group of its own, so that one signal ends all its processes. */
	setpgid(pid, 0);
	if (pid == 0) {
		screen_forget();
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		leave_terminal(errors);
		close(ends[0]);
		argv = make_arguments(options, ends[1], &argc);
		optind = 0; /* make getopt(3) start over */
		exit((options->all_cpus || options->marked ? system_subcommand.main
							   : run_subcommand.main)(argc, argv));
	}
	close(ends[1]);
	*source = ends[0];
	return pid;
}

static void tell_end(pid_t pid)
{
	kill(-pid, SIGTERM);
	/* A stopped process ends by SIGTERM only after it continues. */
	kill(-pid, SIGCONT);
}

/*
 * Ends the child unless it has ended by itself, and closes source.  Returns the child's exit
 * status, or 0 if the user ended the scope while the child still counted.
 */
static int end_counting(pid_t pid, int source, bool ended)
{
	enum { STEP_MS = 10, STEPS = 200 }; /* perfex-scope(1) documents their product, 2 s */
	unsigned int waited = 0;
	bool told = false;
	char rest[4096];
	int status;

	fcntl(source, F_SETFL, O_NONBLOCK);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (!told && (!ended || signals_caught())) {
			tell_end(pid);
			told = true;
		}
		if (told && waited++ == STEPS)
			kill(-pid, SIGKILL);
		while (read(source, rest, sizeof(rest)) > 0)
			;
		signals_poll(NULL, 0, STEP_MS);
	}
	close(source);
	if (!ended)
		return 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void show_errors(FILE *errors)
{
	char text[4096];
	size_t n;

	rewind(errors);
	while ((n = fread(text, 1, sizeof(text), errors)) > 0)
		fwrite(text, 1, n, stderr);
}

static char *make_title(const struct scope_options *options)
{
	struct text text;
	FILE *file = text_open(&text);

	if (options->process)
		fprintf(file, "process %s", options->process);
	else if (!options->command[0])
		fputs("all CPUs", file);
	for (char **word = options->command; *word; word++)
		fprintf(file, "%s%s", word == options->command ? "" : " ", *word);
	text_close(&text);
	make_printable(text.text);
	return text.text;
}

/* Sets the message to the first line that the child wrote to errors. */
static void take_refusal(struct scope *scope, FILE *errors)
{
	rewind(errors);
	if (!fgets(scope->message, sizeof(scope->message), errors))
		scope->message[0] = '\0';
	scope->message[strcspn(scope->message, "\n")] = '\0';
	make_printable(scope->message);
}

/*
 * Counts and draws until the user quits.  Starts another child when the user types other events.
 * If that child ends without an interval, starts a child with the previous events again.  If this
 * one or the first child ends without an interval, gives up.  Returns the exit status.  *errors is
 * the file with the errors of the last child; the caller closes it.
 */
static int watch_events(struct scope_options *options, struct scope *scope, FILE **errors)
{
	const char *before = NULL;

	for (;;) {
		enum scope_end end;
		int status;
		pid_t pid;

		*errors = tmpfile();
		if (!*errors)
			fail("cannot make a temporary file: %m");
		pid = start_counting(options, *errors, &scope->source);
		end = scope_show(scope);
		status = end_counting(pid, scope->source,
				      end == SCOPE_ENDED || end == SCOPE_NOTHING);
		scope->message[0] = '\0';
		if (end == SCOPE_NOTHING && options->events != before) {
			take_refusal(scope, *errors);
			options->events = before;
		} else if (end == SCOPE_EVENTS) {
			before = options->events;
			options->events = text_print("%s", scope->events);
		} else {
			return status;
		}
		fclose(*errors);
	}
}

static int scope_main(int argc, char **argv)
{
	struct scope_options options = { .interval_ms = 100 };
	struct scope scope = { 0 };
	FILE *errors;
	char *title;
	int status;

	options.command = argv + take_options(&scope_subcommand, &options, argc, argv);
	check_options(&options);
	title = make_title(&options);
	scope.title = title;
	scope.output = options.output;
	if (options.command[0])
		scope.keeps_events = "a command keeps its events: start it again with others";
	signals_catch();
	screen_begin();
	status = watch_events(&options, &scope, &errors);
	screen_end();
	show_errors(errors);
	fclose(errors);
	free(title);
	free_words(&options.arguments);
	signals_die();
	return status;
}
