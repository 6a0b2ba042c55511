/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A store to each of 16 pages: otherwise all would be the one page of zeros. Then 10 rounds of 4
 * loads from each of their 1024 lines of 64 bytes, twice as much as a first cache of 32 KiB holds:
 * 40,960 loads. From the second round on the first load of each line misses, 9 * 1024 = 9,216
 * times. In the first round some lines may be there: at most 10,240 misses.
 */
#include <asm/unistd.h>

	.globl	_start
_start:
	mov	$lines, %esi
	mov	$16, %ecx
3:	movl	$1, (%esi)
	add	$4096, %esi
	dec	%ecx
	jnz	3b
	mov	$10, %edx
1:	mov	$lines, %esi
	mov	$1024, %ecx
2:	mov	(%esi), %eax
	mov	16(%esi), %eax
	mov	32(%esi), %eax
	mov	48(%esi), %eax
	add	$64, %esi
	dec	%ecx
	jnz	2b
	dec	%edx
	jnz	1b
	mov	$__NR_exit, %eax
#ifdef __x86_64__
	xor	%edi, %edi
	syscall
#else
	xor	%ebx, %ebx
	int	$0x80
#endif

	.bss
	.balign	4096
lines:	.skip	1024 * 64
