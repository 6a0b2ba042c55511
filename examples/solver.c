// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions with names: the events that are counted in them are chosen when the program runs.
 *	perfex --regions=out.json -e instructions,branches ./solver
 *	perfex stat-of out.json
 */
#include <perfctr_regions.h>
#include <stdio.h>

#define POINTS 100

static double relax(double *value)
{
	double change = 0;

	perfctr_region_begin("relax");
	for (int i = 1; i < POINTS - 1; i++) {
		double next = (value[i - 1] + value[i + 1]) / 2;

		change += next > value[i] ? next - value[i] : value[i] - next;
		value[i] = next;
	}
	perfctr_region_end("relax");
	return change;
}

int main(void)
{
	double value[POINTS] = { [POINTS - 1] = 1 };
	int steps = 0;

	perfctr_region_begin("solver");
	while (relax(value) > 1e-3)
		steps++;
	perfctr_region_end("solver");
	printf("%d steps\n", steps);
	return 0;
}
