// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counts of each benchmark for size n, beyond those of the empty benchmark: per_size * n +
 * offset.  They were counted by hand in kernels.c.  Every kernel, and the empty one too, ends with
 * the same RET.
 */
#include "validate.h"

#include <string.h>

const char *const quantity_names[N_QUANTITIES] = {
	[INSTRUCTIONS] = "instructions",
	[BRANCHES] = "branches",
	[CONDITIONAL] = "conditional-branches",
	[TAKEN] = "taken-branches",
	[NOT_TAKEN] = "not-taken-branches",
	[CALLS] = "calls",
	[RETURNS] = "returns",
	[INDIRECT] = "indirect-jumps",
	[MISPREDICTED] = "mispredicted-branches",
	[LOADS] = "loads",
	[STORES] = "stores",
	[X87] = "x87-instructions",
	[SCALAR_DOUBLE] = "scalar-double",
	[SCALAR_SINGLE] = "scalar-single",
	[PACKED_128_DOUBLE] = "packed-128-double",
	[PACKED_128_SINGLE] = "packed-128-single",
	[PACKED_256_DOUBLE] = "packed-256-double",
	[PACKED_256_SINGLE] = "packed-256-single",
	[FLOPS_DOUBLE] = "flops-double",
	[FLOPS_SINGLE] = "flops-single",
	[L1D_MISSES] = "l1d-misses",
	[L2_MISSES] = "l2-misses",
	[LLC_MISSES] = "llc-misses",
	[DTLB_MISSES] = "dtlb-misses",
	[L1I_MISSES] = "l1i-misses",
	[ITLB_MISSES] = "itlb-misses",
	[CYCLES] = "cycles",
	[TICKS] = "tsc-ticks",
	[PAGE_FAULTS] = "page-faults",
	[SWITCHES] = "context-switches",
	[SHARED_LINES] = "shared-lines",
};

enum quantity quantity_find(const char *name)
{
	for (unsigned int i = 0; i < N_QUANTITIES; i++)
		if (strcmp(quantity_names[i], name) == 0)
			return i;
	return NO_QUANTITY;
}

bool quantity_is_executed(enum quantity quantity)
{
	return quantity < L1D_MISSES && quantity != MISPREDICTED;
}

enum { LARGEST = 1000000, LARGE = 100000, SMALL = 10000 };

#define END                                                                                        \
	{                                                                                          \
		.quantity = NO_QUANTITY                                                            \
	}

/* The cache is an eighth of the memory that is walked through, and may keep so much of it. */
#define WALK                                                                                       \
	{                                                                                          \
		.slack = 0.15, .jitter = 200                                                       \
	}
/* A TLB is a quarter of the pages that are walked through. */
#define WALK_PAGES                                                                                 \
	{                                                                                          \
		.slack = 0.3, .jitter = 200                                                        \
	}
#define FLUSHED                                                                                    \
	{                                                                                          \
		.slack = 0.02, .jitter = 200                                                       \
	}
/*
 * For counts by chance, such as half of n: within four times the root of the expected count, which
 * is more than five standard deviations.  The slack is for the few jumps that a predictor foresees.
 */
#define CHANCE                                                                                     \
	{                                                                                          \
		.slack = 0.05, .scatter = 4, .jitter = 50                                          \
	}
/*
 * The additions take a cycle each.  The slack is for two more instructions in each 1000, the jitter
 * for the kernel.
 */
#define CLOCK                                                                                      \
	{                                                                                          \
		.slack = 0.01, .jitter = 500                                                       \
	}
#define TIME                                                                                       \
	{                                                                                          \
		.slack = 0.01, .jitter = 20000                                                     \
	}
/* Other processes on this CPU add their switches. */
#define SCHEDULER                                                                                  \
	{                                                                                          \
		.slack = 0.1, .scatter = 2, .jitter = 2                                            \
	}
#define LINES                                                                                      \
	{                                                                                          \
		.slack = 0.1, .jitter = 100                                                        \
	}

/* A loop with a conditional jump, which is not taken the last time. */
#define LOOP                                                                                       \
	{ BRANCHES, 1, 0 }, { CONDITIONAL, 1, 0 }, { TAKEN, 1, -1 },                               \
	{                                                                                          \
		NOT_TAKEN, 0, 1                                                                    \
	}
/* No loads, no stores, and no floating point. */
#define NO_MEMORY                                                                                  \
	{ LOADS, 0, 0 },                                                                           \
	{                                                                                          \
		STORES, 0, 0                                                                       \
	}
#define NO_FLOATING                                                                                \
	{ X87, 0, 0 }, { SCALAR_DOUBLE, 0, 0 }, { SCALAR_SINGLE, 0, 0 }, { FLOPS_DOUBLE, 0, 0 },   \
	{                                                                                          \
		FLOPS_SINGLE, 0, 0                                                                 \
	}

