/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a file of perfex validate --json, not all of it: docs/perfex-validation.schema.json. */
#ifndef PERFEX_RESULT_VALIDATION_H
#define PERFEX_RESULT_VALIDATION_H

#include <stdbool.h>
#include <stddef.h>
#include <json-c/json.h>
#include "../textfile.h"

struct verdict_of_event {
	const char *name, *modes, *class, *verdict;
	const char *registers; /* NULL: the operating system counts the event */
	const char *meaning;   /* NULL: unknown */
	bool found;	       /* the meaning follows from the counts; no source states it */
	double a, b;
};

/* Strings belong to the JSON. */
struct validation_file {
	json_object *json;
	const char *processor, *kernel, *backend, *date; /* "unknown" if the file lacks them */
	bool complete; /* false: the validation was cut short, or the file does not say */
	struct verdict_of_event *event;
	size_t n;
};

/* Returns the file, for validation_file_free(); NULL with the reason in error. */
struct validation_file *validation_parse(const char *text, size_t length, struct text_error *error);
void validation_file_free(struct validation_file *file);

#endif
