/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What perfex validate --json wrote, as far as it is read: docs/perfex-validation.schema.json. */
#ifndef PERFEX_RESULT_VALIDATION_H
#define PERFEX_RESULT_VALIDATION_H

#include <stdbool.h>
#include <stddef.h>
#include <json-c/json.h>
#include "../textfile.h"

struct verdict_of_event {
	const char *name, *modes, *class, *verdict;
	const char *registers; /* NULL: the operating system counts it */
	const char *meaning;   /* NULL: not known */
	bool found;	       /* nobody says that it has the meaning */
	double a, b;
};

/* Strings belong to the JSON. */
struct validation_file {
	json_object *json;
	const char *processor, *kernel, *backend, *date; /* "unknown" where they are */
	bool complete; /* else it was cut short, or does not say */
	struct verdict_of_event *event;
	size_t n;
};

/* NULL: error says why. */
struct validation_file *validation_parse(const char *text, size_t length, struct text_error *error);
void validation_file_free(struct validation_file *file);

#endif
