/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loads and stores of memory.S as a 32-bit program, without SSE, which older processors lack: 16,000 loads, 16,000
 * stores, 2,000 instructions of the x87. 1 + 1000 * 17 + 3 = 17,004 instructions, 3,000 branches and the INT.
 */
	.globl	_start
_start:
	mov	$1000, %ebx		# 1
1:	mov	word, %eax		# 1: 1 load
	mov	%eax, word		# 1: 1 store
	lock incl word			# 1: 1 load, 1 store
	mov	vector, %eax		# 1: 1 load
	mov	%eax, vector		# 1: 1 store
	fldl	vector			# 1: 1 load
	fstpl	vector			# 1: 1 store
	push	%eax			# 1: 1 store
	pop	%eax			# 1: 1 load
	call	2f			# 1: 1 store
	lea	vector, %esi		# 1
	mov	%esi, %edi		# 1
	mov	$10, %ecx		# 1
	rep movsb			# 1: 10 loads, 10 stores
	dec	%ebx			# 1
	jnz	1b			# 1
	mov	$1, %eax		# 1, exit
	xor	%ebx, %ebx		# 1
	int	$0x80			# 1
2:	ret				# 1: 1 load

	.data
	.balign	16
vector:	.skip	16
word:	.long	0
