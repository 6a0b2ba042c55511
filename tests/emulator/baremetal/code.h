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
extern const char user_loop_top[], user_loop_branch[], user_rep_insn[], enable_nops[];
extern uint32_t rdpmc_index, rdpmc_result;

/* The arguments of these are scratch space of the caller's stack. */
void enable_disable(uint32_t msr, uint32_t value);
uint32_t rdpmc_delta(uint32_t unused);
uint32_t rdmsr_delta(uint32_t unused);
uint32_t loop_delta(uint32_t unused);
uint32_t write_while_counting(void);

#endif
