// SPDX-License-Identifier: GPL-2.0-or-later
/* 2 * n + 2 instructions, for languages that have none of their own. */
void loop(unsigned int n);

__asm__(".text\n\t.globl loop\n\t.type loop,@function\n"
	"loop:	mov %edi, %ecx\n"
	"1:	dec %ecx\n\t"
	"jnz 1b\n\t"
	"ret\n\t.size loop,.-loop\n\t.section .note.GNU-stack,\"\",@progbits\n\t.text");
