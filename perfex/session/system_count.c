// SPDX-License-Identifier: GPL-2.0-or-later
/* A session on CPUs, and what it counts from interval to interval. */
#define _GNU_SOURCE
#include "system.h"
#include "mark.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

struct system {
	const struct system_options *options;
	struct perfctr_pmu_info info;
	struct events events;
	struct watch watch;
	struct command command;
	struct perfctr_group *group;
	struct perfctr_session *session;
	FILE *file;
	uint64_t started_ns, last_ns;
	struct system_row *last; /* sums until last_ns: of all CPUs, then of each */
	int wait_status;
};

static bool open_file(struct system *system)
{
	const struct options *options = &system->options->run;

	if (!options->output) {
		system->file = stdout;
		return true;
	}
	system->file = fopen(options->output, options->append ? "ae" : "we");
	if (!system->file)
		complain("cannot write '%s': %m", options->output);
	return system->file;
}

/* What the policy lets of the events be counted is what is shown. */
static void apply_policy(struct system *system)
{
	for (size_t i = 0; i < system->events.n; i++) {
		struct perfctr_request *request = &system->events.event[i].request;

		if (system->options->policy & PERFCTR_POLICY_DP)
			request->rings &= ~PERFCTR_RING_KERNEL;
		if (system->options->policy & PERFCTR_POLICY_DU)
			request->rings &= ~PERFCTR_RING_USER;
	}
}

static void complain_of_session(const struct system *system, int error)
{
	errno = error;
	if (error == EACCES)
		complain(
			"counting on CPUs needs CAP_PERFMON; without it perfex mark counts your own "
			"processes");
	else if (error == EINVAL && system->options->cpu_list)
		complain("--cpus=%s: this machine has not all of these CPUs; see "
			 "/sys/devices/system/cpu/possible",
			 system->options->cpu_list);
	else
		complain_of_open(error);
}

/* Open, with its control, but not started: who bears a mark is not decided yet. */
static bool open_session(struct system *system)
{
	const struct system_options *options = system->options;
	const unsigned int marks = PERFCTR_POLICY_DMS | PERFCTR_POLICY_DMR;
	struct perfctr_control *control = &system->events.control[0];
	struct perfctr_session_options session = { .policy = options->policy };

	if (options->cpu_list) {
		session.cpus = &options->cpus;
		session.cpus_size = sizeof(options->cpus);
	}
	if (options->policy & marks) {
		system->group = perfctr_group_open(NULL);
		if (!system->group) {
			complain_of_open(errno);
			return false;
		}
		session.group = system->group;
	}
	system->session = perfctr_session_open(&session);
	if (!system->session) {
		complain_of_session(system, errno);
		return false;
	}
	control->flags = PERFCTR_CONTROL_STOPPED;
	if (perfctr_session_control(system->session, control) == 0)
		return true;
	complain_of_control(errno, control, &system->info);
	return false;
}

/* perfex marks itself when the command has been forked, which would have the mark too. */
static bool set_marks(const struct system *system)
{
	pid_t pid = system->options->exclude_self ? getpid() : system->command.pid;

	if (!system->group || perfctr_mark(system->group, pid, PERFCTR_MARK_PROCESS) >= 0)
		return true;
	complain_of_mark(errno, pid);
	return false;
}

/* 0, or perfex's exit status after one line of complaint, and nothing has run. */
static int start(struct system *system)
{
	char **command = system->options->run.command;
	int status;

	if (!open_session(system))
		return EXIT_PERFEX;
	if (command[0]) {
		if (!command_fork(&system->command, command, &system->watch))
			return EXIT_PERFEX;
		status = command_exec(&system->command, command);
		if (status)
			return status;
	}
	if (!set_marks(system) || !open_file(system)) {
		command_kill(&system->command);
		return EXIT_PERFEX;
	}
	system->last = calloc(1 + perfctr_session_cpus(system->session), sizeof(*system->last));
	if (!system->last)
		fail("out of memory");
	if (perfctr_session_start(system->session) < 0) {
		complain_of_start(errno);
		exit(EXIT_PERFEX);
	}
	system->started_ns = now_ns();
	system->last_ns = system->started_ns;
	return 0;
}

