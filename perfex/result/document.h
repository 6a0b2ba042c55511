/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that "perfex run --json" wrote: docs/perfex.schema.json. */
#ifndef PERFEX_DOCUMENT_H
#define PERFEX_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <json-c/json.h>
#include "../textfile.h"

struct document_event {
	const char *name;
	char *own_name;	   /* name, if it is not of the JSON; else NULL */
	const char *modes; /* NULL: the event is a time, which has no mode */
	unsigned int pass;
	uint64_t *count;
	size_t runs;
};

struct document_rule {
	const char *name, *definition;
};

/* Strings belong to the JSON. */
struct document {
	json_object *json;
	const char *view, *pmu, *date;
	struct document_event *event;
	size_t n; /* events; the first n_times of them are times */
	size_t n_times;
	struct document_rule *rule;
	size_t n_rules;
};

/*
 * document_parse - returns the recording in a text, which may also have intervals, for
 * document_free().  Returns NULL, with the reason in error, unless there is exactly one recording.
 * document_command - returns the command and its arguments, separated by blanks, for free().
 */
struct document *document_parse(const char *text, size_t length, struct text_error *error);
void document_free(struct document *document);
char *document_command(const struct document *document);
/* Returns an event of this name, of several the one before which there are "place", or NULL. */
const struct document_event *document_find_event(const struct document *document, const char *name,
						 size_t place);
/* Returns the name of the system call if this event counts the calls of one, else NULL. */
const char *document_syscall(const char *event);
/*
 * A system call that was not made is not in a recording, even if calls were counted.
 * document_add_syscall() then gives it the event of such a call, which counts 0.
 * document_add_syscalls() gives it all that the other recording has.
 */
void document_add_syscall(struct document *document, const char *event);
void document_add_syscalls(struct document *document, const struct document *other);

#endif
