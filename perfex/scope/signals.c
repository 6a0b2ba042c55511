// SPDX-License-Identifier: GPL-2.0-or-later
/* Catches signals, so that perfex first restores the terminal and ends the child. */
#define _GNU_SOURCE
#include "../perfex.h"
#include "scope.h"

#include <signal.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
enum { N_SIGNALS = sizeof(signals) / sizeof(signals[0]) };

static volatile sig_atomic_t caught;
static sigset_t ours;	 /* signals that are caught; nohup(1) makes perfex ignore others */
static sigset_t waiting; /* signals that are blocked while signals_poll() waits */

static void keep_signal(int signal)
{
	caught = signal;
}

void signals_catch(void)
{
	struct sigaction action = { .sa_handler = keep_signal };

	sigemptyset(&ours);
	for (int i = 0; i < N_SIGNALS; i++) {
		if (signal_is_ignored(signals[i]))
			continue;
		sigaction(signals[i], &action, NULL);
		sigaddset(&ours, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &ours, &waiting);
}

void signals_forget(void)
{
	for (int i = 0; i < N_SIGNALS; i++)
		if (sigismember(&ours, signals[i]))
			signal(signals[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, &waiting, NULL);
}

int signals_poll(struct pollfd *polled, nfds_t n, int timeout_ms)
{
	const struct timespec timeout = { .tv_sec = timeout_ms / 1000,
					  .tv_nsec = timeout_ms % 1000 * 1000000L };

	return ppoll(polled, n, timeout_ms < 0 ? NULL : &timeout, &waiting);
}

int signals_caught(void)
{
	return caught;
}

void signals_die(void)
{
	if (!caught)
		return;
	signals_forget();
	raise(caught);
}
