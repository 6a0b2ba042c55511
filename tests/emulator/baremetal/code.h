/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routines of code.S. */
#ifndef CODE_H
#define CODE_H

#include "harness.h"

void user_nothing(void);
void user_nops(void);
void user_loop(void);
void user_loads(void);
void user_popa(void);
void user_rep(void);
void user_rdpmc(void);
void user_flags(void);
extern const char user_loop_top[], user_loop_branch[], user_rep_insn[], enable_nops[];
extern uint32_t rdpmc_index, rdpmc_result;

#define CR4_PCE (1u << 8)

static inline void set_pce(bool enable)
{
	uint32_t cr4;

	asm volatile("mov %%cr4, %0" : "=r"(cr4));
	cr4 = enable ? cr4 | CR4_PCE : cr4 & ~CR4_PCE;
	asm volatile("mov %0, %%cr4" : : "r"(cr4));
}

/* Executes RDPMC in ring 3, and returns its fault. Without a fault, rdpmc_result has the result. */
static inline int user_rdpmc_fault(uint32_t index)
{
	rdpmc_index = index;
	rdpmc_result = 0;
	fault_vector = NO_FAULT;
	fault_resume = (uint32_t)user_nothing;
	run_user(user_rdpmc);
	fault_resume = 0;
	return fault_vector;
}

/* These functions use their arguments as scratch space on the caller's stack. */
void enable_disable(uint32_t msr, uint32_t value);
uint32_t rdpmc_delta(uint32_t unused);
uint32_t rdmsr_delta(uint32_t unused);
uint32_t loop_delta(uint32_t unused);
uint32_t write_while_counting(void);

#endif