/* Prints what has been added to the sums since the last time. */
static void print_row(struct system *system, struct system_row *last, int cpu, uint64_t now,
		      uint64_t tsc, const __u64 counter[])
{
	struct system_row row = {
		.cpu = cpu,
		.time_ns = now - system->started_ns,
		.length_ns = now - system->last_ns,
		.tsc = tsc - last->tsc,
	};

	for (unsigned int i = 0; i < PERFCTR_MAX_COUNTERS; i++) {
		row.counter[i] = counter[i] - last->counter[i];
		last->counter[i] = counter[i];
	}
	last->tsc = tsc;
	system_print_row(system->file, system->options, &system->events, &row);
}

static bool is_counted(const struct system_options *options, unsigned int cpu)
{
	return !options->cpu_list || (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &options->cpus));
}

/* The read brings the totals of each CPU up to date as well. */
static void take_interval(struct system *system)
{
	struct perfctr_cpu_totals totals;
	struct perfctr_counts counts;
	uint64_t now;

	if (perfctr_session_read(system->session, &counts) < 0)
		fail("cannot read the counters: %m");
	warn_of_disturbance(&counts);
	now = now_ns();
	if (!system->options->per_cpu)
		print_row(system, &system->last[0], ALL_CPUS, now, counts.tsc, counts.counter);
	for (unsigned int cpu = 0;
	     system->options->per_cpu && cpu < perfctr_session_cpus(system->session); cpu++) {
		if (!is_counted(system->options, cpu))
			continue;
		perfctr_session_totals(system->session, cpu, &totals);
		print_row(system, &system->last[1 + cpu], (int)cpu, now, totals.tsc,
			  totals.counter);
	}
	if (fflush(system->file) || ferror(system->file))
		fail("cannot write the counts: %m");
	system->last_ns = now;
}

enum { SIGNALS, PROCESS };

static void count_intervals(struct system *system)
{
	const uint64_t interval_ns = (uint64_t)system->options->run.interval_ms * 1000000;
	uint64_t next = system->started_ns + interval_ns;
	struct pollfd fd[] = {
		[SIGNALS] = { system->watch.signals, POLLIN, 0 },
		[PROCESS] = { system->command.process, POLLIN, 0 },
	};

	for (unsigned int n = 0;;) {
		uint64_t now = now_ns();
		int timeout = -1;

		if (interval_ns)
			timeout = now < next ? (int)((next - now + 999999) / 1000000) : 0;
		if (poll(fd, PROCESS + 1, timeout) < 0 && errno != EINTR)
			fail("cannot wait for the end: %m");
		if (fd[PROCESS].revents)
			break;
		if (fd[SIGNALS].revents && watch_signal(&system->watch, &system->command))
			break;
		if (!interval_ns || now_ns() < next)
			continue;
		take_interval(system);
		next += interval_ns;
		if (++n == system->options->count)
			return;
	}
	/* What is left, so that the lines add up. */
	if (perfctr_session_stop(system->session) < 0)
		fail("cannot stop the counters: %m");
	take_interval(system);
}

static int count_system(struct system *system)
{
	int status = start(system);

	if (status)
		return status;
	system_print_head(system->file, system->options, &system->events);
	if (system->command.pid)
		command_resume(&system->command);
	count_intervals(system);
	if (system->command.pid)
		system->wait_status = command_wait(&system->command);
	if (system->file != stdout && fclose(system->file))
		fail("cannot write '%s': %m", system->options->run.output);
	return 0;
}

int system_count(const struct system_options *options)
{
	struct system system = {
		.options = options,
		.command = { .process = -1, .go = -1, .failure = -1 },
	};
	int status = EXIT_PERFEX;

	if (!session_pmu_info(&system.info))
		return EXIT_PERFEX;
	if (events_plan(&system.events, &options->run, &system.info)) {
		apply_policy(&system);
		watch_begin(&system.watch, options->run.command[0]);
		status = count_system(&system);
	}
	perfctr_session_close(system.session);
	perfctr_group_close(system.group);
	free(system.last);
	events_free(&system.events);
	return status ? status : exit_as(system.wait_status);
}
