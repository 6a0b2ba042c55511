// SPDX-License-Identifier: GPL-2.0-or-later
#include "synthetic.h"

__asm__(".text\n"
	".globl	synthetic_1\n"
	"synthetic_1:\n\t"
	"push	%rbp\n\t"	/* 1 */
	"mov	%rsp, %rbp\n\t" /* 1 */
	"mov	$99, %eax\n"	/* 1 */
	"1:\n\t"
	"inc	%edx\n\t"	/* 100 */
	"dec	%eax\n\t"	/* 100 */
	"jns	1b\n\t"		/* 100, a branch each */
	"xor	%eax, %eax\n\t" /* 1 */
	"pop	%rbp\n\t"	/* 1 */
	"ret\n"			/* 1, a branch */
	".globl	synthetic_2\n"
	"synthetic_2:\n\t"
	"push	%rbp\n\t"	 /* 1, a store */
	"mov	%rsp, %rbp\n\t"	 /* 1 */
	"sub	$1024, %rsp\n\t" /* 1 */
	"xor	%edx, %edx\n"	 /* 1 */
	"1:\n\t"
	"incl	-511(%rbp,%rdx,4)\n\t" /* 3, a load and a store each, misaligned */
	"inc	%edx\n\t"	       /* 3 */
	"cmp	$2, %edx\n\t"	       /* 3 */
	"jle	1b\n\t"		       /* 3, a branch each */
	"leave\n\t"		       /* 1, a load */
	"ret\n");		       /* 1, a branch and a load */
