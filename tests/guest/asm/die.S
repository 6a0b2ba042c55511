/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dies of SIGNAL, which it sends to itself: 1 + 2 * 1000 + 6 = 2,007 instructions. */
#include <asm/unistd.h>

	.globl	_start
_start:
	mov	$1000, %ecx		# 1
1:	dec	%ecx			# 1000
	jnz	1b			# 1000
	mov	$__NR_getpid, %eax	# 1
	syscall				# 1
	mov	%eax, %edi		# 1
	mov	$SIGNAL, %esi		# 1
	mov	$__NR_kill, %eax	# 1
	syscall				# 1, does not come back
	ud2
