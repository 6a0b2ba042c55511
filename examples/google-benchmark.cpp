// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Google Benchmark repeats a block and takes its time.  The region counts the block alone, without
 * the loop around it.  The other region is empty: it counts what a pass itself costs.
 *	perfex exact -e instructions --regions=regions.json ./google-benchmark
 *	perfex stat-of regions.json
 */
#include <benchmark/benchmark.h>
#include <perfctr.hpp>

/* The block has 2001 instructions: the first one, and two for each of 1000. */
static void count_down(benchmark::State &state)
{
	for (auto _ : state) {
		{
			libperfctr::region nothing("nothing");
		}
		libperfctr::region pass("count down");

		__asm__ volatile("movl $1000, %%ecx\n"
				 "1: decl %%ecx\n\t"
				 "jnz 1b"
				 :
				 :
				 : "ecx", "cc");
	}
}

/* The number of passes is fixed: otherwise a faster block has more of them. */
BENCHMARK(count_down)->Iterations(100);
BENCHMARK_MAIN();
