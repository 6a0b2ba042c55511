// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "record.h"
#include "../session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define USER_ROOM_KB 64 /* more needs CAP_PERFMON */
#define LEAST_ROOM_KB 4
#define ROOM_KB 1024

struct recorder {
	const struct record_options *options;
	struct perfctr_pmu_info info;
	struct events events;
	struct perfctr_control *control;
	struct watch watch;
	struct rerun rerun;
	struct command command;
	struct perfctr *context;
	/* NULL in a run that is counted but not recorded: */
	struct perfctr_samples *samples; /* NULL also with a clock */
	struct maps *maps;
	struct clock *clock; /* NULL: counters end the periods */
	uint64_t n_clock;    /* its samples */
	void *kernel;  /* set of addresses of samples in the kernel */
	uint64_t late; /* periods that samples report, without the last one of each sample */
	FILE *file;
	bool records; /* this run is recorded */
	bool broken;  /* the file cannot be written, and perfex has reported it */
	bool ended;   /* max_samples has ended sampling */
	struct rusage usage;
	int wait_status;
};

static void complain_of_samples(const char *backend, int error, unsigned int room_kb)
{
	errno = error;
	if (error == ENOTSUP)
		complain_of_lack(backend, error,
				 "takes no samples here; the kernel driver does, where counters "
				 "interrupt: perfex info shows it");
	else if (error == EMFILE)
		complain("samples would take more memory than perfctr allows a user; give less by "
			 "--room=KB");
	else if (error == EACCES && room_kb > USER_ROOM_KB)
		complain("more than %d KB of samples for each CPU need CAP_PERFMON; give less by "
			 "--room=KB",
			 USER_ROOM_KB);
	else
		complain_of_open(backend, error);
}

/*
 * Opens samples with the room of --room, or else with as much as is allowed, up to ROOM_KB.  Each
 * possible CPU gets this room, but the limit of the user's memory grows with the CPUs that are
 * online.  Returns false after an error message.
 */
static bool open_samples(struct recorder *recorder)
{
	const struct record_options *asked = recorder->options;
	unsigned int room_kb = asked->room_kb ? asked->room_kb : ROOM_KB;
	struct perfctr_samples_options options = {
		.size = sizeof(options),
		.flags = (asked->registers ? PERFCTR_SAMPLES_REGISTERS : 0) |
			 (asked->callers ? PERFCTR_SAMPLES_CHAIN : 0),
		.depth = asked->callers ? asked->depth : 0,
		.room_bytes = room_kb << 10,
		.jitter = asked->jitter,
		.max_samples = asked->max_samples,
		.seed = asked->seed,
	};

	recorder->samples = perfctr_samples_open(recorder->context, &options);
	while (!recorder->samples && !asked->room_kb && (errno == EACCES || errno == EMFILE) &&
	       options.room_bytes > LEAST_ROOM_KB << 10) {
		options.room_bytes /= 2;
		recorder->samples = perfctr_samples_open(recorder->context, &options);
	}
	if (!recorder->samples)
		complain_of_samples(asked->run.backend, errno, room_kb);
	return recorder->samples;
}

static void close_context(struct recorder *recorder)
{
	clock_close(recorder->clock);
	maps_close(recorder->maps);
	perfctr_samples_close(recorder->samples);
	perfctr_close(recorder->context);
	recorder->clock = NULL;
	recorder->maps = NULL;
	recorder->samples = NULL;
	recorder->context = NULL;
}

/* Opens what this run records.  Returns false after an error message. */
static bool open_records(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	pid_t pid = recorder->command.pid;

	if (!options->clock && !open_samples(recorder))
		return false;
	recorder->maps = maps_open(pid, options->clock ? options->room_kb : 0);
	if (!recorder->maps)
		return false;
	if (options->clock)
		recorder->clock = clock_open(recorder->maps, pid, options);
	return !options->clock || recorder->clock;
}

