/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A known number of user instructions. */
#ifndef LOOP_H
#define LOOP_H

#include <stdint.h>

/* 2 * n + 1 instructions, n branches; n is not 0. */
static inline void loop(uint32_t n)
{
	__asm__ volatile("mov	%0, %%ecx\n"	   /* 1 */
			 "1:	dec	%%ecx\n\t" /* n */
			 "jnz	1b"		   /* n */
			 :
			 : "r"(n)
			 : "ecx", "cc");
}

#endif
