# SPDX-License-Identifier: GPL-2.0-or-later
# What retires in ring 3. Each case ends with INT $0x80, which is one instruction and one (far)
# branch. The counts are worked out next to the code: "1" is one instruction, then B for a branch,
# T for a near taken one, L for a load, S for a store.

	.macro	CASE name, insns, branches, taken, loads, stores, demand=0
	.section .cases, "a"
	.long	9f, case_\name, \demand, \insns, \branches, \taken, \loads, \stores
	.section .rodata.names, "a"
9:	.asciz	"\name"
	.text
case_\name:
	.endm

	.macro	END
	int	$0x80			# 1 B
	.endm

	.section .cases, "a"
	.globl	cases
cases:

# Straight code and loops

	CASE	empty, 1, 1, 0, 0, 0
	END

	CASE	nops, 11, 1, 0, 0, 0
	.rept	10
	nop				# 10
	.endr
	END

	CASE	loop, 2000002, 1000001, 999999, 0, 0
	mov	$1000000, %ecx		# 1
1:	dec	%ecx			# 10^6
	jnz	1b			# 10^6 B, all but the last T
	END

	CASE	long_block, 1501, 1, 0, 0, 0
	.rept	1500			# more than QEMU translates at once
	nop				# 1500
	.endr
	END

	CASE	page_crossing, 9, 2, 1, 0, 0
	.rept	3
	nop				# 3
	.endr
	jmp	1f			# 1 B T
	.p2align 12
	.skip	4096 - 2
1:	mov	$0x12345678, %eax	# 1, two bytes of five in the first page
	.rept	3
	nop				# 3
	.endr
	END

# Branches

	CASE	conditional, 7, 3, 1, 0, 0
	xor	%eax, %eax		# 1
	jz	1f			# 1 B T
	nop
1:	jnz	2f			# 1 B
	nop				# 1
2:	cmovz	%ecx, %edx		# 1, not a branch
	setz	%al			# 1
	END

	CASE	jumps, 6, 4, 3, 1, 0
	jmp	1f			# 1 B T
	nop
1:	mov	$2f, %eax		# 1
	jmp	*%eax			# 1 B T
	nop
2:	movl	%eax, %eax		# 1
	jmp	*3f			# 1 B T L
	.data
3:	.long	4f
	.text
4:	END

	CASE	calls, 9, 8, 7, 4, 3
	call	1f			# 1 B T S
	mov	$1f, %eax		# 1
	call	*%eax			# 1 B T S
	call	*2f			# 1 B T L S
	jmp	3f			# 1 B T
1:	ret				# 3 B T L
	.data
2:	.long	1b
	.text
3:	END

	CASE	loops, 8, 6, 3, 0, 0
	mov	$3, %ecx		# 1
1:	loop	1b			# 3 B, 2 T
	jecxz	2f			# 1 B T
	nop
2:	inc	%ecx			# 1
	jecxz	2b			# 1 B
	END

	CASE	far, 7, 4, 0, 4, 2
	push	%cs			# 1 S
	push	$1f			# 1 S
	lret				# 1 B: far, its two pops are not loads of an operand
1:	ljmp	$0x1b, $2f		# 1 B
2:	ljmp	*3f			# 1 B L L, offset and selector
	.data
3:	.long	4f
	.word	0x1b
	.text
4:	lds	5f, %eax		# 1 L L
	.data
5:	.long	0
	.word	0x23
	.text
	END

	CASE	traps, 8, 3, 0, 0, 2
	movl	$1f, fault_resume	# 1 S
	int3				# 1 B: a trap retires
1:	mov	$0x7fffffff, %eax	# 1
	into				# 1, does not trap: OF is clear
	movl	$2f, fault_resume	# 1 S
	add	$1, %eax		# 1, sets OF
	into				# 1 B
	nop
2:	END

