/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfctr: samples of a context and of the tree below it: the place and the counts of a thread
 * each time that an event's period is over.
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
 *	perfctr_samples_read(s, &sampled);
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
	size_t size;		 /* sizeof(*options) in the caller's version */
	unsigned int flags;	 /* PERFCTR_SAMPLES_* */
	unsigned int room_bytes; /* of samples for each CPU, 4096 to 4 MiB; 0: 64 KiB */
	unsigned int depth;	/* with PERFCTR_SAMPLES_CHAIN: of the chain; 0: PERFCTR_MAX_DEPTH */
	unsigned int watermark; /* POLLIN when a CPU has so many samples; 0: half of its room */
	unsigned int jitter;	/* percent of the period by which its ends vary, 0 to 100 */
	uint64_t max_samples;	/* sampling ends with the last one; 0: no end */
	uint64_t seed;		/* of jitter and PERFCTR_CONTROL_PHASE; 0: another each time */
};

/*
 * perfctr_samples_open - let p's next controls sample: each end of a period of an event of p's
 * thread, and of its tree with PERFCTR_CONTROL_INHERIT, leaves a sample.  options: NULL for counts
 * and addresses alone.  p must be the handle that made the context, and have no control yet; it
 * must be closed after the samples.  poll(2) on perfctr_fd(p) reports POLLIN at the watermark, and
 * POLLHUP when max_samples has ended the sampling.  Errors: EPERM (not the handle that made the
 * context), EBUSY (the context has a control or samples already), ENOTSUP (the backend has no
 * samples: PERFCTR_CAN_SAMPLE), EACCES (without CAP_PERFMON: more than 64 KiB for each CPU), EMFILE
 * (more memory than the user may have), EINVAL (also: a size that no version has), E2BIG (a newer
 * program uses options that this library does not know), ENOMEM.  Cost: two system calls, and one
 * more for each CPU.
 */
struct perfctr_samples *perfctr_samples_open(struct perfctr *p,
					     const struct perfctr_samples_options *options);

/* perfctr_samples_close - unmap the rings and free s.  s may be NULL.  errno stays as it was. */
void perfctr_samples_close(struct perfctr_samples *s);

/* One sample, in the place where the kernel has written it: valid until the visit returns. */
struct perfctr_sample_view {
	const struct perfctr_sample *sample;
	const struct perfctr_sample_registers *registers; /* NULL: not asked for */
	const uint64_t *chain;	 /* return addresses, the innermost first; NULL: not asked for */
	unsigned int depth;	 /* number of addresses in chain */
	unsigned int n_counters; /* of sample->counter[], which has no software events */
	unsigned int cpu;	 /* on which the sample was taken */
};

/*
 * perfctr_samples_take - visit the samples of all CPUs, one CPU after the other, the oldest of each
 * CPU first, until visit returns other than 0.  Frees the room of the samples before that one, and
 * returns their number.  Samples of different CPUs are not in the order of their time.  Samples
 * that are written meanwhile are left for the next call.  Error: ENOSPC (max_samples has ended the
 * sampling, and all samples have been visited).  Cost: a system call for each CPU that had samples,
 * and one if none had.
 */
typedef int perfctr_sample_visit(const struct perfctr_sample_view *view, void *argument);
long perfctr_samples_take(struct perfctr_samples *s, perfctr_sample_visit *visit, void *argument);

/*
 * perfctr_samples_read - how many samples there were since the last control, how many were lost,
 * and of how many events.  The exact count of event i is the sum of the weights of all its samples,
 * sampled->lost_weight[i], and each thread's count since its last period.  Cost: a system call.
 */
int perfctr_samples_read(const struct perfctr_samples *s, struct perfctr_sampled *sampled);

/*
 * perfctr_read_periods - how many periods of the context, or of a part of its tree, are over, and
 * how many of these were found without an interrupt.  scope: as for perfctr_read_scope().  Errors:
 * EINVAL (scope), EACCES, ENOTSUP (the backend has no periods).  Cost: a system call.
 */
int perfctr_read_periods(const struct perfctr *p, unsigned int scope,
			 struct perfctr_periods *periods);

/*
 * perfctr_resume - let the calling thread go on counting, after an event with PERFCTR_EVENT_STOP
 * has made it wait at the end of a period.  If the caller is no member of p's tree, all members go
 * on.  A signal handler may call it.  Errors: EALREADY (no thread waits), ESRCH (all have exited),
 * EPERM (p did not make the context), ENOTSUP (the backend has no periods).  Cost: a system call.
 */
int perfctr_resume(struct perfctr *p);

#ifdef __cplusplus
}
#endif
#endif
