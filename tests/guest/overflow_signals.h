/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals at the ends of periods. */
#ifndef OVERFLOW_SIGNALS_H
#define OVERFLOW_SIGNALS_H

#include "period.h"

#include <signal.h>

/* User instructions that asm/overflow.S retires, counted there by hand. */
#define OVERFLOW_INSTRUCTIONS(signals) (26 + 2 * (uint64_t)SHORT_LOOP + 8 * (uint64_t)(signals))
/* The largest delay of an interrupt on the machines of the tests, in events, P4 included. */
#define MOST_SKID 201
/* Nehalem and Haswell do not interrupt after fewer events than this: perfctr(4). */
#define LEAST_DISTANCE 32

/* Event 0 counts user instructions, on every PMU. The end of a period sends the signal. */
struct perfctr_control signal_control(uint64_t period, uint32_t signal, uint32_t flags);
/* The same with kernel mode. */
struct perfctr_control both_modes(uint64_t period, uint32_t signal);

/* Set by the handler of catch_signal(). */
struct caught {
	volatile int n, signal, code;
	volatile unsigned int mask;
	volatile pid_t tid;
	volatile uint64_t ip, cx, handler_sp;
};
extern struct caught caught;
void catch_signal(int signal, int flags);

/*
 * Runs the program asm/overflow.S. It gets as many signals as there are periods, and only its own
 * instructions are counted.
 */
void count_signals(struct perfctr_control control, int mask);

void resume(int fd);
uint64_t lost_signals(int fd);

/*
 * control_and_loop() installs the control and loops n times. counted_at() returns what the thread
 * has counted before the instruction that a signal has interrupted, or 0 if that is not in the
 * loop.
 */
void control_and_loop(int fd, struct perfctr_control control, uint32_t n);
uint64_t counted_at(uint64_t ip, uint64_t cx, uint32_t n);

#endif
