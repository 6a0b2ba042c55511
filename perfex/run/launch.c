// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command is a child of perfex.  It is traced until it stops before the first instruction of
 * its program.  At that stop the counters are started, and then tracing ends.  Meanwhile perfex
 * passes SIGTERM and SIGHUP on to the command.
 */
#define _GNU_SOURCE
#include "../textfile.h"
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * SIGTERM and SIGHUP are passed on to the command, or end the counting if there is none.  The
 * terminal sends SIGINT and SIGQUIT to the command as well: perfex survives them, to report.  A
 * signal that perfex was started to ignore, as by nohup(1), stays ignored: it must not be blocked,
 * because the signalfd would give it to perfex then.  SIGPIPE and SIGXFSZ are blocked because
 * perfex must report output that it cannot write.
 */
void watch_begin(struct watch *watch, bool with_command)
{
	sigset_t taken = ending_signals(), blocked = taken;

	*watch = (struct watch){ .ignored_children = signal(SIGCHLD, SIG_DFL) == SIG_IGN };
	sigaddset(&blocked, SIGPIPE);
	sigaddset(&blocked, SIGXFSZ);
	if (with_command)
		sigaddset(&blocked, SIGQUIT);
	sigprocmask(SIG_BLOCK, &blocked, &watch->before);
	watch->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watch->signals < 0)
		fail("cannot wait for signals: %m");
}

