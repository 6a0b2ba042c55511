/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executes another number of instructions each time: the next byte b of descriptor 3 says how many.
 * 9 + (b + 1) * (1 + 2 * 500 + 2) + 3 = 1003 * b + 1015 instructions, of which 1003 * b + 1010 come
 * after the system call that reads. Without a byte the program fails with status 1, after 10.
 */
#include <asm/unistd.h>

	.globl	_start
_start:
	xor	%eax, %eax		# 1, read
	mov	$3, %edi		# 1
	lea	-8(%rsp), %rsi		# 1
	mov	$1, %edx		# 1
	syscall				# 1
	test	%eax, %eax		# 1
	jz	3f			# 1
	movzbl	-8(%rsp), %ecx		# 1
	inc	%ecx			# 1
1:	mov	$500, %edx		# 1 * (b + 1)
2:	dec	%edx			# 500 * (b + 1)
	jnz	2b			# 500 * (b + 1)
	dec	%ecx			# 1 * (b + 1)
	jnz	1b			# 1 * (b + 1)
	mov	$__NR_exit, %eax	# 1
	xor	%edi, %edi		# 1
	syscall				# 1

3:	mov	$__NR_exit, %eax	# 1
	mov	$1, %edi		# 1
	syscall				# 1
