/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parent executes 4 + 6 + 3 = 13 instructions. The child, which must not be counted, executes
 * 2,000,000 more.
 */
#include <asm/unistd.h>

	.globl	_start
_start:
	mov	$__NR_fork, %eax	# 1
	syscall				# 1
	test	%eax, %eax		# 1
	jz	child			# 1
	mov	$__NR_wait4, %eax	# 1
	mov	$-1, %rdi		# 1
	xor	%esi, %esi		# 1
	xor	%edx, %edx		# 1
	xor	%r10d, %r10d		# 1
	syscall				# 1
exit:	mov	$__NR_exit, %eax	# 1
	xor	%edi, %edi		# 1
	syscall				# 1
child:	mov	$1000000, %ecx
1:	dec	%ecx
	jnz	1b
	jmp	exit
