/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A counting loop: 1 + 2 * ITERATIONS + 3 instructions, ITERATIONS + 1 branches.
 * With the usual 1,000,000 iterations: 2,000,004 instructions and 1,000,001 branches.
 */
#include <asm/unistd.h>

#ifndef ITERATIONS
#define ITERATIONS 1000000
#endif

	.globl	_start
_start:
	mov	$ITERATIONS, %ecx	# 1
1:	dec	%ecx			# ITERATIONS
	jnz	1b			# ITERATIONS, a branch each
	mov	$__NR_exit, %eax	# 1
	xor	%edi, %edi		# 1
	syscall				# 1, a branch
