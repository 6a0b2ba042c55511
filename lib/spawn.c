// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A child that is counted from the first instruction of its program: it is traced until it stands
 * there, the counters are started, and it is let go.
 */
#define _GNU_SOURCE
#include "count.h"

#include <errno.h>
#include <fcntl.h>
#include <perfctr_count.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
	pid_t pid;
	int go;	     /* close it: the program is executed */
	int failure; /* errno comes out of it when it cannot be */
	const struct line *line;
};

/* Nothing of the parent's but what a signal handler may call: it may have other threads. */
static void execute_program(int go, int failure, char *const argv[])
{
	ssize_t ignored;
	char byte;
	int error;

	while (read(go, &byte, 1) < 0 && errno == EINTR)
		;
	execvp(argv[0], argv);
	error = errno;
	ignored = write(failure, &error, sizeof(error));
	(void)ignored;
	_exit(127);
}

static int refuse_child(const struct child *child, int error, const char *what)
{
	const char *description = strerrordesc_np(error);

	return perfctr_line_refuse(child->line, error, "cannot %s: %s", what,
				   description ? description : "unknown error");
}

static int fork_child(struct child *child, char *const argv[])
{
	int go[2], failure[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return refuse_child(child, errno, "make a pipe");
	if (pipe2(failure, O_CLOEXEC) < 0) {
		refuse_child(child, errno, "make a pipe");
		close(go[0]);
		close(go[1]);
		return -1;
	}
	child->pid = fork();
	if (child->pid == 0) {
		close(go[1]);
		close(failure[0]);
		execute_program(go[0], failure[1], argv);
	}
	close(go[0]);
	close(failure[1]);
	child->go = go[1];
	child->failure = failure[0];
	if (child->pid < 0)
		return refuse_child(child, errno, "fork");
	if (ptrace(PTRACE_SEIZE, child->pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) < 0)
		return refuse_child(child, errno, "trace the child");
	return 0;
}

static void kill_child(struct child *child)
{
	int error = errno;

	if (child->pid > 0) {
		kill(child->pid, SIGKILL);
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	errno = error;
}

static bool is_at_exec(int wait_status)
{
	return WIFSTOPPED(wait_status) && wait_status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
}

/* Its end on the way there: why. */
static int explain_end(struct child *child, int wait_status, const char *program)
{
	const char *description;
	int error;

	child->pid = 0;
	if (read(child->failure, &error, sizeof(error)) != sizeof(error))
		return perfctr_line_refuse(child->line, ECHILD,
					   "signal %d ended the child before it was executed",
					   WTERMSIG(wait_status));
	description = strerrordesc_np(error);
	perfctr_line_refuse(child->line, error, "cannot execute '%s': %s", program,
			    description ? description : "unknown error");
	perfctr_line_clean(child->line);
	return -1;
}

/* The child stands before the first instruction of its program. */
static int reach_exec(struct child *child, const char *program)
{
	int status;

	close(child->go);
	child->go = -1;
	for (;;) {
		if (waitpid(child->pid, &status, 0) < 0) {
			if (errno == EINTR)
				continue;
			return refuse_child(child, errno, "wait for the child");
		}
		if (is_at_exec(status))
			return 0;
		if (!WIFSTOPPED(status))
			return explain_end(child, status, program);
		/* A signal on the way: it goes on with it. */
		ptrace(PTRACE_CONT, child->pid, 0, status >> 16 ? 0 : WSTOPSIG(status));
	}
}

/*
 * Executing a set-user-id program, or one that its user may not read, has dropped the context: then
 * it gets a new one, if the caller may trace it.
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
	struct child child = { .go = -1, .failure = -1, .line = &line };
	struct perfctr *p = NULL;
	struct counted counted;
	int number;

	if (perfctr_counted_parse(&counted, events, &line) < 0)
		return NULL;
	if (fork_child(&child, argv) == 0)
		p = count_child(&child, &counted, argv[0]);
	if (p)
		*pid = child.pid;
	else
		kill_child(&child);
	number = errno;
	if (child.go >= 0)
		close(child.go);
	if (child.failure >= 0)
		close(child.failure);
	errno = number;
	return p;
}
