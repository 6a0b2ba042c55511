/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex experiment: programs x experiments = jobs, from one YAML file.
 *
 * experiment_parse.c	the file
 * experiment_check.c	what in it cannot work here
 * experiment_job.c	the directory of a job, and what is done already
 * experiment_run.c	one repetition, and one run for samples
 * experiment_summary.c	the recordings of all repetitions as one
 * experiment_table.c	all jobs
 * cmd_experiment.c	the subcommand
 */
#ifndef PERFEX_EXPERIMENT_H
#define PERFEX_EXPERIMENT_H

#include <perfctr_events.h>
#include <stdbool.h>
#include <stdio.h>
#include "../../result/document.h"
#include "../../rules/rules.h"
#include "../../textfile.h"

/* A list of scalars of the file. */
struct strings {
	const char **string; /* NULL behind the last */
	unsigned int *line;
	size_t n;
};

struct program {
	const char *name;
	unsigned int line;
	struct strings command;	    /* argv */
	const char *directory;	    /* in which it runs; NULL: that of the file */
	const char *input;	    /* NULL: /dev/null */
	struct strings environment; /* NAME, value, NAME, value, ..; added to perfex's own */
	unsigned int exit_status;   /* what it must exit with */
};

/* What an experiment may set for itself, and the file for all. */
struct settings {
	unsigned int repetitions;
	unsigned int warmup; /* runs before them */
	unsigned int passes; /* the most runs of a repetition; 0: as many as needed */
	unsigned int modes;  /* place in mode_words, of events that name none */
	unsigned int view;   /* place in view_words */
};

extern const char *const mode_words[], *const view_words[];

struct experiment {
	const char *name;
	unsigned int line;
	struct strings events;
	struct strings derive;
	struct strings programs; /* names; none: all of the file */
	struct strings ebs;	 /* EVENT, PERIOD, EVENT, PERIOD, .. */
	struct settings settings;
	struct rules *rules;		 /* after experiment_check() */
	struct perfctr_request *request; /* of each event, after experiment_check_events() */
	unsigned int n_passes;
	uint64_t *period; /* of each event, after experiment_check(); NULL: none is sampled */
};

struct experiment_file {
	const char *directory;	 /* of the results */
	unsigned int confidence; /* per cent */
	struct settings settings;
	struct program *program;
	size_t n_programs;
	struct experiment *experiment;
	size_t n_experiments;
	void *document; /* which the strings belong to */
};

/* NULL: error says why, and where. */
struct experiment_file *experiment_parse(const char *text, size_t length, struct text_error *error);
void experiment_free(struct experiment_file *file);
struct program *find_program(const struct experiment_file *file, const char *name);

/* False: error names the first thing that cannot work here, or with the events of the machine. */
bool experiment_check(struct experiment_file *file, struct text_error *error);
bool experiment_check_events(struct experiment_file *file, struct perfctr_events *database,
			     struct text_error *error);
/* Where the program is; for free().  NULL with errno set. */
char *program_path(const struct program *program);

/* A program under an experiment, and the directory of its results. */
struct job {
	const struct experiment_file *file;
	const struct program *program;
	const struct experiment *experiment;
	char *directory;
	json_object *definition;     /* docs/perfex-job.schema.json */
	unsigned int done;	     /* repetitions that are complete */
	bool sampled;		     /* the samples are there, or none are wanted */
	struct document *summary;    /* of them; NULL: there are none */
	struct rule_result *derived; /* from the summary, for each rule */
};

struct jobs {
	char *directory; /* of all results */
	struct job *job;
	size_t n;
};

/* All jobs of the file, and what is done of them.  False: another definition did it. */
bool jobs_find(struct jobs *jobs, const struct experiment_file *file,
	       const struct perfctr_pmu_info *info, struct text_error *error);
void jobs_free(struct jobs *jobs);
/* The recording of repetition number k, from 0; NULL: it is not complete. */
struct document *job_repetition(const struct job *job, unsigned int k);
/* A file of a repetition, such as run-1.json; for free(). */
char *job_path(const struct job *job, unsigned int k, const char *suffix);

/* Of the run for samples, such as ebs.samples. */
char *job_samples_path(const struct job *job, const char *suffix);

/* With all directories on the way to it. */
void make_directory(const char *path);

/* Runs what is missing of the job.  False: it failed, which has been said. */
bool job_run(struct job *job);

/* Makes the job's summary of its repetitions, and writes it. */
void job_summarize(struct job *job);

void experiment_write_jobs(FILE *file, const struct jobs *jobs);
void experiment_write_table(FILE *file, bool csv, const struct jobs *jobs, double confidence);

#endif
