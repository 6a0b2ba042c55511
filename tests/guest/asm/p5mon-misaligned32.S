/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second program of K. D. Safford's thesis of 1997, table 5.4, as it is between its probes:
 * three misaligned accesses, 4 data reads, 4 data writes. The thesis' Pentium counted 7, because an
 * erratum counts misaligned accesses twice. Of its 4 branches one calls the probe; here that is the
 * INT.
 */
	.globl	_start
_start:
	push	%ebp			# 1 write
	mov	%esp, %ebp
	sub	$1024, %esp
	xor	%edx, %edx
1:	incl	-511(%ebp, %edx, 4)	# 3 reads, 3 writes
	inc	%edx
	cmp	$2, %edx
	jle	1b			# 3 branches
	leave				# 1 read
	mov	$1, %eax		# exit
	xor	%ebx, %ebx
	int	$0x80			# 1 branch
