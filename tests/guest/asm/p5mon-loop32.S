/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first program of K. D. Safford's thesis of 1997, table 5.3, as it is between its probes: 3 +
 * 3 * 100 + 1 instructions, 100 of them branches. The thesis has 305, with the call of the probe.
 * Here 3 instructions end the program: 307.
 */
	.globl	_start
_start:
	push	%ebp			# 1
	mov	%esp, %ebp		# 1
	mov	$99, %eax		# 1
1:	inc	%edx			# 100
	dec	%eax			# 100
	jns	1b			# 100
	xor	%eax, %eax		# 1
	mov	$1, %eax		# 1, exit
	xor	%ebx, %ebx		# 1
	int	$0x80			# 1, a branch
