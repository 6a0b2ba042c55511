/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals from #UD, #DE, a page fault without a page and #GP, 1000 of each. The handler steps
 * over the instruction at fault, which itself never retires.
 *
 * Signal delivery and return: 4 instructions, 2 branches (ret, syscall).
 * 4 + 3 * 6 + 1 + 1000 * (11 + 4 * 4) + 3 = 27,026 instructions
 * 3 + 1000 * (1 + 4 * 2) + 1 = 9,004 branches
 */
#include <asm/unistd.h>

#define SA_SIGINFO_RESTORER	0x04000004	/* SA_SIGINFO | SA_RESTORER */
#define UCONTEXT_RIP		168		/* offset of RIP in a ucontext_t */

	.macro	catch signal
	mov	$__NR_rt_sigaction, %eax	# 1
	mov	$\signal, %edi			# 1
	lea	action(%rip), %rsi		# 1
	xor	%edx, %edx			# 1
	mov	$8, %r10d			# 1
	syscall					# 1, a branch
	.endm

handler:
	addq	$2, UCONTEXT_RIP(%rdx)		# 1, every instruction at fault is 2 bytes long
	ret					# 1, a branch
restorer:
	mov	$__NR_rt_sigreturn, %eax	# 1
	syscall					# 1, a branch

	.globl	_start
_start:
	lea	handler(%rip), %rax		# 1
	mov	%rax, action(%rip)		# 1
	lea	restorer(%rip), %rax		# 1
	mov	%rax, action+16(%rip)		# 1
	catch	4				# 6, SIGILL
	catch	8				# 6, SIGFPE
	catch	11				# 6, SIGSEGV
	mov	$1000, %r12d			# 1
1:	nop					# 1
	ud2					# 4, SIGILL
	nop					# 1
	xor	%ecx, %ecx			# 1
	mov	$1, %eax			# 1
	xor	%edx, %edx			# 1
	div	%ecx				# 4, SIGFPE
	nop					# 1
	xor	%eax, %eax			# 1
	mov	(%rax), %edx			# 4, SIGSEGV by a page fault
	nop					# 1
	hlt					# 4, SIGSEGV by #GP
	nop					# 0, second byte of what the handler steps over
	nop					# 1
	dec	%r12d				# 1
	jnz	1b				# 1, a branch
	mov	$__NR_exit, %eax		# 1
	xor	%edi, %edi			# 1
	syscall					# 1, a branch

	.data
	.balign	8
action:	.quad	0, SA_SIGINFO_RESTORER, 0, 0
