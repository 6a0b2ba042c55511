// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows a command and the processes that it starts, by ptrace(2). */
#define _GNU_SOURCE
#include "tracer.h"
#include "../perfex.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	FOLLOWED = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		   PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL,
	STOPPED_AT_CALL = SIGTRAP | 0x80, /* because of PTRACE_O_TRACESYSGOOD */
};

/* outputs: descriptor that takes both outputs; -1: those of perfex */
static void __attribute__((noreturn))
become_command(const struct traced *traced, int outputs, int wait_fd)
{
	char go;

	dup2(traced->input < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : traced->input,
	     STDIN_FILENO);
	if (outputs >= 0) {
		dup2(outputs, STDOUT_FILENO);
		dup2(outputs, STDERR_FILENO);
	}
	if (read(wait_fd, &go, 1) == 1)
		execvpe(traced->program, traced->command, traced->environment);
	_exit(EXIT_NOT_EXECUTABLE);
}

/* Starts the command, which is followed from its first instruction.  Returns -1 with errno set. */
static pid_t start(const struct traced *traced, int outputs)
{
	int go[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (!pid) {
		close(go[1]);
		become_command(traced, outputs, go[0]);
	}
	/* Only a thread that is stopped can be told to stop at its system calls. */
	if (pid > 0 && (ptrace(PTRACE_SEIZE, pid, NULL, FOLLOWED) < 0 ||
			ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0)) {
		int error = errno;

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		errno = error;
		pid = -1;
	}
	if (pid > 0 && write(go[1], "", 1) < 0)
		pid = -1;
	close(go[0]);
	close(go[1]);
	return pid;
}

static void tell_of_call(const struct traced *traced, pid_t thread)
{
	struct __ptrace_syscall_info info;
	struct traced_call call = { .thread = thread };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY || info.arch != AUDIT_ARCH_X86_64)
		return;
	call.number = info.entry.nr;
	call.arguments = info.entry.args;
	traced->call(traced->context, &call);
}

static bool stops_process(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Lets a thread go on.  One that has been killed in between is no error. */
static void handle_stop(const struct traced *traced, pid_t thread, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_STOP && stops_process(signal)) {
		ptrace(PTRACE_LISTEN, thread, NULL, NULL);
		return;
	}
	if (signal == STOPPED_AT_CALL)
		tell_of_call(traced, thread);
	if (event || signal == STOPPED_AT_CALL)
		signal = 0;
	ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(intptr_t)signal);
}

/* Returns the status of the command. */
static int follow(const struct traced *traced, pid_t command)
{
	int status;

	for (;;) {
		pid_t thread = waitpid(-1, &status, __WALL);

		if (thread < 0 && errno != EINTR)
			return -1;
		if (thread > 0 && WIFSTOPPED(status))
			handle_stop(traced, thread, status);
		else if (thread == command)
			return status;
	}
}

/* What a process of its own, which follows the command, has to say. */
struct followed {
	int status, error;
};

static void __attribute__((noreturn))
become_tracer(const struct traced *traced, int outputs, int report_fd)
{
	struct followed followed = { .status = -1 };
	pid_t command;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_DFL);
	command = start(traced, outputs);
	if (command > 0)
		followed.status = follow(traced, command);
	followed.error = errno;
	write_all(report_fd, (const char *)&followed, sizeof(followed));
	/* Linux kills all that is still followed: see PTRACE_O_EXITKILL. */
	_exit(0);
}

/* Waits for the report.  What the command writes meanwhile is lost. */
static void take_report(int report_fd, int outputs, struct followed *followed)
{
	struct pollfd polled[] = {
		{ .fd = report_fd, .events = POLLIN },
		{ .fd = outputs, .events = POLLIN },
	};
	static char buffer[65536];

	do {
		if (poll(polled, 2, -1) < 0)
			continue;
		if (polled[1].revents && read(outputs, buffer, sizeof(buffer)) <= 0)
			polled[1].fd = -1;
	} while (!polled[0].revents);
	if (read(report_fd, followed, sizeof(*followed)) != sizeof(*followed))
		*followed = (struct followed){ .status = -1, .error = EIO };
}

int trace_command(const struct traced *traced)
{
	int report[2], outputs[2] = { -1, -1 };
	struct followed followed;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0 ||
	    (!traced->keeps_outputs && pipe2(outputs, O_CLOEXEC) < 0))
		return -1;
	pid = fork();
	if (pid < 0)
		return -1;
	if (!pid)
		become_tracer(traced, outputs[1], report[1]);
	close(report[1]);
	if (outputs[1] >= 0)
		close(outputs[1]);
	take_report(report[0], outputs[0], &followed);
	close(report[0]);
	if (outputs[0] >= 0)
		close(outputs[0]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	errno = followed.error;
	return followed.status;
}

bool traced_string(pid_t thread, uint64_t address, char *buffer, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	/* Ends before a page that is not there. */
	n = pread64(fd, buffer, size, (off64_t)address);
	close(fd);
	return n > 0 && memchr(buffer, '\0', (size_t)n);
}
