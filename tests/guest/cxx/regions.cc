// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * regions-cxx FILE: a C++ program with regions, left by the end of a block and by an exception, which
 * exit() saves as JSON in FILE.  Exit status: 0, or the number of the step that went wrong.
 */
#include <perfctr.h>
#include <perfctr_events.h>
#include <perfctr_regions.h>
#include <cstdio>
#include <stdexcept>

static const char *const names[] = { "block", "exception" };
enum { BLOCK, EXCEPTION };

static int step;

static void expect(bool holds)
{
	step++;
	if (holds)
		return;
	perror("regions-cxx");
	throw step;
}

/* 1 + 2 * 1000 instructions, 1000 branches. */
static inline __attribute__((always_inline)) void loop()
{
	__asm__ volatile("mov $1000, %%ecx\n"
			 "1: dec %%ecx\n\t"
			 "jnz 1b"
			 :
			 :
			 : "rcx", "cc");
}

static void leave_by_exception(struct perfctr_region *region)
{
	perfctr_region_pass<2> pass(&region[EXCEPTION]);

	loop();
	throw std::runtime_error("out of the middle");
}

static void count(const char *path)
{
	struct perfctr *self = perfctr_open();
	struct perfctr_snapshot snapshot;
	struct perfctr_control control;
	struct perfctr_regions *regions;
	struct perfctr_region *mine;
	bool caught = false;

	expect(self);
	perfctr_control_init(&control);
	perfctr_control_add(&control, PERFCTR_ANY, 0x4100c0, 0);
	perfctr_control_add(&control, PERFCTR_ANY, 0x4100c4, 0);
	expect(perfctr_set_control(self, &control) == 0);
	perfctr_read_snapshot(perfctr_get_page(self), 2, &snapshot);
	expect(snapshot.counter[0] > 0);
	regions = perfctr_regions_open(&control, nullptr, names, 2);
	expect(regions);
	expect(perfctr_regions_save_at_exit(regions, path, PERFCTR_REGIONS_JSON,
					    PERFCTR_REGIONS_CORRECTED) == 0);
	mine = perfctr_regions_thread(regions, self);
	expect(mine);
	expect(perfctr_regions_calibrate(mine, 2) == 0);
	for (int i = 0; i < 10; i++) {
		perfctr_region_pass<2> pass(&mine[BLOCK]);

		loop();
	}
	try {
		leave_by_exception(mine);
	} catch (const std::runtime_error &) {
		caught = true;
	}
	expect(caught);
}

int main(int, char **argv)
{
	try {
		count(argv[1]);
	} catch (int failed) {
		return failed;
	}
	return 0;
}
