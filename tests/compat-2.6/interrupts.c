// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters that interrupt, used as in the original's example of signals. */
#define _GNU_SOURCE
#include "old.h"

#include <signal.h>
#include <ucontext.h>

#define EVENTS 10007
#define MOST_LATE 1 /* without pmu-skid; P4 interrupts with the event after the overflow */

static struct {
	struct vperfctr *self;
	volatile int n, bad;
	volatile unsigned int mask;
	struct perfctr_sum_ctrs sum; /* at the last one */
	unsigned long long tsc;	     /* after something else was done */
} seen;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	struct perfctr_sum_ctrs again;

	(void)signal;
	(void)context;
	if (!vperfctr_is_running(seen.self))
		return;
	seen.bad |= info->si_code != SI_PMC_OVF;
	seen.mask |= info->si_pmc_ovf_mask;
	seen.bad |= vperfctr_read_ctrs(seen.self, &seen.sum) < 0;
	loop(ITERATIONS);
	seen.bad |= vperfctr_read_ctrs(seen.self, &again) < 0;
	/* Only the time stamp goes on. */
	seen.bad |= again.pmc[0] != seen.sum.pmc[0] || again.pmc[1] != seen.sum.pmc[1];
	seen.tsc = again.tsc - seen.sum.tsc;
	seen.n++;
	if (vperfctr_iresume(seen.self) < 0)
		seen.bad = 1;
}

static bool catch_signals(void)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	return EXPECT(sigaction(SIGIO, &action, NULL) == 0);
}

bool counters_that_interrupt_stop_and_go_on(void)
{
	struct vperfctr_control control = interrupting(EVENTS), told;
	struct perfctr_sum_ctrs end;
	bool good;

	if (!machine.n_events)
		return true;
	memset(&seen, 0, sizeof(seen));
	seen.self = vperfctr_open();
	REQUIRE(seen.self && catch_signals());
	REQUIRE(vperfctr_control(seen.self, &control) == 0);
	loop(ITERATIONS);
	good = EXPECT(vperfctr_read_state(seen.self, &end, &told) == 0) &&
	       EXPECT(told.si_signo == SIGIO) && EXPECT(told.cpu_control.nrictrs == 1) &&
	       EXPECT(told.cpu_control.ireset[1] == -EVENTS) && EXPECT(!seen.bad) &&
	       /* Virtual counter 1. */
	       EXPECT(seen.mask == 2) && EXPECT(seen.n >= 19) &&
	       EXPECT(seen.n == (int)(end.pmc[1] / EVENTS)) &&
	       EXPECT(seen.sum.pmc[1] % EVENTS <= MOST_LATE) &&
	       /* Both counters count the same instructions. */
	       EXPECT(seen.sum.pmc[0] == seen.sum.pmc[1]) && EXPECT(seen.tsc > ITERATIONS / 100);
	good = good && EXPECT(vperfctr_stop(seen.self) == 0) &&
	       REFUSED(vperfctr_iresume(seen.self), EPERM);
	end_state(seen.self);
	return good;
}

bool what_interrupts_is_refused_as_in_2_6(void)
{
	struct vperfctr_control control = interrupting(EVENTS), ran = control_of_all();
	struct vperfctr *self;
	bool good;

	if (!machine.n_events)
		return true;
	self = counting(ran);
	REQUIRE(self);
	good = REFUSED(vperfctr_iresume(self), EPERM);
	/* The counter does not count down to anything. */
	control.cpu_control.ireset[1] = 0;
	good = good && REFUSED(vperfctr_control(self, &control), EINVAL);
	control.cpu_control.ireset[1] = 1;
	good = good && REFUSED(vperfctr_control(self, &control), EINVAL);
	/* The event does not interrupt. */
	control = interrupting(EVENTS);
	control.cpu_control.evntsel[1] = ran.cpu_control.evntsel[1];
	good = good && REFUSED(vperfctr_control(self, &control), EINVAL);
	/* A counter that only counts would interrupt. */
	control = interrupting(EVENTS);
	control.cpu_control.nractrs = 2;
	control.cpu_control.nrictrs = 0;
	good = good && REFUSED(vperfctr_control(self, &control), EINVAL);
	end_state(self);
	return good;
}
