// SPDX-License-Identifier: GPL-2.0-or-later
/* Lets all runs of a command begin alike: with the same standard input, after the same command. */
#define _GNU_SOURCE
#include "rank.h"
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool refuse_runs(unsigned int runs, const char *why)
{
	complain("%u runs of the command were asked for, and %s", runs, why);
	return false;
}

/*
 * Returns false, after an error message, if perfex is a rank of an MPI program.  The other ranks
 * wait for this rank only once, so its command cannot run again.
 */
static bool check_rank(unsigned int runs)
{
	const char *variable, *rank = rank_of_mpi(&variable);
	char why[256];

	if (!rank)
		return true;
	snprintf(why, sizeof(why),
		 "it is rank %s of an MPI program (%s), which runs once: count what fits in one run, or "
		 "repeat the whole program",
		 rank, variable);
	return refuse_runs(runs, why);
}

/* Makes the file standard input.  Returns false, with errno set, if it cannot be opened. */
static bool open_input(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOCTTY);

	if (fd > STDIN_FILENO && dup2(fd, STDIN_FILENO) < 0)
		return false;
	if (fd > STDIN_FILENO)
		close(fd);
	return fd >= 0;
}

static bool is_terminal(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	bool is = fd >= 0 && isatty(fd);

	if (fd >= 0)
		close(fd);
	return is;
}

/*
 * Waits for the end of a child.  A signal is passed on to it, or kills it.  Returns its wait
 * status, or -1 with errno set.
 */
static int wait_for_child(pid_t pid, struct watch *watch, bool passes_on)
{
	const struct command none = { .pid = 0 };
	struct command child = {
		.pid = pid,
		.process = pidfd_open(pid, 0),
		.go = -1,
		.failure = -1,
	};
	struct pollfd fd[] = { { .fd = child.process, .events = POLLIN },
			       { .fd = watch->signals, .events = POLLIN } };

	if (child.process < 0) {
		command_kill(&child);
		return -1;
	}
	while (!fd[0].revents) {
		if (poll(fd, sizeof(fd) / sizeof(fd[0]), -1) < 0 || !fd[1].revents)
			continue;
		if (watch_signal(watch, passes_on ? &child : &none))
			kill(pid, SIGKILL);
	}
	return command_wait(&child, NULL);
}

/*
 * open(2) may wait, of a pipe for a writer, and perfex blocks the signals that end it.  So a child
 * opens the file, which can be killed.  It shares the descriptors of perfex, and its exit status is
 * errno.  O_NONBLOCK would not do: then nothing tells when a writer opens the pipe.
 */
static bool open_by_child(const char *path, struct watch *watch)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	int status;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(open_input(path) ? 0 : errno);
	}
	status = pid < 0 ? -1 : wait_for_child(pid, watch, false);
	if (status > 0)
		errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
	return status == 0 && !watch->stop;
}

static bool take_input(struct rerun *rerun, struct watch *watch)
{
	const char *path = rerun->input;
	struct stat status = { 0 };
	bool waits = stat(path, &status) == 0 && !S_ISREG(status.st_mode);

	rerun->holds_pipe = S_ISFIFO(status.st_mode);
	if (S_ISDIR(status.st_mode))
		errno = EISDIR;
	else if (waits ? open_by_child(path, watch) : open_input(path))
		return true;
	if (watch->stop)
		complain("--input=%s: a signal came before it was open: there is no further run",
			 path);
	else
		complain("--input=%s: %m", path);
	return false;
}

/*
 * Refuses a terminal for more than one run, and a pipe, unless a command before each run may make
 * or feed one for each.
 */
static bool check_input(const struct rerun *rerun, unsigned int runs)
{
	const char *path = rerun->input;
	struct stat status;

	if (runs == 1 || stat(path, &status) < 0)
		return true;
	if (S_ISFIFO(status.st_mode))
		return rerun->prepare ||
		       refuse_runs(runs, "--input is a pipe, which only the first could read");
	return !is_terminal(path) ||
	       refuse_runs(runs, "--input is a terminal, which only the first could read");
}

