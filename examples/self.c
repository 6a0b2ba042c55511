// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread counts its own instructions and branches around a loop and reads them in user mode,
 * without a system call; then once more by a system call, for comparison.
 */
#include <errno.h>
#include <inttypes.h>
#include <perfctr.h>
#include <stdio.h>

/* Architectural events (Intel SDM volume 3, table 20-1) in user mode: EN and USR are set. */
#define INSTRUCTIONS	0x004100c0
#define BRANCHES	0x004100c4

#define ITERATIONS	1000000ul

/* Two instructions an iteration. */
static void loop(void)
{
	unsigned long n = ITERATIONS;

	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc");
}

static int refused(const char *text)
{
	fprintf(stderr, "self: %s\n", text);
	return 1;
}

int main(void)
{
	uint64_t instructions, branches, tsc;
	const struct perfctr_page *page;
	struct perfctr_control control;
	struct perfctr_pmu_info info;
	struct perfctr_counts counts;
	struct perfctr *self;
	char text[256];

	self = perfctr_open();
	if (!self || perfctr_get_pmu_info(&info) < 0) {
		perfctr_open_error(errno, text, sizeof(text));
		return refused(text);
	}
	perfctr_control_init(&control);
	perfctr_control_add(&control, PERFCTR_ANY, INSTRUCTIONS, 0);
	perfctr_control_add(&control, PERFCTR_ANY, BRANCHES, 0);
	if (perfctr_set_control(self, &control) < 0) {
		perfctr_control_error(errno, &control, &info, text, sizeof(text));
		return refused(text);
	}
	page = perfctr_get_page(self);
	if (!page)
		return refused("this machine does not let user mode read its counters");

	tsc = perfctr_read_tsc(page);
	branches = perfctr_read_pmc(page, 1);
	instructions = perfctr_read_pmc(page, 0);
	loop();
	instructions = perfctr_read_pmc(page, 0) - instructions;
	branches = perfctr_read_pmc(page, 1) - branches;
	tsc = perfctr_read_tsc(page) - tsc;
	printf("around the loop, without a system call:\n"
	       "  instructions %10" PRIu64 "  (the loop's own: %lu, the rest is the reading)\n"
	       "  branches     %10" PRIu64 "\n"
	       "  tsc          %10" PRIu64 "\n", instructions, 2 * ITERATIONS, branches, tsc);

	instructions = perfctr_read_pmc(page, 0);
	if (perfctr_read(self, &counts) < 0)
		return refused("perfctr_read() failed");
	printf("instructions since the start:\n"
	       "  read in user mode     %10" PRIu64 "\n"
	       "  then by a system call %10" PRIu64 "  (later by what lies between)\n",
	       instructions, (uint64_t)counts.counter[0]);
	perfctr_close(self);
	return 0;
}
