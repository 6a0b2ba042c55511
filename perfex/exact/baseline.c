// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the counts of a run with those of a recording, the baseline, and replaces it. */
#include "baseline.h"
#include "../json_member.h"
#include "../perfex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool baseline_read(struct baseline *baseline)
{
	struct text_error error;
	size_t length;
	char *text = textfile_read(baseline->path, &length);

	if (!text && errno == ENOENT && baseline->update)
		return true;
	if (!text && errno == ENOENT)
		complain("there is no file %s; --update writes it", baseline->path);
	else if (!text)
		complain("cannot read %s: %m", baseline->path);
	if (!text)
		return false;
	baseline->old = document_parse(text, length, &error);
	free(text);
	if (!baseline->old)
		complain("%s: %s", baseline->path, error.text);
	return baseline->old;
}

/* A recording has the members of the machine in one of this name. */
#define MACHINE "machine"

/*
 * Another value of one of these explains a difference that COMMAND has not made.  Recordings that
 * earlier versions have written do not tell of the machine, but of its CPU.
 */
static const struct {
	enum { ALWAYS, OF_MACHINE, WITHOUT_MACHINE } where;
	const char *key, *name, *answer;
} origins[] = {
	{ ALWAYS, "perfex", "perfex", "" },
	{ ALWAYS, "kernel", "kernel", "" },
	{ WITHOUT_MACHINE, "cpu", "processor", "" },
	{ ALWAYS, "directory", "directory", "; --directory=/work gives it one name everywhere" },
	{ ALWAYS, "warmup", "number of warm-up runs", "" },
	{ ALWAYS, "runs", "number of runs", "" },
	{ OF_MACHINE, "processor", "processor", "" },
	{ OF_MACHINE, "cpus", "number of CPUs", "" },
	{ OF_MACHINE, "memory_mb", "number of MB of memory", "" },
	{ OF_MACHINE, "environment", "environment by --env", "" },
};

void baseline_add_machine(struct document *new, const struct machine *machine,
			  const struct word_list *environment)
{
	json_object *object = json_object_new_object(), *variables = json_object_new_array();

	for (size_t i = 0; i < environment->n; i++)
		json_object_array_add(variables, text_json(environment->word[i]));
	add_member(object, "processor", text_json(machine->processor.name));
	add_member(object, "cpus", number_json(machine->cpus));
	add_member(object, "memory_mb", number_json(machine->memory_mb));
	add_member(object, "environment", variables);
	add_member(new->json, MACHINE, object);
}

static const char *text_of(json_object *value)
{
	if (!value)
		return "none";
	if (json_object_is_type(value, json_type_string))
		return json_object_get_string(value);
	return json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE);
}

/* A limit may be on a system call that COMMAND makes neither before nor now. */
static void add_limited_syscalls(const struct diff_options *options, struct document *document)
{
	for (size_t i = 0; i < options->limits.n; i++)
		if (document_syscall(options->limits.limit[i].name))
			document_add_syscall(document, options->limits.limit[i].name);
}

static json_object *origin_of(const struct document *document, size_t i)
{
	json_object *object = document->json;

	if (origins[i].where == OF_MACHINE)
		object = json_object_object_get(object, MACHINE);
	return json_object_object_get(object, origins[i].key);
}

static void tell_of_origin(const struct baseline *baseline, const struct document *new)
{
	bool has_machine = json_object_object_get(baseline->old->json, MACHINE);

	for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
		json_object *a = origin_of(baseline->old, i), *b = origin_of(new, i);

		if (origins[i].where == (has_machine ? WITHOUT_MACHINE : OF_MACHINE))
			continue;
		if (!json_object_equal(a, b))
			complain("warning: %s has another %s (%s, now %s), which may change "
				 "counts%s",
				 baseline->path, origins[i].name, text_of(a), text_of(b),
				 origins[i].answer);
	}
}

int baseline_compare(struct baseline *baseline, struct document *new, FILE *file)
{
	struct diff diff = {
		.a = { .path = baseline->path, .document = baseline->old ? baseline->old : new },
		.b = { .document = new },
		.is_exact = true,
	};
	struct text_error error;
	int status;

	if (baseline->old)
		tell_of_origin(baseline, new);
	add_limited_syscalls(&baseline->diff, diff.a.document);
	add_limited_syscalls(&baseline->diff, diff.b.document);
	if (!diff_make_for(&diff, &baseline->diff, &error)) {
		complain("%s and this run: %s", baseline->path, error.text);
		/* A new baseline need not be comparable with the old one. */
		return baseline->update ? 0 : EXIT_PERFEX;
	}
	status = diff_write(file, &diff, &baseline->diff);
	diff_free(&diff);
	return status;
}

bool baseline_update(const struct baseline *baseline, const struct document *new)
{
	static const int format =
		JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
	char *text = text_print("%s\n", json_object_to_json_string_ext(new->json, format));
	bool written = textfile_output(baseline->path, text, strlen(text));

	if (!written)
		complain("cannot write %s: %m", baseline->path);
	else if (!baseline->old)
		complain("%s is new, and has the counts of this run", baseline->path);
	free(text);
	return written;
}

void baseline_free(struct baseline *baseline)
{
	if (baseline->old)
		document_free(baseline->old);
	limits_free(&baseline->diff.limits);
}
