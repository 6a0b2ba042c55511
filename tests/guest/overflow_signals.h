/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals at the ends of periods. */
#ifndef OVERFLOW_SIGNALS_H
#define OVERFLOW_SIGNALS_H

#include "period.h"

#include <signal.h>

/* What asm/overflow.S retires in user mode, counted there by hand. */
#define OVERFLOW_INSTRUCTIONS(signals) (26 + 2 * (uint64_t)SHORT_LOOP + 8 * (uint64_t)(signals))
/* The most by which an interrupt of the machines that the tests run on is late, and one on P4. */
#define MOST_SKID 201
/* Nehalem's and Haswell's interrupts are no nearer than that: perfctr(4). */
#define LEAST_DISTANCE 32

/* Event 0: user instructions, on every PMU; the end of a period sends the signal. */
struct perfctr_control signal_control(uint64_t period, uint32_t signal, uint32_t flags);
/* ... those of kernel mode too. */
struct perfctr_control both_modes(uint64_t period, uint32_t signal);

/* What the handler of catch_signal() has seen. */
struct caught {
	volatile int n, signal, code;
	volatile unsigned int mask;
	volatile pid_t tid;
	volatile uint64_t ip, cx, handler_sp;
};
extern struct caught caught;
void catch_signal(int signal, int flags);

/* The program asm/overflow.S: as many signals as periods, and nothing else is counted for them. */
void count_signals(struct perfctr_control control, int mask);

void resume(int fd);
uint64_t lost_signals(int fd);

/*
 * Installs the control and loops n times.  What the thread has counted when it is about to execute
 * what a signal has interrupted there, or 0 if that was elsewhere.
 */
void control_and_loop(int fd, struct perfctr_control control, uint32_t n);
uint64_t counted_at(uint64_t ip, uint64_t cx, uint32_t n);

#endif
