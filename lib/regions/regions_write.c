// SPDX-License-Identifier: LGPL-2.1-or-later
/* Results of regions as text and as CSV, now or at exit. */
#define _GNU_SOURCE
#include "regions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* One row of a table: an event in a region of a thread. */
struct row {
	const struct perfctr_region_result *result;
	const char *event, *modes;
	const struct perfctr_region_count *count;
};

typedef void write_row(FILE *file, const struct row *row, const void *argument);

static void write_rows(const struct perfctr_regions *r, const struct perfctr_region_result *result,
		       FILE *file, write_row *write, const void *argument)
{
	struct row row = {
		.result = result,
		.event = "tsc",
		.modes = perfctr_modes_text(PERFCTR_MODE_BOTH),
		.count = &result->tsc,
	};

	write(file, &row, argument);
	for (unsigned int i = 0; i < result->n_counters; i++) {
		row.event = r->event[i].name;
		row.modes = perfctr_modes_text(r->event[i].modes);
		row.count = &result->counter[i];
		write(file, &row, argument);
	}
}

static void write_table(struct perfctr_regions *r, unsigned int flags, FILE *file, write_row *write,
			const void *argument)
{
	const struct perfctr_region_thread *thread = NULL;
	struct perfctr_region_result result;

	while ((thread = perfctr_regions_next(r, thread)))
		for (unsigned int i = 0; i < r->n_regions; i++) {
			perfctr_regions_result(r, thread, i, flags, &result);
			write_rows(r, &result, file, write, argument);
		}
}

static bool is_corrected(const struct row *row)
{
	return row->result->flags & PERFCTR_REGIONS_CORRECTED;
}

static double mean_of(const struct row *row)
{
	return (double)row->count->total / (double)row->result->passes;
}

/* Bytes of the widest region and event names. */
struct widths {
	int region, event;
};

static int wider_of(int width, const char *text)
{
	int length = (int)strlen(text);

	return length > width ? length : width;
}

static struct widths widths_of(const struct perfctr_regions *r)
{
	struct widths w = { .region = wider_of(0, "region"), .event = wider_of(0, "event") };

	for (unsigned int i = 0; i < r->n_regions; i++)
		w.region = wider_of(w.region, r->name[i]);
	for (uint32_t i = 0; i < r->control.n_events; i++)
		w.event = wider_of(w.event, r->event[i].name);
	return w;
}

static void write_text_row(FILE *file, const struct row *row, const void *argument)
{
	const struct perfctr_region_result *result = row->result;
	const struct widths *w = argument;

	fprintf(file, "%-*s %7d %10" PRIu64 " %10" PRIu64 " %c  %-*s %-11s %16" PRIu64, w->region,
		result->name, result->tid, result->entries, result->exits,
		result->entries == result->exits ? ' ' : '!', w->event, row->event, row->modes,
		row->count->total);
	if (result->passes)
		fprintf(file, " %14.1f %12" PRIu64 " %12" PRIu64, mean_of(row), row->count->min,
			row->count->max);
	else
		fprintf(file, " %14s %12s %12s", "-", "-", "-");
	fputs(is_corrected(row) ? "  corrected\n" : "\n", file);
}

static int write_text(struct perfctr_regions *r, FILE *file, unsigned int flags)
{
	struct widths w = widths_of(r);

	fprintf(file, "%-*s %7s %10s %10s    %-*s %-11s %16s %14s %12s %12s\n", w.region, "region",
		"thread", "entries", "exits", w.event, "event", "modes", "total", "mean", "min",
		"max");
	write_table(r, flags, file, write_text_row, &w);
	return 0;
}

