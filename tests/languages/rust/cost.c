// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost of an inline read in C, as exact.rs measures it in Rust. */
#include <perfctr_count.h>
#include <stdio.h>

#define READ perfctr_read_pmc(page, 0)
#define ONE __asm__ volatile("" : : "r"(READ));
#define TEN ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE

static __attribute__((noinline, flatten)) double cost(const struct perfctr_page *page)
{
	uint64_t before, between, after;

	ONE
	before = READ;
	TEN
	between = READ;
	TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
	after = READ;
	return (double)((after - between) - (between - before)) / 100;
}

int main(void)
{
	char why[PERFCTR_COUNT_ERROR];
	struct perfctr *p = perfctr_count("instructions,branches", why, sizeof(why));
	const struct perfctr_page *page = p ? perfctr_get_page(p) : NULL;

	if (!page)
		return 1;
	cost(page);
	printf("a read: %g\n", cost(page));
	return 0;
}
