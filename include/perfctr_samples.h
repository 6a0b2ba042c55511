/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfctr: samples of a context and of the tree below it: where, and after how many events, the
 * threads were when an event's period was over.
 *
 * As in perfctr.h, functions return 0 or more, or -1 with errno set; functions that return a
 * pointer return NULL with errno set on failure.
 *
 *	p = perfctr_open_tid(pid, PERFCTR_OPEN_CREATE);
 *	s = perfctr_samples_open(p, &options);
 *	control.event[0].period = 100003;
 *	control.flags = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_PHASE;
 *	perfctr_set_control(p, &control);
 *	while (running and poll(perfctr_fd(p)))
 *		perfctr_samples_take(s, visit, argument);
 *	perfctr_samples_totals(s, &totals);
 *	perfctr_samples_close(s);
 *	perfctr_close(p);
 */
#ifndef PERFCTR_SAMPLES_H
#define PERFCTR_SAMPLES_H

#include <perfctr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The samples of one context. */
struct perfctr_samples;

struct perfctr_samples_options {
	size_t size;		 /* sizeof(*options), as the caller has it */
	unsigned int flags;	 /* PERFCTR_SAMPLES_* */
	unsigned int room_bytes; /* of samples for each CPU, 4096 to 4 MiB; 0: 64 KiB */
	unsigned int depth;	/* with PERFCTR_SAMPLES_CHAIN: of the chain; 0: PERFCTR_MAX_DEPTH */
	unsigned int watermark; /* POLLIN when a CPU has so many samples; 0: half of its room */
	unsigned int jitter;	/* percent of the period by which its ends vary, 0 to 100 */
	uint64_t max_samples;	/* with the last one sampling ends; 0: no end */
	uint64_t seed;		/* of jitter and PERFCTR_CONTROL_PHASE; 0: another each time */
};

/*
 * perfctr_samples_open - let p's next controls sample: each end of a period of an event of p's
 * thread, and of its tree with PERFCTR_CONTROL_INHERIT, leaves a sample.  options: NULL for counts
 * and addresses alone.  p must be the handle that made the context, and have no control yet; it
 * must be closed after s.  poll(2) on perfctr_fd(p) reports POLLIN at the watermark, POLLHUP when
 * max_samples has ended it.  Errors: EPERM (not the handle that made the context), EBUSY (it has a
 * control or samples already), ENOTSUP (the backend has no samples: PERFCTR_CAN_SAMPLE), EACCES
 * (without CAP_PERFMON: more than 64 KiB for each CPU), EMFILE (more memory than the user may
 * have), EINVAL (a size that no version has, too), E2BIG (a newer program asks for what this
 * library does not know), ENOMEM.  Cost: two system calls, and one more for each CPU.
 */
struct perfctr_samples *perfctr_samples_open(struct perfctr *p,
					     const struct perfctr_samples_options *options);

/* perfctr_samples_close - unmap what s has.  s may be NULL.  errno stays as it was. */
void perfctr_samples_close(struct perfctr_samples *s);

/* One sample, where the kernel has written it: valid until the visit returns. */
struct perfctr_sample_view {
	const struct perfctr_sample *sample;
	const struct perfctr_sample_registers *registers; /* NULL: not asked for */
	const uint64_t *chain;	 /* return addresses, the innermost first; NULL: not asked for */
	unsigned int depth;	 /* of them */
	unsigned int n_counters; /* of sample->counter[]; software events are in none of them */
	unsigned int cpu;	 /* that it was taken on */
};

/*
 * perfctr_samples_take - visit the samples of all CPUs, one CPU after the other, each one's oldest
 * first, until visit returns other than 0, and free the room of those before.  Returns how many
 * they were.  Samples of different CPUs are not in the order of their time; those that come
 * meanwhile are left for the next call.  Error: ENOSPC (max_samples has ended it, and all that were
 * there have been visited).  Cost: a system call for each CPU that had samples, and one if none
 * had.
 */
typedef int perfctr_sample_visit(const struct perfctr_sample_view *view, void *argument);
long perfctr_samples_take(struct perfctr_samples *s, perfctr_sample_visit *visit, void *argument);

/*
 * perfctr_samples_totals - how many samples there were since the last control, how many were lost,
 * and of how many events.  The weights of all samples of event i, totals->lost_weight[i], and what
 * each thread has counted since its last period are together the exact count.  Cost: a system
 * call.
 */
int perfctr_samples_totals(const struct perfctr_samples *s, struct perfctr_sampled *totals);

/*
 * perfctr_read_periods - how many periods are over, of the context or a part of its tree, and how
 * many of them no interrupt has told.  scope: as for perfctr_read_scope().  Errors: EINVAL (scope),
 * EACCES, ENOTSUP (the backend has no periods).  Cost: a system call.
 */
int perfctr_read_periods(const struct perfctr *p, unsigned int scope,
			 struct perfctr_periods *periods);

/*
 * perfctr_resume - the calling thread goes on counting, which an event with PERFCTR_EVENT_STOP has
 * stopped at the end of a period; of a tree that it is no member of, all members do.  It may be
 * called by a signal's handler.  Errors: EALREADY (nothing waits), ESRCH (all have exited), EPERM
 * (p did not make the context), ENOTSUP (the backend has no periods).  Cost: a system call.
 */
int perfctr_resume(struct perfctr *p);

#ifdef __cplusplus
}
#endif
#endif
