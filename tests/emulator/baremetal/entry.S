# SPDX-License-Identifier: GPL-2.0-or-later
# Multiboot entry, the way to ring 3 and back, interrupt stubs, start-up code of a second processor.

	.section .multiboot, "a"
	.align	4
	.long	0x1badb002, 0, -0x1badb002

	.text
	.globl	_start
_start:
	mov	$boot_stack, %esp
	call	setup
	call	test
	jmp	finish

# Run the code at 4(%esp) in ring 3 until its INT $0x80.
	.globl	run_user
run_user:
	mov	4(%esp), %eax
	pusha
	mov	%esp, kernel_esp
	push	$0x23			# user data
	push	$user_stack
	push	$0x202			# IF
	push	$0x1b			# user code
	push	%eax
	mov	$0x23, %ax
	mov	%eax, %ds
	mov	%eax, %es
	iret

	.globl	leave_user
leave_user:
	mov	kernel_esp, %esp
	popa
	ret

	.macro	stub vector, error_code=0
	.text
1:	.if	\error_code == 0
	push	$0
	.endif
	push	$\vector
	jmp	common
	.section .rodata
	.long	\vector, 1b
	.endm

	.section .rodata
	.globl	stubs
stubs:
	stub	0
	stub	1
	stub	3
	stub	4
	stub	6
	stub	13, 1
	stub	14, 1
	stub	0x30
	stub	0x40
	stub	0x50
	stub	0x80
	.section .rodata
	.long	-1

	.text
common:
	pusha
	mov	$0x10, %eax
	mov	%eax, %ds
	mov	%eax, %es
	push	%esp
	call	interrupt
	pop	%eax
	testb	$3, 44(%esp)		# the ring that was interrupted
	jz	1f
	mov	$0x23, %eax
	mov	%eax, %ds
	mov	%eax, %es
1:	popa
	add	$8, %esp
	iret

# Copied to a page below 1 MB, where the second processor starts in real mode.
	.globl	trampoline, trampoline_end
	.code16
trampoline:
	cli
	lgdtl	%cs:(trampoline_gdt - trampoline)
	mov	$1, %eax
	mov	%eax, %cr0
	ljmpl	$8, $second_start
	.align	4
trampoline_gdt:
	.word	8 * 6 - 1
	.long	gdt
trampoline_end:

	.code32
second_start:
	mov	$0x10, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	mov	$second_stack, %esp
	call	second_test
1:	cli
	hlt
	jmp	1b

	.bss
	.globl	kernel_esp
kernel_esp:
	.skip	4
	.align	16
	.skip	16384
boot_stack:
	.skip	16384
second_stack:
	.skip	16384
	.globl	interrupt_stack
interrupt_stack:
	.skip	16384
	.globl	user_stack
user_stack:
	.skip	64
