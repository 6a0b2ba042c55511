// SPDX-License-Identifier: GPL-2.0-or-later
/* A region of 3,001 instructions: the first one, and 1,000 times three. */
#include <perfctr_regions.h>

int main(void)
{
	unsigned int n;

	perfctr_region_begin("hand");
	__asm__ volatile("movl $1000, %0\n"
			 "1: nop\n"
			 "decl %0\n"
			 "jnz 1b"
			 : "=r"(n));
	perfctr_region_end("hand");
	return 0;
}
