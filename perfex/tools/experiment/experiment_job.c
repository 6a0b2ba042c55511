// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files in a job's directory show which of its runs are complete.  The job's definition is
 * stored there too, so that results of different definitions are never mixed.
 */
#define _GNU_SOURCE
#include "experiment.h"
#include "../../perfex.h"
#include "../../json_member.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static json_object *strings_json(const struct strings *strings)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < strings->n; i++)
		json_object_array_add(array, json_object_new_string(strings->string[i]));
	return array;
}

static json_object *string_or_null(const char *string)
{
	return string ? json_object_new_string(string) : NULL;
}

/*
 * Returns the FNV-1a hash (64 bits) of the program's file, in hexadecimal, or NULL if the file
 * cannot be read.  The hash shows that a program was rebuilt; it does not protect against forgery.
 */
static json_object *file_json(const struct program *program)
{
	uint64_t hash = 0xcbf29ce484222325;
	char *path = program_path(program), *text, hexadecimal[32];
	size_t length;

	text = path ? textfile_read(path, &length) : NULL;
	free(path);
	if (!text)
		return NULL;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3;
	free(text);
	snprintf(hexadecimal, sizeof(hexadecimal), "0x%016" PRIx64, hash);
	return json_object_new_string(hexadecimal);
}

static json_object *events_json(const struct experiment *experiment)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < experiment->events.n; i++) {
		const struct perfctr_request *request = &experiment->request[i];
		char *text = text_print("%s 0x%" PRIx64 "/0x%" PRIx64, experiment->events.string[i],
					request->evntsel, request->evntsel2);

		json_object_array_add(array, json_object_new_string(text));
		free(text);
	}
	return array;
}

/*
 * Returns the definition: everything that changes the counts, but neither the number of repetitions
 * nor the rules.
 */
static json_object *define_job(const struct program *program, const struct experiment *experiment,
			       const struct perfctr_pmu_info *info)
{
	const struct settings *settings = &experiment->settings;
	json_object *json = json_object_new_object();

	add_member(json, "schema", json_object_new_string("perfex-job"));
	add_member(json, "version", json_object_new_int(2));
	add_member(json, "pmu",
		   json_object_new_string_len(info->family,
					      (int)strnlen(info->family, sizeof(info->family))));
	add_member(json, "command", strings_json(&program->command));
	add_member(json, "program_fnv1a", file_json(program));
	add_member(json, "directory", string_or_null(program->directory));
	add_member(json, "input", string_or_null(program->input));
	add_member(json, "environment", strings_json(&program->environment));
	add_member(json, "exit_status", json_object_new_int((int)program->exit_status));
	add_member(json, "events", events_json(experiment));
	add_member(json, "modes", json_object_new_string(mode_words[settings->modes]));
	add_member(json, "view", json_object_new_string(view_words[settings->view]));
	add_member(json, "warmup", json_object_new_int((int)settings->warmup));
	add_member(json, "passes", json_object_new_int((int)experiment->n_passes));
	if (experiment->period)
		add_member(json, "ebs", strings_json(&experiment->ebs));
	return json;
}

static char *definition_path(const struct job *job)
{
	return text_print("%s/definition.json", job->directory);
}

/* Returns the key in which two definitions differ.  Returns NULL if they do not differ. */
static const char *find_difference(json_object *new, json_object *old)
{
	if (json_object_object_get_ex(old, "ebs", NULL) &&
	    !json_object_object_get_ex(new, "ebs", NULL))
		return "ebs";
	json_object_object_foreach(
		new, key,
		value) if (!json_object_equal(value, json_object_object_get(old, key))) return key;
	return NULL;
}

static bool check_definition(const struct job *job, const char *text, struct text_error *error)
{
	json_object *old = json_tokener_parse(text);
	const char *changed = "schema";

	if (json_object_is_type(old, json_type_object))
		changed = find_difference(job->definition, old);
	if (changed) {
		error->line = 0;
		snprintf(error->text, sizeof(error->text),
			 "the results in '%.200s' were made with another '%s'; move them away, or "
			 "undo the change",
			 job->directory, changed);
	}
	json_object_put(old);
	return !changed;
}

/*
 * Returns false if the stored definition differs.  A job that was never begun has none, so nothing
 * differs.
 */
