/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface of perfctr 2.6, on perfctr.h and perfctr_sessions.h.  A state of 2.6 is a context
 * of ours and the counts from before its control: in 2.6 a time stamp continues under a new
 * control, and counters can.
 *
 * 	machine.c	the machine, in the words of 2010
 * 	print.c		the machine and controls, as text
 * 	translate.c	controls and refusals
 * 	state.c		states: their threads, and their counts
 * 	virtual.c	handles of states: vperfctr_*, rvperfctr_*
 * 	raw.c		descriptors without states: _vperfctr_*
 * 	global.c	sessions: gperfctr_*
 */
#ifndef PERFCTR_COMPAT_H
#define PERFCTR_COMPAT_H

#include <perfctr.h>
#include <perfctr_sessions.h>
#include <perfctr_samples.h>
#include <stdbool.h>

/*
 * 2.6 uses these names for other things.  This is the value of ours in perfctr_pmu_info.features.
 */
enum { COMPAT_PMU_RDPMC = PERFCTR_FEATURE_RDPMC };
#undef PERFCTR_ABI_VERSION
#undef PERFCTR_FEATURE_RDPMC
#define LIBPERFCTR_2_6_INSIDE
#include <perfctr-2.6/libperfctr.h>

#define COMPAT_COUNTERS 18

/* machine.c */
unsigned int compat_cpu_type(const struct perfctr_pmu_info *info);
/*
 * Returns the highest number of an online CPU plus 1, or -1.  Sets the bits of online CPUs in mask,
 * as far as its words go.
 */
int compat_online_cpus(unsigned int *mask, unsigned int words);

/* translate.c */
/* Returns the number of counters of the control, with those that interrupt, or -1 with EINVAL. */
int compat_count_counters(const struct perfctr_cpu_control *c);
/* Does the control count nothing?  Such a control stops counting. */
bool compat_is_stop(const struct perfctr_cpu_control *c);
/*
 * signal: the signal of counters that interrupt; 0: none.  EPERM: the control has such counters,
 * but no counter can interrupt here.
 */
int compat_translate(const struct perfctr_cpu_control *from, const struct perfctr_pmu_info *info,
		     int signal, struct perfctr_control *to);
/* *to must be all 0. */
void compat_translate_back(const struct perfctr_control *from, const struct perfctr_pmu_info *info,
			   struct perfctr_cpu_control *to);
/* Returns the errno that 2.6 gives for error, with which control was refused. */
int compat_refusal(int error, const struct perfctr_control *control);

/* state.c */
struct compat_state;
/*
 * Makes the state of thread tid, 0 for the caller.  The caller releases it.  NULL: errno as in 2.6.
 */
struct compat_state *compat_state_make(pid_t tid);
/*
 * Finds the calling thread's state: its own, or one that another program made, which can only be
 * read.
 */
struct compat_state *compat_state_find(void);
void compat_state_release(struct compat_state *s);
pid_t compat_state_tid(const struct compat_state *s);
int compat_state_control(struct compat_state *s, const struct vperfctr_control *c);
/* Returns the installed control, as it is read back. */
const struct vperfctr_control *compat_state_installed(const struct compat_state *s);
bool compat_state_runs(const struct compat_state *s);
/*
 * Lets counters go on that wait after an interrupt.  -1: EPERM; ENOSYS if nothing interrupts here.
 */
int compat_state_resume(struct compat_state *s);
/* Ends counting.  The sums stay.  Fails if they cannot be read; counting has ended even then. */
int compat_state_unlink(struct compat_state *s);
/* Reads all sums, by a system call. */
int compat_state_sum(const struct compat_state *s, struct perfctr_sum_ctrs *sum);
/* Read without a system call.  False: this is not possible, and nothing was written. */
bool compat_state_sum_live(const struct compat_state *s, struct perfctr_sum_ctrs *sum);
bool compat_state_tsc_live(const struct compat_state *s, unsigned long long *tsc);
unsigned long long compat_state_pmc(const struct compat_state *s, unsigned int i);

#endif
