// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows a command and the processes that it starts, by ptrace(2).  A process of its own does so:
 * its end kills all that it follows.
 */
#define _GNU_SOURCE
#include "tracer.h"
#include "../perfex.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	FOLLOWED = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		   PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL,
	STOPPED_AT_CALL = SIGTRAP | 0x80, /* because of PTRACE_O_TRACESYSGOOD */
	PATIENCE_MS = 5000,
};

/* The tracer's way to perfex, and what perfex has set for it. */
struct tracing {
	const struct traced *traced;
	int report;	 /* pipe: takes a struct report */
	int outputs;	 /* pipe: takes both outputs of the command */
	sigset_t ending; /* signals that end perfex */
	sigset_t mask;	 /* of signals, for the command */
};

struct report {
	int status, error;
};

/* For the handler of signals in the tracer. */
static volatile pid_t command_group;

static void pass_signal(int signal)
{
	if (command_group > 0)
		kill(-command_group, signal);
}

static void __attribute__((noreturn)) become_command(const struct tracing *tracing, int go)
{
	const struct traced *traced = tracing->traced;
	char nothing;

	setsid();
	dup2(traced->input < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : traced->input,
	     STDIN_FILENO);
	dup2(tracing->outputs, STDOUT_FILENO);
	dup2(tracing->outputs, STDERR_FILENO);
	sigprocmask(SIG_SETMASK, &tracing->mask, NULL);
	/* The other end is closed when the tracer follows. */
	while (read(go, &nothing, 1) < 0 && errno == EINTR)
		;
	/* The path has a slash: PATH is not searched. */
	execvpe(traced->program, traced->command, traced->environment);
	_exit(EXIT_NOT_EXECUTABLE);
}

/* Starts the command, which is followed from its first instruction.  Returns -1 with errno set. */
static pid_t start_followed(const struct tracing *tracing)
{
	int go[2], error;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (!pid) {
		close(go[1]);
		become_command(tracing, go[0]);
	}
	/* Only a thread that is stopped can be told to stop at its system calls. */
	if (pid > 0 && (ptrace(PTRACE_SEIZE, pid, NULL, FOLLOWED) < 0 ||
			ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0)) {
		error = errno;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		errno = error;
		pid = -1;
	}
	error = errno;
	close(go[0]);
	close(go[1]);
	errno = error;
	return pid;
}

/* Returns false with errno set if the kernel does not tell.  A thread may have been killed. */
static bool tell_of_call(const struct traced *traced, pid_t thread)
{
	struct __ptrace_syscall_info info;
	struct traced_call call = { .thread = thread };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info) <= 0)
		return errno == ESRCH;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY && info.arch == AUDIT_ARCH_X86_64) {
		call.number = info.entry.nr;
		call.arguments = info.entry.args;
		traced->call(traced->context, &call);
	}
	return true;
}

static bool stops_process(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Lets a thread go on.  Returns false with errno set if it cannot be followed. */
static bool handle_stop(const struct traced *traced, pid_t thread, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;
	bool good = true;

	if (event == PTRACE_EVENT_STOP && stops_process(signal)) {
		ptrace(PTRACE_LISTEN, thread, NULL, NULL);
		return true;
	}
	if (signal == STOPPED_AT_CALL)
		good = tell_of_call(traced, thread);
	if (event || signal == STOPPED_AT_CALL)
		signal = 0;
	if (good)
		ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(intptr_t)signal);
	return good;
}

/* Returns the status of the command, or -1 with errno set. */
static int follow_all(const struct traced *traced, pid_t command)
{
	int status;

	for (;;) {
		pid_t thread = waitpid(-1, &status, __WALL);

		if (thread < 0 && errno != EINTR)
			return -1;
		if (thread > 0 && WIFSTOPPED(status)) {
			if (!handle_stop(traced, thread, status))
				return -1;
		} else if (thread == command) {
			return status;
		}
	}
}

