/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Self-modifying code: every iteration stores into the block that it runs in.
 * 1 + 1000 * 6 + 3 = 6,004 instructions; 1,001 branches.
 */
#include <asm/unistd.h>

	.section .smc, "awx", @progbits
	.globl	_start
_start:
	mov	$1000, %ecx		# 1
1:	movb	$0x90, 2f(%rip)		# 1, writes the nop that stands there already
	nop				# 1
2:	nop				# 1
	lock incl 3f(%rip)		# 1
	dec	%ecx			# 1
	jnz	1b			# 1, a branch
	mov	$__NR_exit, %eax	# 1
	xor	%edi, %edi		# 1
	syscall				# 1, a branch
	.balign	64
3:	.long	0
