// SPDX-License-Identifier: GPL-2.0-or-later
/* Options that all counting commands share: events, modes, backend and output. */
#include "../groups/groups.h"
#include "../rules/derive.h"
#include "../textfile.h"
#include "rank.h"
#include "run.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A specification that begins with a digit is a number: reports its errors before any backend is
 * opened.
 */
static void check_number(const char *spec)
{
	struct perfctr_event_control event;
	char error[256];

	if ((!*spec || isdigit((unsigned char)*spec)) &&
	    perfctr_evntsel_parse(spec, &event, error, sizeof(error)) < 0)
		fail("event '%s': %s", spec, error);
}

/* Translates a number without 0x, if an option has said what it means. */
static void translate_number(struct options *options, const char **spec)
{
	char *marked = options->numbers ? old_event(options->numbers, *spec) : NULL;

	if (!marked)
		return;
	free((char *)*spec);
	*spec = marked;
	options->wants_number = NULL;
}

void take_event(void *member, const struct option_row *row, const char *list)
{
	struct options *options = member;
	size_t n = options->events.n;

	append_events(&options->events, list);
	for (; n < options->events.n; n++) {
		translate_number(options, &options->events.word[n]);
		check_number(options->events.word[n]);
	}
}

void take_output(void *member, const struct option_row *row, const char *path)
{
	char **output = member;

	if (*output)
		fail("two output files, '%s' and '%s'; give one", *output, path);
	*output = rank_file_name(path, "rhp");
}

void take_output_of_ranks(void *member, const struct option_row *row, const char *path)
{
	struct options *options = member;

	take_output(&options->output, row, path);
	options->output_shared = !rank_has_pattern(path, "rhp");
}

void separate_ranks(struct options *options, enum rank_merge merge)
{
	if (options->output_shared && !options->append)
		rank_separate(&options->output, merge);
	if (options->regions_shared)
		rank_separate(&options->regions, MERGED);
}

void take_format(void *member, const struct option_row *row, const char *unused)
{
	struct options *options = member;

	exclude_others(&options->format_name, row);
	options->format = row->value ? &json_format : &csv_format;
}

void take_named_format(void *member, const struct option_row *row, const char *name)
{
	static const struct {
		const char *name;
		const struct format *format;
	} formats[] = {
		{ "text", &text_format },
		{ "csv", &csv_format },
		{ "json", &json_format },
		{ "2.6", &format_2_6 },
	};
	struct options *options = member;

	exclude_others(&options->format_name, row);
	options->format = NULL;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i].name, name) == 0)
			options->format = formats[i].format;
	if (!options->format)
		fail("--format=%s: there are text, csv, json and 2.6", name);
	if (options->format == &format_2_6 && !options->numbers)
		options->numbers = NUMBERS_2_6;
}

void take_separator(void *member, const struct option_row *row, const char *text)
{
	struct options *options = member;

	if (!text) {
		options->numbers = NUMBERS_HEX;
		options->wants_number = row;
		return;
	}
	if (strcmp(text, ",") != 0)
		fail("--field-separator=%s: columns are separated by ','; give --csv or --json",
		     text);
	take_format(options, row, NULL);
}

void check_output(const struct options *options)
{
	if (options->output && options->log_fd != NO_LOG_FD)
		fail("--output and --log-fd exclude each other; give one");
	if (options->append && !options->output && options->log_fd == NO_LOG_FD)
		fail("--append needs a file to append to; give --output=FILE");
}

void check_recording(const struct options *options)
{
	if (options->output && is_standard(options->output))
		fail("--output=-: standard output is the command's; give a file");
}

bool add_rules(struct options *options)
{
	if (options->groups.n &&
	    !groups_take(&options->rules, &options->groups, options->backend, options->modes))
		return false;
	if (options->rules) {
		derive_link(options->rules);
		derive_add_events(options->rules, &options->events);
	}
	return true;
}

