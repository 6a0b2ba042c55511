// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes OpenMetrics 1.0, but only what the text format of Prometheus has as well, because the
 * textfile collector of node_exporter reads that.  Samples have no time stamps, which the collector
 * refuses.
 */
#define _GNU_SOURCE
#include "system.h"
#include "../textfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void print_family(FILE *file, const char *name, const char *type, const char *unit,
			 const char *help)
{
	fprintf(file, "# TYPE %s %s\n", name, type);
	if (unit)
		fprintf(file, "# UNIT %s %s\n", name, unit);
	fprintf(file, "# HELP %s %s\n", name, help);
}

/* Writes the value of a label in quotation marks. */
static void print_value(FILE *file, const char *value)
{
	putc('"', file);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			putc('\\', file);
		if (*value == '\n')
			fputs("\\n", file);
		else
			putc(*value, file);
	}
	putc('"', file);
}

static void print_tsc(FILE *file, const struct system_row *sums)
{
	fputs("perfex_tsc_ticks_total", file);
	if (sums->cpu != ALL_CPUS)
		fprintf(file, "{cpu=\"%d\"}", sums->cpu);
	fprintf(file, " %" PRIu64 "\n", sums->tsc);
}

/*
 * Returns true if an earlier event has the same labels.  Events of one name normally differ by
 * their counters; those of the operating system may not.
 */
static bool is_there_already(const struct events *events, size_t i)
{
	const struct event *event = &events->event[i];

	for (size_t k = 0; k < i; k++)
		if (events->event[k].counter == event->counter &&
		    events->event[k].request.modes == event->request.modes &&
		    strcmp(events->event[k].name, event->name) == 0)
			return true;
	return false;
}

static void print_event(FILE *file, const struct event *event, const struct system_row *sums)
{
	fputs("perfex_events_total{event=", file);
	print_value(file, event->name);
	fprintf(file, ",modes=\"%s\",counter=\"0x%x\"", mode_name(event->request.modes),
		event->counter);
	if (sums->cpu != ALL_CPUS)
		fprintf(file, ",cpu=\"%d\"", sums->cpu);
	fprintf(file, "} %" PRIu64 "\n", sums->counter[event->index]);
}

static void print_metrics(FILE *file, const struct events *events,
			  const struct system_row *const sums[], size_t n)
{
	print_family(file, "perfex_elapsed_seconds", "counter", "seconds",
		     "Time since perfex system began to count.");
	fprintf(file, "perfex_elapsed_seconds_total %" PRIu64 ".%09u\n",
		sums[0]->time_ns / 1000000000, (unsigned int)(sums[0]->time_ns % 1000000000));
	print_family(file, "perfex_tsc_ticks", "counter", "ticks",
		     "Ticks of the time stamp counters while CPUs were counted.");
	for (size_t i = 0; i < n; i++)
		print_tsc(file, sums[i]);
	if (events->n)
		print_family(file, "perfex_events", "counter", NULL,
			     "Events that CPUs counted since perfex system began.");
	for (size_t i = 0; i < events->n; i++)
		for (size_t k = 0; k < n && !is_there_already(events, i); k++)
			print_event(file, &events->event[i], sums[k]);
	fputs("# EOF\n", file);
}

/*
 * Only a regular file is replaced: nobody can read a whole file from a device or pipe.  Sets errno.
 */
static bool is_replaceable(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0 || S_ISREG(status.st_mode))
		return true;
	errno = S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
	return false;
}

bool system_write_metrics(const char *path, const struct events *events,
			  const struct system_row *const sums[], size_t n)
{
	struct text text;
	bool good;

	print_metrics(text_open(&text), events, sums, n);
	text_close(&text);
	good = is_replaceable(path) && textfile_output(path, text.text, text.size);
	free(text.text);
	return good;
}
