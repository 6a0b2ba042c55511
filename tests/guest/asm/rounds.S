/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rounds PASSES: 1200 rounds, each of 8 * PASSES + 9 instructions: 6 in the loop of _start, 6 *
 * PASSES + 2 in hot, and 2 * PASSES + 1 in warm. PASSES is a decimal number. Three quarters of the
 * instructions are hot's.
 */
#include <asm/unistd.h>

	.text
	.type	hot, @function
hot:
	lea	(%rbx,%rbx,2), %rcx
1:	dec	%rcx
	jnz	1b
	ret
	.size	hot, . - hot

	.type	warm, @function
warm:
1:	dec	%rcx
	jnz	1b
	ret
	.size	warm, . - warm

	.globl	_start
	.type	_start, @function
_start:
	mov	16(%rsp), %rsi
	xor	%ebx, %ebx
1:	movzbl	(%rsi), %eax
	test	%al, %al
	jz	2f
	imul	$10, %rbx
	lea	-'0'(%rbx,%rax), %rbx
	inc	%rsi
	jmp	1b

2:	mov	$1200, %r12d
3:	call	hot
	mov	%rbx, %rcx
	call	warm
	nop
	dec	%r12d
	jnz	3b

	mov	$__NR_exit, %eax
	xor	%edi, %edi
	syscall
	.size	_start, . - _start
