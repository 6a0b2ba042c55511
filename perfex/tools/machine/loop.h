/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_MACHINE_LOOP_H
#define PERFEX_MACHINE_LOOP_H

/* Executes 2 + 2 * n instructions, of which 1 + n are branches.  n may be 0. */
static inline void run_loop(unsigned long n)
{
	__asm__ volatile("test	%0, %0\n\t"	/* 1 */
			 "jz	2f\n"		/* 1, a branch */
			 "1:	dec	%0\n\t" /* n */
			 "jnz	1b\n"		/* n, branches */
			 "2:"
			 : "+r"(n)
			 :
			 : "cc");
}

#endif
