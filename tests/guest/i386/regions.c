// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A 32-bit program that reads its counters and counts regions, also on a 64-bit kernel. Exit
 * status: 0, or the number of the step that failed.
 */
#include <perfctr.h>
#include <perfctr_regions.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define INSTRUCTIONS 0x4100c0
#define BRANCHES 0x4100c4
#define READS 100000

static int step;

static void expect(int holds)
{
	step++;
	if (holds)
		return;
	perror("regions32");
	exit(step);
}

/* 1 + 2 * 1000 instructions, 1000 branches. */
static inline __attribute__((always_inline)) void loop(void)
{
	__asm__ volatile("mov $1000, %%ecx\n"
			 "1: dec %%ecx\n\t"
			 "jnz 1b"
			 :
			 :
			 : "ecx", "cc");
}

int main(void)
{
	static const char *const names[] = { "loop" };
	struct perfctr_snapshot now, last;
	struct perfctr_region_result result;
	const struct perfctr_page *page;
	struct perfctr_regions *regions;
	struct perfctr_control control;
	struct perfctr_region *mine;
	struct perfctr_counts counts;
	struct perfctr *self;

	self = perfctr_open();
	expect(self != NULL);
	perfctr_control_init(&control);
	perfctr_control_add(&control, 0, INSTRUCTIONS, 0);
	perfctr_control_add(&control, 1, BRANCHES, 0);
	expect(perfctr_set_control(self, &control) == 0);
	page = perfctr_get_page(self);
	expect(page != NULL);

	perfctr_read_snapshot(page, 2, &last);
	for (int i = 0; i < READS; i++) {
		perfctr_read_snapshot(page, 2, &now);
		if (now.counter[0] <= last.counter[0] || now.tsc < last.tsc)
			expect(0);
		last = now;
	}
	expect(perfctr_read_pmc(page, 0) > last.counter[0]);
	expect(perfctr_read(self, &counts) == 0 && counts.counter[0] > last.counter[0]);

	regions = perfctr_regions_open(&control, NULL, names, 1);
	expect(regions != NULL);
	mine = perfctr_regions_thread(regions, self);
	expect(mine != NULL);
	expect(perfctr_regions_calibrate(mine, 2) == 0);
	for (int i = 0; i < 10; i++) {
		perfctr_region_enter(mine, 2);
		loop();
		perfctr_region_exit(mine, 2);
	}
	expect(perfctr_regions_read(regions, 0, 0, PERFCTR_REGIONS_CORRECTED, &result) == 0);
	expect(result.passes == 10 && result.entries == 10 && result.exits == 10);
	printf("32 bits: %llu instructions, %llu branches\n",
	       (unsigned long long)result.counter[0].min,
	       (unsigned long long)result.counter[1].min);
	expect(result.counter[1].min == 1000);
	/*
	 * With few registers, the compiler makes the empty pass of the calibration a little
	 * different.
	 */
	expect(result.counter[0].min >= 2001 - 2 && result.counter[0].min <= 2001 + 2);
	perfctr_regions_close(regions);
	perfctr_close(self);
	return 0;
}
