// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs whose counts are known by hand, and stand in benchmarks.c: each is a function of its own
 * in assembly, called in the same way as the empty one, so that their counts differ by what stands
 * here alone.  RDI is the size, which is not 0, and RSI the memory.
 */
#define _GNU_SOURCE
#include "validate.h"

#include <string.h>
#include <unistd.h>

#define KERNEL(name, text)                                                                         \
	__attribute__((naked)) void name(uint64_t n, void *memory)                                 \
	{                                                                                          \
		__asm__(text);                                                                     \
	}

#define REPEAT "dec %rdi\n\tjnz 1b\n\tret"

KERNEL(kernel_empty, "ret")
KERNEL(kernel_loop, "1:\n\t" REPEAT)
KERNEL(kernel_nops, "1: nop; nop; nop; nop; nop; nop; nop; nop\n\t" REPEAT)
/* The jump is taken with every second n, the even ones. */
KERNEL(kernel_alternating, "1: test $1, %dil\n\t"
			   "jz 2f\n\t"
			   "nop\n"
			   "2: " REPEAT)
KERNEL(kernel_calls, "1: call 2f\n\t" REPEAT "\n"
		     "2: ret")
KERNEL(kernel_indirect, "lea 2f(%rip), %rax\n"
			"1: jmp *%rax\n"
			"2: " REPEAT)
KERNEL(kernel_loads, "1: mov (%rsi), %rax; mov 8(%rsi), %rax\n\t"
		     "mov 16(%rsi), %rax; mov 24(%rsi), %rax\n\t" REPEAT)
KERNEL(kernel_stores, "1: mov %rax, (%rsi); mov %rax, 8(%rsi)\n\t"
		      "mov %rax, 16(%rsi); mov %rax, 24(%rsi)\n\t" REPEAT)
KERNEL(kernel_updates, "1: incq (%rsi)\n\t" REPEAT)
KERNEL(kernel_stack, "1: push %rax; pop %rax\n\t" REPEAT)
/* One instruction, however long. */
KERNEL(kernel_string, "mov %rdi, %rcx\n\t"
		      "mov %rsi, %rdi\n\t"
		      "rep stosb\n\t"
		      "ret")
KERNEL(kernel_x87, "fld1\n"
		   "1: fadd %st(0), %st\n\t"
		   "dec %rdi\n\tjnz 1b\n\t"
		   "fstp %st(0)\n\t"
		   "ret")

/* Of zeros, which no processor takes longer for. */
#define FLOATING(name, instruction)                                                                \
	KERNEL(name, "xorps %xmm0, %xmm0\n"                                                        \
		     "1: " instruction "\n\t" REPEAT)
#define FLOATING_256(name, instruction)                                                            \
	KERNEL(name, "vxorps %ymm0, %ymm0, %ymm0\n"                                                \
		     "1: " instruction "\n\t"                                                      \
		     "dec %rdi\n\tjnz 1b\n\t"                                                      \
		     "vzeroupper\n\t"                                                              \
		     "ret")

FLOATING(kernel_scalar_double, "addsd %xmm0, %xmm0")
FLOATING(kernel_scalar_single, "addss %xmm0, %xmm0")
FLOATING(kernel_packed_128_double, "addpd %xmm0, %xmm0")
FLOATING(kernel_packed_128_single, "addps %xmm0, %xmm0")
FLOATING_256(kernel_packed_256_double, "vaddpd %ymm0, %ymm0, %ymm0")
FLOATING_256(kernel_packed_256_single, "vaddps %ymm0, %ymm0, %ymm0")
FLOATING_256(kernel_fused_256_double, "vfmadd231pd %ymm0, %ymm0, %ymm0")

/* getppid(), which takes nothing; SYSCALL changes RCX and R11. */
KERNEL(kernel_calls_of_kernel, "1: mov $110, %eax\n\t"
			       "syscall\n\t" REPEAT)
/* Each jump by a bit of a shift register (Marsaglia's xorshift) that no predictor can know. */
KERNEL(kernel_random, "rdtsc\n\t"
		      "or $1, %eax\n"
		      "1: mov %rax, %rdx; shl $13, %rdx; xor %rdx, %rax\n\t"
		      "mov %rax, %rdx; shr $7, %rdx; xor %rdx, %rax\n\t"
		      "mov %rax, %rdx; shl $17, %rdx; xor %rdx, %rax\n\t"
		      "bt $20, %rax\n\t"
		      "jc 2f\n\t"
		      "nop\n"
		      "2: " REPEAT)
/*
 * n additions, each of which waits for the one before.  They are entered from behind, so that the
 * first of the rounds of 1000 is as long as what is left.
 */
KERNEL(kernel_chain, "mov %rdi, %rax\n\t"
		     "xor %edx, %edx\n\t"
		     "mov $1000, %ecx\n\t"
		     "div %rcx\n\t"
		     "lea 2f(%rip), %rcx\n\t"
		     "add %rdx, %rdx\n\t"
		     "sub %rdx, %rcx\n\t"
		     "inc %rax\n\t"
		     "jmp *%rcx\n"
		     "1: .rept 1000\n\tadd %edx, %edx\n\t.endr\n"
		     "2: dec %rax\n\tjnz 1b\n\tret")
/*
 * It goes on where the last one ended, which the memory keeps behind its first place: what a
 * smaller one has just walked through is in the cache.
 */
KERNEL(kernel_chase, "mov 8(%rsi), %rax\n"
		     "1: mov (%rax), %rax\n\t"
		     "dec %rdi\n\tjnz 1b\n\t"
		     "mov %rax, 8(%rsi)\n\t"
		     "ret")
/* What was read leaves all caches, until it comes again. */
KERNEL(kernel_flush, "1: mov (%rsi), %rax\n\t"
		     "clflush (%rsi)\n\t"
		     "mov %rax, %rsi\n\t"
		     "dec %rdi\n\tjnz 1b\n\t"
		     "mfence\n\t"
		     "ret")
/* The memory has the instructions: memory.c. */
KERNEL(kernel_jumps, "jmp *%rsi")
/* One byte of each page. */
KERNEL(kernel_faults, "1: movb $1, (%rsi)\n\t"
		      "add $4096, %rsi\n\t" REPEAT)

/* There and back between two processes on one CPU. */
void kernel_switches(uint64_t n, void *memory)
{
	const int *pipes = memory;
	char byte = 0;

	while (n--)
		if (write(pipes[0], &byte, 1) != 1 || read(pipes[1], &byte, 1) != 1)
			return;
}

/* Two CPUs write one line in turn: 1 is this one's, 0 the other's, which may have ended. */
void kernel_sharing(uint64_t n, void *memory)
{
	enum { PATIENCE = 100000000 };
	volatile int *turn = memory;

	while (n--) {
		for (unsigned int spins = 0; *turn == 0; spins++)
			if (spins == PATIENCE)
				return;
		*turn = 0;
	}
}