static bool compare_definition(const struct job *job, struct text_error *error)
{
	char *path = definition_path(job), *text;
	bool good = true;
	size_t length;

	text = textfile_read(path, &length);
	if (text)
		good = check_definition(job, text, error);
	else if (errno != ENOENT && errno != ENOTDIR)
		fail("cannot read '%s': %m", path);
	free(text);
	free(path);
	return good;
}

char *job_path(const struct job *job, unsigned int k, const char *suffix)
{
	return text_print("%s/run-%u.%s", job->directory, k + 1, suffix);
}

char *job_samples_path(const struct job *job, const char *suffix)
{
	return text_print("%s/ebs.%s", job->directory, suffix);
}

static bool has_samples(const struct job *job)
{
	char *path = job_samples_path(job, "samples");
	bool there = access(path, F_OK) == 0;

	free(path);
	return there;
}

static bool is_one_run(const struct document *document)
{
	for (size_t i = 0; i < document->n; i++)
		if (document->event[i].runs != 1)
			return false;
	return true;
}

void job_write(const struct job *job, const char *name, json_object *json)
{
	const int flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
	char *text = text_print("%s\n", json_object_to_json_string_ext(json, flags));
	char *path = text_print("%s/%s", job->directory, name);

	if (!textfile_write(path, text, strlen(text)))
		fail("cannot write '%s': %m", path);
	free(path);
	free(text);
}

/* A recording that was not written to its end does not count. */
struct document *job_repetition(const struct job *job, unsigned int k)
{
	char *path = job_path(job, k, "json"), *text;
	struct document *document = NULL;
	struct text_error error;
	size_t length;

	text = textfile_read(path, &length);
	if (text)
		document = document_parse(text, length, &error);
	free(text);
	free(path);
	if (document && is_one_run(document))
		return document;
	document_free(document);
	return NULL;
}

static unsigned int count_done(const struct job *job)
{
	unsigned int done = 0;

	for (unsigned int k = 0; k < job->experiment->settings.repetitions; k++) {
		struct document *document = job_repetition(job, k);

		done += document != NULL;
		document_free(document);
	}
	return done;
}

static bool is_wanted(const struct experiment *experiment, const struct program *program)
{
	for (size_t i = 0; i < experiment->programs.n; i++)
		if (strcmp(experiment->programs.string[i], program->name) == 0)
			return true;
	return !experiment->programs.n;
}

static bool find_job(struct jobs *jobs, const struct experiment_file *file,
		     const struct program *program, const struct experiment *experiment,
		     const struct perfctr_pmu_info *info, struct text_error *error)
{
	struct job *job = &jobs->job[jobs->n++];

	*job = (struct job){
		.file = file,
		.program = program,
		.experiment = experiment,
		.directory =
			text_print("%s/%s/%s", jobs->directory, program->name, experiment->name),
		.definition = define_job(program, experiment, info),
	};
	if (!compare_definition(job, error))
		return false;
	job->done = count_done(job);
	job->sampled = !experiment->period || has_samples(job);
	return true;
}

/* Returns an absolute path, because messages name it and programs run in other directories. */
static char *results_directory(const struct experiment_file *file)
{
	char *here, *directory;

	if (file->directory[0] == '/')
		return text_print("%s", file->directory);
	here = get_current_dir_name();
	if (!here)
		fail("cannot find the working directory: %m");
	directory = text_print("%s/%s", here, file->directory);
	free(here);
	return directory;
}

bool jobs_find(struct jobs *jobs, const struct experiment_file *file,
	       const struct perfctr_pmu_info *info, struct text_error *error)
{
	*jobs = (struct jobs){ .directory = results_directory(file) };
	jobs->job = calloc(file->n_programs * file->n_experiments, sizeof(*jobs->job));
	if (!jobs->job)
		fail("out of memory");
	for (size_t i = 0; i < file->n_programs; i++)
		for (size_t k = 0; k < file->n_experiments; k++)
			if (is_wanted(&file->experiment[k], &file->program[i]) &&
			    !find_job(jobs, file, &file->program[i], &file->experiment[k], info,
				      error))
				return false;
	return true;
}

void jobs_free(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->n; i++) {
		free(jobs->job[i].directory);
		json_object_put(jobs->job[i].definition);
		document_free(jobs->job[i].summary);
		free(jobs->job[i].derived);
	}
	free(jobs->job);
	free(jobs->directory);
}