const struct benchmark benchmarks[N_BENCHMARKS] = {
	{ "empty", "nothing", kernel_empty, .last_size = 1, .expect = { END } },
	{ "loop", "a loop of 2 instructions", kernel_loop, .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 2, 0 },
		      LOOP,
		      { CALLS, 0, 0 },
		      { RETURNS, 0, 0 },
		      { INDIRECT, 0, 0 },
		      { MISPREDICTED, 0, 0, CHANCE },
		      NO_MEMORY,
		      NO_FLOATING,
		      { TICKS, 0, 0, TIME },
		      END } },
	{ "nops", "a loop of 10 instructions, 8 of which do nothing", kernel_nops,
	  .last_size = LARGEST, .expect = { { INSTRUCTIONS, 10, 0 }, LOOP, NO_MEMORY, END } },
	{ "alternating", "a jump that is taken every second time, in a loop", kernel_alternating,
	  .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 4.5, 0 },
		      { BRANCHES, 2, 0 },
		      { CONDITIONAL, 2, 0 },
		      { TAKEN, 1.5, -1 },
		      { NOT_TAKEN, 0.5, 1 },
		      { MISPREDICTED, 0, 0, CHANCE },
		      END } },
	{ "calls", "calls of a function that does nothing", kernel_calls, .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 4, 0 },
		      { BRANCHES, 3, 0 },
		      { CONDITIONAL, 1, 0 },
		      { TAKEN, 3, -1 },
		      { NOT_TAKEN, 0, 1 },
		      { CALLS, 1, 0 },
		      { RETURNS, 1, 0 },
		      { LOADS, 1, 0 },
		      { STORES, 1, 0 },
		      END } },
	{ "indirect", "jumps to what a register has", kernel_indirect, .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 3, 1 },
		      { BRANCHES, 2, 0 },
		      { CONDITIONAL, 1, 0 },
		      { TAKEN, 2, -1 },
		      { NOT_TAKEN, 0, 1 },
		      { INDIRECT, 1, 0 },
		      { CALLS, 0, 0 },
		      { RETURNS, 0, 0 },
		      END } },
	{ "loads", "4 loads in a loop", kernel_loads, .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 6, 0 }, LOOP, { LOADS, 4, 0 }, { STORES, 0, 0 }, END } },
	{ "stores", "4 stores in a loop", kernel_stores, .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 6, 0 }, LOOP, { LOADS, 0, 0 }, { STORES, 4, 0 }, END } },
	{ "updates", "an addition to memory in a loop, a load and a store", kernel_updates,
	  .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 3, 0 }, LOOP, { LOADS, 1, 0 }, { STORES, 1, 0 }, END } },
	{ "stack", "push and pop in a loop", kernel_stack, .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 4, 0 }, LOOP, { LOADS, 1, 0 }, { STORES, 1, 0 }, END } },
	{ "string", "one instruction that stores n bytes", kernel_string, .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 0, 3 }, { BRANCHES, 0, 0 }, { CONDITIONAL, 0, 0 }, END } },
	{ "x87", "additions of x87 in a loop", kernel_x87, .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 3, 2 }, LOOP, NO_MEMORY, { X87, 1, 2 }, END } },
	{ "scalar-double", "ADDSD in a loop", kernel_scalar_double, .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 3, 1 },
		      NO_MEMORY,
		      { X87, 0, 0 },
		      { SCALAR_DOUBLE, 1, 0 },
		      { SCALAR_SINGLE, 0, 0 },
		      { PACKED_128_DOUBLE, 0, 0 },
		      { FLOPS_DOUBLE, 1, 0 },
		      { FLOPS_SINGLE, 0, 0 },
		      END } },
	{ "scalar-single", "ADDSS in a loop", kernel_scalar_single, .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 3, 1 },
		      { SCALAR_DOUBLE, 0, 0 },
		      { SCALAR_SINGLE, 1, 0 },
		      { PACKED_128_SINGLE, 0, 0 },
		      { FLOPS_DOUBLE, 0, 0 },
		      { FLOPS_SINGLE, 1, 0 },
		      END } },
	{ "packed-128-double", "ADDPD of 128 bits in a loop", kernel_packed_128_double,
	  .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 3, 1 },
		      { SCALAR_DOUBLE, 0, 0 },
		      { PACKED_128_DOUBLE, 1, 0 },
		      { PACKED_256_DOUBLE, 0, 0 },
		      { FLOPS_DOUBLE, 2, 0 },
		      { FLOPS_SINGLE, 0, 0 },
		      END } },
	{ "packed-128-single", "ADDPS of 128 bits in a loop", kernel_packed_128_single,
	  .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 3, 1 },
		      { SCALAR_SINGLE, 0, 0 },
		      { PACKED_128_SINGLE, 1, 0 },
		      { PACKED_256_SINGLE, 0, 0 },
		      { FLOPS_DOUBLE, 0, 0 },
		      { FLOPS_SINGLE, 4, 0 },
		      END } },
	{ "packed-256-double", "VADDPD of 256 bits in a loop", kernel_packed_256_double,
	  .last_size = LARGEST, .needs_avx = true,
	  .expect = { { INSTRUCTIONS, 3, 2 },
		      { PACKED_128_DOUBLE, 0, 0 },
		      { PACKED_256_DOUBLE, 1, 0 },
		      { FLOPS_DOUBLE, 4, 0 },
		      END } },
	{ "packed-256-single", "VADDPS of 256 bits in a loop", kernel_packed_256_single,
	  .last_size = LARGEST, .needs_avx = true,
	  .expect = { { INSTRUCTIONS, 3, 2 },
		      { PACKED_128_SINGLE, 0, 0 },
		      { PACKED_256_SINGLE, 1, 0 },
		      { FLOPS_SINGLE, 8, 0 },
		      END } },
	/* One instruction adds and multiplies.  Intel's events count it as two. */
	{ "fused-256-double", "VFMADD231PD of 256 bits in a loop", kernel_fused_256_double,
	  .last_size = LARGEST, .needs_avx = true, .needs_fma = true,
	  .expect = { { INSTRUCTIONS, 3, 2 },
		      { PACKED_256_DOUBLE, 2, 0 },
		      { FLOPS_DOUBLE, 8, 0 },
		      END } },
	{ "system-calls", "calls of the kernel, of whose instructions none is the program's",
	  kernel_calls_of_kernel, .last_size = SMALL, .user_only = true,
	  .expect = { { INSTRUCTIONS, 4, 0 }, { CONDITIONAL, 1, 0 }, NO_MEMORY, END } },
	{ "random", "jumps by random bits, half of which nothing foresees", kernel_random,
	  .last_size = LARGEST,
	  .expect = { { BRANCHES, 2, 0 },
		      { CONDITIONAL, 2, 0 },
		      { MISPREDICTED, 0.5, 0, CHANCE },
		      END } },
	{ "chain", "additions that wait for each other, a cycle each", kernel_chain,
	  .last_size = LARGEST, .expect = { { CYCLES, 1, 0, CLOCK }, END } },
	{ "l1-walk", "loads at random from eight times the first data cache", kernel_chase,
	  make_l1_chase, .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 3, 2 }, { LOADS, 1, 1 }, { L1D_MISSES, 1, 0, WALK }, END } },
	{ "l2-walk", "loads at random from eight times the second cache", kernel_chase,
	  make_l2_chase, .last_size = LARGEST,
	  .expect = { { LOADS, 1, 1 },
		      { L1D_MISSES, 1, 0, WALK },
		      { L2_MISSES, 1, 0, WALK },
		      END } },
	{ "flushed-lines", "loads of lines that were flushed from all caches", kernel_flush,
	  make_lines, .last_size = LARGE,
	  .expect = { { INSTRUCTIONS, 5, 1 },
		      { L1D_MISSES, 1, 0, FLUSHED },
		      { L2_MISSES, 1, 0, FLUSHED },
		      { LLC_MISSES, 1, 0, FLUSHED },
		      END } },
	{ "page-walk", "loads at random, each from another page, of four times the TLB",
	  kernel_chase, make_page_chase, .last_size = LARGEST,
	  .expect = { { LOADS, 1, 1 }, { DTLB_MISSES, 1, 0, WALK_PAGES }, END } },
	{ "line-jumps", "jumps at random through eight times the instruction cache", kernel_jumps,
	  make_line_jumps, .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 3, 0 },
		      { BRANCHES, 2, 0 },
		      { CONDITIONAL, 1, 0 },
		      { TAKEN, 1, 1 },
		      { NOT_TAKEN, 1, -1 },
		      { L1I_MISSES, 1, 0, WALK },
		      END } },
	{ "page-jumps", "jumps at random, each to another page, of four times the TLB",
	  kernel_jumps, make_page_jumps, .last_size = LARGEST,
	  .expect = { { INSTRUCTIONS, 3, 0 }, { ITLB_MISSES, 1, 0, WALK_PAGES }, END } },
	{ "new-pages", "stores to pages that are not there yet", kernel_faults, make_new_pages,
	  .last_size = SMALL, .user_only = true, .expect = { { PAGE_FAULTS, 1, 0 }, END } },
	{ "switches", "there and back between two processes on one CPU", kernel_switches, make_echo,
	  .last_size = SMALL, .user_only = true, .expect = { { SWITCHES, 1, 0, SCHEDULER }, END } },
	{ "sharing", "a line that two CPUs write in turn", kernel_sharing, make_rival,
	  .last_size = LARGE, .expect = { { SHARED_LINES, 1, 0, LINES }, END } },
};

const struct expectation *benchmark_expects(const struct benchmark *benchmark,
					    enum quantity quantity)
{
	for (const struct expectation *e = benchmark->expect; e->quantity != NO_QUANTITY; e++)
		if (e->quantity == quantity)
			return e;
	return NULL;
}
