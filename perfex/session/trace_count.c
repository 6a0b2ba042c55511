// SPDX-License-Identifier: GPL-2.0-or-later
/* Marks the command, opens a session with a trace, and copies the trace's records to the file. */
#include "trace.h"
#include "session.h"

#include <errno.h>
#include <inttypes.h>

/* The size of each CPU's ring of records, in bytes.  The kernel allows unprivileged users less. */
#define RING_BYTES (1u << 20)
#define USER_RING_BYTES (1u << 16)
/* The rings are emptied once in this time: even a small ring holds the switches of that time. */
#define PAUSE_MS 10

struct tracing {
	const struct trace_options *options;
	struct perfctr_pmu_info info;
	struct events events;
	struct session_run run;
	FILE *file;
	bool broken;	  /* writing the file has failed */
	unsigned int cpu; /* the CPU that write_record() writes records of */
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

/* Complains only once.  perfex still waits for the command. */
static void complain_of_file(struct tracing *tracing)
{
	if (!tracing->broken)
		complain("cannot write '%s': %m", tracing->options->run.output);
	tracing->broken = true;
}

static void empty_rings(struct tracing *tracing)
{
	unsigned int n = perfctr_session_cpus(tracing->run.session);

	for (tracing->cpu = 0; tracing->cpu < n; tracing->cpu++)
		if (perfctr_session_trace(tracing->run.session, tracing->cpu, write_record,
					  tracing) < 0 &&
		    errno != EINVAL)
			fail("cannot read the trace: %m");
	if (ferror(tracing->file))
		complain_of_file(tracing);
}

static bool open_session(struct tracing *tracing)
{
	struct perfctr_session_options options = {
		.size = sizeof(options),
		.mark = tracing->run.mark,
		.policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED,
		.trace_bytes = RING_BYTES,
		.trace_ticks = tracing->options->ticks,
	};

	tracing->run.session = perfctr_session_open(&options);
	if (!tracing->run.session && errno == EACCES) {
		options.trace_bytes = USER_RING_BYTES;
		tracing->run.session = perfctr_session_open(&options);
	}
	return tracing->run.session;
}

static bool prepare_tracing(struct tracing *tracing)
{
	struct perfctr_control *control = &tracing->events.control[0];

	tracing->run.mark = perfctr_mark_open_with(tracing->options->run.backend, NULL);
	if (!tracing->run.mark || !open_session(tracing)) {
		complain_of_lack(tracing->options->run.backend, errno,
				 "has no traces; the kernel driver has");
		return false;
	}
	session_set_policies(control, &tracing->events, 0);
	return session_control(&tracing->run, control, &tracing->info);
}

/*
 * Creates the file and writes the names of the columns.  Names of events are quoted, because they
 * may contain commas.
 */
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

/*
 * Returns 0, or perfex's exit status after an error message; in that case the command has not
 * executed anything.
 */
static int start_tracing(struct tracing *tracing)
{
	int status;

	if (!prepare_tracing(tracing))
		return EXIT_PERFEX;
	status = session_launch(&tracing->run);
	if (status)
		return status;
	if (perfctr_mark_set(tracing->run.mark, tracing->run.command.pid, PERFCTR_MARK_PROCESS) < 0)
		complain_of_mark(errno, tracing->run.command.pid);
	else if (open_file(tracing))
		return 0;
	command_kill(&tracing->run.command);
	return EXIT_PERFEX;
}

static int pause_ms(void *unused)
{
	return PAUSE_MS;
}

static bool empty_rings_again(void *target)
{
	empty_rings(target);
	return false;
}

static void finish_tracing(struct tracing *tracing)
{
	struct perfctr_counts total;
	uint64_t lost;

	if (perfctr_session_stop(tracing->run.session) < 0 ||
	    perfctr_session_read(tracing->run.session, &total) < 0)
		fail("cannot read the counters: %m");
	empty_rings(tracing);
	lost = perfctr_session_lost(tracing->run.session);
	fprintf(tracing->file, "-1,0," TRACE_TOTAL ",0,0,%" PRIu64 ",", lost);
	write_counts(tracing->file, total.tsc, total.counter, total.n_counters);
	if (fclose(tracing->file))
		complain_of_file(tracing);
	if (lost)
		complain("%" PRIu64 " records were lost: the machine was too busy to write them",
			 lost);
}

static int trace_command(struct tracing *tracing)
{
	const struct session_loop loop = {
		.timeout = pause_ms,
		.step = empty_rings_again,
		.target = tracing,
		.by_members = true,
	};
	int status;

	session_begin(&tracing->run, &tracing->options->run);
	status = start_tracing(tracing);
	if (status)
		return status;
	command_resume(&tracing->run.command);
	session_wait(&tracing->run, &loop);
	finish_tracing(tracing);
	return tracing->broken ? EXIT_PERFEX : 0;
}

int trace_count(const struct trace_options *options)
{
	struct tracing tracing = {
		.options = options,
		.info = session_pmu_info(&options->run, false),
	};
	int status = EXIT_PERFEX;

	if (events_plan(&tracing.events, &options->run, &tracing.info)) {
		warn_of_events(&tracing.events, &tracing.info);
		status = trace_command(&tracing);
	}
	session_end(&tracing.run);
	events_free(&tracing.events);
	return status ? status : exit_as(tracing.run.wait_status);
}