# Loads and stores

	CASE	moves, 16, 1, 0, 6, 6
	mov	data, %eax		# 1 L
	mov	%eax, data		# 1 S
	movb	$1, data		# 1 S
	movzbl	data, %eax		# 1 L
	lea	data, %eax		# 1
	cmp	%ecx, data		# 1 L
	test	%ecx, data		# 1 L
	mov	data + 61, %eax		# 1 L, crosses a cache line
	sete	data			# 1 S
	xor	%ecx, %ecx		# 1
	cmovnz	data, %eax		# 1 L, whether or not it moves
	mov	%ds, data		# 1 S
	movnti	%eax, data		# 1 S
	mov	%eax, data + 4094	# 1 S, crosses a page
	prefetcht0 data			# 1
	END

	CASE	read_modify_write, 17, 1, 0, 15, 12
	add	%eax, data		# 1 L S
	add	data, %eax		# 1 L
	incl	data			# 1 L S
	negl	data			# 1 L S
	notl	data			# 1 L S
	shll	$3, data		# 1 L S
	shld	$3, %eax, data		# 1 L S
	btsl	$3, data		# 1 L S
	btl	$3, data		# 1 L
	xadd	%eax, data		# 1 L S
	xchg	%eax, data		# 1 L S
	cmpxchg	%ecx, data		# 1 L S, whether or not it is equal
	cmpxchg8b data			# 1 L S
	bsf	data, %eax		# 1 L
	adcl	$0, data		# 1 L S
	mov	%eax, %ecx		# 1
	END

	CASE	locked, 13, 1, 0, 12, 12
	lock	addl $1, data		# 1 L S
	lock	incl data		# 1 L S
	lock	negl data		# 1 L S
	lock	notl data		# 1 L S
	lock	btsl $3, data		# 1 L S
	lock	xadd %eax, data		# 1 L S
	lock	xchg %eax, data		# 1 L S
	lock	cmpxchg %ecx, data	# 1 L S
	lock	cmpxchg8b data		# 1 L S
	lock	orl $1, data		# 1 L S
	lock	sbbl $1, data		# 1 L S
	lock	andb $1, data		# 1 L S
	END

	CASE	locked_unaligned, 1003, 1, 0, 500, 500
	mov	$data + 4094, %ebx	# 1
	nop				# 1, makes the first one start inside a block
	.rept	250			# across a page: QEMU stops all processors for each of them
	lock	incl (%ebx)		# 250 L S
	xchg	%ecx, (%ebx)		# 250 L S
	nop				# 250
	lea	(%ecx), %ecx		# 250
	.endr
	END

	CASE	stack, 13, 1, 0, 13, 14
	push	%eax			# 1 S
	pop	%eax			# 1 L
	push	$1			# 1 S
	pushl	data			# 1 L S
	popl	data			# 1 L S
	pop	%eax			# 1 L
	pushf				# 1 S
	popf				# 1 L
	pusha				# 1 S x 8
	popa				# 1 L x 7, ESP is skipped
	enter	$16, $0			# 1 S
	leave				# 1 L
	END

	CASE	many_accesses, 601, 1, 0, 2100, 0
	.rept	300			# more loads than fit in one block's charge
	popa				# 300 L x 7
	sub	$32, %esp		# 300
	.endr
	END

	CASE	translate_byte, 3, 1, 0, 1, 0
	mov	$data, %ebx		# 1
	xlat				# 1 L
	END

	CASE	bounds, 3, 1, 0, 2, 0
	xor	%eax, %eax		# 1
	bound	%eax, limits		# 1 L L
	.data
limits:	.long	-1, 1
	.text
	END

# String instructions: one instruction, and the accesses of every iteration

	CASE	rep_movsb, 5, 1, 0, 1000, 1000
	mov	$data, %esi		# 1
	mov	$data + 2000, %edi	# 1
	mov	$1000, %ecx		# 1
	rep	movsb			# 1 L x 1000 S x 1000
	END

	CASE	rep_none, 5, 1, 0, 0, 0
	mov	$data, %esi		# 1
	mov	$data, %edi		# 1
	xor	%ecx, %ecx		# 1
	rep	movsl			# 1
	END

	CASE	rep_cmpsb, 7, 1, 0, 12, 1
	movb	$1, zeroes + 5		# 1 S
	mov	$zeroes, %esi		# 1
	mov	$zeroes + 64, %edi	# 1
	mov	$50, %ecx		# 1
	repe	cmpsb			# 1, ends at the sixth: L x 12
	nop				# 1
	.data