static bool open_context(struct recorder *recorder)
{
	const char *backend = recorder->options->run.backend;
	pid_t pid = recorder->command.pid;

	recorder->context = perfctr_open_with(backend, pid, PERFCTR_OPEN_CREATE);
	if (!recorder->context) {
		complain_of_open(backend, errno);
		return false;
	}
	if (recorder->records && !open_records(recorder))
		return false;
	if (perfctr_set_control(recorder->context, recorder->control) == 0)
		return true;
	complain_of_control(backend, errno, recorder->control, &recorder->info);
	return false;
}

/*
 * Starts counting while the command is stopped before its first instruction.  The kernel drops the
 * context when the command executes a set-user-id program, or one that its user may not read.  Then
 * opens another context, which works if perfex may trace that program.  Returns false after an
 * error message.
 */
static bool start_command(struct recorder *recorder)
{
	bool good = perfctr_start(recorder->context) == 0;

	if (!good && errno == ESRCH) {
		close_context(recorder);
		if (!open_context(recorder))
			return false;
		good = perfctr_start(recorder->context) == 0;
	}
	if (good && recorder->clock)
		clock_start(recorder->clock);
	if (good)
		return true;
	complain_of_start(recorder->options->run.backend, errno);
	return false;
}

static void complain_of_file(struct recorder *recorder)
{
	if (!recorder->broken)
		complain("cannot write '%s': %m", recorder->options->run.output);
	recorder->broken = true;
}

static int write_sample(const struct perfctr_sample_view *view, void *argument)
{
	struct recorder *recorder = argument;

	samples_file_sample(recorder->file, view);
	recorder->late += view->sample->periods - (view->sample->periods != 0);
	if (view->sample->flags & PERFCTR_SAMPLE_KERNEL)
		kernel_addresses_add(&recorder->kernel, view->sample->ip);
	return 0;
}

static void take_from_clock(const struct perf_event_header *sample, unsigned int cpu,
			    void *argument)
{
	struct recorder *recorder = argument;

	if (recorder->ended)
		return;
	clock_take(recorder->clock, recorder->maps, sample, cpu, write_sample, recorder);
	recorder->n_clock++;
	recorder->ended = recorder->n_clock == recorder->options->max_samples;
}

static void take_samples(struct recorder *recorder)
{
	maps_take(recorder->maps, recorder->file, take_from_clock, recorder);
	if (recorder->samples &&
	    perfctr_samples_take(recorder->samples, write_sample, recorder) < 0) {
		if (errno != ENOSPC)
			fail("cannot read the samples: %m");
		recorder->ended = true;
	}
	if (fflush(recorder->file))
		complain_of_file(recorder);
}

enum { SIGNALS, PROCESS, SAMPLES, MAPS };

/* The file has all that is older than this, even if perfex is killed. */
#define MOST_MS 1000

/* Takes samples and handles signals until the command has ended. */
static void wait_for_end(struct recorder *recorder)
{
	size_t n = recorder->maps ? maps_descriptors(recorder->maps, NULL) : 0;
	struct pollfd *fd = allocate(MAPS + n, sizeof(*fd));

	fd[SIGNALS] = (struct pollfd){ recorder->watch.signals, POLLIN, 0 };
	fd[PROCESS] = (struct pollfd){ recorder->command.process, POLLIN, 0 };
	fd[SAMPLES] = (struct pollfd){ recorder->samples ? perfctr_fd(recorder->context) : -1,
				       POLLIN, 0 };
	if (recorder->maps)
		maps_descriptors(recorder->maps, fd + MAPS);
	while (!fd[PROCESS].revents) {
		if (poll(fd, MAPS + n, recorder->maps ? MOST_MS : -1) < 0) {
			if (errno == EINTR)
				continue;
			fail("cannot wait for the end: %m");
		}
		if (fd[SIGNALS].revents)
			watch_signal(&recorder->watch, &recorder->command);
		if (recorder->maps)
			take_samples(recorder);
		/* poll() would return at once, for ever, for descriptors that have hung up. */
		for (size_t i = SAMPLES; i < MAPS + n; i++)
			if (fd[i].revents & (POLLHUP | POLLERR | POLLNVAL) || recorder->ended)
				fd[i].fd = i == SAMPLES || fd[i].revents & ~POLLIN ? -1 : fd[i].fd;
	}
	free(fd);
	recorder->wait_status = command_wait(&recorder->command, &recorder->usage);
}

