/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 1 + 1000 * 10 + 3 = 10,004 instructions: a loop of one block. */
#include <asm/unistd.h>

	.globl	_start
_start:
	mov	$1000, %ecx		# 1
1:	.rept	8
	nop				# 8 * 1000
	.endr
	dec	%ecx			# 1000
	jnz	1b			# 1000
	mov	$__NR_exit, %eax	# 1
	xor	%edi, %edi		# 1
	syscall				# 1
