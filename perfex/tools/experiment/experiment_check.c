// SPDX-License-Identifier: GPL-2.0-or-later
#include "experiment.h"
#include "../../path.h"
#include "../../perfex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const unsigned int mode_bits[] = {
	PERFCTR_MODE_USER,
	PERFCTR_MODE_KERNEL,
	PERFCTR_MODE_BOTH,
};

/*
 * Returns the PATH that the program gets, or NULL.  The last setting wins, as in the program's
 * environment.
 */
static const char *search_path(const struct program *program)
{
	const char *path = getenv("PATH");

	for (size_t i = 0; i < program->environment.n; i += 2)
		if (strcmp(program->environment.string[i], "PATH") == 0)
			path = program->environment.string[i + 1];
	return path;
}

/* Relative names start at the directory in which the program will run. */
char *program_path(const struct program *program)
{
	const char *where = program->directory ? program->directory : ".";

	return path_find_program(search_path(program), where, program->command.string[0]);
}

static bool check_program(const struct program *program, struct text_error *error)
{
	struct stat status;
	char *path;

	if (program->directory &&
	    (stat(program->directory, &status) < 0 || !S_ISDIR(status.st_mode)))
		return refuse_text(error, program->line,
				   "program '%s': there is no directory '%.100s'", program->name,
				   program->directory);
	if (program->input && access(program->input, R_OK) < 0)
		return refuse_text(error, program->line, "program '%s': cannot read '%.100s': %s",
				   program->name, program->input, strerror(errno));
	path = program_path(program);
	if (!path)
		return refuse_text(error, program->line,
				   "program '%s': cannot execute '%.100s': %s", program->name,
				   program->command.string[0], strerror(errno));
	free(path);
	return true;
}

static bool check_program_names(const struct experiment_file *file, const struct strings *programs,
				struct text_error *error)
{
	for (size_t i = 0; i < programs->n; i++)
		if (!find_program(file, programs->string[i]))
			return refuse_text(error, programs->line[i],
					   "there is no program '%.80s'; "
					   "describe it under programs",
					   programs->string[i]);
	return true;
}

static bool check_events(struct experiment *experiment, struct perfctr_events *database,
			 struct text_error *error)
{
	const struct strings *events = &experiment->events;
	char why[512];

	experiment->request = allocate(events->n, sizeof(*experiment->request));
	for (size_t i = 0; i < events->n; i++)
		if (perfctr_events_parse(database, events->string[i],
					 mode_bits[experiment->settings.modes],
					 &experiment->request[i], why, sizeof(why)) < 0)
			return refuse_text(error, events->line[i], "event '%.60s': %s%s",
					   events->string[i], why,
					   advice_for_event(events->string[i]));
	return true;
}

/* Returns true if the events fit in one pass.  Otherwise writes the reason into why. */
static bool events_fit(const struct experiment *experiment, const struct perfctr_pmu_info *info,
		       char *why, size_t size)
{
	struct perfctr_control control;

	return perfctr_requests_assign(info, experiment->request, experiment->events.n, &control,
				       why, size) == 0;
}

static bool check_passes(struct experiment *experiment, const struct perfctr_pmu_info *info,
			 struct text_error *error)
{
	size_t n = experiment->events.n;
	unsigned int *pass = allocate(n, sizeof(*pass));
	char why[512] = "";
	bool good;

	good = perfctr_requests_plan(info, experiment->request, n, pass, &experiment->n_passes, why,
				     sizeof(why)) == 0;
	free(pass);
	if (!good)
		return refuse_text(error, experiment->line, "experiment '%s': %s", experiment->name,
				   why);
	if (!experiment->settings.passes || experiment->n_passes <= experiment->settings.passes)
		return true;
	if (n > PERFCTR_MAX_COUNTERS || events_fit(experiment, info, why, sizeof(why)))
		snprintf(why, sizeof(why), "%zu events do not fit together", n);
	return refuse_text(error, experiment->line,
			   "experiment '%s': needs %u passes for a repetition, "
			   "passes allows %u: %s",
			   experiment->name, experiment->n_passes, experiment->settings.passes,
			   why);
}

static bool check_rule_names(const struct experiment *experiment, struct text_error *error)
{
	size_t n = experiment->events.n + 2;
	struct rule_event *event = allocate(n, sizeof(*event));
	const char *ambiguous, *missing;

	event[0].name = "tsc";
	event[1].name = "elapsed_ns";
	for (size_t i = 0; i < experiment->events.n; i++)
		event[i + 2].name = experiment->events.string[i];
	ambiguous = rules_ambiguous(experiment->rules, event, n);
	missing = rules_missing(experiment->rules, event, n);
	free(event);
	if (ambiguous)
		return refuse_text(error, experiment->line,
				   "experiment '%s': rule '%.80s' has the name "
				   "of an event; give it another",
				   experiment->name, ambiguous);
	if (missing)
		return refuse_text(error, experiment->line,
				   "experiment '%s': a rule needs '%.80s', "
				   "which is no event of it; add it to events",
				   experiment->name, missing);
	return true;
}

