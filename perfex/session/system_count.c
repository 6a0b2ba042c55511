// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts CPUs by a session, and writes what it counts in each interval. */
#define _GNU_SOURCE
#include "system.h"
#include "session.h"
#include "../run/derived.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct system {
	const struct system_options *options;
	struct perfctr_pmu_info info;
	struct events events;
	struct session_run run;
	struct output output;
	struct text text; /* head or rows that are to be written to output */
	uint64_t started_ns, last_ns,
		next_ns; /* the start, the end of the last interval, the end of this one */
	unsigned int n_intervals;
	struct system_row *last; /* sums until last_ns: of all CPUs, then of each */
	bool unwritten;		 /* the file of metrics could not be written */
};

/* Removes the modes that the policy excludes, so that the output shows what is counted. */
static void apply_policy(struct system *system)
{
	for (size_t i = 0; i < system->events.n; i++) {
		struct perfctr_request *request = &system->events.event[i].request;

		if (system->options->policy & PERFCTR_EXCLUDE_KERNEL)
			request->modes &= ~PERFCTR_MODE_KERNEL;
		if (system->options->policy & PERFCTR_EXCLUDE_USER)
			request->modes &= ~PERFCTR_MODE_USER;
	}
}

static void complain_of_session(const struct system *system, int error)
{
	const unsigned int modes = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_USER;
	const char *backend = system->options->run.backend;

	errno = error;
	if (error == EACCES)
		complain(
			"counting on CPUs needs CAP_PERFMON; without it perfex mark counts your own "
			"processes");
	else if (error == EINVAL && system->options->cpu_list)
		complain("--cpus=%s: this machine does not have all of these CPUs; see "
			 "/sys/devices/system/cpu/possible",
			 system->options->cpu_list);
	else if (system->options->policy & ~modes)
		complain_of_lack(backend, error,
				 "counts CPUs by no policy about marks or idle threads; the kernel "
				 "driver does");
	else
		complain_of_lack(backend, error,
				 "does not count CPUs; the kernel driver and perf_events do, with "
				 "CAP_PERFMON");
}

/*
 * Opens the session and installs its control, but does not start it: no thread bears the mark yet.
 */
static bool open_session(struct system *system)
{
	const struct system_options *options = system->options;
	const unsigned int marks = PERFCTR_EXCLUDE_MARKED | PERFCTR_EXCLUDE_UNMARKED;
	struct perfctr_control *control = &system->events.control[0];
	struct perfctr_session_options session = {
		.size = sizeof(session),
		.policy = options->policy,
		.backend = options->run.backend,
	};

	if (options->cpu_list) {
		session.cpus = &options->cpus;
		session.cpus_size = sizeof(options->cpus);
	}
	if (options->policy & marks) {
		system->run.mark = perfctr_mark_open_with(session.backend, NULL);
		if (!system->run.mark) {
			complain_of_open(session.backend, errno);
			return false;
		}
		session.mark = system->run.mark;
	}
	system->run.session = perfctr_session_open(&session);
	if (!system->run.session) {
		complain_of_session(system, errno);
		return false;
	}
	if (options->run.usual_events)
		return true;
	if (options->cpu_list)
		return session_control_here(&system->run, &system->events, &system->info);
	control->flags = PERFCTR_CONTROL_STOPPED;
	return session_control(&system->run, control, &system->info);
}

/* perfex marks itself only after it has forked the command, which would inherit the mark. */
static bool set_marks(const struct system *system)
{
	pid_t pid = system->options->exclude_self ? getpid() : system->run.command.pid;

	if (!system->run.mark || perfctr_mark_set(system->run.mark, pid, PERFCTR_MARK_PROCESS) >= 0)
		return true;
	complain_of_mark(errno, pid);
	return false;
}

static void make_rows(struct system *system)
{
	unsigned int n = perfctr_session_cpus(system->run.session);

	system->last = allocate(1 + n, sizeof(*system->last));
	system->last[0].cpu = ALL_CPUS;
	for (unsigned int cpu = 0; cpu < n; cpu++)
		system->last[1 + cpu].cpu = (int)cpu;
}

static bool start_session(struct system *system)
{
	if (system->options->run.usual_events)
		return session_start_usual(&system->run, &system->events, &system->info, false);
	return perfctr_session_start(system->run.session) == 0;
}

/*
 * Returns 0, or perfex's exit status after an error message; in that case the command has not
 * executed anything.
 */
static int start_system(struct system *system)
{
	int status;

	if (!open_session(system))
		return EXIT_PERFEX;
	status = session_launch(&system->run);
	if (status)
		return status;
	if (!set_marks(system) || (!system->options->metrics &&
				   !output_open(&system->output, &system->options->run))) {
		command_kill(&system->run.command);
		return EXIT_PERFEX;
	}
	make_rows(system);
	if (!start_session(system)) {
		complain_of_start(system->options->run.backend, errno);
		exit(EXIT_PERFEX);
	}
	system->started_ns = now_ns();
	system->last_ns = system->started_ns;
	tell_substitute(&system->options->run);
	return 0;
}

/*
 * Updates the sums.  Prints the counts since the last interval, unless metrics, which are sums, are
 * wanted.
 */
