// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counts a child from the first instruction of its program.  The child is traced until it reaches
 * that instruction.  Then the counters are started, and the child is let go.
 */
#define _GNU_SOURCE
#include "count.h"

#include <errno.h>
#include <perfctr_count.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct child {
	pid_t pid;  /* 0: it has ended */
	int socket; /* a byte to the child: execute the program; errno from it: it cannot */
	const struct line *line;
};

/*
 * The child's part.  The parent may have other threads, so the child calls only functions that a
 * signal handler may call.  It waits for a byte and not for the end of the stream: other threads
 * may have forked processes meanwhile, which hold the parent's end open.
 */
static void execute_program(int socket, const sigset_t *mask, char *const argv[])
{
	ssize_t n;
	char byte;
	int error;

	do
		n = read(socket, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1) {
		pthread_sigmask(SIG_SETMASK, mask, NULL);
		execvp(argv[0], argv);
		error = errno;
		send(socket, &error, sizeof(error), MSG_NOSIGNAL);
	}
	_exit(127);
}

static int refuse_child(const struct child *child, int error, const char *what)
{
	const char *description = strerrordesc_np(error);

	return perfctr_line_refuse(child->line, error, "cannot %s: %s", what,
				   description ? description : "unknown error");
}

static int fork_child(struct child *child, const sigset_t *mask, char *const argv[])
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return refuse_child(child, errno, "make a pair of sockets");
	child->pid = fork();
	if (child->pid == 0) {
		close(ends[0]);
		execute_program(ends[1], mask, argv);
	}
	close(ends[1]);
	child->socket = ends[0];
	if (child->pid < 0)
		return refuse_child(child, errno, "fork");
	if (ptrace(PTRACE_SEIZE, child->pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) < 0)
		return refuse_child(child, errno, "trace the child");
	return 0;
}

/*
 * True also if another thread has waited for the child.  Then its number may be another process's.
 */
static bool has_ended(const struct child *child)
{
	int status;
	pid_t pid = waitpid(child->pid, &status, WNOHANG);

	return pid < 0 || (pid > 0 && !WIFSTOPPED(status));
}

static void kill_child(const struct child *child)
{
	int error = errno, status;
	pid_t pid;

	if (child->pid > 0 && !has_ended(child)) {
		kill(child->pid, SIGKILL);
		do
			pid = waitpid(child->pid, &status, 0);
		while (pid < 0 ? errno == EINTR : WIFSTOPPED(status));
	}
	errno = error;
}

/* Says why the child ended before it reached its program. */
static int explain_end(struct child *child, const char *program)
{
	const char *description;
	int error;

	child->pid = 0;
	if (recv(child->socket, &error, sizeof(error), MSG_DONTWAIT) != sizeof(error))
		return perfctr_line_refuse(child->line, ECHILD,
					   "a signal ended the child before its program began");
	description = strerrordesc_np(error);
	perfctr_line_refuse(child->line, error, "cannot execute '%s': %s", program,
			    description ? description : "unknown error");
	perfctr_line_clean(child->line);
	return -1;
}

/* A signal stopped the child before it reached its program: the child goes on with the signal. */
static void pass_signal(const struct child *child, const siginfo_t *stop)
{
	ptrace(PTRACE_CONT, child->pid, 0,
	       stop->si_code >> 8 == PTRACE_EVENT_STOP ? 0 : stop->si_signo);
}

/*
 * Waits until the child is about to execute the first instruction of its program.  Another thread
 * of this process that waits for all children may take the report of any stop, or of the child's
 * end.  Therefore this function polls the child's state.
 */
static int reach_exec(struct child *child, const char *program)
{
	const long longest = 1000000;
	struct timespec pause = { .tv_nsec = 20000 };
	siginfo_t stop;

	send(child->socket, "", 1, MSG_NOSIGNAL);
	for (;;) {
		if (has_ended(child))
			return explain_end(child, program);
		if (ptrace(PTRACE_GETSIGINFO, child->pid, 0, &stop) == 0) {
			if (stop.si_code == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
				return 0;
			pass_signal(child, &stop);
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < longest)
			pause.tv_nsec *= 2;
	}
}

/*
 * exec of a set-user-id program, or of a program that the user may not read, drops the context.
 * Then the child gets a new one, if the caller may trace it.
 */
static struct perfctr *start_child(struct child *child, struct counted *counted, struct perfctr *p)
{
	if (perfctr_start(p) == 0)
		return p;
	if (errno != ESRCH) {
		refuse_child(child, errno, "start the counters");
		perfctr_close(p);
		return NULL;
	}
	perfctr_close(p);
	p = perfctr_counted_open(counted, child->pid, child->line);
	if (!p || perfctr_start(p) == 0)
		return p;
	refuse_child(child, errno, "start the counters");
	perfctr_close(p);
	return NULL;
}

static struct perfctr *count_child(struct child *child, struct counted *counted,
				   const char *program)
{
	struct perfctr *p;

	counted->control.flags = PERFCTR_CONTROL_STOPPED | PERFCTR_CONTROL_INHERIT;
	p = perfctr_counted_open(counted, child->pid, child->line);
	if (!p)
		return NULL;
	if (reach_exec(child, program) < 0) {
		perfctr_close(p);
		return NULL;
	}
	p = start_child(child, counted, p);
	if (p && ptrace(PTRACE_DETACH, child->pid, 0, 0) < 0) {
		refuse_child(child, errno, "let the child go");
		perfctr_close(p);
		p = NULL;
	}
	return p;
}

struct perfctr *perfctr_spawn(const char *events, char *const argv[], pid_t *pid, char *error,
			      size_t size)
{
	const struct line line = { error, size };
	struct child child = { .socket = -1, .line = &line };
	struct perfctr *p = NULL;
	struct counted counted;
	sigset_t ends, mask;
	int number;

	if (perfctr_counted_parse(&counted, events, &line) < 0)
		return NULL;
	/*
	 * A handler of SIGCHLD would see a child, stopped or gone, before the caller knows its
	 * number.
	 */
	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &ends, &mask);
	if (fork_child(&child, &mask, argv) == 0)
		p = count_child(&child, &counted, argv[0]);
	if (p)
		*pid = child.pid;
	else
		kill_child(&child);
	number = errno;
	if (child.socket >= 0)
		close(child.socket);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	errno = number;
	return p;
}
