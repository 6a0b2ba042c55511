/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A loop, and a handler of two signals, which report the ends of periods.
 *
 * 5 + 2 * 6 + 1 + 2 * ITERATIONS + 8 instructions, and 8 for each signal. The exit status has the
 * bits of all masks, and 8 if a si_code was not 80.
 */
#include <asm/unistd.h>

#ifndef ITERATIONS
#define ITERATIONS 1000000
#endif
#define SA_SIGINFO_RESTORER	0x04000004	/* SA_SIGINFO | SA_RESTORER */
#define SIGPROF			27
#define SIGRTMIN		34

	.macro	catch signal
	mov	$__NR_rt_sigaction, %eax	# 1
	mov	$\signal, %edi			# 1
	lea	action(%rip), %rsi		# 1
	xor	%edx, %edx			# 1
	mov	$8, %r10d			# 1
	syscall					# 1
	.endm

handler:
	mov	8(%rsi), %eax			# 1, si_code
	xor	$80, %eax			# 1
	or	%eax, code(%rip)		# 1
	mov	16(%rsi), %eax			# 1, si_pid
	or	%eax, mask(%rip)		# 1
	ret					# 1
restorer:
	mov	$__NR_rt_sigreturn, %eax	# 1
	syscall					# 1

	.globl	_start
_start:
	lea	handler(%rip), %rax		# 1
	mov	%rax, action(%rip)		# 1
	lea	restorer(%rip), %rax		# 1
	mov	%rax, action+16(%rip)		# 1
	xor	%ebx, %ebx			# 1
	catch	SIGPROF				# 6
	catch	SIGRTMIN			# 6
	mov	$ITERATIONS, %ecx		# 1
1:	dec	%ecx				# ITERATIONS
	jnz	1b				# ITERATIONS
	mov	mask(%rip), %edi		# 1
	and	$7, %edi			# 1
	cmpl	$0, code(%rip)			# 1
	setne	%bl				# 1
	shl	$3, %ebx			# 1
	or	%ebx, %edi			# 1
	mov	$__NR_exit, %eax		# 1
	syscall					# 1

	.data
action:
	.quad	0, SA_SIGINFO_RESTORER, 0, 0
code:	.long	0
mask:	.long	0