static void take_row(struct system *system, struct system_row *last, uint64_t now, uint64_t tsc,
		     const __u64 counter[])
{
	struct system_row row = {
		.cpu = last->cpu,
		.time_ns = now - system->started_ns,
		.length_ns = now - system->last_ns,
		.tsc = tsc - last->tsc,
	};

	for (unsigned int i = 0; i < PERFCTR_MAX_COUNTERS; i++) {
		row.counter[i] = counter[i] - last->counter[i];
		last->counter[i] = counter[i];
	}
	last->tsc = tsc;
	last->time_ns = row.time_ns;
	if (!system->options->metrics)
		system_print_row(system->text.file, system->options, &system->events, &row);
}

static bool is_counted(const struct system_options *options, unsigned int cpu)
{
	return !options->cpu_list || (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &options->cpus));
}

static void write_metrics(struct system *system)
{
	const struct system_options *options = system->options;
	unsigned int n_cpus = perfctr_session_cpus(system->run.session);
	const struct system_row **sums = allocate(1 + n_cpus, sizeof(*sums));
	size_t n = 0;
	bool good;

	if (!options->per_cpu)
		sums[n++] = &system->last[0];
	for (unsigned int cpu = 0; options->per_cpu && cpu < n_cpus; cpu++)
		if (is_counted(options, cpu))
			sums[n++] = &system->last[1 + cpu];
	good = system_write_metrics(options->metrics, &system->events, sums, n);
	if (!good && !system->unwritten)
		complain("cannot write '%s': %m", options->metrics);
	system->unwritten = !good;
	free(sums);
}

/* perfctr_session_read() also updates the totals of each CPU for perfctr_session_read_cpu(). */
static void take_interval(struct system *system)
{
	struct perfctr_counts counts;
	uint64_t now;

	if (perfctr_session_read(system->run.session, &counts) < 0)
		fail("cannot read the counters: %m");
	warn_of_disturbance(&counts);
	now = now_ns();
	text_open(&system->text);
	if (!system->options->per_cpu)
		take_row(system, &system->last[0], now, counts.tsc, counts.counter);
	for (unsigned int cpu = 0;
	     system->options->per_cpu && cpu < perfctr_session_cpus(system->run.session); cpu++) {
		if (!is_counted(system->options, cpu))
			continue;
		perfctr_session_read_cpu(system->run.session, cpu, &counts);
		take_row(system, &system->last[1 + cpu], now, counts.tsc, counts.counter);
	}
	text_close(&system->text);
	if (system->options->metrics)
		write_metrics(system);
	else
		output_put(&system->output, system->text.text, system->text.size);
	free(system->text.text);
	system->last_ns = now;
}

static uint64_t interval_ns(const struct system *system)
{
	return (uint64_t)system->options->run.interval_ms * 1000000;
}

static int until_next(void *target)
{
	const struct system *system = target;
	uint64_t now = now_ns();

	if (!interval_ns(system))
		return -1;
	return now < system->next_ns ? (int)((system->next_ns - now + 999999) / 1000000) : 0;
}

static bool end_interval(void *target)
{
	struct system *system = target;

	if (!interval_ns(system) || now_ns() < system->next_ns)
		return false;
	take_interval(system);
	system->next_ns += interval_ns(system);
	/* If there is a command, perfex waits for its end even if the output is broken. */
	return ++system->n_intervals == system->options->count ||
	       ((system->output.broken || system->unwritten) && !system->options->run.command[0]);
}

static void count_intervals(struct system *system)
{
	const struct session_loop loop = {
		.timeout = until_next,
		.step = end_interval,
		.target = system,
		.with_command = true,
	};

	system->next_ns = system->started_ns + interval_ns(system);
	if (!session_wait(&system->run, &loop))
		return;
	/* The last interval is shorter.  It is written so that the lines add up to the total. */
	if (perfctr_session_stop(system->run.session) < 0)
		fail("cannot stop the counters: %m");
	take_interval(system);
}

static void put_head(struct system *system)
{
	bool wanted = output_begin(&system->output);

	text_open(&system->text);
	system_print_head(system->text.file, system->options, &system->events);
	text_close(&system->text);
	output_heading(&system->output, system->text.text, system->text.size, wanted);
}

static int count_system(struct system *system)
{
	int status = start_system(system);

	if (status)
		return status;
	if (system->options->metrics)
		write_metrics(system);
	else
		put_head(system);
	if (system->unwritten) {
		command_kill(&system->run.command);
		return EXIT_PERFEX;
	}
	if (system->run.command.pid)
		command_resume(&system->run.command);
	count_intervals(system);
	if (system->options->metrics)
		return system->unwritten ? EXIT_PERFEX : 0;
	return output_close(&system->output) ? 0 : EXIT_PERFEX;
}

int system_count(const struct system_options *options)
{
	struct system system = {
		.options = options,
		.info = session_pmu_info(&options->run, options->cpu_list),
	};
	int status = EXIT_PERFEX;

	if (events_plan(&system.events, &options->run, &system.info) &&
	    (!options->run.rules || derived_check(options->run.rules, &system.events))) {
		warn_of_events(&system.events, &system.info);
		apply_policy(&system);
		session_begin(&system.run, &options->run);
		status = count_system(&system);
	}
	session_end(&system.run);
	free(system.last);
	events_free(&system.events);
	return status ? status : exit_as(system.run.wait_status);
}
