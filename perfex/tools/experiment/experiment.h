/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex experiment: runs each program of a YAML file under each of its experiments, as jobs.
 *
 * experiment_parse.c	reads the file
 * experiment_check.c	finds what cannot work on this machine
 * experiment_job.c	the directory of a job, and which of its runs are complete
 * experiment_run.c	runs one repetition, and the run that takes samples
 * experiment_summary.c	merges the recordings of all repetitions into one
 * experiment_table.c	the tables of all jobs
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

/* A list of scalars from the file. */
struct strings {
	const char **string; /* NULL after the last */
	unsigned int *line;
	size_t n;
};

struct program {
	const char *name;
	unsigned int line;
	struct strings command;	    /* argv */
	const char *directory;	    /* working directory of the program; NULL: that of the file */
	const char *input;	    /* NULL: /dev/null */
	struct strings environment; /* NAME, value, NAME, value, ..; added to perfex's own */
	unsigned int exit_status;   /* the exit status of a successful run */
};

/* The settings of an experiment.  The file has the defaults for all of them. */
struct settings {
	unsigned int repetitions;
	unsigned int warmup; /* runs before the repetitions, without a result */
	unsigned int passes; /* most runs for one repetition; 0: as many as needed */
	unsigned int modes;  /* index in mode_words, for events that name no mode */
	unsigned int view;   /* index in view_words */
};

extern const char *const mode_words[], *const view_words[];

struct experiment {
	const char *name;
	unsigned int line;
	struct strings events;
	struct strings derive;
	struct strings programs; /* names; empty: all programs of the file */
	struct strings ebs;	 /* EVENT, PERIOD, EVENT, PERIOD, .. */
	struct settings settings;
	struct rules *rules;		 /* set by experiment_check() */
	struct perfctr_request *request; /* one for each event, set by experiment_check_events() */
	unsigned int n_passes;
	uint64_t *period; /* one for each event, by experiment_check(); NULL: nothing is sampled */
};

struct experiment_file {
	const char *directory;	 /* of the results */
	unsigned int confidence; /* per cent */
	struct settings settings;
	struct program *program;
	size_t n_programs;
	struct experiment *experiment;
	size_t n_experiments;
	void *document; /* owns the strings */
};

/*
 * Returns NULL if the text is refused; error then says why, and in which line.  experiment_free()
 * frees the result.
 */
struct experiment_file *experiment_parse(const char *text, size_t length, struct text_error *error);
void experiment_free(struct experiment_file *file);
struct program *find_program(const struct experiment_file *file, const char *name);

/*
 * Both return false, with the first reason in error.  experiment_check() checks what this machine
 * must have for the programs.  experiment_check_events() checks the events against the database.
 */
bool experiment_check(struct experiment_file *file, struct text_error *error);
bool experiment_check_events(struct experiment_file *file, struct perfctr_events *database,
			     struct text_error *error);
/*
 * Returns the path of the program's executable, for free().  Returns NULL with errno set if there
 * is none.
 */
char *program_path(const struct program *program);

/* One program under one experiment, and the directory of the results. */
struct job {
	const struct experiment_file *file;
	const struct program *program;
	const struct experiment *experiment;
	char *directory;
	json_object *definition;     /* as in docs/perfex-job.schema.json */
	unsigned int done;	     /* number of complete repetitions */
	bool sampled;		     /* the samples are there, or none are wanted */
	struct document *summary;    /* of the complete repetitions; NULL: none is complete */
	struct rule_result *derived; /* from the summary, one for each rule */
};

struct jobs {
	char *directory; /* of all results */
	struct job *job;
	size_t n;
};

/*
 * Finds all jobs of the file, and which of their runs are complete.  Returns false if existing
 * results were made with another definition; error then says what has changed.
 */
bool jobs_find(struct jobs *jobs, const struct experiment_file *file,
	       const struct perfctr_pmu_info *info, struct text_error *error);
void jobs_free(struct jobs *jobs);
/*
 * Returns the recording of repetition k, counted from 0.  Returns NULL if it is not complete.
 * document_free() frees it.
 */
struct document *job_repetition(const struct job *job, unsigned int k);
/* Returns the path of a file of repetition k, such as run-1.json, for free(). */
char *job_path(const struct job *job, unsigned int k, const char *suffix);

/* Returns the path of a file of the run for samples, such as ebs.samples, for free(). */
char *job_samples_path(const struct job *job, const char *suffix);
/* Writes json as one line to a file in the job's directory.  Ends perfex if that fails. */
void job_write(const struct job *job, const char *name, json_object *json);

/*
 * Makes a directory, with all directories on the way to it.  Ends perfex with an error message if
 * it cannot, or if the directory is not the caller's own, or if others can write to it.
 */
void make_directory(const char *path);

/* Runs what is missing of the job.  Returns false, after an error message, if a run failed. */
bool job_run(struct job *job);

/* Merges the complete repetitions into the job's summary, and writes the summary to its file. */
void job_summarize(struct job *job);

void experiment_write_jobs(FILE *file, const struct jobs *jobs);
void experiment_write_table(FILE *file, bool csv, const struct jobs *jobs, double confidence);

#endif