zeroes:	.skip	128
	.text
	END

	CASE	rep_twice, 9, 1, 0, 7, 10
	mov	$data, %edi		# 1
	mov	$10, %ecx		# 1
	xor	%eax, %eax		# 1
	rep	stosl			# 1 S x 10
	mov	$data, %edi		# 1
	mov	$7, %ecx		# 1
	inc	%eax			# 1
	repne	scasb			# 1 L x 7: no byte there is 1
	END

	CASE	strings, 8, 1, 0, 5, 2
	mov	$data, %esi		# 1
	mov	$data, %edi		# 1
	movsl				# 1 L S
	stosl				# 1 S
	lodsl				# 1 L
	scasl				# 1 L
	cmpsl				# 1 L L
	END

# x87

	CASE	x87, 33, 1, 0, 14, 13
	flds	fdata			# 1 L
	fldl	fdata			# 1 L
	fldt	fdata			# 1 L
	fildl	fdata			# 1 L
	fildll	fdata			# 1 L
	filds	fdata			# 1 L
	fadds	fdata			# 1 L
	faddl	fdata			# 1 L
	fiaddl	fdata			# 1 L
	fadd	%st(1), %st		# 1
	fsts	data			# 1 S
	fstps	data			# 1 S
	fstpl	data			# 1 S
	fstpt	data			# 1 S
	fistpl	data			# 1 S
	fistpll	data			# 1 S
	fldz				# 1
	fistps	data			# 1 S
	fldz				# 1
	fisttpl	data			# 1 S
	fnstcw	data			# 1 S
	fldcw	data			# 1 L
	fnstsw	data			# 1 S
	fnstsw	%ax			# 1
	fnstenv	data			# 1 S
	fldenv	data			# 1 L
	fnsave	data			# 1 S
	frstor	data			# 1 L
	fbld	fdata			# 1 L
	fbstp	data			# 1 S
	fninit				# 1
	ficoms	fdata			# 1 L
	END
	.data
	.align	16
fdata:	.skip	16
	.text

# SSE

	CASE	sse_moves, 34, 1, 0, 14, 16
	movaps	data, %xmm0		# 1 L, one access though 16 bytes
	movaps	%xmm0, data		# 1 S
	movups	data + 1, %xmm0		# 1 L
	movups	%xmm0, data + 1		# 1 S
	movdqa	data, %xmm1		# 1 L
	movdqa	%xmm1, data		# 1 S
	movdqu	data + 4090, %xmm1	# 1 L, crosses a page
	movdqu	%xmm1, data + 4090	# 1 S
	lddqu	data, %xmm1		# 1 L
	movss	data, %xmm0		# 1 L
	movss	%xmm0, data		# 1 S
	movsd	data, %xmm0		# 1 L
	movsd	%xmm0, data		# 1 S
	movlps	data, %xmm0		# 1 L
	movlps	%xmm0, data		# 1 S
	movhps	data, %xmm0		# 1 L
	movhps	%xmm0, data		# 1 S
	movq	data, %xmm0		# 1 L
	movq	%xmm0, data		# 1 S
	movd	data, %xmm0		# 1 L
	movd	%xmm0, data		# 1 S
	movq	data, %mm0		# 1 L
	movq	%mm0, data		# 1 S
	emms				# 1
	movntps	%xmm0, data		# 1 S
	movntdq	%xmm0, data		# 1 S
	movddup	data, %xmm0		# 1 L
	movaps	%xmm0, %xmm1		# 1
	pextrw	$1, %xmm0, data		# 1 S
	pinsrw	$1, data, %xmm0		# 1 L
	mov	$data, %edi		# 1
	maskmovdqu %xmm0, %xmm1		# 1 S
	pextrd	$1, %xmm0, data		# 1 S
	END

	CASE	sse_operands, 18, 1, 0, 13, 3
	xorps	%xmm0, %xmm0		# 1
	movaps	%xmm0, data		# 1 S
	addps	data, %xmm0		# 1 L
	addss	data, %xmm0		# 1 L
	addsd	data, %xmm0		# 1 L
	mulpd	data, %xmm0		# 1 L
	paddd	data, %xmm0		# 1 L
	cvtsi2sd data, %xmm0		# 1 L
	cvttss2si data, %eax		# 1 L
	comiss	data, %xmm0		# 1 L
	pshufb	data, %xmm0		# 1 L
	insertps $0, data, %xmm0	# 1 L
	pmovzxbw data, %xmm0		# 1 L
	stmxcsr	data			# 1 S
	ldmxcsr	data			# 1 L
	fxsave	data			# 1 S: an area is one access
	fxrstor	data			# 1 L
	END

