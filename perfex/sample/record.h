/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex record: a command, counted as a tree, and where its threads were at each end of a period.
 *
 * ../cmd_record.c	the command line
 * record_periods.c	the periods of the events, given or measured by a run that is only counted
 * record_run.c		one run: context, samples, and the loop that takes them
 * record_maps.c		what the processes are called and map meanwhile
 * record_kernel.c	what the functions of the kernel are called
 * samples_file.c	the file, and how it is written
 *
 * ../tools/samples/samples.h reads the file, whose format is in ../result/samples_format.h.
 */
#ifndef PERFEX_RECORD_H
#define PERFEX_RECORD_H

#include "../run/run.h"

#include <perfctr_samples.h>
#include <poll.h>

#define RECORD_DEFAULT_PERIOD 1000003 /* a prime */
/* One sample at random in each period: a program that repeats itself is not in step with them. */
#define RECORD_DEFAULT_JITTER 100 /* per cent */
#define RECORD_DEFAULT_FILE "perfex.samples"

struct record_options {
	struct options run; /* events, modes, file, command */
	uint64_t *period;   /* of run.event, up to n_periods; 0: it is counted beside */
	size_t n_periods;
	uint64_t default_period;  /* of those that get no other; 0: none was given */
	unsigned int frequency;	  /* samples of each event in a second, by a run before; 0: none */
	unsigned int jitter;	  /* per cent */
	unsigned int max_samples; /* 0: no end */
	unsigned int depth;
	unsigned int room_kb; /* of each CPU; 0: as much as is allowed, up to 1024 */
	unsigned int seed;
	bool registers, callers;
};

/* record_periods.c */
/* Of the events before it that have none yet; in front of all, of those that get no other. */
void record_take_period(void *target, const struct option_row *row, const char *text);
/* Events without a period. */
void record_take_beside(void *target, const struct option_row *row, const char *list);
/* What the options leave open: an event, each event's period, the file. */
void record_settle(struct record_options *options);
/*
 * The number of events after which there are so many samples in a second of the command's time; a
 * prime; 0: there were too few.
 */
uint64_t record_fit_period(uint64_t events, double seconds, unsigned int frequency);

/* record_run.c; returns perfex's exit status. */
int record_command(struct record_options *options);

/* record_maps.c */
struct maps;

/*
 * Whatever process pid, which has not executed its program yet, and those that it makes map and are
 * called.  NULL: it cannot be known, which has been said.
 */
struct maps *maps_open(pid_t pid);
/* How many descriptors poll() may wait for; fd: room for them, or NULL. */
size_t maps_descriptors(const struct maps *maps, struct pollfd *fd);
/* Writes what there is. */
void maps_take(struct maps *maps, FILE *file);
/* Records that found no room. */
uint64_t maps_lost(const struct maps *maps);
void maps_close(struct maps *maps);

/* record_kernel.c */
/* A set: tsearch(3) of uint64_t, for tdestroy(3) with free(). */
void kernel_addresses_add(void **addresses, uint64_t address);
/*
 * A line "kernel START NAME" for each function that the addresses are in, of this kernel, as far as
 * /proc/kallsyms tells: it has no addresses for who may not see them.
 */
void kernel_addresses_name(const void *addresses, FILE *file);

/* samples_file.c */
struct samples_head {
	const struct record_options *options;
	const struct perfctr_pmu_info *info;
	const struct events *events;
	const struct perfctr_control *control;
};

/* False: what is there is no such file, or cannot be written, which has been said. */
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
/* As the last of a line: no control characters, and '%' only before two digits. */
void samples_file_text(FILE *file, const char *text);

#endif