/* RFC 4180: a field with a comma, a quote or a line break is quoted, its quotes are doubled. */
static void write_field(FILE *file, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

static void write_csv_row(FILE *file, const struct row *row, const void *argument)
{
	const struct perfctr_region_result *result = row->result;

	(void)argument;
	write_field(file, result->name);
	fprintf(file, ",%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", result->tid,
		result->entries, result->exits, result->passes, result->retried);
	write_field(file, row->event);
	fprintf(file, ",%s,%d,%" PRIu64 ",", row->modes, is_corrected(row), row->count->total);
	if (result->passes)
		fprintf(file, "%.17g,%" PRIu64 ",%" PRIu64 "\r\n", mean_of(row), row->count->min,
			row->count->max);
	else
		fputs(",,\r\n", file);
}

/* Fractions have a decimal point in every locale. */
static int write_csv(struct perfctr_regions *r, FILE *file, unsigned int flags)
{
	locale_t numbers = newlocale(LC_NUMERIC_MASK, "C", NULL), before;

	if (!numbers)
		return -1;
	fputs("region,thread,entries,exits,passes,retried,event,modes,corrected,total,mean,min,max"
	      "\r\n",
	      file);
	before = uselocale(numbers);
	write_table(r, flags, file, write_csv_row, NULL);
	uselocale(before);
	freelocale(numbers);
	return 0;
}

static int (*const writers[])(struct perfctr_regions *r, FILE *file, unsigned int flags) = {
	[PERFCTR_REGIONS_TEXT] = write_text,
	[PERFCTR_REGIONS_CSV] = write_csv,
	[PERFCTR_REGIONS_JSON] = perfctr_regions_write_json,
};

static bool is_known(enum perfctr_regions_format format, unsigned int flags)
{
	if ((size_t)format < sizeof(writers) / sizeof(writers[0]) &&
	    !(flags & ~PERFCTR_REGIONS_CORRECTED))
		return true;
	errno = EINVAL;
	return false;
}

int perfctr_regions_write(struct perfctr_regions *r, FILE *file, enum perfctr_regions_format format,
			  unsigned int flags)
{
	if (perfctr_regions_foreign(r) || !is_known(format, flags))
		return -1;
	if (writers[format](r, file, flags) < 0)
		return -1;
	return fflush(file) || ferror(file) ? -1 : 0;
}

/* Several processes may write the same file.  The lock lets them do so one after the other. */
static void lock_file(int fd)
{
	while (flock(fd, LOCK_EX) < 0 && errno == EINTR)
		continue;
}

/* EINVAL: a terminal or a pipe cannot be emptied, and need not be. */
static int empty_file(int fd)
{
	return ftruncate(fd, 0) < 0 && errno != EINVAL ? -1 : 0;
}

/*
 * Writes the whole document, or leaves the file empty.  Unlocks it before closing, because a child
 * may keep the descriptor open, and with it the lock.
 */
static void save_file(const struct region_exit *at_exit)
{
	FILE *file = fdopen(at_exit->fd, "w");

	if (!file)
		return;
	lock_file(at_exit->fd);
	if (empty_file(at_exit->fd) < 0 ||
	    perfctr_regions_write(at_exit->regions, file, at_exit->format, at_exit->flags) < 0) {
		__fpurge(file);
		empty_file(at_exit->fd);
	}
	flock(at_exit->fd, LOCK_UN);
	fclose(file);
}

static void save_at_exit(void *argument)
{
	struct region_exit *at_exit = argument;

	if (at_exit->regions) {
		if (!perfctr_regions_foreign(at_exit->regions) && perfctr_regions_has_file(at_exit))
			save_file(at_exit);
		at_exit->regions->exit = NULL;
	}
	free(at_exit);
}

static int open_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666), error;

	if (fd < 0)
		return -1;
	lock_file(fd);
	error = empty_file(fd) < 0 ? errno : 0;
	flock(fd, LOCK_UN);
	if (!error)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

/* From the C++ ABI: atexit() with an argument, which also runs when a shared object is unloaded. */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *object);
extern void *__dso_handle __attribute__((visibility("hidden")));

int perfctr_regions_save_at_exit(struct perfctr_regions *r, const char *path,
				 enum perfctr_regions_format format, unsigned int flags)
{
	struct region_exit *at_exit;
	struct stat file;
	int fd;

	if (perfctr_regions_foreign(r) || !is_known(format, flags))
		return -1;
	fd = open_file(path);
	if (fd < 0)
		return -1;
	at_exit = malloc(sizeof(*at_exit));
	if (!at_exit || fstat(fd, &file) < 0 ||
	    __cxa_atexit(save_at_exit, at_exit, &__dso_handle)) {
		free(at_exit);
		close(fd);
		errno = ENOMEM;
		return -1;
	}
	perfctr_regions_forget_exit(r);
	*at_exit = (struct region_exit){
		.regions = r,
		.fd = fd,
		.device = file.st_dev,
		.inode = file.st_ino,
		.format = format,
		.flags = flags,
	};
	r->exit = at_exit;
	return 0;
}