/* Takes a signal.  Returns true if there is no command, so that the signal ends the counting. */
bool watch_signal(struct watch *watch, const struct command *command)
{
	struct signalfd_siginfo info;

	if (read(watch->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	watch->stop = (int)info.ssi_signo;
	if (!command->pid)
		return true;
	/*
	 * A signal of the terminal (SI_KERNEL) reaches the command without perfex.  SIGINT is never
	 * passed on.
	 */
	if (info.ssi_code != SI_KERNEL && info.ssi_signo != SIGINT)
		kill(command->pid, (int)info.ssi_signo);
	return false;
}

void restore_signals(const struct watch *watch)
{
	if (watch->ignored_children)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &watch->before, NULL);
}

/*
 * If the user has named a backend, the library also uses it in COMMAND.  Returns false, with errno
 * set, if the environment cannot be changed.
 */
static bool pass_backend(const struct options *options)
{
	return !options->backend || options->backend_chosen ||
	       setenv("PERFCTR_BACKEND", options->backend, 1) == 0;
}

static bool pass_variables(char *const *variables)
{
	for (; variables && *variables; variables++)
		if (putenv(*variables))
			return false;
	return true;
}

/*
 * Runs in the child.  Waits until the other end of go is closed, then executes the command.  If
 * that fails, writes errno to failure.
 */
static void run_child(int go, int failure, const struct options *options, char *const *variables,
		      const struct watch *watch)
{
	ssize_t ignored;
	char byte;
	int error;

	while (read(go, &byte, 1) < 0 && errno == EINTR)
		;
	restore_signals(watch);
	if (pass_backend(options) && pass_variables(variables))
		execvp(options->command[0], options->command);
	error = errno;
	ignored = write(failure, &error, sizeof(error));
	(void)ignored;
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

static void close_command(struct command *command)
{
	if (command->process >= 0)
		close(command->process);
	if (command->go >= 0)
		close(command->go);
	if (command->failure >= 0)
		close(command->failure);
	*command = (struct command){ .process = -1, .go = -1, .failure = -1 };
}

void command_kill(struct command *command)
{
	if (command->pid) {
		kill(command->pid, SIGKILL);
		while (waitpid(command->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close_command(command);
}

static bool refuse_command(struct command *command, const char *what)
{
	complain("cannot %s: %m%s", what, advice_for(errno));
	command_kill(command);
	return false;
}

/* Returns the text of a file of a process below /proc, for free().  NULL: there is no such file. */
static char *read_process(pid_t pid, const char *name)
{
	char *path = text_print("/proc/%d/%s", pid, name), *text;
	size_t length;

	text = textfile_read(path, &length);
	free(path);
	return text;
}

/* Returns the process that traces this one, or 0. */
static pid_t tracer_of(pid_t pid)
{
	static const char key[] = "\nTracerPid:";
	char *status = read_process(pid, "status");
	const char *line = status ? strstr(status, key) : NULL;
	pid_t tracer = line ? atoi(line + strlen(key)) : 0;

	free(status);
	return tracer;
}

/* A process has one tracer.  A tracer of perfex that follows its children has the command. */
static bool refuse_trace(struct command *command)
{
	int error = errno;
	pid_t tracer = error == EPERM ? tracer_of(command->pid) : 0;
	char *name = tracer ? read_process(tracer, "comm") : NULL;

	errno = error;
	if (!name)
		return refuse_command(command, "trace the command");
	name[strcspn(name, "\n")] = '\0';
	complain("cannot trace the command: process %d (%s) traces perfex and what it starts; let "
		 "perfex start %s, and count it, too: perfex %s COMMAND",
		 tracer, name, name, name);
	free(name);
	command_kill(command);
	return false;
}

/* Creates the child, which waits for command_exec().  Returns false after an error message. */
bool command_fork(struct command *command, const struct options *options, char *const *variables,
		  const struct watch *watch)
{
	int go[2], failure[2];

	*command = (struct command){ .process = -1, .go = -1, .failure = -1 };
	if (pipe2(go, O_CLOEXEC) < 0)
		return refuse_command(command, "make a pipe");
	if (pipe2(failure, O_CLOEXEC) < 0) {
		close(go[0]);
		close(go[1]);
		return refuse_command(command, "make a pipe");
	}
	command->pid = fork();
	if (command->pid == 0) {
		close(go[1]);
		close(failure[0]);
		run_child(go[0], failure[1], options, variables, watch);
	}
	close(go[0]);
	close(failure[1]);
	command->go = go[1];
	command->failure = failure[0];
	if (command->pid < 0) {
		command->pid = 0;
		return refuse_command(command, "fork");
	}

	command->process = pidfd_open(command->pid, 0);
	if (command->process < 0)
		return refuse_command(command, "open the command as a process");
	if (ptrace(PTRACE_SEIZE, command->pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) < 0)
		return refuse_trace(command);
	return true;
}

static bool at_exec(int wait_status)
{
	return WIFSTOPPED(wait_status) && wait_status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
}

/*
 * Continues a child that has stopped before exec, and delivers the signal if a signal stopped it.
 */
static void pass_stop(pid_t pid, int wait_status)
{
	int signal = wait_status >> 16 ? 0 : WSTOPSIG(wait_status);

	ptrace(PTRACE_CONT, pid, 0, signal);
}

/* Returns advice for the name of a command that does not exist, or "". */
static const char *mistake_in(const char *name)
{
	if (strpbrk(name, " \t"))
		return "; it is one word with a space in it: type command and arguments as words "
		       "of their own, or sh -c '...'";
	if (!is_subcommand || strchr(name, '/'))
		return "";
	return is_subcommand(name) ? "; a subcommand comes first: see perfex --help"
				   : ", and no subcommand: see perfex --help";
}

/*
 * Lets the child execute its command argv.  Returns 0 when the child is stopped before the first
 * instruction of its program.  Otherwise the child is gone, and the function returns perfex's exit
 * status after an error message.
 */
int command_exec(struct command *command, char **argv)
{
	int status, error;
	bool known;

	close(command->go);
	command->go = -1;
	for (;;) {
		if (waitpid(command->pid, &status, 0) < 0) {
			if (errno == EINTR)
				continue;
			fail("cannot wait for the command: %m");
		}
		if (at_exec(status))
			return 0;
		if (!WIFSTOPPED(status))
			break;
		pass_stop(command->pid, status);
	}
	known = read(command->failure, &error, sizeof(error)) == sizeof(error);
	close_command(command);
	if (!known) {
		complain("signal %d ended the command before it was executed", WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	errno = error;
	complain("cannot execute '%s': %m%s", argv[0], error == ENOENT ? mistake_in(argv[0]) : "");
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

void command_resume(struct command *command)
{
	if (ptrace(PTRACE_DETACH, command->pid, 0, 0) < 0 && errno != ESRCH)
		fail("cannot let the command go: %m");
}

int command_wait(struct command *command, struct rusage *usage)
{
	int status;

	while (wait4(command->pid, &status, 0, usage) < 0)
		if (errno != EINTR)
			fail("cannot wait for the command: %m");
	close_command(command);
	return status;
}

/* Asks the command to end.  SIGCONT is for a stopped command. */
void command_end(struct command *command)
{
	kill(command->pid, SIGTERM);
	kill(command->pid, SIGCONT);
}
