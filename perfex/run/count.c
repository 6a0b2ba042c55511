// SPDX-License-Identifier: GPL-2.0-or-later
/* One run, from creating the contexts to reading their sums. */
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

uint32_t view_flags(enum view view)
{
	static const uint32_t flags[] = {
		[TREE] = PERFCTR_CONTROL_INHERIT,
		[SELF] = 0,
		[PER_PROCESS] = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_EXIT_RECORDS,
		[PER_THREAD] = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_EXIT_RECORDS,
	};

	return flags[view];
}

/*
 * Creates a context for the command, and installs the control without starting it.  Returns false
 * after an error message.
 */
static bool install_control(struct counting *counting, struct perfctr_control *control)
{
	const char *backend = counting->options->backend;
	struct perfctr *context =
		perfctr_open_with(backend, counting->command.pid, PERFCTR_OPEN_CREATE);

	if (!context) {
		complain_of_open(backend, errno);
		return false;
	}
	threads_add(&counting->threads, counting->command.pid, context);
	return threads_control(&counting->threads, 0, control, counting->recording->info);
}

/*
 * Starts the counters of the command, which is stopped before its first instruction.  If it is a
 * set-user-ID program, or one that its user may not read, execve() has dropped the context.  Then
 * creates another context, which succeeds if perfex may trace the program.
 */
static bool start_command(struct counting *counting, struct perfctr_control *control)
{
	if (threads_start(&counting->threads))
		return true;
	if (counting->threads.refused)
		return false;
	threads_close(&counting->threads);
	if (!install_control(counting, control))
		return false;
	if (threads_start(&counting->threads))
		return true;
	if (!counting->threads.refused)
		complain_of_start(counting->options->backend, errno);
	return false;
}

/*
 * Creates the contexts and installs the control: all that may be refused for this command or
 * process.  Returns false after an error message.
 */
static bool prepare_counting(struct counting *counting, struct perfctr_control *control)
{
	control->flags = PERFCTR_CONTROL_STOPPED | view_flags(counting->options->view);
	if (counting->options->process)
		return attach(&counting->threads, counting->options, control,
			      counting->recording->info);
	return install_control(counting, control);
}

/* Takes the time, and the CPU time that perfex's child has used until execve(). */
static void take_start(struct counting *counting)
{
	struct timespec used = { 0 };
	clockid_t clock;

	counting->started_ns = now_ns();
	if (counting->command.pid && clock_getcpuclockid(counting->command.pid, &clock) == 0 &&
	    clock_gettime(clock, &used) == 0)
		counting->used_ns = timespec_ns(used);
}

static bool start_counting(struct counting *counting, struct perfctr_control *control)
{
	if (!counting->options->process) {
		if (!start_command(counting, control))
			return false;
	} else if (!counting->options->delay_ms) {
		threads_start(&counting->threads);
		if (counting->threads.refused)
			return false;
	}
	/* The command has not executed anything yet, so nothing has been counted. */
	if (counting->options->delay_ms)
		threads_stop(&counting->threads);
	else
		take_start(counting);
	return true;
}

/* Returns the descriptor of a timer that is not armed, or -1, which poll() ignores, if ms is 0. */
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

/*
 * Nothing reports when threads that outlive the process end, so perfex checks: first after
 * FIRST_MS, then after twice the time before, at most after MOST_MS.
 */
enum { FIRST_MS = 1, MOST_MS = 20 };

enum { SIGNALS, PROCESS, DELAY, TIMEOUT, INTERVAL, OUTLIVING, RECORDS };

/* Called when the counters have been started: takes the time and arms the timers. */
static void begin_counting(struct counting *counting, const struct pollfd *fd)
{
	if (!counting->started_ns)
		take_start(counting);
	arm_timer(fd[TIMEOUT].fd, counting->options->timeout_ms, false);
	arm_timer(fd[INTERVAL].fd, counting->options->interval_ms, true);
}

/*
 * Stops counting at the time limit.  Returns true if there is no command to wait for; otherwise
 * ends the command.
 */
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

/* Writes the interval that ends now.  sums: the counts since the start. */
static void write_interval(struct counting *counting, const struct perfctr_counts *sums)
{
	struct interval *interval = &counting->interval;
	uint64_t end_ns =
		(counting->stopped_ns ? counting->stopped_ns : now_ns()) - counting->started_ns;

	interval->length_ns = end_ns - interval->time_ns;
	interval->time_ns = end_ns;
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
	write_interval(counting, &sums);
}

/* Returns true if a counted thread has not exited yet. */
static bool has_outlived(const struct counting *counting)
{
	struct perfctr_counts sums;

	threads_read(&counting->threads, counting->scope, &sums);
	return sums.members;
}

/* Called when the process has exited.  Returns true if the counting ends with it. */
static bool take_end(struct counting *counting, struct pollfd *fd)
{
	if (!counting->options->wait || !has_outlived(counting))
		return true;
	fd[PROCESS].fd = -1;
	counting->outliving_ms = FIRST_MS;
	fd[OUTLIVING].fd = make_timer(counting->outliving_ms);
	arm_timer(fd[OUTLIVING].fd, counting->outliving_ms, false);
	return false;
}

