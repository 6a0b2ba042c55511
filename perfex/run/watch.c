// SPDX-License-Identifier: GPL-2.0-or-later
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * SIGTERM and SIGHUP are passed on to the command, or end the counting where there is none.  SIGINT
 * and SIGQUIT the terminal sends to the command as well: perfex stays to report.  SIGPIPE would
 * keep it from saying what cannot be written.
 */
void watch_begin(struct watch *watch, bool with_command)
{
	sigset_t taken, blocked;

	*watch = (struct watch){ .ignored_children = signal(SIGCHLD, SIG_DFL) == SIG_IGN };
	sigemptyset(&taken);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGHUP);
	sigaddset(&taken, SIGINT);
	blocked = taken;
	sigaddset(&blocked, SIGPIPE);
	if (with_command)
		sigaddset(&blocked, SIGQUIT);
	sigprocmask(SIG_BLOCK, &blocked, &watch->before);
	watch->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watch->signals < 0)
		fail("cannot wait for signals: %m");
}

/* True: it ends the counting. */
bool watch_signal(struct watch *watch, const struct command *command)
{
	struct signalfd_siginfo info;

	if (read(watch->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	watch->stop = true;
	if (!command->pid)
		return true;
	/* The terminal's own signal reaches the command without our help. */
	if (info.ssi_code != SI_KERNEL && info.ssi_signo != SIGINT)
		kill(command->pid, (int)info.ssi_signo);
	return false;
}

/* Not armed yet; -1, which poll() passes over, when it is not wanted. */
static int make_timer(unsigned int ms)
{
	int fd = -1;

	if (ms) {
		fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		if (fd < 0)
			fail("cannot make a timer: %m");
	}
	return fd;
}

static void arm_timer(int fd, unsigned int ms, bool again)
{
	const struct timespec time = {
		.tv_sec = ms / 1000,
		.tv_nsec = (long)(ms % 1000) * 1000000,
	};
	const struct itimerspec timer = {
		.it_value = time,
		.it_interval = again ? time : (struct timespec){ 0 },
	};

	if (fd >= 0 && timerfd_settime(fd, 0, &timer, NULL) < 0)
		fail("cannot set a timer: %m");
}

static void disarm_timer(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

enum { SIGNALS, PROCESS, DELAY, TIMEOUT, INTERVAL, RECORDS };

/* The counters go; so does the time. */
static void begin_counting(struct counting *counting, const struct pollfd *fd)
{
	if (!counting->started_ns)
		counting->started_ns = now_ns();
	arm_timer(fd[TIMEOUT].fd, counting->options->timeout_ms, false);
	arm_timer(fd[INTERVAL].fd, counting->options->interval_ms, true);
}

/* True: the counting ends here, without a command to wait for. */
static bool take_timeout(struct counting *counting)
{
	threads_stop(&counting->threads);
	counting->stopped_ns = now_ns();
	counting->timed_out = true;
	if (!counting->command.pid)
		return true;
	command_end(&counting->command);
	return false;
}

/* The interval that ends with these sums. */
void counting_interval(struct counting *counting, const struct perfctr_counts *sums)
{
	struct interval *interval = &counting->interval;

	interval->time_ns =
		(counting->stopped_ns ? counting->stopped_ns : now_ns()) - counting->started_ns;
	interval->counts = *sums;
	interval->counts.tsc -= counting->last.tsc;
	for (uint32_t i = 0; i < PERFCTR_MAX_COUNTERS; i++)
		interval->counts.counter[i] -= counting->last.counter[i];
	counting->last = *sums;
	output_interval(counting->output, counting->recording, interval);
}

static void take_interval(struct counting *counting, int timer)
{
	struct perfctr_counts sums;
	uint64_t expirations;

	if (read(timer, &expirations, sizeof(expirations)) != sizeof(expirations))
		return;
	threads_read(&counting->threads, counting->scope, &sums);
	counting_interval(counting, &sums);
}

static struct pollfd *make_list(const struct watch *watch, const struct counting *counting,
				size_t records)
{
	struct pollfd *fd = calloc(RECORDS + records, sizeof(*fd));

	if (!fd)
		fail("out of memory");
	for (size_t i = 0; i < RECORDS + records; i++)
		fd[i].events = POLLIN;
	fd[SIGNALS].fd = watch->signals;
	fd[PROCESS].fd = counting->process;
	fd[DELAY].fd = make_timer(counting->options->delay_ms);
	fd[TIMEOUT].fd = make_timer(counting->options->timeout_ms);
	fd[INTERVAL].fd = make_timer(counting->output ? counting->options->interval_ms : 0);
	for (size_t i = 0; i < records; i++)
		fd[RECORDS + i].fd = perfctr_fd(counting->threads.thread[i].context);
	return fd;
}

/*
 * Returns when the process has ended, or a signal or the time says that it is enough.  Meanwhile it
 * takes the records of the members, of which the kernel does not keep more than
 * PERFCTR_MAX_RECORDS.
 */
void watch_counting(struct watch *watch, struct counting *counting)
{
	size_t records = members_wanted(counting->members) ? counting->threads.n : 0;
	struct pollfd *fd = make_list(watch, counting, records);
	bool end = false;

	if (fd[DELAY].fd >= 0)
		arm_timer(fd[DELAY].fd, counting->options->delay_ms, false);
	else
		begin_counting(counting, fd);
	while (!end) {
		if (poll(fd, RECORDS + records, -1) < 0) {
			if (errno == EINTR)
				continue;
			fail("cannot wait for the end: %m");
		}
		if (fd[SIGNALS].revents)
			end = watch_signal(watch, &counting->command);
		if (fd[DELAY].revents) {
			disarm_timer(&fd[DELAY].fd);
			threads_start(&counting->threads);
			begin_counting(counting, fd);
		}
		if (fd[INTERVAL].revents)
			take_interval(counting, fd[INTERVAL].fd);
		if (fd[TIMEOUT].revents) {
			disarm_timer(&fd[TIMEOUT].fd);
			disarm_timer(&fd[INTERVAL].fd);
			end |= take_timeout(counting);
		}
		for (size_t i = 0; i < records; i++)
			if (fd[RECORDS + i].revents)
				members_take(counting->members,
					     counting->threads.thread[i].context);
		end |= fd[PROCESS].revents != 0;
	}
	if (!counting->stopped_ns)
		counting->stopped_ns = now_ns();
	disarm_timer(&fd[DELAY].fd);
	disarm_timer(&fd[TIMEOUT].fd);
	disarm_timer(&fd[INTERVAL].fd);
	free(fd);
}
