/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 7 + 99,999,999 * 10 + 3 = 1,000,000,000 instructions. */
#include <asm/unistd.h>

	.globl	_start
_start:
	.rept	6
	nop				# 6
	.endr
	mov	$99999999, %ecx		# 1
1:	.rept	8
	nop				# 8 * 99,999,999
	.endr
	dec	%ecx			# 99,999,999
	jnz	1b			# 99,999,999
	mov	$__NR_exit, %eax	# 1
	xor	%edi, %edi		# 1
	syscall				# 1
