// SPDX-License-Identifier: GPL-2.0-or-later
/* A group, a session with a trace of it, and the way of its records into the file. */
#include "trace.h"
#include "mark.h"

#include <perfctr_groups.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>

/* Of the records that a CPU's ring holds, in bytes; the kernel allows less to the unprivileged. */
#define RING_BYTES (1u << 20)
#define USER_RING_BYTES (1u << 16)
/* Rings are emptied as often: a small one holds the switches of that time. */
#define PAUSE_MS 10

struct tracing {
	const struct trace_options *options;
	struct perfctr_pmu_info info;
	struct events events;
	struct watch watch;
	struct command command;
	struct perfctr_group *group;
	struct perfctr_session *session;
	FILE *file;
	unsigned int cpu; /* whose records are being written */
	int wait_status;
};

static void write_counts(FILE *file, uint64_t tsc, const __u64 counter[], uint32_t n)
{
	fprintf(file, "%" PRIu64, tsc);
	for (uint32_t i = 0; i < n; i++)
		fprintf(file, ",%" PRIu64, (uint64_t)counter[i]);
	putc('\n', file);
}

static int write_record(const struct perfctr_trace_record *record, void *argument)
{
	static const char *const types[] = {
		[PERFCTR_TRACE_SWITCH] = "switch",
		[PERFCTR_TRACE_TICK] = "tick",
		[PERFCTR_TRACE_STOP] = "stop",
	};
	const struct tracing *tracing = argument;

	fprintf(tracing->file, "%u,%" PRIu64 ",%s,%d,%d,%u,", tracing->cpu, (uint64_t)record->time,
		types[record->type], record->tgid, record->tid, record->lost);
	write_counts(tracing->file, record->tsc, record->counter,
		     tracing->events.control[0].n_events);
	return 0;
}

static void empty_rings(struct tracing *tracing)
{
	unsigned int n = perfctr_session_cpus(tracing->session);

	for (tracing->cpu = 0; tracing->cpu < n; tracing->cpu++)
		if (perfctr_session_trace(tracing->session, tracing->cpu, write_record, tracing) <
			    0 &&
		    errno != EINVAL)
			fail("cannot read the trace: %m");
	if (ferror(tracing->file))
		fail("cannot write '%s': %m", tracing->options->run.output);
}

static bool open_session(struct tracing *tracing)
{
	struct perfctr_session_options options = {
		.group = tracing->group,
		.policy = PERFCTR_POLICY_DP | PERFCTR_POLICY_DMR,
		.trace_bytes = RING_BYTES,
		.trace_ticks = tracing->options->ticks,
	};

	tracing->session = perfctr_session_open(&options);
	if (!tracing->session && errno == EACCES) {
		options.trace_bytes = USER_RING_BYTES;
		tracing->session = perfctr_session_open(&options);
	}
	return tracing->session;
}

static bool prepare(struct tracing *tracing)
{
	struct perfctr_control *control = &tracing->events.control[0];

	tracing->group = perfctr_group_open(NULL);
	if (!tracing->group || !open_session(tracing)) {
		complain_of_open(errno);
		return false;
	}
	mark_policies(control, &tracing->events);
	if (perfctr_session_control(tracing->session, control) == 0)
		return true;
	complain_of_control(errno, control, &tracing->info);
	return false;
}

/* The names of the columns; those of events are quoted, as they may contain commas. */
static bool open_file(struct tracing *tracing)
{
	const char *path = tracing->options->run.output;

	tracing->file = fopen(path, "we");
	if (!tracing->file) {
		complain("cannot write '%s': %m", path);
		return false;
	}
	fprintf(tracing->file, TRACE_HEAD "%u\n" TRACE_COLUMNS, tracing->info.tsc_khz);
	for (uint32_t i = 0; i < tracing->events.control[0].n_events; i++)
		for (size_t k = 0; k < tracing->events.n; k++)
			if (tracing->events.event[k].index == i)
				fprintf(tracing->file, ",\"%s\"",
					tracing->events.event[k].request.name);
	putc('\n', tracing->file);
	return true;
}

/* 0, or perfex's exit status after one line of complaint, and nothing has run. */
static int start(struct tracing *tracing)
{
	char **command = tracing->options->run.command;
	int status;

	if (!prepare(tracing) || !command_fork(&tracing->command, command, &tracing->watch))
		return EXIT_PERFEX;
	status = command_exec(&tracing->command, command);
	if (status)
		return status;
	if (perfctr_mark(tracing->group, tracing->command.pid, PERFCTR_MARK_PROCESS) < 0)
		complain_of_mark(errno, tracing->command.pid);
	else if (open_file(tracing))
		return 0;
	command_kill(&tracing->command);
	return EXIT_PERFEX;
}

enum { SIGNALS, PROCESS, GROUP };

/* Until nobody bears the mark, or a signal says that it is enough; then for the command alone. */
static void write_trace(struct tracing *tracing)
{
	struct pollfd fd[] = {
		[SIGNALS] = { tracing->watch.signals, POLLIN, 0 },
		[PROCESS] = { tracing->command.process, POLLIN, 0 },
		[GROUP] = { perfctr_group_fd(tracing->group), POLLIN, 0 },
	};
	bool running = true, end = false;

	while (running || !end) {
		if (poll(fd, GROUP + 1, PAUSE_MS) < 0 && errno != EINTR)
			fail("cannot wait for the end: %m");
		empty_rings(tracing);
		if (fd[SIGNALS].revents)
			end |= watch_signal(&tracing->watch, &tracing->command);
		if (fd[GROUP].revents && perfctr_members(tracing->group, NULL, 0) == 0) {
			fd[GROUP].fd = -1;
			end = true;
		}
		if (fd[PROCESS].revents) {
			tracing->wait_status = command_wait(&tracing->command);
			fd[PROCESS].fd = -1;
			running = false;
			end |= tracing->watch.stop;
		}
	}
}

static void finish(struct tracing *tracing)
{
	struct perfctr_counts total;
	uint64_t lost;

	if (perfctr_session_stop(tracing->session) < 0 ||
	    perfctr_session_read(tracing->session, &total) < 0)
		fail("cannot read the counters: %m");
	empty_rings(tracing);
	lost = perfctr_session_lost(tracing->session);
	fprintf(tracing->file, "-1,0," TRACE_TOTAL ",0,0,%" PRIu64 ",", lost);
	write_counts(tracing->file, total.tsc, total.counter, total.n_counters);
	if (fclose(tracing->file))
		fail("cannot write '%s': %m", tracing->options->run.output);
	if (lost)
		complain("%" PRIu64 " records were lost: the machine was too busy to write them",
			 lost);
}

static int trace(struct tracing *tracing)
{
	int status;

	watch_begin(&tracing->watch, true);
	status = start(tracing);
	if (status)
		return status;
	command_resume(&tracing->command);
	write_trace(tracing);
	finish(tracing);
	return 0;
}

int trace_count(const struct trace_options *options)
{
	struct tracing tracing = {
		.options = options,
		.command = { .process = -1, .go = -1, .failure = -1 },
	};
	int status = EXIT_PERFEX;

	if (!session_pmu_info(&tracing.info))
		return EXIT_PERFEX;
	if (events_plan(&tracing.events, &options->run, &tracing.info))
		status = trace(&tracing);
	perfctr_session_close(tracing.session);
	perfctr_group_close(tracing.group);
	events_free(&tracing.events);
	return status ? status : exit_as(tracing.wait_status);
}
