// SPDX-License-Identifier: GPL-2.0-or-later
#include "picture.h"
#include "axis.h"
#include "../../perfex.h"
#include "../../result/html.h"
#include "../../result/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With more intervals, marks for single ones are of no use, and slow in a browser. */
#define MAX_MARKS 5000

enum { CHART_BOTTOM = 150, CHART_HEIGHT = 172 };

/* Intervals that follow each other: those of one pass of a run, or of one CPU. */
struct strand {
	int64_t run, pass, cpu; /* cpu -1: all */
	uint64_t end_ns;	/* of its last interval */
};

struct interval {
	size_t strand;
	uint64_t start_ns, end_ns, count;
};

struct course_event {
	char *name;
	struct interval *interval;
	size_t n;
};

struct course {
	struct strand *strand;
	size_t n_strands;
	struct course_event *event;
	size_t n_events;
};

struct course *course_new(void)
{
	return allocate(1, sizeof(struct course));
}

bool course_is_empty(const struct course *course)
{
	return !course->n_events;
}

void course_free(struct course *course)
{
	for (size_t i = 0; i < course->n_events; i++) {
		free(course->event[i].name);
		free(course->event[i].interval);
	}
	free(course->event);
	free(course->strand);
	free(course);
}

static bool take_number(json_object *json, const char *key, uint64_t *number,
			struct text_error *error)
{
	json_object *value;

	if (!json_object_object_get_ex(json, key, &value) ||
	    !json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0)
		return refuse_text(error, 0,
				   "'%s' of an interval is not a whole number; give a "
				   "file that perfex -I --json wrote",
				   key);
	*number = json_object_get_uint64(value);
	return true;
}

/* Returns -1 if the number is missing or null. */
static int64_t optional_number(json_object *json, const char *key)
{
	json_object *value = json_object_object_get(json, key);

	return json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : -1;
}

/*
 * Returns the index of the strand that the interval json belongs to, and adds the strand if it is
 * new.  The search begins with the last strand, which is the most likely one.
 */
static size_t find_strand(struct course *course, json_object *json)
{
	struct strand wanted = {
		.run = optional_number(json, "run"),
		.pass = optional_number(json, "pass"),
		.cpu = optional_number(json, "cpu"),
	};

	for (size_t i = course->n_strands; i-- > 0;) {
		const struct strand *strand = &course->strand[i];

		if (strand->run == wanted.run && strand->pass == wanted.pass &&
		    strand->cpu == wanted.cpu)
			return i;
	}
	course->strand = grow(course->strand, course->n_strands, sizeof(*course->strand));
	course->strand[course->n_strands] = wanted;
	return course->n_strands++;
}

static void add_interval(struct course *course, const char *name, const struct interval *interval)
{
	struct course_event *event;
	size_t i = 0;

	while (i < course->n_events && strcmp(course->event[i].name, name) != 0)
		i++;
	if (i == course->n_events) {
		course->event = grow(course->event, i, sizeof(*course->event));
		course->event[i].name = text_print("%s", name);
		course->n_events++;
	}
	event = &course->event[i];
	event->interval = grow(event->interval, event->n, sizeof(*event->interval));
	event->interval[event->n++] = *interval;
}

static bool add_event(struct course *course, json_object *json, struct interval *interval,
		      struct text_error *error)
{
	json_object *name, *modes;
	char *title;

	if (!json_object_object_get_ex(json, "name", &name) ||
	    !json_object_object_get_ex(json, "modes", &modes) || !name || !modes)
		return refuse_text(error, 0, "an event of an interval has no name or modes");
	if (!take_number(json, "count", &interval->count, error))
		return false;
	title = text_print("%s (%s)", json_object_get_string(name), json_object_get_string(modes));
	add_interval(course, title, interval);
	free(title);
	return true;
}

bool course_add(struct course *course, json_object *json, struct text_error *error)
{
	size_t i = find_strand(course, json);
	struct interval interval = { .strand = i, .start_ns = course->strand[i].end_ns };
	json_object *events;
	uint64_t length;

	if (!take_number(json, "time_ns", &interval.end_ns, error) ||
	    !take_number(json, "tsc", &interval.count, error))
		return false;
	if (json_object_object_get_ex(json, "length_ns", NULL)) {
		if (!take_number(json, "length_ns", &length, error))
			return false;
		interval.start_ns = interval.end_ns - length;
	}
	if (interval.start_ns > interval.end_ns)
		return refuse_text(error, 0,
				   "the times of the intervals go back; give a file of "
				   "one recording");
	if (!json_object_object_get_ex(json, "events", &events) ||
	    !json_object_is_type(events, json_type_array))
		return refuse_text(error, 0, "an interval has no events");
	course->strand[i].end_ns = interval.end_ns;
	add_interval(course, "tsc", &interval);
	for (size_t k = 0; k < json_object_array_length(events); k++)
		if (!add_event(course, json_object_array_get_idx(events, k), &interval, error))
			return false;
	return true;
}

/*
 * Returns the name, for free(), with numbers that begin with 1.  Returns "" if there is only one
 * strand.
 */
static char *strand_name(const struct course *course, size_t i)
{
	const struct strand *strand = &course->strand[i];

	if (course->n_strands == 1)
		return text_print("%s", "");
	if (strand->cpu >= 0)
		return text_print("CPU %" PRId64, strand->cpu);
	if (strand->pass > 0)
		return text_print("run %" PRId64 ", pass %" PRId64, strand->run + 1,
				  strand->pass + 1);
	return text_print("run %" PRId64, strand->run + 1);
}