/* Returns an empty file, or NULL with errno; EWOULDBLOCK: another perfex records there. */
static FILE *create_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666), error;
	struct stat status;
	FILE *file = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    (flock(fd, LOCK_EX | LOCK_NB) == 0 && ftruncate(fd, 0) == 0))
		file = fdopen(fd, "w");
	error = errno;
	if (!file)
		close(fd);
	errno = error;
	return file;
}

/*
 * Creates the file, and writes its head.  To be called after the command was executed, so that a
 * mistyped command does not destroy an older recording.  Returns false after an error message.
 */
static bool open_file(struct recorder *recorder)
{
	const char *path = recorder->options->run.output;
	const struct samples_head head = { recorder->options, &recorder->info, &recorder->events,
					   recorder->control };

	if (!samples_file_check(path))
		return false;
	recorder->file = create_file(path);
	if (!recorder->file && errno == EWOULDBLOCK)
		complain("another perfex is writing '%s': give each its own file, like out.%%p for the "
			 "process",
			 path);
	else if (!recorder->file)
		complain("cannot write '%s': %m", path);
	if (!recorder->file)
		return false;
	samples_file_head(recorder->file, &head);
	return true;
}

/*
 * Runs the command to its end, and returns 0.  If it cannot be started, returns the exit status of
 * perfex, after an error message; then no instruction of the command has run.
 */
static int run_once(struct recorder *recorder)
{
	const struct options *options = &recorder->options->run;
	int status = EXIT_PERFEX;

	recorder->control->flags =
		PERFCTR_CONTROL_STOPPED | PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_PHASE;
	if (!rerun_next(&recorder->rerun, &recorder->watch))
		return recorder->watch.stop ? exit_as(recorder->watch.stop) : EXIT_PERFEX;
	if (!command_fork(&recorder->command, options, NULL, &recorder->watch))
		return EXIT_PERFEX;
	if (open_context(recorder)) {
		status = command_exec(&recorder->command, options->command);
		if (!status &&
		    ((recorder->records && !open_file(recorder)) || !start_command(recorder)))
			status = EXIT_PERFEX;
	}
	if (status) {
		command_kill(&recorder->command);
		close_context(recorder);
		return status;
	}
	command_resume(&recorder->command);
	wait_for_end(recorder);
	perfctr_stop(recorder->context);
	return 0;
}

static void read_counts(const struct recorder *recorder, struct perfctr_counts *counts)
{
	if (perfctr_read_scope(recorder->context, PERFCTR_SCOPE_TREE, counts) < 0)
		fail("cannot read the counters: %m");
	complain_of_loss(counts);
	warn_of_disturbance(counts);
}

/* Returns the place in events of the event that has this index in the control. */
static size_t find_event(const struct recorder *recorder, uint32_t index)
{
	size_t i = 0;

	while (recorder->events.event[i].index != index)
		i++;
	return i;
}

static const char *event_name(const struct recorder *recorder, uint32_t index)
{
	return recorder->events.event[find_event(recorder, index)].name;
}

static bool is_sampled(const struct recorder *recorder, uint32_t index)
{
	return recorder->options->period[find_event(recorder, index)] != 0;
}

/*
 * Sets the periods for --freq by the counts of the run before.  Returns false, after an error
 * message, if no period fits an event.
 */
