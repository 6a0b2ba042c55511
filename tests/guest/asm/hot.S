/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions whose instructions are counted by hand, assembled with lines (-g). A pass executes
 *	the loop of _start	 4
 *	hot			65: 5 and 30 times 2
 *	warm			25: 5 and 10 times 2
 * 94 in all, and 4 more from the first to exit(2). Both have frame pointers.
 */
#include <asm/unistd.h>

	.text
	.type	hot, @function
hot:
	push	%rbp
	mov	%rsp, %rbp
	mov	$30, %ecx
1:	dec	%ecx
	jnz	1b
	pop	%rbp
	ret
	.size	hot, . - hot

	.type	warm, @function
warm:
	push	%rbp
	mov	%rsp, %rbp
	mov	$10, %ecx
1:	dec	%ecx
	jnz	1b
	pop	%rbp
	ret
	.size	warm, . - warm

	.globl	_start
	.type	_start, @function
_start:
	mov	$PASSES, %r12d
1:	call	hot
	call	warm
	dec	%r12d
	jnz	1b

	mov	$__NR_exit, %eax
	xor	%edi, %edi
	syscall
	.size	_start, . - _start
