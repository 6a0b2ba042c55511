/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tree of three levels: a root, 8 middles, 24 leaves below each: 200 processes below the root,
 * made by every call that makes one. argv[1] names the program that some leaves execute.
 *
 * root:		3 + 8 * 6 + 1 + 8 * 8 + 3 = 119 instructions
 * middle:		2 + 1 + 4 * 33 + 1 + 24 * 8 + 3 = 331
 * leaf that loops:	2 + LOOP = 20,006; 3 of 6 leaves
 * leaf that executes:	2 + 5 = 7, then those of the program; 2 of 6
 * leaf with a thread:	2 + 7 + LOOP, and LOOP of the thread = 40,017; 1 of 6
 * where LOOP is 1 + 2 * 10000 + 3 = 20,004
 */
#include <asm/unistd.h>

#define MIDDLES		8
#define ROUNDS		4		/* of 6 leaves each */

#define SIGCHLD		17
#define CLONE_A_THREAD	0x00050f00	/* VM, FS, FILES, SIGHAND, THREAD, SYSVSEM */

	/* Wait for \n children: 1 + \n * 8 */
	.macro	wait_for n
	mov	$\n, %r12d		# 1
1:	mov	$__NR_wait4, %eax	# 1
	mov	$-1, %rdi		# 1
	xor	%esi, %esi		# 1
	xor	%edx, %edx		# 1
	xor	%r10d, %r10d		# 1
	syscall				# 1
	dec	%r12d			# 1
	jnz	1b			# 1
	.endm

	/* 3 */
	.macro	exit
	mov	$__NR_exit, %eax	# 1
	xor	%edi, %edi		# 1
	syscall				# 1
	.endm

	.globl	_start
_start:
	mov	16(%rsp), %rbp		# 1, argv[1]
	lea	16(%rsp), %rbx		# 1, argv + 1
	mov	$MIDDLES, %r12d		# 1
1:	mov	$__NR_fork, %eax	# 1
	syscall				# 1
	test	%eax, %eax		# 1, the child's first
	jz	middle			# 1
	dec	%r12d			# 1
	jnz	1b			# 1
	wait_for MIDDLES
	exit

	/* 33 for each round of 6 leaves */
middle:	mov	$ROUNDS, %r12d		# 1
1:	mov	$__NR_fork, %eax	# 1
	syscall				# 1
	test	%eax, %eax		# 1
	jz	loop			# 1
	mov	$__NR_fork, %eax	# 1
	syscall				# 1
	test	%eax, %eax		# 1
	jz	execute			# 1
	mov	$__NR_fork, %eax	# 1
	syscall				# 1
	test	%eax, %eax		# 1
	jz	thread			# 1
	mov	$__NR_vfork, %eax	# 1
	syscall				# 1
	test	%eax, %eax		# 1
	jz	execute			# 1
	mov	$__NR_clone3, %eax	# 1
	lea	clone_args(%rip), %rdi	# 1
	mov	$64, %esi		# 1
	syscall				# 1
	test	%eax, %eax		# 1
	jz	loop			# 1
	mov	$__NR_clone, %eax	# 1
	mov	$SIGCHLD, %edi		# 1
	xor	%esi, %esi		# 1
	xor	%edx, %edx		# 1
	xor	%r10d, %r10d		# 1
	xor	%r8d, %r8d		# 1
	syscall				# 1
	test	%eax, %eax		# 1
	jz	loop			# 1
	dec	%r12d			# 1
	jnz	1b			# 1
	wait_for (ROUNDS*6)
	exit

	/* 7; neither thread uses the stack. The process ends with the later of the two. */
thread:	mov	$__NR_clone, %eax	# 1
	mov	$CLONE_A_THREAD, %edi	# 1
	xor	%esi, %esi		# 1
	xor	%edx, %edx		# 1
	xor	%r10d, %r10d		# 1
	xor	%r8d, %r8d		# 1
	syscall				# 1
	/* LOOP, of each */
loop:	mov	$10000, %ecx		# 1
1:	dec	%ecx			# 10000
	jnz	1b			# 10000
	exit				# 3

	/* 5; a child of vfork() shares its parent's memory and writes none of it. */
execute:
	mov	%rbp, %rdi		# 1
	mov	%rbx, %rsi		# 1
	xor	%edx, %edx		# 1
	mov	$__NR_execve, %eax	# 1
	syscall				# 1
	ud2				# the exec failed

	.section .rodata
	.balign	8
clone_args:				# struct clone_args of its first size
	.quad	0, 0, 0, 0, SIGCHLD, 0, 0, 0
