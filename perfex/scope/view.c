// SPDX-License-Identifier: GPL-2.0-or-later
#include "scope.h"

#include <math.h>
#include <string.h>

enum { BACKSPACE = 8, ESCAPE = 27, DELETE = 127 };

/* Returns the next larger one of 1, 2, 5, 10, 20, .., for scales and for samples in a column. */
static double next_step(double scale)
{
	double power = pow(10, floor(log10(scale) + 1e-9));
	double part = scale / power;

	return power * (part < 1.5 ? 2 : part < 3.5 ? 5 : 10);
}

static double previous_step(double scale)
{
	double power = pow(10, floor(log10(scale) + 1e-9));
	double part = scale / power;

	return power * (part < 1.5 ? 0.5 : part < 3.5 ? 1 : 2);
}

void view_begin(struct view *view, const struct stream *stream)
{
	*view = (struct view){ .stream = stream, .per_column = 1 };
	for (size_t i = 0; i < N_PANES; i++)
		view->pane[i].event = i + 1;
}

static size_t shown_end(const struct view *view)
{
	return view->paused ? view->end : view->stream->n;
}

/* Returns the event of a pane.  Panes share events if there are fewer events than panes. */
static size_t event_of(const struct view *view, const struct pane *pane)
{
	return pane->event % view->stream->n_events;
}

/*
 * Samples are divided into columns from the first sample on, so that a column keeps its samples
 * when new ones come.  Only the newest column grows.
 */
double view_rate(const struct view *view, const struct pane *pane, size_t column)
{
	size_t end = shown_end(view), size = view->per_column;
	size_t n_columns = (end + size - 1) / size;
	uint64_t count = 0, length_ns = 0;

	if (column >= n_columns)
		return -1;
	for (size_t i = (n_columns - 1 - column) * size, n = 0; i < end && n < size; i++, n++) {
		count += view->stream->sample[i].count[event_of(view, pane)];
		length_ns += view->stream->sample[i].length_ns;
	}
	return length_ns ? (double)count * 1e9 / (double)length_ns : -1;
}

double view_scale(const struct view *view, const struct pane *pane, size_t n_columns)
{
	double largest = 1, scale = 1;

	if (pane->scale > 0)
		return pane->scale;
	for (size_t i = 0; i < n_columns; i++)
		largest = fmax(largest, view_rate(view, pane, i));
	while (scale < largest)
		scale = next_step(scale);
	return scale;
}

static void scale_panes(struct view *view, double (*step)(double scale), size_t n_columns)
{
	for (size_t i = 0; i < N_PANES; i++) {
		double scale = step(view_scale(view, &view->pane[i], n_columns));

		view->pane[i].scale = scale >= 1 && scale <= 1e18 ? scale : view->pane[i].scale;
	}
}

static void equate_panes(struct view *view, size_t n_columns)
{
	double scale = 1;

	for (size_t i = 0; i < N_PANES; i++) {
		view->pane[i].scale = 0;
		scale = fmax(scale, view_scale(view, &view->pane[i], n_columns));
	}
	for (size_t i = 0; i < N_PANES; i++)
		view->pane[i].scale = scale;
}

static void change_columns(struct view *view, double (*step)(double scale))
{
	double size = step(view->per_column);

	if (size >= 1 && size <= 1000)
		view->per_column = (unsigned int)lround(size);
}

bool view_key(struct view *view, int key, size_t n_columns)
{
	switch (key) {
	case ' ':
		view->end = view->stream->n;
		view->paused = !view->paused;
		return true;
	case '1':
	case '2':
		view->pane[key - '1'].event = event_of(view, &view->pane[key - '1']) + 1;
		view->pane[key - '1'].scale = 0;
		return true;
	case '+':
		scale_panes(view, previous_step, n_columns);
		return true;
	case '-':
		scale_panes(view, next_step, n_columns);
		return true;
	case '=':
		equate_panes(view, n_columns);
		return true;
	case 'a':
		for (size_t i = 0; i < N_PANES; i++)
			view->pane[i].scale = 0;
		return true;
	case '<':
		change_columns(view, previous_step);
		return true;
	case '>':
		change_columns(view, next_step);
		return true;
	}
	return false;
}

bool view_answer(struct view *view, int key)
{
	size_t n = strlen(view->answer);

	if (key == ESCAPE || key == INTERRUPT)
		view->answer[0] = '\0';
	if (key == ESCAPE || key == INTERRUPT || key == '\n' || key == '\r')
		return true;
	if ((key == DELETE || key == BACKSPACE) && n)
		view->answer[n - 1] = '\0';
	else if (key >= ' ' && key < DELETE && n + 1 < sizeof(view->answer))
		memcpy(view->answer + n, (const char[]){ (char)key, '\0' }, 2);
	snprintf(view->message, sizeof(view->message), "count instead: %s_", view->answer);
	return false;
}
