// SPDX-License-Identifier: GPL-2.0-or-later
/* Parsers of perfex that return their errors. */
#include "fuzz.h"
#include "../../perfex/result/diff.h"
#include "../../perfex/tools/experiment/experiment.h"
#include "../../perfex/rules/rules.h"
#include "../../perfex/tools/validate/against.h"
#include "../unit/machines.h"

#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95

static void evaluate(const struct rules *rules)
{
	static const uint64_t small[] = { 1, 2, 3 }, large[] = { UINT64_MAX, 0, 1 };
	static const struct rule_event events[] = {
		{ .name = "a", .pass = 0, .count = small, .runs = 3 },
		{ .name = "b", .pass = 0, .count = large, .runs = 3 },
		{ .name = "cycles", .pass = 1, .count = large, .runs = 1 },
		{ .name = "instructions:u", .pass = 2, .count = small, .runs = 2 },
	};
	struct rule_result *result = calloc(rules_count(rules) + 1, sizeof(*result));
	size_t n = sizeof(events) / sizeof(events[0]);

	EXPECT(result);
	rules_missing(rules, events, n);
	rules_ambiguous(rules, events, n);
	rules_evaluate(rules, events, n, CONFIDENCE, result);
	for (size_t i = 0; i < rules_count(rules); i++)
		EXPECT(!result[i].interval ||
		       (result[i].low <= result[i].value && result[i].value <= result[i].high));
	free(result);
}

void fuzz_rules(const char *text, size_t length)
{
	struct rules *rules = rules_new();
	struct text_error error = { 0 };

	if (rules_add(rules, text, length, &error) && rules_link(rules, &error))
		evaluate(rules);
	else
		EXPECT(*error.text);
	rules_free(rules);
}

void fuzz_experiment(const char *text, size_t length)
{
	struct text_error error = { 0 };
	struct experiment_file *file = experiment_parse(text, length, &error);
	struct perfctr_events *database;

	if (!file) {
		EXPECT(*error.text);
		return;
	}
	EXPECT(file->n_programs && file->n_experiments);
	database = perfctr_events_open(be_machine(NEHALEM));
	EXPECT(database);
	if (!experiment_check(file, &error) || !experiment_check_events(file, database, &error))
		EXPECT(*error.text);
	perfctr_events_close(database);
	experiment_free(file);
}

/* Compares the document with itself: everything can be compared. */
static void diff(struct document *document)
{
	struct diff diff = { .a = { "a", document }, .b = { "b", document } };
	struct text_error error = { 0 };

	if (!diff_make(&diff, 100 * CONFIDENCE, &error)) {
		EXPECT(*error.text);
		return;
	}
	diff_write_text(nowhere(), &diff);
	diff_write_csv(nowhere(), &diff);
	diff_write_json(nowhere(), &diff);
	diff_write_markdown(nowhere(), &diff);
	diff_write_conclusion(nowhere(), &diff);
	diff_free(&diff);
}

void fuzz_recording(const char *text, size_t length)
{
	struct text_error error = { 0 };
	struct document *document = document_parse(text, length, &error);
	char *command;

	if (!document) {
		EXPECT(*error.text);
		return;
	}
	command = document_command(document);
	EXPECT(command);
	free(command);
	diff(document);
	document_free(document);
}

/* Compares the file with itself: both are alike. */
void fuzz_validation(const char *text, size_t length)
{
	struct text_error error = { 0 };
	struct validation_file *file = validation_parse(text, length, &error);

	if (!file) {
		EXPECT(*error.text);
		return;
	}
	for (size_t i = 0; i < file->n; i++)
		expect_line(file->event[i].name);
	write_against(nowhere(), file, file);
	validation_file_free(file);
}
