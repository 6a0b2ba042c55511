/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps the page of descriptor 100 and reads counter 1. Exits with status 0 if the counter shows
 * nothing.
 */
#include <asm/unistd.h>

	.globl	_start
_start:
	mov $__NR_mmap, %eax
	xor %edi, %edi
	mov $4096, %esi
	mov $1, %edx		/* PROT_READ */
	mov $1, %r10d		/* MAP_SHARED */
	mov $100, %r8d
	xor %r9d, %r9d
	syscall
	mov $3, %edi
	test %rax, %rax
	js end
	mov $1, %ecx
	rdpmc
	shl $32, %rdx
	or %rdx, %rax
	xor %edi, %edi
	test %rax, %rax
	setne %dil
end:
	mov $__NR_exit, %eax
	syscall