/* Returns how standard input is open, O_RDONLY or O_RDWR.  -1: it is no regular file. */
static int access_to_file(const struct stat *status)
{
	return S_ISREG(status->st_mode) ? fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE : -1;
}

/* Returns what standard input is, if only one run could read it; otherwise NULL. */
static const char *name_of_stream(const struct stat *status)
{
	if (S_ISFIFO(status->st_mode))
		return "a pipe";
	if (S_ISSOCK(status->st_mode))
		return "a socket";
	/*
	 * Standard input and output may be the same open file.  After a rewind, the command would
	 * overwrite its earlier output.
	 */
	if (access_to_file(status) == O_RDWR)
		return "a file that is open for writing too";
	return NULL;
}

static bool close_input(void)
{
	if (open_input("/dev/null"))
		return true;
	complain("cannot open /dev/null: %m");
	return false;
}

/* The first run would read all that there is, and the others nothing. */
static bool replace_input(unsigned int runs, const char *stream)
{
	if (stream)
		complain("standard input is %s, which can be read once: the %u runs read /dev/null "
			 "instead; name a file for them by --input=FILE",
			 stream, runs);
	return close_input();
}

bool rerun_begin(struct rerun *rerun, unsigned int runs)
{
	struct stat status;
	const char *stream;

	rerun->start = NO_START;
	if (runs > 1 && !check_rank(runs))
		return false;
	if (rerun->input)
		return check_input(rerun, runs);
	if (runs == 1 || fstat(STDIN_FILENO, &status) < 0)
		return true;
	stream = name_of_stream(&status);
	if (stream || isatty(STDIN_FILENO))
		return replace_input(runs, stream);
	if (access_to_file(&status) == O_RDONLY)
		rerun->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
	return true;
}

/*
 * Lets the shell execute the command, with the signals that perfex was started with.  Returns the
 * shell's number, or -1 with errno set.
 */
static pid_t start_shell(const char *command, const struct watch *watch)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pid_t pid = null < 0 ? -1 : fork();

	if (pid == 0) {
		dup2(null, STDIN_FILENO);
		restore_signals(watch);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(EXIT_NOT_EXECUTABLE);
	}
	if (null >= 0)
		close(null);
	return pid;
}

static bool prepare_run(const char *command, struct watch *watch)
{
	pid_t pid = start_shell(command, watch);
	int status = pid < 0 ? -1 : wait_for_child(pid, watch, true);

	if (status < 0)
		complain("--prepare: cannot execute '%s': %m", command);
	else if (watch->stop)
		complain("--prepare: a signal came while '%s' ran: there is no further run", command);
	else if (WIFSIGNALED(status))
		complain("--prepare: '%s' died of signal %d (%s)", command, WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else if (status)
		complain("--prepare: '%s' ended with status %d", command, WEXITSTATUS(status));
	return status == 0 && !watch->stop;
}

bool rerun_next(struct rerun *rerun, struct watch *watch)
{
	/*
	 * While perfex has the pipe of the run before open, the writer for the next run does not
	 * wait for that run, and may be gone before it.
	 */
	if (rerun->holds_pipe && !close_input())
		return false;
	if (rerun->prepare && !prepare_run(rerun->prepare, watch))
		return false;
	if (rerun->input)
		return take_input(rerun, watch);
	if (rerun->start == NO_START || lseek(STDIN_FILENO, rerun->start, SEEK_SET) >= 0)
		return true;
	complain("standard input cannot be rewound for another run: %s", strerror(errno));
	return false;
}

bool failure_is_ignored(const struct options *options, int wait_status)
{
	return options->ignore_failure && WIFEXITED(wait_status) && WEXITSTATUS(wait_status);
}

void complain_of_ignored(const char *head, unsigned int ignored, unsigned int runs)
{
	complain("%s%u of %u runs ended with another status than 0, and are counted", head, ignored,
		 runs);
}