/* Warns if the driver is there but has refused this machine, so that another backend was chosen. */
static void warn_of_refused_pmu(const char *backend)
{
	struct perfctr_pmu_info info;

	if (!is_driver(backend) && perfctr_get_pmu_info_with(DRIVER, &info) == 0 &&
	    strncmp(info.family, "refused:", strlen("refused:")) == 0 && driver_is_default())
		complain("warning: the driver has found the counters of this machine wrong (%.*s); "
			 "%s counts, and may be as wrong",
			 (int)sizeof(info.family), info.family, backend);
}

static const char *const instructions[] = { "instructions" };

/*
 * Tries to count perfex itself by the driver.  The module looks for other holders once a second, so
 * the counters may be free already; taking them lets the module know.
 */
static bool driver_gets_counters(void)
{
	struct perfctr_events *events =
		perfctr_events_open_with(DRIVER, instructions, 1, PERFCTR_MODE_USER, 0);
	struct perfctr *self = perfctr_open_with(DRIVER, 0, PERFCTR_OPEN_CREATE);
	struct perfctr_request request;
	struct perfctr_control control;
	char error[256];
	bool good = events && self &&
		    perfctr_events_parse(events, instructions[0], PERFCTR_MODE_USER, &request,
					 error, sizeof(error)) == 0 &&
		    perfctr_requests_assign(perfctr_events_info(events), &request, 1, &control,
					    error, sizeof(error)) == 0 &&
		    perfctr_set_control(self, &control) == 0;

	perfctr_close(self);
	perfctr_events_close(events);
	return good;
}

/* Replaces the events by those of the backend that the library chooses now for these. */
static void choose_again(struct options *options, const char *backend, const char *const events[],
			 size_t n, uint32_t capabilities)
{
	struct perfctr_events *database = perfctr_events_open_with(backend, events, (unsigned int)n,
								   options->modes, capabilities);

	if (!database)
		return;
	perfctr_events_close(options->database);
	options->database = database;
}

/*
 * Others have the counters.  Without events, those of the operating system would do, which the
 * driver counts nevertheless; but perf_events counts the processor's, too.
 */
static void choose_beside_others(struct options *options, uint32_t capabilities)
{
	const char *const *events = options->events.word;
	size_t n = options->events.n;

	if (!n && !(options->format && options->format->one_run)) {
		events = instructions;
		n = 1;
	}
	if (options->driver_alone)
		choose_again(options, DRIVER, events, n, capabilities);
	else if (driver_gets_counters() || n > options->events.n)
		choose_again(options, NULL, events, n, capabilities);
}

bool open_events(struct options *options, uint32_t capabilities)
{
	const struct perfctr_pmu_info *info;

	options->database = perfctr_events_open_with(options->backend, options->events.word,
						     (unsigned int)options->events.n,
						     options->modes, capabilities);
	if (!options->database) {
		complain_of_open(options->backend, errno);
		return false;
	}
	options->backend_chosen = !options->backend || !*options->backend;
	options->backend = perfctr_events_backend(options->database);
	info = perfctr_events_info(options->database);
	if (!options->backend_chosen ||
	    (is_driver(options->backend) && info->holder != PERFCTR_HOLDER_OTHER))
		return true;
	if (driver_is_held()) {
		choose_beside_others(options, capabilities);
		options->backend = perfctr_events_backend(options->database);
		options->substitute = !is_driver(options->backend);
	}
	warn_of_refused_pmu(options->backend);
	return true;
}

void tell_substitute(const struct options *options)
{
	const struct perfctr_pmu_info info = { .holder = PERFCTR_HOLDER_OTHER };
	const struct perfctr_control control = { .size = sizeof(control) };
	static bool told;
	char text[256];

	if (!options->substitute || told)
		return;
	told = true;
	perfctr_control_error(EBUSY, &control, &info, text, sizeof(text));
	complain("%s; until then %s counts", text, options->backend);
}

void free_options(struct options *options)
{
	if (options->rules)
		rules_free(options->rules);
	perfctr_events_close(options->database);
	free_words(&options->events);
	free_words(&options->groups);
	free(options->output);
	free(options->regions);
}