static bool check_rules(struct experiment *experiment, struct text_error *error)
{
	const struct strings *derive = &experiment->derive;
	struct text_error rule_error;

	experiment->rules = rules_new();
	for (size_t i = 0; i < derive->n; i++)
		if (!rules_add(experiment->rules, derive->string[i], strlen(derive->string[i]),
			       &rule_error))
			return refuse_text(error, derive->line[i], "rule '%.80s': %s",
					   derive->string[i], rule_error.text);
	if (!rules_link(experiment->rules, &rule_error))
		return refuse_text(error, experiment->line, "experiment '%s': %s", experiment->name,
				   rule_error.text);
	return check_rule_names(experiment, error);
}

/* Returns the place for an event's period.  Returns NULL if the experiment has no such event. */
static uint64_t *find_period(const struct experiment *experiment, const char *event)
{
	for (size_t i = 0; i < experiment->events.n; i++)
		if (strcmp(experiment->events.string[i], event) == 0)
			return &experiment->period[i];
	return NULL;
}

static bool check_ebs(struct experiment *experiment, struct text_error *error)
{
	const struct strings *ebs = &experiment->ebs;

	if (!ebs->n)
		return true;
	if (strcmp(view_words[experiment->settings.view], "tree") != 0)
		return refuse_text(error, ebs->line[0],
				   "ebs samples the program with all that it creates; view must be "
				   "tree");
	experiment->period = allocate(experiment->events.n, sizeof(*experiment->period));
	for (size_t i = 0; i < ebs->n; i += 2) {
		uint64_t *period = find_period(experiment, ebs->string[i]);

		if (!period)
			return refuse_text(error, ebs->line[i],
					   "ebs has '%.60s', which is no event of the experiment; "
					   "add it to events",
					   ebs->string[i]);
		if (*period)
			return refuse_text(error, ebs->line[i], "ebs has '%.60s' twice",
					   ebs->string[i]);
		if (!parse_period(ebs->string[i + 1], period))
			return refuse_text(error, ebs->line[i + 1],
					   "the period '%.40s' is no number of events from 1 to "
					   "2^63 - 1",
					   ebs->string[i + 1]);
	}
	return true;
}

/*
 * Checks that the backend takes samples, that one pass suffices, and that a counter counts each
 * event.
 */
static bool check_samples(const struct experiment *experiment, struct perfctr_events *database,
			  struct text_error *error)
{
	const char *backend = perfctr_events_backend(database);
	struct perfctr_backend_info info;

	if (!experiment->period)
		return true;
	if (perfctr_backend(backend, &info) < 0 || !(info.capabilities & PERFCTR_CAN_SAMPLE))
		return refuse_text(error, experiment->ebs.line[0],
				   "ebs needs samples, which the backend '%s' does not take here; "
				   "the kernel driver does, where counters interrupt",
				   backend);
	if (experiment->n_passes > 1)
		return refuse_text(error, experiment->line,
				   "experiment '%s': ebs needs events that fit in one pass; give "
				   "them an experiment of their own",
				   experiment->name);
	for (size_t i = 0; i < experiment->events.n; i++)
		if (!(experiment->request[i].general | experiment->request[i].fixed))
			return refuse_text(error, experiment->events.line[i],
					   "event '%.60s': ebs needs events of the processor; give "
					   "this one an experiment of its own",
					   experiment->events.string[i]);
	return true;
}

bool experiment_check(struct experiment_file *file, struct text_error *error)
{
	for (size_t i = 0; i < file->n_experiments; i++)
		if (!check_program_names(file, &file->experiment[i].programs, error) ||
		    !check_rules(&file->experiment[i], error) ||
		    !check_ebs(&file->experiment[i], error))
			return false;
	for (size_t i = 0; i < file->n_programs; i++)
		if (!check_program(&file->program[i], error))
			return false;
	return true;
}

bool experiment_check_events(struct experiment_file *file, struct perfctr_events *database,
			     struct text_error *error)
{
	const struct perfctr_pmu_info *info = perfctr_events_info(database);

	for (size_t i = 0; i < file->n_experiments; i++)
		if (!check_events(&file->experiment[i], database, error) ||
		    !check_passes(&file->experiment[i], info, error) ||
		    !check_samples(&file->experiment[i], database, error))
			return false;
	return true;
}