static bool fit_periods(struct recorder *recorder, const struct perfctr_counts *counts)
{
	double seconds = (double)counts->tsc / ((double)recorder->info.tsc_khz * 1000);
	unsigned int frequency = recorder->options->frequency;

	for (uint32_t i = 0; i < recorder->control->n_events; i++) {
		uint64_t period = record_fit_period(counts->counter[i], seconds, frequency);

		if (!is_sampled(recorder, i))
			continue;
		if (!period) {
			complain("--freq=%u: of %s there were %" PRIu64
				 " in %.3f s, from which no period follows; give --period=EVENTS",
				 frequency, event_name(recorder, i), (uint64_t)counts->counter[i],
				 seconds);
			return false;
		}
		recorder->control->event[i].period = period;
		complain("%s: %" PRIu64 " in %.3f s of time on CPUs; a period of %" PRIu64
			 " gives %u samples in a second; the next run is the recorded one",
			 event_name(recorder, i), (uint64_t)counts->counter[i], seconds, period,
			 frequency);
	}
	return true;
}

/*
 * Runs the command without samples, and sets the periods for --freq.  Returns 0, or perfex's exit
 * status after an error message.
 */
static int fit_by_run(struct recorder *recorder)
{
	struct perfctr_counts counts;
	int status;

	if (!recorder->info.tsc_khz) {
		complain("--freq: the rate of the time stamp counter is not known; give "
			 "--period=EVENTS");
		return EXIT_PERFEX;
	}
	status = run_once(recorder);
	if (status)
		return status;
	read_counts(recorder, &counts);
	close_context(recorder);
	if (recorder->watch.stop || recorder->wait_status) {
		complain("the run before the recorded one was ended, or failed; give "
			 "--period=EVENTS");
		return EXIT_PERFEX;
	}
	return fit_periods(recorder, &counts) ? 0 : EXIT_PERFEX;
}

/*
 * Warns if more than 5 % of the periods were found only after the next one had ended.  A few always
 * are; many are if there are too many interrupts.
 */
static void complain_of_late(const struct recorder *recorder, const struct perfctr_periods *periods)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < periods->n_counters; i++)
		all += periods->over[i];
	if (recorder->late > all / 20)
		complain("warning: %" PRIu64 " of %" PRIu64
			 " periods were found late, with one behind them: no function has them; "
			 "give a longer --period",
			 recorder->late, all);
}

/*
 * Of a clock: the first period of a thread begins with the thread, and a timer can be late.  Warns
 * if the samples stand for less than 95 % of the time.
 */
static void complain_of_timers(const struct recorder *recorder, uint64_t ns)
{
	uint64_t sampled_ns = recorder->n_clock * recorder->options->period[0];

	if (!(clock_modes(recorder->clock) & PERFCTR_MODE_KERNEL))
		complain("time in the kernel has no samples, but is in the total%s",
			 recorder->options->run.modes_name ? "" : ": " RECORD_WHO_SEES_KERNEL);
	else if (!(clock_modes(recorder->clock) & PERFCTR_MODE_USER))
		complain("time in user mode has no samples, but is in the total");
	else if (!recorder->ended && sampled_ns < ns - ns / 20)
		complain("warning: the samples stand for %.0f %% of the time on CPUs, which is %.6f "
			 "s: threads shorter than a period have none, and timers can be late",
			 100.0 * (double)sampled_ns / (double)ns, (double)ns / 1e9);
}

/* Reports what was lost, and how many samples there are. */
static void report_end(const struct recorder *recorder, const struct samples_end *end)
{
	const struct perfctr_sampled *sampled = end->sampled;

	complain_of_late(recorder, end->periods);
	if (end->counts->members)
		complain("of what the command began %u threads still run; they are recorded until "
			 "now",
			 end->counts->members);
	if (sampled->lost)
		complain("%" PRIu64
			 " samples were lost, for which there was no room; give a longer "
			 "--period, or more by --room=KB",
			 (uint64_t)sampled->lost);
	if (end->maps_lost)
		complain("%" PRIu64 " records of what was mapped were lost; some addresses will "
			 "have no name",
			 end->maps_lost);
	if (recorder->clock)
		complain_of_timers(recorder, end->counts->counter[0]);
	complain("%" PRIu64 " samples in '%s'; perfex samples shows them",
		 (uint64_t)sampled->samples, recorder->options->run.output);
	if (sampled->flags & PERFCTR_SAMPLED_ENDED)
		complain("sampling ended with the last of %u samples, by --max; the command went "
			 "on, and its counts are of all of it",
			 recorder->options->max_samples);
}

