/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 25 system calls: getppid 3 + 5 + 7, number 1000 twice, number 5000 once, fork 1, clone 1, wait4 2, exit 3.
 */
#include <asm/unistd.h>

#define SIGCHLD		17
#define CLONE_VM	0x100
#define CLONE_VFORK	0x4000

	.macro	call number, times=1
	.rept	\times
	mov	$\number, %eax
	syscall
	.endr
	.endm

	.macro	wait_for_child
	mov	$-1, %rdi
	xor	%esi, %esi
	xor	%edx, %edx
	xor	%r10d, %r10d
	call	__NR_wait4
	.endm

	.globl	_start
_start:
	call	__NR_getppid, 3
	call	1000, 2
	call	5000
	call	__NR_fork
	test	%eax, %eax
	jz	child
	wait_for_child
	mov	$(CLONE_VM | CLONE_VFORK | SIGCHLD), %edi
	lea	-4096(%rsp), %rsi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	call	__NR_clone
	test	%eax, %eax
	jz	child_in_same_memory
	wait_for_child
	jmp	leave

child_in_same_memory:
	call	__NR_getppid, 2
child:
	call	__NR_getppid, 5
leave:
	xor	%edi, %edi
	call	__NR_exit
