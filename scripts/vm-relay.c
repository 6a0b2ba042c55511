// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The host's side of scripts/vm: runs QEMU, passes the command's output on as it comes, ends the
 * machine when the command has ended and all of its output is here, and exits with the command's
 * status.
 *
 * usage: vm-relay SECONDS OUTCOME QEMU_LOG INTERACTIVE QEMU [ARGUMENT]...
 *
 * QEMU gets sockets as descriptors 3 (stdout), 4 (stderr) and 5 (control: see vm-init.c). SECONDS
 * limits the command, 0 not at all. The file OUTCOME says "command" if the exit status is the
 * command's own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUT, ERR, CONTROL, CHANNELS };
enum { FIRST_FD = 3, START_SECONDS = 400, STATUS_TIMEOUT = 124, STATUS_FAILED = 125 };

static volatile sig_atomic_t got_signal;
static sigset_t unblocked;
static pid_t qemu;
static bool started, late;
static unsigned limit;
static int status = -1;
static unsigned long long received[2], announced[2];

static void on_signal(int number)
{
	got_signal = number;
}

static void end_machine(void)
{
	struct timespec pause_time = { .tv_nsec = 5000000 };

	if (qemu <= 0)
		return;
	kill(qemu, SIGTERM);
	for (int i = 0; i < 2000; i++) {
		if (waitpid(qemu, NULL, WNOHANG))
			return;
		nanosleep(&pause_time, NULL);
	}
	kill(qemu, SIGKILL);
	waitpid(qemu, NULL, 0);
}

static const char too_long[] = "the command took too long";

static void __attribute__((noreturn)) give_up(int code, const char *reason)
{
	fprintf(stderr, "vm: %s\n", reason);
	end_machine();
	exit(code);
}

/* Signals are blocked except while the process waits, so that none is lost. */
static void wait_for(struct pollfd *polled, int count)
{
	int n;

	while ((n = ppoll(polled, count, NULL, &unblocked)) <= 0) {
		if (n < 0 && errno != EINTR)
			give_up(STATUS_FAILED, strerror(errno));
		if (!got_signal)
			continue;
		if (got_signal == SIGALRM && !started)
			give_up(STATUS_FAILED, "the guest did not start the command in time");
		if (got_signal == SIGALRM)
			give_up(STATUS_TIMEOUT, too_long);
		end_machine();
		exit(128 + got_signal);
	}
}

/* In pieces that a pipe takes without blocking when poll() calls it writable. */
static void write_out(int fd, const char *data, size_t length)
{
	struct pollfd polled = { .fd = fd, .events = POLLOUT };

	while (length) {
		ssize_t written;

		wait_for(&polled, 1);
		written = write(fd, data, length < 4096 ? length : 4096);
		if (written < 0 && errno == EPIPE) {
			end_machine();
			exit(128 + SIGPIPE);
		}
		if (written < 0 && errno != EINTR && errno != EAGAIN)
			give_up(STATUS_FAILED, "cannot write the command's output");
		if (written > 0) {
			data += written;
			length -= written;
		}
	}
}

static void take_report(char *line)
{
	unsigned number;

	if (!strcmp(line, "started")) {
		started = true;
		alarm(limit);
	} else if (sscanf(line, "exited %u %llu %llu", &number, &announced[OUT], &announced[ERR]) == 3) {
		status = number;
	} else if (sscanf(line, "killed %u %llu %llu", &number, &announced[OUT], &announced[ERR]) == 3) {
		status = 128 + number;
	} else if (sscanf(line, "late %u %llu %llu", &number, &announced[OUT], &announced[ERR]) == 3) {
		status = STATUS_TIMEOUT;
		late = true;
	} else if (!strncmp(line, "failed ", 7)) {
		give_up(STATUS_FAILED, line + 7);
	} else {
		give_up(STATUS_FAILED, "the guest sent a report that makes no sense");
	}
}

static void take_control(const char *data, size_t length)
{
	static char line[600];
	static size_t used;

	for (size_t i = 0; i < length; i++) {
		if (data[i] == '\n') {
			line[used] = '\0';
			used = 0;
			take_report(line);
		} else if (used < sizeof(line) - 1) {
			line[used++] = data[i];
		}
	}
}

static void take(int channel, int fd)
{
	static char buffer[65536];
	ssize_t n = read(fd, buffer, sizeof(buffer));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0)
		give_up(STATUS_FAILED, "the machine ended before the command did");
	if (channel == CONTROL) {
		take_control(buffer, n);
	} else {
		received[channel] += n;
		write_out(channel == OUT ? STDOUT_FILENO : STDERR_FILENO, buffer, n);
	}
}

static void __attribute__((noreturn)) become_qemu(int *sockets, const char *log, bool interactive, char **argv)
{
	int fd;

	/* First moves the sockets away from the numbers that they will get. */
	for (int i = 0; i < CHANNELS; i++)
		sockets[i] = fcntl(sockets[i], F_DUPFD_CLOEXEC, FIRST_FD + CHANNELS);
	for (int i = 0; i < CHANNELS; i++)
		dup2(sockets[i], FIRST_FD + i);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	dup2(fd, STDERR_FILENO);
	if (!interactive) {
		dup2(fd, STDOUT_FILENO);
		dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
	}
	sigprocmask(SIG_SETMASK, &unblocked, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv(argv[0], argv);
	dprintf(STDERR_FILENO, "cannot execute %s: %s\n", argv[0], strerror(errno));
	_exit(STATUS_FAILED);
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGALRM };
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		sigaddset(&blocked, signals[i]);
		sigaction(signals[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	sigemptyset(&unblocked);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
}

int main(int argc, char **argv)
{
	struct pollfd polled[CHANNELS];
	int theirs[CHANNELS];
	FILE *outcome;

	if (argc < 6)
		give_up(STATUS_FAILED, "usage: vm-relay SECONDS OUTCOME QEMU_LOG INTERACTIVE QEMU [ARGUMENT]...");
	limit = strtoul(argv[1], NULL, 10);
	catch_signals();
	for (int i = 0; i < CHANNELS; i++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
			give_up(STATUS_FAILED, strerror(errno));
		polled[i] = (struct pollfd){ .fd = pair[0], .events = POLLIN };
		theirs[i] = pair[1];
	}
	qemu = fork();
	if (qemu < 0)
		give_up(STATUS_FAILED, strerror(errno));
	if (!qemu)
		become_qemu(theirs, argv[3], atoi(argv[4]), argv + 5);
	for (int i = 0; i < CHANNELS; i++)
		close(theirs[i]);
	alarm(START_SECONDS);
	while (status < 0 || received[OUT] < announced[OUT] || received[ERR] < announced[ERR]) {
		wait_for(polled, CHANNELS);
		for (int i = 0; i < CHANNELS; i++) {
			if (polled[i].revents)
				take(i, polled[i].fd);
		}
	}
	if (late)
		give_up(STATUS_TIMEOUT, too_long);
	end_machine();
	outcome = fopen(argv[2], "w");
	if (!outcome || fputs("command\n", outcome) < 0 || fclose(outcome))
		give_up(STATUS_FAILED, "cannot write the outcome");
	return status;
}
