/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 1 + 1000 * 3 + 3 = 3,004 instructions of a program of 32 bits.  The header that names its system
 * calls is in a package that make need not have.
 */

	.globl	_start
_start:
	mov	$1000, %ecx		# 1
1:	.byte	0x40			# 1000: inc %eax here, a prefix in 64 bits
	dec	%ecx			# 1000
	jnz	1b			# 1000
	mov	$1, %eax		# 1: exit
	xor	%ebx, %ebx		# 1
	int	$0x80			# 1