static void read_sampled(const struct recorder *recorder, struct perfctr_sampled *sampled,
			 struct perfctr_periods *periods)
{
	if (recorder->clock) {
		uint64_t lost = maps_lost(recorder->maps);

		*sampled = (struct perfctr_sampled){
			.samples = recorder->n_clock,
			.lost = lost,
			.lost_weight = { lost * recorder->options->period[0] },
			.flags = recorder->ended ? PERFCTR_SAMPLED_ENDED : 0,
		};
		*periods = (struct perfctr_periods){ .over = { recorder->n_clock } };
		return;
	}
	if (perfctr_samples_read(recorder->samples, sampled) < 0 ||
	    perfctr_read_periods(recorder->context, PERFCTR_SCOPE_TREE, periods) < 0)
		fail("cannot read the totals of the samples: %m");
}

static int finish_recording(struct recorder *recorder)
{
	struct perfctr_counts counts;
	struct perfctr_periods periods;
	struct perfctr_sampled sampled;
	struct samples_end end = { &counts, &periods, &sampled, 0 };

	take_samples(recorder);
	read_sampled(recorder, &sampled, &periods);
	read_counts(recorder, &counts);
	/* The ring of a clock does not tell which records are lost: nearly all are samples. */
	end.maps_lost = recorder->clock ? 0 : maps_lost(recorder->maps);
	kernel_addresses_name(recorder->kernel, recorder->file);
	samples_file_end(recorder->file, recorder->control, &end);
	if (fclose(recorder->file))
		complain_of_file(recorder);
	if (recorder->broken)
		return EXIT_PERFEX;
	report_end(recorder, &end);
	return sampled.flags & PERFCTR_SAMPLED_ENDED ? EXIT_PERFEX : 0;
}

static int record_runs(struct recorder *recorder)
{
	int status = 0;

	recorder->rerun.input = recorder->options->run.input;
	if (!samples_file_check(recorder->options->run.output) ||
	    !rerun_begin(&recorder->rerun, recorder->options->frequency ? 2 : 1))
		return EXIT_PERFEX;
	watch_begin(&recorder->watch, true);
	if (recorder->options->frequency)
		status = fit_by_run(recorder);
	if (status)
		return status;
	recorder->records = true;
	status = run_once(recorder);
	if (!status)
		status = finish_recording(recorder);
	else if (recorder->file)
		fclose(recorder->file);
	close_context(recorder);
	tdestroy(recorder->kernel, free);
	return status;
}

/*
 * Sets the periods, unless --freq will.  Returns false, after an error message, for an event of the
 * operating system, which has no counter that could interrupt.
 */
static bool set_periods(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;

	if (options->clock)
		return true;
	for (size_t i = 0; i < recorder->events.n; i++) {
		const struct event *event = &recorder->events.event[i];

		if (!(event->request.general | event->request.fixed)) {
			complain("event '%s': samples are of events of the processor; count it by "
				 "perfex run",
				 event->name);
			return false;
		}
		if (!options->frequency)
			recorder->control->event[event->index].period = options->period[i];
	}
	return true;
}

int record_command(struct record_options *options)
{
	struct recorder recorder = { .options = options,
				     .info = *perfctr_events_info(options->run.database) };
	int status = EXIT_PERFEX;

	if (options->clock_by_default)
		complain("no counter can be sampled here (perfex info says why); the samples are of "
			 RECORD_CLOCK ", the time on CPUs");
	if (events_plan(&recorder.events, &options->run, &recorder.info)) {
		recorder.control = &recorder.events.control[0];
		warn_of_events(&recorder.events, &recorder.info);
		if (set_periods(&recorder))
			status = record_runs(&recorder);
	}
	events_free(&recorder.events);
	return status ? status : exit_as(recorder.wait_status);
}
