# SPDX-License-Identifier: GPL-2.0-or-later
# Code of known length for several tests. The labels are the places where an interrupt is expected.

	.text
	.globl	user_nops, user_loop, user_loop_top, user_loop_branch, user_loads, user_popa
	.globl	user_rep, user_rep_insn, user_rdpmc, user_nothing, user_flags

user_nothing:				# 1 instruction
	int	$0x80

user_nops:				# 21 instructions, one byte each but the last
	.rept	20
	nop
	.endr
	int	$0x80

user_flags:				# 21 instructions, one byte each but the last
	.rept	10
	pushf
	popf				# ends a block of the emulator
	.endr
	int	$0x80

user_loop:				# 2004 instructions, 1001 branches, 999 near taken
	mov	$1000, %ecx		# 1
	nop				# 1
	nop				# 1
user_loop_top:
	dec	%ecx			# 1000
user_loop_branch:
	jnz	user_loop_top		# 1000
	int	$0x80			# 1

user_loads:				# 20 loads, two bytes each
	mov	$buffer, %ebx
	.rept	20
	mov	(%ebx), %eax
	.endr
	int	$0x80

user_popa:				# 7 loads each, one byte each
	sub	$256, %esp
	.rept	4
	popa
	.endr
	int	$0x80

user_rep:				# 5 instructions, 1000 loads and stores
	mov	$buffer, %esi
	mov	$buffer + 1000, %edi
	mov	$1000, %ecx
user_rep_insn:
	rep	movsb
	int	$0x80

user_rdpmc:				# RDPMC at its second instruction, resumes at the fault or goes on
	mov	rdpmc_index, %ecx
	rdpmc
	mov	%eax, rdpmc_result
	int	$0x80

# Ring 0: each enables counting with the WRMSR of %eax to MSR %ecx, runs 10 NOPs and disables it
# with a WRMSR of zero. Counted are the enabling WRMSR, 10 NOP and 1 XOR: 12.
	.globl	enable_disable, enable_nops
enable_disable:
	mov	4(%esp), %ecx
	mov	8(%esp), %eax
	xor	%edx, %edx
	wrmsr
enable_nops:
	.rept	10
	nop
	.endr
	xor	%eax, %eax
	wrmsr
	ret

# Two readings of PMC0 and their difference: RDPMC, MOV, 4 NOP, (RDPMC): 6. In between lies all
# that retires from the first RDPMC to the instruction before the second.
	.globl	rdpmc_delta, rdmsr_delta, loop_delta
rdpmc_delta:
	xor	%ecx, %ecx
	rdpmc
	mov	%eax, 4(%esp)
	.rept	4
	nop
	.endr
	rdpmc
	sub	4(%esp), %eax
	ret

rdmsr_delta:				# RDMSR, MOV, 4 NOP: 6
	mov	$0xc1, %ecx
	rdmsr
	mov	%eax, 4(%esp)
	.rept	4
	nop
	.endr
	rdmsr
	sub	4(%esp), %eax
	ret

loop_delta:				# RDPMC, MOV, MOV, 2 x 10^6, XOR: 2000004
	xor	%ecx, %ecx
	rdpmc
	mov	%eax, 4(%esp)
	mov	$1000000, %ecx
1:	dec	%ecx
	jnz	1b
	xor	%ecx, %ecx
	rdpmc
	sub	4(%esp), %eax
	ret

# WRMSR of 100 to PMC0 while it counts, then RDPMC: 100 and WRMSR, XOR: 102.
	.globl	write_while_counting
write_while_counting:
	mov	$0xc1, %ecx
	mov	$100, %eax
	xor	%edx, %edx
	wrmsr
	xor	%ecx, %ecx
	rdpmc
	ret

	.data
	.globl	rdpmc_index, rdpmc_result
rdpmc_index:
	.long	0
rdpmc_result:
	.long	0

	.bss
	.skip	256
	.balign	4096
buffer:	.skip	4096