static void __attribute__((noreturn)) become_tracer(const struct tracing *tracing)
{
	struct sigaction action = { .sa_handler = pass_signal };
	struct report report = { .status = -1 };
	pid_t command;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Signals of the terminal come by way of perfex. */
	setsid();
	command = start_followed(tracing);
	command_group = command;
	for (int signal = 1; signal < NSIG; signal++)
		if (sigismember(&tracing->ending, signal) == 1)
			sigaction(signal, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &tracing->ending, NULL);
	if (command > 0)
		report.status = follow_all(tracing->traced, command);
	report.error = errno;
	write_all(tracing->report, (const char *)&report, sizeof(report));
	_exit(0);
}

/* The first signal goes to the command; the second one, or the lack of patience, kills it. */
static void handle_signal(pid_t tracer, int signals, int *ended_by)
{
	struct signalfd_siginfo info;

	if (signals < 0 || *ended_by || read(signals, &info, sizeof(info)) != sizeof(info)) {
		kill(tracer, SIGKILL);
		return;
	}
	*ended_by = (int)info.ssi_signo;
	kill(tracer, *ended_by);
}

/*
 * Waits for the report.  Meanwhile the outputs of the command are lost, and signals are passed on.
 * Returns false if the tracer has ended without a report.
 */
static bool take_report(pid_t tracer, int report_fd, int outputs, int signals, int *ended_by,
			struct report *report)
{
	struct pollfd polled[] = {
		{ .fd = report_fd, .events = POLLIN },
		{ .fd = outputs, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	static char buffer[65536];

	do {
		int n = poll(polled, 3, *ended_by ? PATIENCE_MS : -1);

		if (n < 0)
			continue;
		if (polled[1].revents && read(outputs, buffer, sizeof(buffer)) <= 0)
			polled[1].fd = -1;
		if (!n || polled[2].revents)
			handle_signal(tracer, n ? signals : -1, ended_by);
	} while (!polled[0].revents);
	return read(report_fd, report, sizeof(*report)) == sizeof(*report);
}

int trace_command(const struct traced *traced, int *ended_by)
{
	struct tracing tracing = { .traced = traced, .ending = ending_signals() };
	struct report report = { .status = -1, .error = EIO };
	int report_pipe[2], outputs[2], signals;
	pid_t tracer;

	*ended_by = 0;
	if (pipe2(report_pipe, O_CLOEXEC) < 0 || pipe2(outputs, O_CLOEXEC) < 0)
		return -1;
	tracing.report = report_pipe[1];
	tracing.outputs = outputs[1];
	/* An ignored SIGCHLD would leave nothing to wait for. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &tracing.ending, &tracing.mask);
	signals = signalfd(-1, &tracing.ending, SFD_CLOEXEC);
	tracer = fork();
	if (!tracer)
		become_tracer(&tracing);
	close(report_pipe[1]);
	close(outputs[1]);
	if (tracer < 0)
		report.error = errno;
	else if (!take_report(tracer, report_pipe[0], outputs[0], signals, ended_by, &report))
		report = (struct report){ .status = -1, .error = EIO };
	close(report_pipe[0]);
	close(outputs[0]);
	close(signals);
	while (tracer > 0 && waitpid(tracer, NULL, 0) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &tracing.mask, NULL);
	errno = report.error;
	return report.status;
}

bool traced_string(pid_t thread, uint64_t address, char *buffer, size_t size)
{
	/* Words do not cross pages, and the page behind the string may not be there. */
	uint64_t at = address / sizeof(long) * sizeof(long);
	size_t n = 0, skipped = (size_t)(address - at);
	long word;

	for (; n < size; at += sizeof(word)) {
		errno = 0;
		word = ptrace(PTRACE_PEEKDATA, thread, (void *)(uintptr_t)at, NULL);
		if (errno)
			return false;
		for (size_t i = skipped; i < sizeof(word) && n < size; i++) {
			buffer[n] = ((const char *)&word)[i];
			if (!buffer[n++])
				return true;
		}
		skipped = 0;
	}
	return false;
}
