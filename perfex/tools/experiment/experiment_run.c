// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each repetition is a perfex run of its own, and the samples come from one more perfex record.  A
 * recording gets its final name only when it is complete.
 */
#define _GNU_SOURCE
#include "experiment.h"
#include "../../perfex.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ITSELF "/proc/self/exe"

/* The command line of perfex run or perfex record. */
struct arguments {
	char **argument;
	size_t n;
};

static void add_argument(struct arguments *arguments, char *argument)
{
	arguments->argument =
		reallocarray(arguments->argument, arguments->n + 2, sizeof(*arguments->argument));
	if (!arguments->argument)
		fail("out of memory");
	arguments->argument[arguments->n++] = argument;
	arguments->argument[arguments->n] = NULL;
}

static void add_command(struct arguments *arguments, const struct program *program)
{
	add_argument(arguments, text_print("--"));
	for (size_t i = 0; i < program->command.n; i++)
		add_argument(arguments, text_print("%s", program->command.string[i]));
}

static struct arguments run_arguments(const struct job *job, const char *output,
				      unsigned int warmup)
{
	const struct experiment *experiment = job->experiment;
	struct arguments arguments = { 0 };

	add_argument(&arguments, text_print("perfex"));
	add_argument(&arguments, text_print("run"));
	add_argument(&arguments, text_print("--json"));
	add_argument(&arguments, text_print("--passes=auto"));
	/* The file is new.  To append to it keeps its name in a rank of an MPI program, too. */
	add_argument(&arguments, text_print("--append"));
	add_argument(&arguments, text_print("--output=%s", output));
	add_argument(&arguments, text_print("--%s", mode_words[experiment->settings.modes]));
	add_argument(&arguments, text_print("--%s", view_words[experiment->settings.view]));
	add_argument(&arguments, text_print("--warmup=%u", warmup));
	for (size_t i = 0; i < experiment->events.n; i++)
		add_argument(&arguments, text_print("--event=%s", experiment->events.string[i]));
	add_command(&arguments, job->program);
	return arguments;
}

/* Counts events without a period too, but takes no samples of them: samples --raw shows them. */
static struct arguments record_arguments(const struct job *job, const char *output)
{
	const struct experiment *experiment = job->experiment;
	struct arguments arguments = { 0 };

	add_argument(&arguments, text_print("perfex"));
	add_argument(&arguments, text_print("record"));
	add_argument(&arguments, text_print("--output=%s", output));
	add_argument(&arguments, text_print("--%s", mode_words[experiment->settings.modes]));
	for (size_t i = 0; i < experiment->events.n; i++) {
		const char *event = experiment->events.string[i];

		add_argument(&arguments,
			     text_print("--%s=%s", experiment->period[i] ? "event" : "beside",
					event));
		if (experiment->period[i])
			add_argument(&arguments,
				     text_print("--period=%" PRIu64, experiment->period[i]));
	}
	add_command(&arguments, job->program);
	return arguments;
}

static void free_arguments(struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->n; i++)
		free(arguments->argument[i]);
	free(arguments->argument);
}

static void redirect_output(const char *path, int flags, int fd)
{
	int file = open(path, flags, 0666);

	if (file < 0 || dup2(file, fd) < 0)
		fail("cannot open '%s': %m", path);
	close(file);
}

/* Redirects fd to a new file.  An older file or symbolic link of that name is removed. */
static void redirect_to_new(const char *path, int fd)
{
	unlink(path);
	redirect_output(path, O_WRONLY | O_CREAT | O_EXCL, fd);
}

/* Signals of the terminal.  While a run goes on, perfex ignores them; the run itself does not. */
static const int terminal_signals[] = { SIGINT, SIGQUIT };

#define N_TERMINAL_SIGNALS (sizeof(terminal_signals) / sizeof(terminal_signals[0]))

static sighandler_t handler_before[N_TERMINAL_SIGNALS];

/* One run: its command line, and the files for its output and its messages. */
struct task {
	const struct job *job;
	struct arguments arguments;
	char *out, *err;
	char *what; /* names the run in messages */
};

/* Executes perfex in the child, which gets SIGTERM when its parent dies. */
static void execute_perfex(const struct task *task)
{
	const struct job *job = task->job;
	const struct strings *environment = &job->program->environment;
	const char *input = job->program->input ? job->program->input : "/dev/null";

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (size_t i = 0; i < N_TERMINAL_SIGNALS; i++)
		signal(terminal_signals[i], handler_before[i]);
	redirect_to_new(task->err, 2);
	redirect_to_new(task->out, 1);
	redirect_output(input, O_RDONLY, 0);
	for (size_t i = 0; i < environment->n; i += 2)
		if (setenv(environment->string[i], environment->string[i + 1], 1) < 0)
			fail("out of memory");
	if (job->program->directory && chdir(job->program->directory) < 0)
		fail("cannot enter '%s': %m", job->program->directory);
	execv(ITSELF, task->arguments.argument);
	fail("cannot execute perfex: %m");
}

