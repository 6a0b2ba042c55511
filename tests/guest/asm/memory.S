/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and stores of every kind, 1000 times. The only system call ends the program.
 * 16 * 1000 = 16,000 loads, 16 * 1000 = 16,000 stores.
 * 1 + 1000 * 17 + 3 = 17,004 instructions.
 */
#include <asm/unistd.h>

	.globl	_start
_start:
	mov	$1000, %r12d		# 1
1:	mov	word(%rip), %eax	# 1: 1 load
	mov	%eax, word(%rip)	# 1: 1 store
	lock incl word(%rip)		# 1: 1 load, 1 store
	movups	vector(%rip), %xmm0	# 1: 1 load
	movups	%xmm0, vector(%rip)	# 1: 1 store
	fldl	vector(%rip)		# 1: 1 load
	fstpl	vector(%rip)		# 1: 1 store
	push	%rax			# 1: 1 store
	pop	%rax			# 1: 1 load
	call	2f			# 1: 1 store
	lea	vector(%rip), %rsi	# 1
	mov	%rsi, %rdi		# 1
	mov	$10, %ecx		# 1
	rep movsb			# 1: 10 loads, 10 stores
	dec	%r12d			# 1
	jnz	1b			# 1
	mov	$__NR_exit, %eax	# 1
	xor	%edi, %edi		# 1
	syscall				# 1
2:	ret				# 1: 1 load

	.data
	.balign	16
vector:	.skip	16
word:	.long	0
