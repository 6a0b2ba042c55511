// SPDX-License-Identifier: GPL-2.0-or-later
#include "picture.h"
#include "axis.h"
#include "../../perfex.h"
#include "../../result/trace_sum.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The most lanes that are drawn: nobody would look at more. */
#define MAX_LANES 400

/* A part of the picture's width.  Stints of a lane on one CPU that are closer are drawn as one. */
#define SMALLEST_GAP (1 / 4000.0)

enum { LANE_HEIGHT = 18 };

/* A time in which a thread ran without a break. */
struct stint {
	int pid, tid, cpu;
	uint64_t start, end; /* ticks of the time stamp counter */
	size_t n;	     /* number of stints that were joined into this one; 1: none were */
	size_t lane;
};

struct lanes {
	bool per_thread;
	struct trace_sums sums; /* each row is a lane */
	struct stint *now;	/* of each CPU, not ended yet; pid 0: a thread without a mark */
	struct stint *stint;
	size_t n;
	uint64_t first, last; /* times of the first and the last record */
	bool begun;
};

static void keep_stint(struct lanes *lanes, const struct stint *stint)
{
	if (!stint->pid || stint->end <= stint->start)
		return;
	lanes->stint = grow(lanes->stint, lanes->n, sizeof(*stint));
	lanes->stint[lanes->n++] = *stint;
}

static void take_record(void *target, const struct trace_record *record)
{
	struct lanes *lanes = target;
	struct stint *now = &lanes->now[record->cpu];
	bool known = lanes->sums.last[record->cpu].cpu >= 0;

	lanes->first = lanes->begun && lanes->first < record->time ? lanes->first : record->time;
	lanes->last = lanes->last > record->time ? lanes->last : record->time;
	lanes->begun = true;
	now->end = record->time;
	/* Nobody knows which thread ran between lost records. */
	if (record->lost && known)
		now->pid = now->tid = UNKNOWN_TID;
	if (now->tid != record->tid || now->pid != record->pid) {
		if (known)
			keep_stint(lanes, now);
		*now = (struct stint){
			record->pid, record->tid, record->cpu, record->time, record->time, 1, 0
		};
	}
	trace_sums_add(&lanes->sums, record);
}

static int compare_stints(const void *a, const void *b)
{
	const struct stint *one = a, *other = b;

	if (one->lane != other->lane)
		return one->lane < other->lane ? -1 : 1;
	if (one->cpu != other->cpu)
		return one->cpu < other->cpu ? -1 : 1;
	return (one->start > other->start) - (one->start < other->start);
}

/* Joins stints that nobody could see apart. */
static void join_stints(struct lanes *lanes)
{
	uint64_t gap = (uint64_t)((double)(lanes->last - lanes->first) * SMALLEST_GAP);
	size_t n = 0;

	for (size_t i = 0; i < lanes->n; i++) {
		struct stint *last = n ? &lanes->stint[n - 1] : NULL, *stint = &lanes->stint[i];

		if (last && last->lane == stint->lane && last->cpu == stint->cpu &&
		    stint->start - last->end < gap) {
			last->end = stint->end;
			last->n++;
		} else {
			lanes->stint[n++] = *stint;
		}
	}
	lanes->n = n;
}

/* Finds the lane of each stint.  All records must have been read: only then all lanes are known. */
static void find_lanes(struct lanes *lanes)
{
	for (int cpu = 0; cpu < TRACE_MAX_CPUS; cpu++)
		keep_stint(lanes, &lanes->now[cpu]);
	for (size_t i = 0; i < lanes->n; i++) {
		struct stint *stint = &lanes->stint[i];

		stint->lane = trace_sums_find(&lanes->sums, stint->pid, stint->tid);
	}
	if (lanes->n)
		qsort(lanes->stint, lanes->n, sizeof(*lanes->stint), compare_stints);
	join_stints(lanes);
}

static const char *lane_name(const struct lanes *lanes, size_t i, char *text, size_t size)
{
	const struct trace_sum *sum = &lanes->sums.sum[i];

	if (sum->pid == UNKNOWN_TID)
		return "lost";
	if (lanes->per_thread)
		snprintf(text, size, "%d, %d", sum->pid, sum->tid);
	else
		snprintf(text, size, "%d", sum->pid);
	return text;
}

/*
 * Sets the place of each lane, or -1 for lanes without one: those of pid 0, which have no stints,
 * and those beyond MAX_LANES.  Returns the number of places.
 */
static size_t place_lanes(const struct lanes *lanes, int *place)
{
	size_t n = 0;

	for (size_t i = 0; i < lanes->sums.n_sums; i++)
		place[i] = lanes->sums.sum[i].pid != 0 && n < MAX_LANES ? (int)n++ : -1;
	return n;
}

