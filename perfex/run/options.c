// SPDX-License-Identifier: GPL-2.0-or-later
/* Options of all that counts a command: events, modes, where the counts go. */
#include "run.h"

#include <ctype.h>

/* What begins like a number is one: its faults are found without a machine to count on. */
void take_event(void *target, const struct option_rule *rule, const char *spec)
{
	struct perfctr_event_control event;
	struct options *options = target;
	char error[256];

	if ((!*spec || isdigit((unsigned char)*spec)) &&
	    perfctr_event_parse(spec, &event, error, sizeof(error)) < 0)
		fail("event '%s': %s", spec, error);
	append_text(&options->event, &options->n_events, spec);
}

void take_output(void *target, const struct option_rule *rule, const char *path)
{
	struct options *options = target;

	if (options->output)
		fail("two output files, '%s' and '%s'; give one", options->output, path);
	options->output = path;
}

void take_modes(void *target, const struct option_rule *rule, const char *unused)
{
	struct options *options = target;

	exclude_others(&options->modes_name, rule);
	options->modes = (unsigned int)rule->value;
}

void take_format(void *target, const struct option_rule *rule, const char *unused)
{
	struct options *options = target;

	exclude_others(&options->format_name, rule);
	options->format = rule->value ? &json_format : &csv_format;
}

void check_output(const struct options *options)
{
	if (options->output && options->log_fd != NO_LOG_FD)
		fail("--output and --log-fd exclude each other; give one");
	if (options->append && !options->output)
		fail("--append needs a file to append to; give --output=FILE");
}
