/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CMPXCHG8B changes ZF and no other bit of EFLAGS, whatever the instructions before it have left.
 * QEMU translates CMPXCHG16B, by which Linux allocates memory, with the same lines. These tests
 * cannot execute that: it needs 64 bits.
 */
#include "harness.h"

#define PF	0x4
#define ZF	0x40
#define SF	0x80
#define NT	0x4000
#define VM	0x20000

void second_test(void)
{
}

/*
 * After POPF QEMU has the flags themselves. ADD replaces them by its operand, from which the flags
 * can be computed. The load of XOR may fault, so it writes that operand to the processor's state.
 */
static uint32_t flags_after(uint32_t operand, uint32_t xored, uint32_t compared)
{
	static uint64_t memory;
	static uint32_t zero;
	uint32_t sum = 1, edx = 0;

	memory = 0;
	asm volatile("pushfl\n\t"
		     "pushfl\n\t"
		     "popfl\n\t"
		     "addl %[operand], %[sum]\n\t"
		     "xorl %[zero], %[xored]\n\t"
		     "cmpxchg8b %[memory]\n\t"
		     "pushfl\n\t"
		     "popl %[operand]\n\t"
		     "popfl"
		     : [operand] "+r"(operand), [sum] "+c"(sum), [xored] "+b"(xored), "+a"(compared), "+d"(edx),
		       [memory] "+m"(memory)
		     : [zero] "m"(zero)
		     : "cc");
	return operand & ~0x202;	/* without the bit that is always 1, and IF */
}

void test(void)
{
	check("equal", ZF | PF, flags_after(0, 3, 0));
	check("not equal", PF, flags_after(0, 3, 1));
	check("not equal, zero before", PF, flags_after(0, 0, 1));
	check("odd and negative", ZF | SF, flags_after(0, 0x80000001, 0));
	check("no nested task", ZF | PF, flags_after(NT, 3, 0));
	check("no 8086", ZF | PF, flags_after(VM, 3, 0));
	check("no bit of an address", ZF | PF, flags_after(0x03a5b100, 3, 0));
	check("no bit at all", PF, flags_after(0xfffffffe, 3, 1));
}