static bool take_outliving(struct counting *counting, int timer)
{
	if (!has_outlived(counting))
		return true;
	counting->outliving_ms *= 2;
	if (counting->outliving_ms > MOST_MS)
		counting->outliving_ms = MOST_MS;
	arm_timer(timer, counting->outliving_ms, false);
	return false;
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
	fd[OUTLIVING].fd = -1;
	for (size_t i = 0; i < records; i++)
		fd[RECORDS + i].fd = perfctr_fd(counting->threads.thread[i].context);
	return fd;
}

/*
 * Returns when the process has ended, with --wait also all that outlives it, or when a signal or
 * the time limit ends the counting.  Meanwhile takes the exit records of the members, because the
 * kernel keeps no more than PERFCTR_MAX_EXIT_RECORDS.
 */
static void wait_for_end(struct watch *watch, struct counting *counting)
{
	size_t records = counting->members ? counting->threads.n : 0;
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
			end = watch_signal(watch, &counting->command) || fd[OUTLIVING].fd >= 0;
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
			end |= take_timeout(counting) || fd[OUTLIVING].fd >= 0;
		}
		for (size_t i = 0; i < records; i++)
			if (fd[RECORDS + i].revents)
				members_take(counting->members,
					     counting->threads.thread[i].context);
		if (fd[OUTLIVING].revents)
			end |= take_outliving(counting, fd[OUTLIVING].fd);
		if (fd[PROCESS].revents)
			end |= take_end(counting, fd);
	}
	if (!counting->stopped_ns)
		counting->stopped_ns = now_ns();
	disarm_timer(&fd[DELAY].fd);
	disarm_timer(&fd[TIMEOUT].fd);
	disarm_timer(&fd[INTERVAL].fd);
	disarm_timer(&fd[OUTLIVING].fd);
	free(fd);
}

static uint64_t to_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

/* Subtracts as much of *ns from *time_ns as there is, and leaves the rest in *ns. */
static void subtract_time(uint64_t *ns, uint64_t *time_ns)
{
	uint64_t part = *ns < *time_ns ? *ns : *time_ns;

	*time_ns -= part;
	*ns -= part;
}

static void wait_for_command(struct counting *counting, struct sample *sample)
{
	pid_t pid = counting->command.pid;
	struct rusage usage;

	sample->wait_status = command_wait(&counting->command, &usage);
	/* Nobody knows what the children of a command had used when its delay was over. */
	sample->has_cpu_time = !counting->options->process && !counting->options->delay_ms;
	sample->pid = pid;
	sample->time_ns[TIME_USER] = to_ns(usage.ru_utime);
	sample->time_ns[TIME_SYSTEM] = to_ns(usage.ru_stime);
	/* Nearly all of the CPU time before execve() is the kernel's: it forks and executes. */
	subtract_time(&counting->used_ns, &sample->time_ns[TIME_SYSTEM]);
	subtract_time(&counting->used_ns, &sample->time_ns[TIME_USER]);
}

static void finish_counting(struct counting *counting, struct sample *sample)
{
	threads_stop(&counting->threads);
	if (counting->started_ns)
		sample->time_ns[TIME_ELAPSED] = counting->stopped_ns - counting->started_ns;
	sample->timed_out = counting->timed_out;
	sample->cut_short =
		!counting->started_ns || (!counting->options->command[0] && !counting->timed_out);
	if (counting->members)
		members_add_running(counting->members, &counting->threads,
				    counting->options->process);
	threads_read(&counting->threads, counting->scope, &sample->total);
	complain_of_loss(&sample->total);
	threads_close(&counting->threads);
	if (counting->output && counting->options->interval_ms && counting->started_ns)
		write_interval(counting, &sample->total);
}

static int give_up_counting(struct counting *counting, int status)
{
	command_kill(&counting->command);
	threads_close(&counting->threads);
	return status;
}

/*
 * Makes one run.  Returns 0, or perfex's exit status after an error message; in that case the
 * command has not executed anything.
 */
int count_run(struct watch *watch, struct counting *counting, struct perfctr_control *control,
	      struct sample *sample)
{
	const struct options *options = counting->options;
	bool with_command = options->command[0];
	int status;

	*sample = (struct sample){ 0 };
	if (with_command) {
		if (!command_fork(&counting->command, options, counting->variables, watch))
			return EXIT_PERFEX;
		counting->process = counting->command.process;
	}
	if (!prepare_counting(counting, control))
		return give_up_counting(counting, EXIT_PERFEX);
	if (with_command) {
		status = command_exec(&counting->command, options->command);
		if (status)
			return give_up_counting(counting, status);
	}
	if (!start_counting(counting, control))
		return give_up_counting(counting, EXIT_PERFEX);
	tell_substitute(options);
	if (counting->output)
		output_run(counting->output, counting->recording, &counting->interval);
	if (with_command)
		command_resume(&counting->command);
	wait_for_end(watch, counting);
	if (with_command)
		wait_for_command(counting, sample);
	finish_counting(counting, sample);
	return 0;
}
