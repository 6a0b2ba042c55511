/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfctr 2.6's interface, on perfctr.h and perfctr_groups.h.  A state of 2.6 is a context of ours
 * with what it counted before: there a time stamp goes on, and counters can, under a new control.
 *
 *	machine.c	what the machine is, in the words of 2010
 *	print.c		that and controls, as text
 *	translate.c	controls and refusals
 *	state.c		states: who has them, what they have counted
 *	virtual.c	handles of states: vperfctr_*, rvperfctr_*
 *	raw.c		descriptors without states: _vperfctr_*
 *	global.c	sessions: gperfctr_*
 */
#ifndef PERFCTR_COMPAT_H
#define PERFCTR_COMPAT_H

#include <perfctr.h>
#include <perfctr_groups.h>
#include <perfctr_samples.h>
#include <stdbool.h>

/* The same names mean something else there: ours of perfctr_pmu_info.features is this. */
enum { COMPAT_PMU_RDPMC = PERFCTR_FEATURE_RDPMC };
#undef PERFCTR_ABI_VERSION
#undef PERFCTR_FEATURE_RDPMC
#define LIBPERFCTR_2_6_INSIDE
#include <perfctr-2.6/libperfctr.h>

#define COMPAT_COUNTERS 18

/* machine.c */
unsigned int compat_cpu_type(const struct perfctr_pmu_info *info);
/* CPUs that run now: the largest number of one and 1, or -1; in bits, as far as there are words. */
int compat_online_cpus(unsigned int *mask, unsigned int words);

/* translate.c */
/* Counters of the control, those that interrupt too, or -1 with EINVAL. */
int compat_count_counters(const struct perfctr_cpu_control *c);
/* Nothing to count: that is how counting is stopped. */
bool compat_is_stop(const struct perfctr_cpu_control *c);
/* signal: of what interrupts, 0: none.  EPERM if the control has that and nothing can. */
int compat_translate(const struct perfctr_cpu_control *from, const struct perfctr_pmu_info *info,
		     int signal, struct perfctr_control *to);
/* to is zero. */
void compat_translate_back(const struct perfctr_control *from, const struct perfctr_pmu_info *info,
			   struct perfctr_cpu_control *to);
/* errno, after control was refused with it, as 2.6 has it. */
int compat_refusal(int error, const struct perfctr_control *control);

/* state.c */
struct compat_state;
/* Of thread tid, 0 for the calling one; it is to be released.  NULL: errno as of 2.6. */
struct compat_state *compat_state_make(pid_t tid);
/* The calling thread's: what it has, or what another program made for it, which can be read. */
struct compat_state *compat_state_find(void);
void compat_state_release(struct compat_state *s);
pid_t compat_state_tid(const struct compat_state *s);
int compat_state_control(struct compat_state *s, const struct vperfctr_control *c);
/* What was installed, as it is read back. */
const struct vperfctr_control *compat_state_installed(const struct compat_state *s);
bool compat_state_runs(const struct compat_state *s);
/* What waits for it goes on, or -1 with EPERM, or ENOSYS if nothing interrupts here. */
int compat_state_resume(struct compat_state *s);
/* It counts no more, even if this fails for sums that cannot be read; otherwise they stay. */
int compat_state_unlink(struct compat_state *s);
/* All sums, by a system call. */
int compat_state_sum(const struct compat_state *s, struct perfctr_sum_ctrs *sum);
/* Without one, where that is possible: false, then nothing was written. */
bool compat_state_sum_live(const struct compat_state *s, struct perfctr_sum_ctrs *sum);
bool compat_state_tsc_live(const struct compat_state *s, unsigned long long *tsc);
unsigned long long compat_state_pmc(const struct compat_state *s, unsigned int i);

#endif
