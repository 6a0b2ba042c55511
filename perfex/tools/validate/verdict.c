// SPDX-License-Identifier: GPL-2.0-or-later
#include "validate.h"

#include <math.h>

static bool is_near(double value, double wanted)
{
	return fabs(value - wanted) <= 0.01 * wanted;
}

static void write_factor(FILE *file, double b)
{
	static const struct {
		double factor;
		const char *words;
	} factors[] = { { 0.25, "counts a quarter" },
			{ 0.5, "counts half" },
			{ 2, "counts double" },
			{ 4, "counts each four times" },
			{ 8, "counts each eight times" } };

	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
		if (is_near(b, factors[i].factor)) {
			fputs(factors[i].words, file);
			return;
		}
	fprintf(file, "counts %.4g of each", b);
}

static void write_overhead(FILE *file, const struct validated *event)
{
	double a = event->fit.a;

	if (fabs(a) > 0.5) {
		fprintf(file, a > 0 ? "subtract %.0f" : "add %.0f", fabs(a));
		if (event->reading >= 0 && fabs(a - event->reading) < 0.5)
			fputs(", which reading counts", file);
		fprintf(file, ", or trust above %.0f", event->fit.trust_above);
	} else {
		fputs("trust it", file);
	}
}

/* Says why an event with this slope counts what it should: find_class() has allowed it. */
static void write_slope(FILE *file, const struct fit *fit)
{
	if (fit->is_flat)
		fputs("; b is the slope over the size, where 0 is expected", file);
	else if (fabs(fit->b - 1) > 1e-4)
		fputs("; b is 1 within the uncertainty of the expected count", file);
}

/* x86 counts one for each interrupt and fault, see perfctr(4). */
static void write_disturbance(FILE *file, double c)
{
	if (fabs(c) < 0.5)
		return;
	fprintf(file, "; adds %.3g for each interrupt", c);
	if (fabs(c - 1) <= 0.5)
		fputs(", as x86 does", file);
}

static void write_meaning(FILE *file, const struct validated *event)
{
	double least = event->least_b, most = event->most_b;

	if (event->quantity == NO_QUANTITY)
		fputs("its meaning is not known, and its counts are like nothing here", file);
	else if (fabs(most) <= 1e-4)
		fputs("counts nothing", file);
	else if (most - least > 1e-4)
		fprintf(file, "means something else: %.4g to %.4g of each", least, most);
	else
		fputs("means something else", file);
}

static void write_verdict(FILE *file, const struct validated *event)
{
	if (event->why[0]) {
		fprintf(file, "not counted: %s", event->why);
		return;
	}
	switch (event->fit.error) {
	case CLASS_NONE:
	case N_CLASSES:
		fputs("not measured", file);
		return;
	case CLASS_EXACT:
	case CLASS_OVERHEAD:
		write_overhead(file, event);
		write_slope(file, &event->fit);
		break;
	case CLASS_MULTIPLICATIVE:
		write_factor(file, event->fit.b);
		break;
	case CLASS_RANDOM:
		fprintf(file, "differs by %.2g %% from run to run", 100 * event->fit.scatter);
		break;
	case CLASS_UNKNOWN:
		write_meaning(file, event);
		return;
	}
	if (event->fit.error != CLASS_RANDOM)
		write_disturbance(file, event->fit.c);
	if (event->pair >= 1)
		fprintf(file, "; two counters of it differ by %.0f", event->pair);
}

char *verdict_text(const struct validated *event)
{
	struct text text;

	write_verdict(text_open(&text), event);
	return text_close(&text);
}
