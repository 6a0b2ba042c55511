// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the result for people, in lines of 80 columns. */
#include "../../textfile.h"
#include "validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 4 };

/* Returns 0 instead of a number that would be shown as "-0.0", with this many decimals. */
static double nonnegative_zero(double value, int decimals)
{
	return fabs(value) * pow(10, decimals) < 0.5 ? 0 : value;
}

static void write_event(FILE *file, const struct validated *event)
{
	const struct fit *fit = &event->fit;
	char *verdict, *line;

	if (event->why[0] || fit->error == CLASS_NONE)
		fprintf(file, "%-34.34s %-14s\n", event->name, class_names[CLASS_NONE]);
	else if (event->quantity == NO_QUANTITY)
		fprintf(file, "%-34.34s %-14s\n", event->name, class_names[fit->error]);
	else
		fprintf(file, "%-34.34s %-14s %9.1f %9.6f %9.2g\n", event->name,
			class_names[fit->error], nonnegative_zero(fit->a, 1),
			nonnegative_zero(fit->b, 6), fit->residual);
	verdict = verdict_text(event);
	line = event->quantity == NO_QUANTITY
		       ? text_print("%s", verdict)
		       : text_print("%s%s: %s", event->is_found ? "its counts are those of " : "",
				    quantity_names[event->quantity], verdict);
	write_words(file, line, strlen(line), 0, INDENT);
	free(line);
	free(verdict);
}

void write_validation_text(FILE *file, const struct validation *validation)
{
	unsigned int n[N_CLASSES] = { 0 };

	fprintf(file, "%-34s %-14s %9s %9s %9s\n", "event", "class", "a", "b", "residual");
	for (size_t i = 0; i < validation->n; i++) {
		write_event(file, &validation->event[i]);
		n[validation->event[i].fit.error]++;
	}
	for (unsigned int i = CLASS_EXACT; i < N_CLASSES; i++)
		fprintf(file, "%u %s, ", n[i], class_names[i]);
	fprintf(file, "%u not measured; %.1f s\n", n[CLASS_NONE], validation->elapsed);
	if (validation->cut_short)
		fputs("cut short: not all of it was measured\n", file);
}
