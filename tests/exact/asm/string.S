/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 1 + 1000 * 7 + 3 = 7,004 instructions.  A string instruction is one, however often it repeats. */
#include <asm/unistd.h>

	.globl	_start
_start:
	mov	$1000, %edx		# 1
1:	lea	buffer(%rip), %rdi	# 1000
	mov	$64, %ecx		# 1000
	xor	%eax, %eax		# 1000
	rep stosb			# 1000
	nop				# 1000
	dec	%edx			# 1000
	jnz	1b			# 1000
	mov	$__NR_exit, %eax	# 1
	xor	%edi, %edi		# 1
	syscall				# 1

	.bss
buffer:	.skip	64
