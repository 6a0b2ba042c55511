/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executes steps from the image, beginning with the one that argv[1] names: two letters of 6 bits,
 * the low ones first. The numbers are instructions; a jump and a system call are also branches.
 * model.c adds them up.
 */
#include <asm/unistd.h>
#include "steps.h"

#define PROT_READ	1
#define MAP_SHARED_FIXED	0x11
#define CLONE_A_THREAD	0x00050f00	/* VM, FS, FILES, SIGHAND, THREAD, SYSVSEM */
#define SIGKILL		9

	.globl	_start
	/* START: 20, 3 of them branches */
_start:
	mov	16(%rsp), %rax			# 1, argv[1]
	movzbl	(%rax), %ebp			# 1
	and	$63, %ebp			# 1
	movzbl	1(%rax), %ecx			# 1
	and	$63, %ecx			# 1
	shl	$6, %ecx			# 1
	or	%ecx, %ebp			# 1
	mov	$__NR_mmap, %eax		# 1
	mov	$IMAGE_ADDRESS, %edi		# 1
	mov	$IMAGE_BYTES, %esi		# 1
	mov	$PROT_READ, %edx		# 1
	mov	$MAP_SHARED_FIXED, %r10d	# 1
	mov	$IMAGE_FD, %r8d			# 1
	xor	%r9d, %r9d			# 1
	syscall					# 1
at:	shl	$4, %ebp			# 1
	add	$IMAGE_ADDRESS, %ebp		# 1
	jmp	run				# 1

	/* NEXT: 3, 1 branch */
next:	add	$STEP_BYTES, %rbp		# 1
run:	mov	(%rbp), %eax			# 1
	jmp	*table(,%rax,8)			# 1

	/* 2 + 2 * n + NEXT, n + 1 branches and NEXT's */
loop:	mov	4(%rbp), %ecx			# 1
1:	dec	%ecx				# n
	jnz	1b				# n
	jmp	next				# 1

	/* 2 + NEXT, 1 branch */
store:	incq	stored				# 1
	jmp	next				# 1

	/* 3 + NEXT, 2 branches */
yield:	mov	$__NR_sched_yield, %eax		# 1
	syscall					# 1
	jmp	next				# 1

	/* 6 + NEXT, 2 branches */
move:	mov	$__NR_sched_setaffinity, %eax	# 1
	xor	%edi, %edi			# 1
	mov	$8, %esi			# 1
	lea	8(%rbp), %rdx			# 1
	syscall					# 1
	jmp	next				# 1

	/* 5 + NEXT, 2 branches */
sleep:	mov	$__NR_nanosleep, %eax		# 1
	mov	8(%rbp), %rdi			# 1
	xor	%esi, %esi			# 1
	syscall					# 1
	jmp	next				# 1

	/* 4 with a branch, of which the last makes the change; then 1 + NEXT, 1 branch */
ioctl:	mov	$__NR_ioctl, %eax		# 1
	mov	4(%rbp), %edi			# 1
	mov	8(%rbp), %rsi			# 1
	syscall					# 1
	jmp	next				# 1

	/* 4 + NEXT, 2 branches; vfork is the same */
fork:	mov	$__NR_fork, %eax		# 1
	syscall					# 1
	test	%eax, %eax			# 1
	jnz	next				# 1
	jmp	child
vfork:	mov	$__NR_vfork, %eax		# 1
	syscall					# 1
	test	%eax, %eax			# 1
	jnz	next				# 1
	jmp	child

	/* 9 + NEXT, 2 branches; neither thread uses the stack */
thread:	mov	$__NR_clone, %eax		# 1
	mov	$CLONE_A_THREAD, %edi		# 1
	xor	%esi, %esi			# 1
	xor	%edx, %edx			# 1
	xor	%r10d, %r10d			# 1
	xor	%r8d, %r8d			# 1
	syscall					# 1
	test	%eax, %eax			# 1
	jnz	next				# 1
	jmp	child

	/* BORN: test, jnz, jmp; 2; at: 3; run: 2. 10 in all, 5 branches */
child:	mov	4(%rbp), %ebp			# 1
	jmp	at				# 1

	/* 7 + NEXT, 2 branches */
wait:	mov	$__NR_wait4, %eax		# 1
	mov	$-1, %rdi			# 1
	xor	%esi, %esi			# 1
	xor	%edx, %edx			# 1
	xor	%r10d, %r10d			# 1
	syscall					# 1
	jmp	next				# 1

	/* 5, 1 branch; then START */
exec:	mov	$__NR_execve, %eax		# 1
	mov	$itself, %edi			# 1
	mov	8(%rbp), %rsi			# 1
	xor	%edx, %edx			# 1
	syscall					# 1
	ud2

	/* 3, 1 branch */
exit:	mov	$__NR_exit, %eax		# 1
	xor	%edi, %edi			# 1
	syscall					# 1

	/* 6, 2 branches */
kill:	mov	$__NR_getpid, %eax		# 1
	syscall					# 1
	mov	%eax, %edi			# 1
	mov	$SIGKILL, %esi			# 1
	mov	$__NR_kill, %eax		# 1
	syscall					# 1

	.section .rodata
	.balign	8
table:	.quad	loop, store, yield, move, sleep, ioctl, fork, vfork, thread, wait, exec, exit, kill
itself:	.asciz	"/proc/self/exe"

	.data
	.balign	8
stored:	.quad	0
