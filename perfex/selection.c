// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "selection.h"
#include "groups/groups.h"
#include "rules/derive.h"
#include "run/run.h"
#include "textfile.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/*
 * Opens the events of a PMU.  A PMU of --pmu also gets the events of the operating system, which
 * any machine that has this PMU can count.
 */
static bool open_database(struct options *selection, const struct perfctr_pmu_info *found)
{
	struct perfctr_pmu_info info = *found;

	info.features |= selection->pmu ? PERFCTR_FEATURE_SOFTWARE : 0;
	selection->database = perfctr_events_open(&info);
	if (!selection->database)
		fail("out of memory");
	return true;
}

/*
 * Returns true if libpfm4 knows the processor.  LIBPFM_FORCE_PMU must already make libpfm4 take it
 * for the processor of this machine.
 */
static bool is_processor(const struct options *selection)
{
	struct perfctr_request request;
	char spec[PERFCTR_REQUEST_NAME], error[512];

	snprintf(spec, sizeof(spec), "%s::cycles", selection->pmu);
	return perfctr_events_parse(selection->database, spec, PERFCTR_MODE_USER, &request, error,
				    sizeof(error)) == 0;
}

static bool open_this_machine(struct options *selection)
{
	struct perfctr_pmu_info info;

	if (perfctr_get_pmu_info(&info) == 0)
		return open_database(selection, &info);
	complain_of_open(NULL, errno);
	return false;
}

static bool is_family(const char *name)
{
	const char *family;

	for (unsigned int i = 0; (family = perfctr_family_name(i)); i++)
		if (strcmp(family, name) == 0)
			return true;
	return false;
}

const char *known_processor(unsigned int i, const char **description)
{
	unsetenv("LIBPFM_FORCE_PMU");
	return perfctr_processor_name(i, description);
}

bool text_matches(const char *pattern, const char *text)
{
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, text, FNM_CASEFOLD) == 0;
	return strcasestr(text, pattern);
}

bool either_matches(const char *pattern, const char *a, const char *b)
{
	return !pattern || text_matches(pattern, a) || text_matches(pattern, b);
}

/* More processors than these have little in common with the name. */
#define MOST_NEAR 4

/* Suggests the processors that have the text "name" in their names or descriptions. */
static void complain_of_pmu(const char *name)
{
	const char *processor, *description;
	struct text near;
	FILE *file = text_open(&near);
	unsigned int n = 0;

	for (unsigned int i = 0; (processor = known_processor(i, &description)); i++)
		if (either_matches(name, processor, description))
			fprintf(file, "%s%s (%s)", n++ ? ", " : "; near it: ", processor,
				description);
	text_close(&near);
	complain("there is no PMU '%s'%s; perfex list --processors shows all", name,
		 n <= MOST_NEAR ? near.text : "");
	free(near.text);
}

bool open_selected_pmu(struct options *selection)
{
	const char *name = selection->pmu;
	const struct perfctr_pmu_info *info;
	bool family;

	if (!name)
		return open_this_machine(selection);
	family = is_family(name);
	/*
	 * A family is no processor of libpfm4: "perf" keeps it from using this machine's.  An empty
	 * name keeps it from knowing more than one processor.
	 */
	if (*name)
		setenv("LIBPFM_FORCE_PMU", family ? "perf" : name, 1);
	info = *name ? perfctr_family_info(name) : NULL;
	if (info && open_database(selection, info) && (family || is_processor(selection)))
		return true;
	complain_of_pmu(name);
	return false;
}

/*
 * Appends the events of the groups that are not in the list yet, as perfex run does.  Returns
 * false, after an error message, if there is no such group, or if it has no rules for this PMU.
 */
static bool add_groups(struct options *selection)
{
	const char *name;

	for (size_t i = 0; i < selection->groups.n; i++)
		if (!group_take(&selection->rules, selection->groups.word[i], selection->database))
			return false;
	derive_link(selection->rules);
	for (size_t i = 0; selection->rules && (name = rules_event(selection->rules, i)); i++)
		if (*name && !derive_is_counted(&selection->events, name))
			append_events(&selection->events, name);
	return true;
}

struct perfctr_request *selected_events(struct options *selection)
{
	struct perfctr_request *requests;
	char error[512];

	if (!add_groups(selection))
		return NULL;
	requests = allocate(selection->events.n, sizeof(*requests));
	for (size_t i = 0; i < selection->events.n; i++) {
		const char *spec = selection->events.word[i];

		if (perfctr_events_parse(selection->database, spec, selection->modes, &requests[i],
					 error, sizeof(error)) == 0) {
			warn_of_event(selection->database, &requests[i]);
			continue;
		}
		if (errno == ENODEV && !selection->pmu)
			complain("event '%s': %s; give a processor by --pmu=NAME, see perfex list "
				 "--processors",
				 spec, error);
		else
			complain_of_event(spec, error);
		free(requests);
		return NULL;
	}
	return requests;
}
