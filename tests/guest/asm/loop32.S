/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop as a 32-bit program: 1 + 2 * 1,000,000 + 3 = 2,000,004 instructions. */
	.globl	_start
_start:
	mov	$1000000, %ecx		# 1
1:	dec	%ecx			# 1,000,000
	jnz	1b			# 1,000,000
	mov	$1, %eax		# 1, exit
	xor	%ebx, %ebx		# 1
	int	$0x80			# 1
