// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "scope.h"
#include "../perfex.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_ROWS = 4, LEAST_COLUMNS = 20, PANE_ROWS = 3 };

static FILE *terminal;
static SCREEN *screen;
static bool has_blocks; /* the terminal has characters that fill eighths of a cell */

/* Restores the terminal.  Also called at exit, so that every end of perfex restores it. */
static void restore_terminal(void)
{
	if (screen)
		endwin();
}

void screen_begin(void)
{
	const char *name = getenv("TERM");
	char *move;

	setlocale(LC_CTYPE, "");
	has_blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	terminal = fopen("/dev/tty", "r+e");
	if (!terminal)
		fail("perfex scope draws on a terminal, and there is none; perfex -I MS --json "
		     "writes the same, perfex report --html draws it");
	screen = newterm(NULL, terminal, terminal);
	move = screen ? tigetstr("cup") : NULL;
	if (!move || move == (char *)-1) {
		restore_terminal();
		fail("perfex scope cannot draw on a terminal of type '%s'; set TERM, like "
		     "TERM=xterm-256color",
		     name ? name : "");
	}
	atexit(restore_terminal);
	raw();
	noecho();
	nodelay(stdscr, true);
	keypad(stdscr, true);
	curs_set(0);
	if (has_colors()) {
		start_color();
		use_default_colors();
		init_pair(1, COLOR_RED, -1);
		init_pair(2, COLOR_BLUE, -1);
	}
}

void screen_end(void)
{
	endwin();
	delscreen(screen);
	screen = NULL;
	fclose(terminal);
}

void screen_forget(void)
{
	screen = NULL;
}

int screen_input(void)
{
	return fileno(terminal);
}

int screen_key(void)
{
	int key = getch();

	/* Replace these keys by the characters that terminals without such keys send. */
	return key == KEY_BACKSPACE ? '\b' : key == KEY_ENTER ? '\n' : key;
}

size_t screen_columns(void)
{
	return (size_t)COLS;
}

/* Formats a rate in a few characters, such as "1.5 M/s". */
static void format_rate(char text[24], double rate)
{
	static const char prefixes[] = " kMGTPE";
	size_t i = 0;

	while (fabs(rate) >= 999.5 && prefixes[i + 1]) {
		rate /= 1000;
		i++;
	}
	snprintf(text, 24, "%.3g%s%.*s/s", rate, i ? " " : "", i ? 1 : 0, &prefixes[i]);
}

static void put_line(int row, const char *text)
{
	mvaddnstr(row, 0, text, COLS);
	clrtoeol();
}

/* height is that of the column, in rows.  row counts from the bottom of the pane, from 0. */
static void put_cell(int y, int x, double height, int row)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	long eighths = lround((height - row) * 8);

	eighths = eighths < 0 ? 0 : eighths > 8 ? 8 : eighths;
	if (has_blocks)
		mvaddstr(y, x, blocks[eighths]);
	else
		mvaddch(y, x, eighths >= 4 ? '#' : ' ');
}

static void draw_pane(const struct view *view, size_t which, int top, int rows)
{
	const struct pane *pane = &view->pane[which];
	size_t n_columns = (size_t)COLS;
	double scale = view_scale(view, pane, n_columns), now = view_rate(view, pane, 0);
	char title[512], rate[24] = "-", whole[24];

	if (now >= 0)
		format_rate(rate, now);
	format_rate(whole, scale);
	snprintf(title, sizeof(title), "%zu %s  %s  (scale %s%s)", which + 1,
		 view->stream->name[pane->event % view->stream->n_events], rate, whole,
		 pane->scale > 0 ? "" : ", automatic");
	attron(COLOR_PAIR(which + 1) | A_BOLD);
	put_line(top, title);
	attroff(A_BOLD);
	for (size_t column = 0; column < n_columns; column++) {
		double height = view_rate(view, pane, column) / scale * (rows - 1);

		for (int row = 0; row < rows - 1; row++)
			put_cell(top + rows - 1 - row, (int)(n_columns - 1 - column), height, row);
	}
	attroff(COLOR_PAIR(which + 1));
}

/* Returns the mean time of a column, in seconds, of all samples up to the newest one shown. */
static double column_seconds(const struct view *view)
{
	size_t n = view->paused ? view->end : view->stream->n;

	return n ? (double)view->stream->sample[n - 1].end_ns / 1e9 / (double)n * view->per_column
		 : 0;
}

/* Draws two panes if there is room, otherwise one. */
void screen_draw(const struct view *view, const char *title)
{
	int n_panes = LINES - 2 >= N_PANES * PANE_ROWS ? N_PANES : 1;
	int rows = (LINES - 2) / n_panes;
	char line[512];

	erase();
	if (LINES < LEAST_ROWS || COLS < LEAST_COLUMNS) {
		put_line(0, "too small");
		refresh();
		return;
	}
	snprintf(line, sizeof(line), "%s%.3g s a column  %s", view->paused ? "PAUSED  " : "",
		 column_seconds(view), title);
	put_line(0, line);
	for (int i = 0; i < n_panes; i++)
		draw_pane(view, (size_t)i, 1 + i * rows, rows);
	attron(A_REVERSE);
	put_line(LINES - 1, view->message[0] ? view->message
					     : "q quit  space pause  1 2 e event  + - = a scale  < "
					       "> time  s save");
	attroff(A_REVERSE);
	refresh();
}