/* Returns the wait status. */
static int execute_task(const struct task *task)
{
	int status;
	pid_t pid;

	for (size_t i = 0; i < N_TERMINAL_SIGNALS; i++)
		handler_before[i] = signal(terminal_signals[i], SIG_IGN);
	pid = fork();
	if (pid < 0)
		fail("cannot fork: %m");
	if (pid == 0)
		execute_perfex(task);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			fail("cannot wait for perfex: %m");
	for (size_t i = 0; i < N_TERMINAL_SIGNALS; i++)
		signal(terminal_signals[i], handler_before[i]);
	return status;
}

/*
 * Ends perfex by the signal that ended the run, if it was ^C or the like.  Complete runs are kept.
 */
static void stop_if_interrupted(int status)
{
	static const int stopping[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++)
		if (WIFSIGNALED(status) && WTERMSIG(status) == stopping[i]) {
			complain("stopped; what is complete is kept, the same command goes on "
				 "with the rest");
			signal(stopping[i], SIG_DFL);
			raise(stopping[i]);
		}
}

static void complain_of_end(const struct task *task, int status)
{
	const struct job *job = task->job;
	char *what = WIFSIGNALED(status) ? text_print("signal %d", WTERMSIG(status))
					 : text_print("status %d", WEXITSTATUS(status));

	complain("program '%s', experiment '%s', %s: it ended with %s, not with status %u; see "
		 "'%s'",
		 job->program->name, job->experiment->name, task->what, what,
		 job->program->exit_status, task->err);
	free(what);
}

static void rename_or_fail(const char *from, const char *to)
{
	if (rename(from, to) < 0)
		fail("cannot rename '%s' to '%s': %m", from, to);
}

/*
 * Runs a task that writes its recording to new.  Renames new to path if the task succeeds: counts
 * of a failed run are no result.  Returns false, after an error message, if it failed.
 */
static bool run_task(const struct task *task, const char *new, const char *path)
{
	int status;
	bool good;

	/* perfex run would follow a symbolic link, as a shell does. */
	unlink(new);
	status = execute_task(task);
	stop_if_interrupted(status);
	good = WIFEXITED(status) && WEXITSTATUS(status) == (int)task->job->program->exit_status;
	if (good)
		rename_or_fail(new, path);
	else
		complain_of_end(task, status);
	return good;
}

static void free_task(struct task *task)
{
	free_arguments(&task->arguments);
	free(task->out);
	free(task->err);
	free(task->what);
}

static bool run_repetition(const struct job *job, unsigned int k, unsigned int warmup)
{
	char *new = job_path(job, k, "json.new"), *path = job_path(job, k, "json");
	struct task task = {
		.job = job,
		.arguments = run_arguments(job, new, warmup),
		.out = job_path(job, k, "out"),
		.err = job_path(job, k, "err"),
		.what = text_print("repetition %u", k + 1),
	};
	struct document *document;
	bool good = run_task(&task, new, path);

	document = good ? job_repetition(job, k) : NULL;
	if (good && !document)
		complain("'%s' is not a recording of one run; the job is given up", path);
	good = document;
	document_free(document);
	free_task(&task);
	free(path);
	free(new);
	return good;
}

static bool run_samples(const struct job *job)
{
	char *new = job_samples_path(job, "samples.new"), *path = job_samples_path(job, "samples");
	struct task task = {
		.job = job,
		.arguments = record_arguments(job, new),
		.out = job_samples_path(job, "out"),
		.err = job_samples_path(job, "err"),
		.what = text_print("the run for samples"),
	};
	bool good = run_task(&task, new, path);

	free_task(&task);
	free(path);
	free(new);
	return good;
}

/*
 * Ends perfex unless path is the caller's own directory and others cannot write to it.  Otherwise
 * somebody could put links there, to files that only the caller may write.
 */
static void check_own(const char *path)
{
	struct stat status;

	if (lstat(path, &status) < 0)
		fail("cannot look at '%s': %m", path);
	if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || status.st_mode & S_IWOTH)
		fail("'%s' must be a directory of yours that others cannot write; move it away, or "
		     "chmod o-w",
		     path);
}

void make_directory(const char *path)
{
	char *part = text_print("%s", path);

	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0777) < 0 && errno != EEXIST)
			fail("cannot make the directory '%s': %m", part);
		*slash = '/';
	}
	if (mkdir(part, 0777) < 0 && errno != EEXIST)
		fail("cannot make the directory '%s': %m", part);
	check_own(part);
	free(part);
}

bool job_run(struct job *job)
{
	unsigned int repetitions = job->experiment->settings.repetitions;
	unsigned int warmup = job->experiment->settings.warmup;

	if (job->done == repetitions && job->sampled)
		return true;
	make_directory(job->directory);
	job_write(job, "definition.json", job->definition);
	for (unsigned int k = 0; k < repetitions; k++) {
		struct document *document = job_repetition(job, k);
		bool done = document;

		document_free(document);
		if (done)
			continue;
		if (!run_repetition(job, k, warmup))
			return false;
		warmup = 0;
		job->done++;
	}
	if (!job->sampled)
		job->sampled = run_samples(job);
	return job->sampled;
}
