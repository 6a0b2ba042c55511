// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions with names in which the command counts by itself: perfctr_region_begin(3).  In a region,
 * a thread reads the counters that perfex has started for it, so regions have perfex's events.
 */
#define _GNU_SOURCE
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Returns true if the thread's context counts the event.  The kernel patch counts events of the
 * operating system elsewhere, so regions cannot read them.
 */
static bool is_in_context(const struct recording *recording, const struct event *event)
{
	return strcmp(recording->backend, "patch") != 0 || !(event->counter & PERFCTR_SOFTWARE) ||
	       event->counter & PERFCTR_FIXED;
}

static const struct event *find_index(const struct events *events, unsigned int index)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->event[i].index == index)
			return &events->event[i];
	return NULL;
}

static char *list_events(const struct recording *recording)
{
	struct text list;
	FILE *file = text_open(&list);

	for (unsigned int i = 0; i < recording->events.n; i++) {
		const struct event *event = find_index(&recording->events, i);

		if (event && is_in_context(recording, event))
			fprintf(file, "%s%s", ftell(file) ? "," : "", event->request.name);
	}
	return text_close(&list);
}

/* Returns the status of the file, all 0 if there is none. */
static struct stat find_file(const char *path)
{
	struct stat file;

	if (stat(path, &file) < 0)
		file = (struct stat){ 0 };
	return file;
}

bool regions_ask(const struct recording *recording, struct stat *before)
{
	const char *path = recording->options->regions;
	char *list = list_events(recording), *whole;
	bool any = *list;

	*before = find_file(path);
	if (asprintf(&whole, "%s%s%s", *path == '/' ? "" : recording->directory,
		     *path == '/' ? "" : "/", path) < 0 ||
	    setenv("PERFCTR_REGIONS", whole, 1) < 0 ||
	    setenv("PERFCTR_REGIONS_EVENTS", list, 1) < 0)
		fail("out of memory");
	if (!any)
		complain("--regions: no event is counted that a thread can read in its regions; "
			 "give one, as in -e instructions");
	free(whole);
	free(list);
	return any;
}

/* Says nothing about a device, or a name with %p, which each process replaces by its ID. */
void regions_check(const struct options *options, const struct stat *before)
{
	struct stat file = find_file(options->regions);

	if (strstr(options->regions, "%p") || (file.st_mode && !S_ISREG(file.st_mode)))
		return;
	if (file.st_size == 0 || (file.st_dev == before->st_dev && file.st_ino == before->st_ino &&
				  file.st_mtim.tv_sec == before->st_mtim.tv_sec &&
				  file.st_mtim.tv_nsec == before->st_mtim.tv_nsec))
		complain("'%s' was not written: the command has no regions of names "
			 "(perfctr_region_begin), or did not end by exit()",
			 options->regions);
}
