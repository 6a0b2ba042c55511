// SPDX-License-Identifier: GPL-2.0-or-later
#include "experiment/experiment.h"
#include "../perfex.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

/* The exit status if at least one job failed. */
#define EXIT_JOB_FAILED 1

struct experiment_options {
	bool check, csv;
};

static const struct option_row rows[] = {
	FLAG_OPTION("check", 0, "run nothing; look for conflicts, show the jobs and their state",
		    struct experiment_options, check),
	FLAG_OPTION("csv", 0, "write the table as CSV", struct experiment_options, csv),
	{ 0 },
};

static int experiment_main(int argc, char **argv);

const struct subcommand experiment_subcommand = {
	.name = "experiment",
	.summary = "count several programs under several sets of events",
	.main = experiment_main,
	.help = "Usage: perfex experiment [OPTION].. FILE\n"
		"Run the jobs that FILE describes and that are not done yet, and write a table of\n"
		"all results.  Nothing runs unless all can.\n",
	.options = rows,
};

static struct experiment_file *read_file(const char *path)
{
	struct experiment_file *file;
	struct text_error error;
	size_t length;
	char *text = textfile_read(path, &length);

	if (!text)
		fail("cannot read '%s': %m", path);
	file = experiment_parse(text, length, &error);
	if (!file)
		textfile_fail(path, &error);
	free(text);
	return file;
}

/* Enters the directory of the experiment file, because the paths in the file are relative to it. */
static void enter_directory_of(const char *path)
{
	char *copy = text_print("%s", path);

	if (chdir(dirname(copy)) < 0)
		fail("cannot enter the directory of '%s': %m", path);
	free(copy);
}

/*
 * Checks everything that can be refused before a job runs.  Ends perfex with an error message if
 * something cannot work.
 */
static void check_experiment(struct experiment_file *file, const char *path, struct jobs *jobs)
{
	struct perfctr_events *database;
	struct text_error error;

	if (!experiment_check(file, &error))
		textfile_fail(path, &error);
	database = perfctr_events_open_for(NULL, 0, 0, 0);
	if (!database) {
		complain_of_open(NULL, errno);
		exit(EXIT_PERFEX);
	}
	if (!experiment_check_events(file, database, &error) ||
	    !jobs_find(jobs, file, perfctr_events_info(database), &error))
		textfile_fail(path, &error);
	perfctr_events_close(database);
}

/*
 * Locks the directory of the results, because two perfex processes at once would take each other's
 * runs for their own.  Opens the lock file for writing with mode 0600, so that a user with read
 * access alone cannot take the lock.
 */
static void lock_directory(const char *directory)
{
	char *path = text_print("%s/.lock", directory);
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		fail("cannot open '%s': %m", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		fail("another perfex experiment is at work in '%s'; wait for its end", directory);
	free(path);
}

static void write_table(const struct jobs *jobs, bool csv, double confidence)
{
	char *path = text_print("%s/table.%s", jobs->directory, csv ? "csv" : "txt");
	struct text text;

	experiment_write_table(text_open(&text), csv, jobs, confidence);
	text_close(&text);
	if (!textfile_write(path, text.text, text.size))
		fail("cannot write '%s': %m", path);
	free(text.text);
	free(path);
}

/* Returns the exit status. */
static int run_jobs(struct jobs *jobs, const struct experiment_options *options, double confidence)
{
	int status = 0;

	make_directory(jobs->directory);
	lock_directory(jobs->directory);
	for (size_t i = 0; i < jobs->n; i++)
		if (!job_run(&jobs->job[i]))
			status = EXIT_JOB_FAILED;
	for (size_t i = 0; i < jobs->n; i++)
		job_summarize(&jobs->job[i]);
	write_table(jobs, false, confidence);
	write_table(jobs, true, confidence);
	experiment_write_table(stdout, options->csv, jobs, confidence);
	return status;
}

static int experiment_main(int argc, char **argv)
{
	struct experiment_options options = { 0 };
	int n = take_options(&experiment_subcommand, &options, argc, argv), status = 0;
	struct experiment_file *file;
	struct jobs jobs;

	if (argc - n != 1)
		fail("perfex experiment takes one file, not %d; see perfex experiment --help",
		     argc - n);
	file = read_file(argv[n]);
	enter_directory_of(argv[n]);
	check_experiment(file, argv[n], &jobs);
	if (options.check)
		experiment_write_jobs(stdout, &jobs);
	else
		status = run_jobs(&jobs, &options, file->confidence);
	jobs_free(&jobs);
	experiment_free(file);
	return status;
}