/* Returns the count per second.  Returns NAN if the interval has no length. */
static double rate_of(const struct interval *interval)
{
	uint64_t length = interval->end_ns - interval->start_ns;

	return length ? (double)interval->count * 1e9 / (double)length : NAN;
}

static void draw_mark(FILE *file, const struct course *course, const struct interval *interval,
		      double x, double y)
{
	char *name = strand_name(course, interval->strand);

	fprintf(file,
		"<circle class=c%zu cx=\"%.2f\" cy=\"%.2f\" r=2 data-start=\"%" PRIu64
		"\" data-end=\"%" PRIu64 "\" data-count=\"%" PRIu64 "\"><title>%s%s%" PRIu64
		" in %.6g s, %.6g/s</title></circle>\n",
		interval->strand % N_COLOURS, x, y, interval->start_ns, interval->end_ns,
		interval->count, name, name[0] ? ": " : "", interval->count,
		(double)(interval->end_ns - interval->start_ns) / 1e9, rate_of(interval));
	free(name);
}

/* Draws a level line for each interval, because only the mean rate is known within it. */
static void draw_strand(FILE *file, const struct course_event *event, size_t strand,
			const struct axis *x, const struct axis *y)
{
	bool first = true;

	fprintf(file, "<path class=\"line c%zu\" d=\"", strand % N_COLOURS);
	for (size_t i = 0; i < event->n; i++) {
		const struct interval *interval = &event->interval[i];
		double rate = rate_of(interval);

		if (interval->strand != strand || isnan(rate))
			continue;
		if (first)
			fprintf(file, "M%.2f %.2f", axis_place(x, (double)interval->start_ns / 1e9),
				axis_place(y, rate));
		fprintf(file, "V%.2fH%.2f", axis_place(y, rate),
			axis_place(x, (double)interval->end_ns / 1e9));
		first = false;
	}
	fputs("\"/>\n", file);
}

static void draw_event(FILE *file, const struct course *course, const struct course_event *event)
{
	struct axis x = { .from = PICTURE_LEFT, .to = PICTURE_RIGHT, .unit = "s" };
	struct axis y = { .from = CHART_BOTTOM, .to = CHART_TOP, .unit = "/s" };
	double first = INFINITY, last = 0, largest = 0;

	for (size_t i = 0; i < event->n; i++) {
		first = fmin(first, (double)event->interval[i].start_ns / 1e9);
		last = fmax(last, (double)event->interval[i].end_ns / 1e9);
		largest = fmax(largest, rate_of(&event->interval[i]));
	}
	axis_fit(&x, first, last);
	axis_fit(&y, 0, largest);
	picture_begin(file, CHART_HEIGHT, event->name);
	axis_draw_below(file, &x, CHART_TOP, CHART_BOTTOM);
	axis_draw_left(file, &y);
	for (size_t i = 0; i < course->n_strands; i++)
		draw_strand(file, event, i, &x, &y);
	for (size_t i = 0; i < event->n && event->n <= MAX_MARKS; i++) {
		const struct interval *interval = &event->interval[i];
		double middle = ((double)interval->start_ns + (double)interval->end_ns) / 2e9;

		if (interval->end_ns > interval->start_ns)
			draw_mark(file, course, interval, axis_place(&x, middle),
				  axis_place(&y, rate_of(interval)));
	}
	picture_end(file);
}

static void draw_legend(FILE *file, const struct course *course)
{
	fputs("<p class=legend>", file);
	for (size_t i = 0; course->n_strands > 1 && i < course->n_strands; i++) {
		char *name = strand_name(course, i);

		fprintf(file, "<span class=c%zu>&#9632;</span> %s ", i % N_COLOURS, name);
		free(name);
	}
	fputs("</p>\n", file);
}

static void print_numbers(FILE *file, const struct course *course)
{
	static const struct column column[] = {
		{ "", LEFT },	     { "event", LEFT },	 { "from, ns", RIGHT },
		{ "to, ns", RIGHT }, { "count", RIGHT },
	};
	struct table table;

	table_begin(&table, TABLE_HTML, column, sizeof(column) / sizeof(column[0]));
	for (size_t i = 0; i < course->n_events; i++)
		for (size_t k = 0; k < course->event[i].n; k++) {
			const struct interval *interval = &course->event[i].interval[k];
			char *name = strand_name(course, interval->strand);

			table_add_text(&table, name);
			table_add_text(&table, course->event[i].name);
			table_add(&table, "%" PRIu64, interval->start_ns);
			table_add(&table, "%" PRIu64, interval->end_ns);
			table_add(&table, "%" PRIu64, interval->count);
			free(name);
		}
	fputs("<details><summary>numbers</summary>\n", file);
	table_end(&table, file);
	fputs("</details>\n", file);
}

void course_draw(FILE *file, const struct course *course)
{
	size_t n = 0;

	fputs("<h3>Rates of the intervals</h3>\n", file);
	draw_legend(file, course);
	for (size_t i = 0; i < course->n_events; i++) {
		draw_event(file, course, &course->event[i]);
		n += course->event[i].n;
	}
	if (n <= MAX_MARKS)
		print_numbers(file, course);
	else
		fprintf(file, "<p>These are %zu numbers: too many for a table.</p>\n", n);
}
