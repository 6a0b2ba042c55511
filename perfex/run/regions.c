// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions with names in which the command counts by itself: perfctr_region_begin(3).  In a region,
 * a thread reads the counters that perfex has started for it, so regions have perfex's events.
 */
#include "../textfile.h"
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
	return !is_driver(recording->backend) || !(event->counter & PERFCTR_SOFTWARE) ||
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

bool regions_ask(struct regions *regions, const struct recording *recording)
{
	const char *path = recording->options->regions;
	char *list = list_events(recording);
	bool any = *list;

	regions->before = find_file(path);
	regions->variable[0] = text_print("PERFCTR_REGIONS=%s%s%s",
					  *path == '/' ? "" : recording->directory,
					  *path == '/' ? "" : "/", path);
	regions->variable[1] = text_print("PERFCTR_REGIONS_EVENTS=%s", list);
	if (!any)
		complain("--regions: no event is counted that a thread can read in its regions; "
			 "give one, as in -e instructions");
	free(list);
	return any;
}

/* Says nothing about a device, or a name with %p, which each process replaces by its ID. */
void regions_check(const struct regions *regions, const struct options *options)
{
	const struct stat *before = &regions->before;
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

void regions_free(struct regions *regions)
{
	for (char **variable = regions->variable; *variable; variable++)
		free(*variable);
}