# Faults: an instruction that faults does not retire, what it did before it faulted does not count

	CASE	ud2, 4, 1, 0, 0, 1
	movl	$1f, fault_resume	# 1 S
	nop				# 1
	ud2				# faults
	nop
1:	nop				# 1
	END

	CASE	divide_error, 7, 1, 0, 1, 2
	movl	$1f, fault_resume	# 1 S
	mov	$1, %eax		# 1
	xor	%edx, %edx		# 1
	movl	$0, data		# 1 S
	mov	data, %ecx		# 1 L
	div	%ecx			# faults
	mov	data, %ecx
	nop
1:	nop				# 1
	END

	CASE	divide_error_operand, 5, 1, 0, 0, 2
	movl	$1f, fault_resume	# 1 S
	xor	%edx, %edx		# 1
	movl	$0, data		# 1 S
	divl	data			# loads and faults
1:	nop				# 1
	END

	CASE	privileged, 4, 1, 0, 0, 1
	movl	$1f, fault_resume	# 1 S
	nop				# 1
	hlt				# faults
1:	nop				# 1
	END

	CASE	rdmsr_user, 4, 1, 0, 0, 1
	movl	$1f, fault_resume	# 1 S
	mov	$0xc1, %ecx		# 1
	rdmsr				# faults
1:	nop				# 1
	END

	CASE	int_refused, 3, 1, 0, 0, 1
	movl	$1f, fault_resume	# 1 S
	int	$0x50			# faults: its gate is for ring 0
	nop
1:	nop				# 1
	END

	CASE	page_faults, 5004, 1001, 999, 1000, 1000, 1
	mov	$0xc00000, %ebx		# 1
	mov	$1000, %ecx		# 1
	nop				# 1
1:	mov	%eax, (%ebx)		# 1 S, faults once
	mov	(%ebx), %edx		# 1 L
	add	$4096, %ebx		# 1
	dec	%ecx			# 1
	jnz	1b			# 1 B, T but the last
	END

	CASE	page_fault_second, 4, 1, 0, 2, 2, 1
	mov	$0xc00000 + 4, %ebx	# 1
	pushl	data			# 1 L S
	popl	(%ebx)			# 1 L S: loads, faults, loads again
	END

	CASE	page_fault_call, 6, 3, 2, 1, 1, 1
	mov	%esp, %ebx		# 1
	mov	$0xc01000, %esp		# 1
	call	1f			# 1 B T S, faults once
	mov	%ebx, %esp		# 1
	END
1:	ret				# 1 B T L

	CASE	page_fault_rep, 5, 1, 0, 8192, 8192, 1
	mov	$0xc00800, %edi		# 1
	mov	$0xc10000, %esi		# 1
	mov	$8192, %ecx		# 1
	rep	movsb			# 1, faults at 3 + 2 pages
	END

	CASE	page_fault_x87, 4, 1, 0, 1, 1, 1
	mov	$0xc00000, %ebx		# 1
	flds	fdata			# 1 L
	fstps	(%ebx)			# 1 S, faults once
	END

	CASE	page_fault_sse, 4, 1, 0, 1, 1, 1
	mov	$0xc00ff8, %ebx		# 1
	movups	%xmm0, (%ebx)		# 1 S, faults on two pages
	movups	(%ebx), %xmm0		# 1 L
	END

	CASE	page_fault_lock, 3, 1, 0, 1, 1, 1
	mov	$0xc00000, %ebx		# 1
	lock	incl (%ebx)		# 1 L S, faults once
	END

# Code that changes itself

	CASE	self_modifying, 5002, 1001, 999, 0, 1000
	mov	$1000, %ecx		# 1
1:	movb	$0x90, 2f		# 1 S, into this very block
	nop				# 1
2:	nop				# 1, written
	dec	%ecx			# 1
	jnz	1b			# 1 B, T but the last
	END

	.section .cases, "a"
	.long	0

	.bss
	.align	4096
	.globl	data
data:	.skip	8192