static double seconds_of(const struct trace_reader *trace, uint64_t ticks)
{
	return trace->khz ? (double)ticks / 1e3 / (double)trace->khz : (double)ticks;
}

static void draw_stint(FILE *file, const struct lanes *lanes, const struct trace_reader *trace,
		       const struct stint *stint, const struct axis *x, int place)
{
	double start = seconds_of(trace, stint->start - lanes->first);
	double end = seconds_of(trace, stint->end - lanes->first);
	double left = axis_place(x, start), right = axis_place(x, end);
	char name[32];

	fprintf(file,
		"<rect class=c%d x=\"%.2f\" y=%d width=\"%.2f\" height=%d data-cpu=%d "
		"data-start=\"%" PRIu64 "\" data-end=\"%" PRIu64 "\"><title>%s on CPU %d: %.6g to "
		"%.6g %s",
		stint->pid == UNKNOWN_TID ? N_COLOURS : stint->cpu % N_COLOURS, left,
		CHART_TOP + place * LANE_HEIGHT + 2, fmax(right - left, 0.3), LANE_HEIGHT - 4,
		stint->cpu, stint->start, stint->end,
		lane_name(lanes, stint->lane, name, sizeof(name)), stint->cpu, start, end,
		trace->khz ? "s" : "ticks");
	if (stint->n > 1)
		fprintf(file, ", %zu times", stint->n);
	fputs("</title></rect>\n", file);
}

static void draw_legend(FILE *file, const struct lanes *lanes)
{
	fputs("<p class=legend>", file);
	for (int cpu = 0; cpu < TRACE_MAX_CPUS; cpu++)
		if (lanes->sums.last[cpu].cpu >= 0)
			fprintf(file, "<span class=c%d>&#9632;</span> CPU %d ", cpu % N_COLOURS,
				cpu);
	fputs("</p>\n", file);
}

static void draw_picture(FILE *file, const struct lanes *lanes, const struct trace_reader *trace)
{
	struct axis x = { .from = PICTURE_LEFT,
			  .to = PICTURE_RIGHT,
			  .unit = trace->khz ? "s" : "" };
	int *place = allocate(lanes->sums.n_sums, sizeof(*place));
	size_t n = place_lanes(lanes, place);
	double bottom = CHART_TOP + LANE_HEIGHT * (double)n;

	axis_fit(&x, 0, seconds_of(trace, lanes->last - lanes->first));
	picture_begin(file, bottom + 22, lanes->per_thread ? "processes and threads" : "processes");
	axis_draw_below(file, &x, CHART_TOP, bottom);
	for (size_t i = 0; i < lanes->sums.n_sums; i++) {
		char name[32];

		if (place[i] >= 0)
			fprintf(file, "<text class=y x=%d y=\"%d\">%s</text>\n", PICTURE_LEFT - 6,
				CHART_TOP + place[i] * LANE_HEIGHT + LANE_HEIGHT / 2 + 4,
				lane_name(lanes, i, name, sizeof(name)));
	}
	for (size_t i = 0; i < lanes->n; i++)
		if (place[lanes->stint[i].lane] >= 0)
			draw_stint(file, lanes, trace, &lanes->stint[i], &x,
				   place[lanes->stint[i].lane]);
	picture_end(file);
	if (n == MAX_LANES)
		fprintf(file, "<p>More than %d are only in the table.</p>\n", MAX_LANES);
	free(place);
}

void lanes_draw(FILE *file, const char *path, FILE *input, bool per_thread)
{
	struct lanes lanes = {
		.per_thread = per_thread,
		.now = allocate(TRACE_MAX_CPUS, sizeof(*lanes.now)),
	};
	struct trace_reader trace = { .path = path, .take = take_record, .target = &lanes };

	trace_sums_begin(&lanes.sums, per_thread);
	trace_read(&trace, input);
	if (!trace_sums_complete(&lanes.sums, &trace))
		fail("'%s': the parts do not add up to the totals: the trace is not complete",
		     path);
	find_lanes(&lanes);
	fputs("<h3>Who ran when</h3>\n", file);
	draw_legend(file, &lanes);
	draw_picture(file, &lanes, &trace);
	if (lanes.sums.lost)
		fprintf(file,
			"<p>%" PRIu64 " records were lost; what was counted between is not "
			"known to be anybody's.</p>\n",
			lanes.sums.lost);
	trace_sums_print(&lanes.sums, &trace, TABLE_HTML, file);
	trace_sums_free(&lanes.sums);
	trace_free(&trace);
	free(lanes.now);
	free(lanes.stint);
}
