// SPDX-License-Identifier: GPL-2.0-or-later
#include "run.h"

#include <unistd.h>

enum { WIDTH = 30 };

/* The cursor goes back to the first column, so that the command writes over the bar. */
static void show_progress(const struct progress *progress)
{
	static const char full[] = "##############################",
			  empty[] = "..............................";
	int done = (int)((unsigned long)WIDTH * progress->done / progress->all);

	if (progress->shown && progress->done < progress->all)
		fprintf(stderr, "\r\033[K[%.*s%.*s] run %u of %u\r", done, full, WIDTH - done,
			empty, progress->done + 1, progress->all);
}

void progress_begin(struct progress *progress, unsigned int all)
{
	*progress = (struct progress){ .shown = all > 1 && isatty(STDERR_FILENO), .all = all };
	show_progress(progress);
}

void progress_step(struct progress *progress)
{
	progress->done++;
	show_progress(progress);
}

void progress_end(const struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
}
