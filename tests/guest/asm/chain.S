/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orphans: a process makes a child and exits at once, and so does the child, 10 times in all. The
 * last process loops 1,000,000 times. (7 + 4) * 10 + 1 + 1 + 2,000,000 + 3 = 2,000,115
 * instructions.
 */
#include <asm/unistd.h>

	.globl	_start
_start:
	mov	$10, %r12d		# 1
1:	mov	$__NR_fork, %eax	# 1
	syscall				# 1
	test	%eax, %eax		# 1, and 1 of the child
	jnz	exit			# 1, and 1 of the child
	dec	%r12d			# 1, of the child
	jnz	1b			# 1, of the child
	mov	$1000000, %ecx		# 1
2:	dec	%ecx			# 1,000,000
	jnz	2b			# 1,000,000
exit:	mov	$__NR_exit, %eax	# 1
	xor	%edi, %edi		# 1
	syscall				# 1
