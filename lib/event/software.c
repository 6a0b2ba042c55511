// SPDX-License-Identifier: LGPL-2.1-or-later
#include "software.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t number;
	bool user; /* can be counted in user mode alone */
	const char *description;
} events[] = {
	{ "task-clock", PERFCTR_TASK_CLOCK, false, "time on a CPU, in ns" },
	{ "cpu-clock", PERFCTR_TASK_CLOCK, false, "the same as task-clock" },
	{ "page-faults", PERFCTR_PAGE_FAULTS, true, "page faults, minor and major" },
	{ "faults", PERFCTR_PAGE_FAULTS, true, "the same as page-faults" },
	{ "minor-faults", PERFCTR_MINOR_FAULTS, true, "page faults without input or output" },
	{ "major-faults", PERFCTR_MAJOR_FAULTS, true, "page faults with input or output" },
	{ "context-switches", PERFCTR_CONTEXT_SWITCHES, false, "times taken off a CPU" },
	{ "cs", PERFCTR_CONTEXT_SWITCHES, false, "the same as context-switches" },
	{ "cpu-migrations", PERFCTR_MIGRATIONS, false, "moves to another CPU" },
	{ "migrations", PERFCTR_MIGRATIONS, false, "the same as cpu-migrations" },
};

enum { N_EVENTS = sizeof(events) / sizeof(events[0]) };

static int find_software(const char *spec, size_t length)
{
	for (int i = 0; i < N_EVENTS; i++)
		if (strlen(events[i].name) == length && memcmp(events[i].name, spec, length) == 0)
			return i;
	return -1;
}

const char *perfctr_software_name(uint32_t counter)
{
	for (int i = 0; i < N_EVENTS; i++)
		if (counter == PERFCTR_SOFTWARE + events[i].number)
			return events[i].name;
	return NULL;
}

int perfctr_software_parse(const struct perfctr_pmu_info *info, const char *spec,
			   struct perfctr_request *request, const struct line *line)
{
	size_t length = strcspn(spec, ":@");
	const char *modifier = spec + length;
	int i = find_software(spec, length);
	bool user = strcmp(modifier, ":u") == 0;

	if (i < 0)
		return 0;
	if (!(info->features & PERFCTR_FEATURE_SOFTWARE))
		return perfctr_line_refuse(
			line, ENOTSUP,
			"this backend does not count what the operating system does; "
			"'perfctr_backends()' shows which one does");
	if (*modifier && strcmp(modifier, ":uk") != 0 && !(user && events[i].user))
		return perfctr_line_refuse(
			line, EINVAL,
			"it is a software event, which counts user and kernel mode together%s, on no "
			"counter; leave out '%s'",
			events[i].user ? " or, with ':u', user mode" : "", modifier);
	*request = (struct perfctr_request){
		.counter = PERFCTR_SOFTWARE + events[i].number,
		.modes = user ? PERFCTR_MODE_USER : PERFCTR_MODE_BOTH,
		.evntsel = user ? PERFCTR_SOFTWARE_USER : 0,
	};
	strcpy(request->name, spec);
	return 1;
}

int perfctr_software_visit(int (*visit)(const struct perfctr_event_entry *entry, void *arg),
			   void *arg)
{
	int status = 0;

	for (int i = 0; !status && i < N_EVENTS; i++) {
		const struct perfctr_event_entry entry = {
			.name = events[i].name,
			.duration = events[i].number == PERFCTR_TASK_CLOCK,
			.source = "software",
			.description = events[i].description,
		};

		status = visit(&entry, arg);
	}
	return status;
}
