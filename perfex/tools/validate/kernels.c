// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs with counts that are known by hand, which are in benchmarks.c.  Each is a function of
 * its own in assembly.  It is called in the same way as the empty one, so that their counts differ
 * only by what is written here.  RDI is the size, which is not 0, and RSI the memory.
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
/* The jump is taken for every second n: the even ones. */
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
/* REP STOSB is one instruction, however long it takes. */
KERNEL(kernel_string, "mov %rdi, %rcx\n\t"
		      "mov %rsi, %rdi\n\t"
		      "rep stosb\n\t"
		      "ret")
KERNEL(kernel_x87, "fld1\n"
		   "1: fadd %st(0), %st\n\t"
		   "dec %rdi\n\tjnz 1b\n\t"
		   "fstp %st(0)\n\t"
		   "ret")

/* The operands are zeros, which take no processor longer. */
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

/* Calls getppid(), which takes no argument.  SYSCALL changes RCX and R11. */
KERNEL(kernel_calls_of_kernel, "1: mov $110, %eax\n\t"
			       "syscall\n\t" REPEAT)
/*
 * Each jump depends on a bit of a shift register (Marsaglia's xorshift), which no predictor can
 * know.
 */
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
 * n additions, each of which waits for the one before.  The rounds have 1000 additions.  The first
 * round is entered so that it has only what is left of n.
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
 * Begins where the last run ended; the second word of the memory keeps this place.  From the start,
 * it would walk through lines that a smaller run has just put into the cache.
 */
KERNEL(kernel_chase, "mov 8(%rsi), %rax\n"
		     "1: mov (%rax), %rax\n\t"
		     "dec %rdi\n\tjnz 1b\n\t"
		     "mov %rax, 8(%rsi)\n\t"
		     "ret")
/* Each line is flushed from all caches after it was read, until its turn comes again. */
KERNEL(kernel_flush, "1: mov (%rsi), %rax\n\t"
		     "clflush (%rsi)\n\t"
		     "mov %rax, %rsi\n\t"
		     "dec %rdi\n\tjnz 1b\n\t"
		     "mfence\n\t"
		     "ret")
/* The instructions are in the memory: memory.c writes them. */
KERNEL(kernel_jumps, "jmp *%rsi")
/* Writes one byte of each page. */
KERNEL(kernel_faults, "1: movb $1, (%rsi)\n\t"
		      "add $4096, %rsi\n\t" REPEAT)

/* Goes n times to another process on the same CPU and back. */
void kernel_switches(uint64_t n, void *memory)
{
	const int *pipes = memory;
	char byte = 0;

	while (n--)
		if (write(pipes[0], &byte, 1) != 1 || read(pipes[1], &byte, 1) != 1)
			return;
}

/*
 * Two CPUs write one line in turn.  *turn is 1 for this CPU and 0 for the other one.  Gives up if
 * the other process seems to have ended.
 */
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
