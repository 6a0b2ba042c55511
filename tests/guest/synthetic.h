/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two programs of the structure of those in K. D. Safford's thesis on the Pentium's counters, section
 * 5.5, as functions: a loop of 100 turns, and three misaligned accesses.
 */
#ifndef SYNTHETIC_H
#define SYNTHETIC_H

void synthetic_1(void);
void synthetic_2(void);

/* These include the call: a branch and a store. */
#define SYNTHETIC_1_INSTRUCTIONS (1 + 3 + 3 * 100 + 3)
#define SYNTHETIC_1_BRANCHES (1 + 100 + 1)
#define SYNTHETIC_2_INSTRUCTIONS (1 + 4 + 4 * 3 + 2)
#define SYNTHETIC_2_BRANCHES (1 + 3 + 1)
#define SYNTHETIC_2_LOADS (3 + 2)
#define SYNTHETIC_2_STORES (1 + 1 + 3)

#endif
