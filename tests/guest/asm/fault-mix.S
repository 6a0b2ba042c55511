/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults in the middle of a block and of a string instruction, and system calls.
 * 2 + 1000 * 12 + 3 = 12,005 instructions; 1000 * 2 + 1 = 2,001 branches.
 */
#include <asm/unistd.h>

	.globl	_start
_start:
	lea	buffer(%rip), %rbx	# 1
	mov	$1000, %r12d		# 1
1:	mov	$1, %eax		# 1
	mov	%eax, (%rbx)		# 1, faults once: a page never touched before
	mov	(%rbx), %edx		# 1
	mov	%rbx, %rsi		# 1
	lea	4046(%rbx), %rdi	# 1
	mov	$100, %ecx		# 1
	rep movsb			# 1 however long; faults once, after 50 bytes
	mov	$__NR_getpid, %eax	# 1
	syscall				# 1, a branch
	add	$8192, %rbx		# 1
	dec	%r12d			# 1
	jnz	1b			# 1, a branch
	mov	$__NR_exit, %eax	# 1
	xor	%edi, %edi		# 1
	syscall				# 1, a branch

	.bss
	.balign	4096
buffer:	.skip	1000 * 8192 + 4096
