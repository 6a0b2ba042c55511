// SPDX-License-Identifier: GPL-2.0-or-later
#include "run.h"

#include <errno.h>
#include <stdlib.h>

bool threads_know(const struct threads *threads, pid_t tid)
{
	for (size_t i = 0; i < threads->n; i++)
		if (threads->thread[i].tid == tid)
			return true;
	return false;
}

void threads_add(struct threads *threads, pid_t tid, struct perfctr *context)
{
	struct thread *thread = reallocarray(threads->thread, threads->n + 1, sizeof(*thread));

	if (!thread)
		fail("out of memory");
	threads->thread = thread;
	thread[threads->n++] = (struct thread){ .tid = tid, .context = context };
}

/*
 * Installs the control in the contexts from index first on.  Returns false after an error message.
 */
bool threads_control(struct threads *threads, size_t first, struct perfctr_control *control,
		     const struct perfctr_pmu_info *info)
{
	for (size_t i = first; i < threads->n; i++) {
		struct perfctr *context = threads->thread[i].context;

		if (perfctr_set_control(context, control) < 0 && errno != ESRCH) {
			complain_of_control(perfctr_backend_name(context), errno, control, info);
			return false;
		}
	}
	return true;
}

/*
 * Returns the number of contexts that were started; threads that have ended are skipped.  Reports
 * the first other error.
 */
size_t threads_start(struct threads *threads)
{
	size_t started = 0;

	for (size_t i = 0; i < threads->n; i++) {
		struct perfctr *context = threads->thread[i].context;

		if (perfctr_start(context) == 0) {
			started++;
		} else if (errno != ESRCH && !threads->refused) {
			complain_of_start(perfctr_backend_name(context), errno);
			threads->refused = true;
		}
	}
	return started;
}

void threads_stop(struct threads *threads)
{
	for (size_t i = 0; i < threads->n; i++)
		perfctr_stop(threads->thread[i].context);
}

void add_counts(struct perfctr_counts *sum, const struct perfctr_counts *counts)
{
	sum->members += counts->members;
	sum->tsc += counts->tsc;
	for (uint32_t i = 0; i < PERFCTR_MAX_KINDS; i++)
		sum->kind_tsc[i] += counts->kind_tsc[i];
	for (uint32_t i = 0; i < counts->n_counters; i++)
		sum->counter[i] += counts->counter[i];
}

/* Sums of several contexts are consistent only if all their threads have exited. */
void threads_read(const struct threads *threads, unsigned int scope, struct perfctr_counts *sum)
{
	uint32_t consistent = PERFCTR_COUNTS_CONSISTENT;
	struct perfctr_counts counts;

	*sum = (struct perfctr_counts){ .scope = scope };
	for (size_t i = 0; i < threads->n; i++) {
		if (perfctr_read_scope(threads->thread[i].context, scope, &counts) < 0)
			fail("cannot read the counters: %m");
		add_counts(sum, &counts);
		consistent &= counts.flags;
		sum->flags |= counts.flags & (PERFCTR_COUNTS_REVOKED | PERFCTR_COUNTS_DISTURBED |
					      PERFCTR_COUNTS_INCOMPLETE);
	}
	if (threads->n == 1 ? consistent : !sum->members)
		sum->flags |= PERFCTR_COUNTS_CONSISTENT;
}

void threads_close(struct threads *threads)
{
	for (size_t i = 0; i < threads->n; i++)
		perfctr_close(threads->thread[i].context);
	free(threads->thread);
	*threads = (struct threads){ 0 };
}
