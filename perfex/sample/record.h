/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex record: counts a command and all that it creates, and records where its threads are at
 * each end of a period.
 *
 * ../cmd_record.c	the command line
 * record_periods.c	the periods of the events, by options or from counts
 * record_run.c		one run: opens context and samples, and takes the samples
 * record_maps.c		records the names and mappings of the processes
 * record_clock.c	samples by task-clock, which needs no counter
 * record_kernel.c	finds the names of functions of the kernel
 * samples_file.c	writes the file
 *
 * ../tools/samples/samples.h reads the file.  ../result/samples_format.h describes its format.
 */
#ifndef PERFEX_RECORD_H
#define PERFEX_RECORD_H

#include "../run/run.h"

#include <perfctr_samples.h>
#include <poll.h>

#define RECORD_DEFAULT_PERIOD 1000003 /* a prime */
/* Samples at random places of periods are not in step with a program that repeats itself. */
#define RECORD_DEFAULT_JITTER 100 /* per cent */
#define RECORD_DEFAULT_FILE "perfex.samples"
#define RECORD_CLOCK "task-clock"
#define RECORD_CLOCK_PERIOD 250007 /* ns, as far as no other was given */
#define RECORD_WHO_SEES_KERNEL                                                                     \
	"it needs CAP_PERFMON, or 1 or less in /proc/sys/kernel/perf_event_paranoid"

struct record_options {
	struct options run; /* events, modes, file, command */
	uint64_t *period;   /* of the first n_periods of run.events; 0: counted without samples */
	size_t n_periods;
	uint64_t default_period;  /* of events without a period of their own; 0: not given */
	unsigned int frequency;	  /* of --freq: samples of each event in a second; 0: not given */
	unsigned int jitter;	  /* per cent */
	unsigned int max_samples; /* 0: no limit */
	unsigned int depth;	  /* most callers */
	unsigned int room_kb;	  /* for each CPU; 0: as much as is allowed, up to 1024 */
	unsigned int seed;
	bool registers, callers;
	bool clock; /* the only event is task-clock; timers end its periods */
	bool clock_by_default;
};

/* As record_options.jitter: not given. */
#define RECORD_NO_JITTER (-1u)

/* record_periods.c */
/*
 * For --period: sets the period of the events before it that have none yet.  In front of all
 * events, sets default_period.  Ends perfex if text is no period, if all events before it have a
 * period, or if default_period is set already.
 */
void record_take_period(void *target, const struct option_row *row, const char *text);
/* For --beside: appends events that are counted without samples. */
void record_take_beside(void *target, const struct option_row *row, const char *list);
/*
 * Sets what the options leave open: an event, the period of each event, the file.  The event is
 * task-clock if no backend samples instructions here.  Ends perfex if options exclude each other.
 */
void record_settle(struct record_options *options);
/*
 * Returns the period for "frequency" samples in a second, given that "events" events happened in
 * "seconds" seconds.  The period is a prime number.  Returns 0 if it would be below 2 or above
 * 2^40.
 */
uint64_t record_fit_period(uint64_t events, double seconds, unsigned int frequency);

/* record_run.c: runs and records the command, and returns perfex's exit status */
int record_command(struct record_options *options);

/* record_maps.c */
struct maps;

/*
 * Begins to record the names and mappings of process pid and of all that it creates.  The process
 * must not have executed its program yet.  room_kb: of the records of each CPU until they are
 * taken; 0: usual.  Returns NULL, after an error message, if this is impossible.
 */
struct maps *maps_open(pid_t pid, unsigned int room_kb);
/* Returns the descriptor of ring i, and its CPU. */
int maps_ring(const struct maps *maps, size_t i, int *cpu);
/* Converts a time of CLOCK_MONOTONIC_RAW to a time stamp. */
uint64_t maps_time(const struct maps *maps, uint64_t ns);
/*
 * Returns the number of descriptors for poll().  Fills in fd for each of them, unless fd is NULL.
 */
size_t maps_descriptors(const struct maps *maps, struct pollfd *fd);
/* Writes all records that there are to the file.  Calls visit for each sample of a clock. */
struct perf_event_header;
typedef void maps_sample_visit(const struct perf_event_header *sample, unsigned int cpu,
			       void *argument);
void maps_take(struct maps *maps, FILE *file, maps_sample_visit *visit, void *argument);
/* Returns the number of records that were lost for lack of room. */
uint64_t maps_lost(const struct maps *maps);
void maps_close(struct maps *maps);

/* record_clock.c */
struct clock;

/*
 * Lets process pid, and all that it creates, be sampled by task-clock from clock_start() on.  The
 * samples are in the rings of maps, which is open for the same process.  Returns NULL after an
 * error message.
 */
struct clock *clock_open(const struct maps *maps, pid_t pid, const struct record_options *options);
void clock_start(const struct clock *clock);
void clock_close(struct clock *clock);
/* Returns the modes that have samples, PERFCTR_MODE_*. */
unsigned int clock_modes(const struct clock *clock);
/* For maps_sample_visit: calls visit with the sample.  It has neither counts nor a virtual time. */
void clock_take(const struct clock *clock, const struct maps *maps,
		const struct perf_event_header *header, unsigned int cpu,
		perfctr_sample_visit *visit, void *argument);

/* record_kernel.c */
/*
 * Adds an address to a set, a tree of tsearch(3) with elements uint64_t, which is NULL at first.
 * The caller frees the set by tdestroy(3) with free().
 */
void kernel_addresses_add(void **addresses, uint64_t address);
/*
 * Writes a line "kernel START NAME" for each function of this kernel that contains an address of
 * the set.  Writes nothing if /proc/kallsyms hides its addresses from the user.
 */
void kernel_addresses_name(const void *addresses, FILE *file);

/* samples_file.c */
struct samples_head {
	const struct record_options *options;
	const struct perfctr_pmu_info *info;
	const struct events *events;
	const struct perfctr_control *control;
};

/*
 * Returns false, after an error message, if path cannot be read or written, or is another file that
 * must not be overwritten.
 */
bool samples_file_check(const char *path);
void samples_file_head(FILE *file, const struct samples_head *head);
void samples_file_sample(FILE *file, const struct perfctr_sample_view *view);
struct samples_end {
	const struct perfctr_counts *counts;
	const struct perfctr_periods *periods;
	const struct perfctr_sampled *sampled;
	uint64_t maps_lost;
};
void samples_file_end(FILE *file, const struct perfctr_control *control,
		      const struct samples_end *end);
/* Writes text as the last field of a line: '%' and two digits for a control character or a '%'. */
void samples_file_text(FILE *file, const char *text);

#endif
