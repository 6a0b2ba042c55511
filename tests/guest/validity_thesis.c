// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The microbenchmarks of L. Salayandia's thesis of 2002, chapter 4, with the counts that it
 * predicts: each page, or each line, of an array is touched once, and misses once. The counts of
 * the emulated machine stand beside those of the thesis' MIPS R10000 (appendix B, means of 100
 * runs); docs/validity.md shows the same. The four events of coherence are left out, because the
 * emulated machine has no coherence.
 *
 * An array that was just written is in the caches: its pages, or lines, are driven out before they
 * are counted.
 */
#include "guest.h"
#include "perfex_shell.h"

#include <perfctr.h>
#include <perfctr_count.h>
#include <stdio.h>
#include <sys/mman.h>

enum { LINE = 64, PAGE = 4096, OTHER_PAGES = 4096, RUNS = 3 };

static void touch(const volatile char *at, uint64_t n, uint64_t stride)
{
	for (uint64_t i = 0; i < n; i++)
		(void)at[i * stride];
}

static volatile char *map_array(uint64_t length)
{
	char *memory = mmap(NULL, length + PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	/* An entry of the TLB is one page. */
	madvise(memory, length + PAGE, MADV_NOHUGEPAGE);
	return memory;
}

static void forget_lines(const volatile char *at, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		__asm__ volatile("clflush %0" : : "m"(at[i * LINE]));
	__asm__ volatile("mfence" : : : "memory");
}

static void forget_pages(const volatile char *other)
{
	touch(other, OTHER_PAGES, PAGE);
}

static uint64_t read_count(struct perfctr *p)
{
	struct perfctr_counts counts;

	ck_assert_int_eq(perfctr_read(p, &counts), 0);
	return counts.counter[0];
}

/* The mean of several runs. */
static double count_touches(struct perfctr *p, uint64_t n, uint64_t stride)
{
	volatile char *array = map_array(n * stride),
		      *other = map_array((uint64_t)OTHER_PAGES * PAGE);
	double sum = 0;

	for (int run = 0; run < RUNS; run++) {
		uint64_t before;

		if (stride == PAGE)
			forget_pages(other);
		else
			forget_lines(array, n);
		before = read_count(p);
		touch(array, n, stride);
		sum += (double)(read_count(p) - before);
	}
	munmap((void *)array, n * stride + PAGE);
	munmap((void *)other, ((uint64_t)OTHER_PAGES + 1) * PAGE);
	return sum / RUNS;
}

/* The thesis predicts 1, 10, 100, .. The R10000 reported these values, for one processor. */
static const struct table {
	const char *what, *event;
	uint64_t stride;
	unsigned int sizes;
	double reported[7];
} tables[] = {
	{ "data TLB misses", "dTLB-load-misses", PAGE, 5, { 1.03, 10.49, 108.38, 1059.97, 10628.73 } },
	{ "L1 data cache misses",
	  "L1-dcache-load-misses",
	  LINE,
	  7,
	  { 5.41, 14.96, 106.35, 1026.53, 10028.02, 100059.2, 1000391 } },
	{ "misses of the last cache",
	  "cache-misses",
	  LINE,
	  7,
	  { 1.03, 10.05, 100.03, 999.82, 10020.11, 100058.9, 1000454 } },
};

/* Reading itself also misses some lines and pages each time, whatever n is. */
enum { MOST_OF_READING = 64 };

static void repeat_table(const struct table *table)
{
	char why[PERFCTR_COUNT_ERROR];
	struct perfctr *p = perfctr_count(table->event, why, sizeof(why));
	double reading;

	ck_assert_msg(p, "%s", why);
	reading = count_touches(p, 0, table->stride);
	ck_assert_double_le(reading, MOST_OF_READING);
	printf("%s: predicted, reported by the R10000, counted here less %.1f of reading\n",
	       table->what, reading);
	for (uint64_t i = 0, n = 1; i < table->sizes; i++, n *= 10) {
		double counted = count_touches(p, n, table->stride) - reading;

		printf("%8lu %12.2f %12.2f\n", (unsigned long)n, table->reported[i], counted);
		/*
		 * Interrupts drive some lines and pages out while the test walks through the array.
		 */
		ck_assert_msg(counted >= (double)n - MOST_OF_READING &&
				      counted <= 1.01 * (double)n + MOST_OF_READING,
			      "%s: %f of %lu", table->what, counted, (unsigned long)n);
	}
	fflush(stdout);
	perfctr_close(p);
}

START_TEST(tables_of_the_thesis_are_repeated)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		repeat_table(&tables[i]);
}
END_TEST

SUITE(validity_thesis, tables_of_the_thesis_are_repeated)
