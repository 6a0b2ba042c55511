/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 8 system calls: getppid once by SYSCALL and four times by INT 80H, number 39 of x32 twice, exit. */
#include <asm/unistd.h>

#define X32_BIT		0x40000000
#define I386_GETPPID	64

	.globl	_start
_start:
	mov	$__NR_getppid, %eax
	syscall
	.rept	4
	mov	$I386_GETPPID, %eax
	int	$0x80
	.endr
	.rept	2
	mov	$(X32_BIT + 39), %eax
	syscall
	.endr
	xor	%edi, %edi
	mov	$__NR_exit, %eax
	syscall
