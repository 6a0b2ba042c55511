// SPDX-License-Identifier: GPL-2.0-or-later
#include "experiment.h"
#include "../../perfex.h"
#include "../../result/table.h"
#include "../../stats/statistics.h"

#include <math.h>

static const struct column job_columns[] = {
	{ "program", LEFT }, { "experiment", LEFT }, { "repetitions", RIGHT },
	{ "done", RIGHT },   { "passes", RIGHT },    { "samples", LEFT },
};

static const struct column columns[] = {
	{ "program", LEFT }, { "experiment", LEFT }, { "event", LEFT }, { "modes", LEFT },
	{ "runs", RIGHT },   { "mean", RIGHT },	     { "low", RIGHT },	{ "high", RIGHT },
	{ "stddev", RIGHT }, { "min", RIGHT },	     { "max", RIGHT },
};

#define N(array) (sizeof(array) / sizeof((array)[0]))

void experiment_write_jobs(FILE *file, const struct jobs *jobs)
{
	bool any = false;
	struct table table;

	for (size_t i = 0; i < jobs->n; i++)
		any |= jobs->job[i].experiment->period != NULL;
	table_begin(&table, TABLE_TEXT, job_columns, N(job_columns) - !any);
	for (size_t i = 0; i < jobs->n; i++) {
		const struct job *job = &jobs->job[i];

		table_add_text(&table, job->program->name);
		table_add_text(&table, job->experiment->name);
		table_add_number(&table, job->experiment->settings.repetitions);
		table_add_number(&table, job->done);
		table_add_number(&table, job->experiment->n_passes);
		if (any)
			table_add_text(&table, !job->experiment->period ? "none"
					       : job->sampled		? "done"
									: "to do");
	}
	table_end(&table, file);
}

static void begin_row(struct table *table, const struct job *job, const char *name,
		      const char *modes)
{
	table_add_text(table, job->program->name);
	table_add_text(table, job->experiment->name);
	table_add_text(table, name);
	table_add_text(table, modes ? modes : "");
	table_add_number(table, job->done);
}

static void add_event(struct table *table, const struct job *job,
		      const struct document_event *event, double confidence)
{
	struct statistics s = statistics_of(event->count, event->runs, confidence);

	begin_row(table, job, event->name, event->modes);
	table_add_number(table, s.mean);
	table_add_number(table, s.low);
	table_add_number(table, s.high);
	table_add_number(table, s.stddev);
	table_add_number(table, s.min);
	table_add_number(table, s.max);
}

static void add_rule(struct table *table, const struct job *job, size_t i)
{
	const struct rule_result *result = &job->derived[i];

	begin_row(table, job, rules_name(job->experiment->rules, i), NULL);
	if (result->state == RULE_UNKNOWN)
		table_add_text(table, "?");
	else
		table_add_number(table, result->state == RULE_VALUE ? result->value : NAN);
	table_add_number(table, result->interval ? result->low : NAN);
	table_add_number(table, result->interval ? result->high : NAN);
	for (int k = 0; k < 3; k++)
		table_add_number(table, (long double)NAN);
}

static void add_job(struct table *table, const struct job *job, double confidence)
{
	for (size_t i = 0; i < job->summary->n; i++)
		add_event(table, job, &job->summary->event[i], confidence);
	for (size_t i = 0; i < rules_count(job->experiment->rules); i++)
		add_rule(table, job, i);
}

void experiment_write_table(FILE *file, bool csv, const struct jobs *jobs, double confidence)
{
	struct table table;

	table_begin(&table, csv ? TABLE_CSV : TABLE_TEXT, columns, N(columns));
	for (size_t i = 0; i < jobs->n; i++)
		if (jobs->job[i].summary)
			add_job(&table, &jobs->job[i], confidence);
	table_end(&table, file);
}
