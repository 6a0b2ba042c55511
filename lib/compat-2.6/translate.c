// SPDX-License-Identifier: LGPL-2.1-or-later
/* perfctr 2.6: translates its controls to ours, and our refusals to its. */
#include "compat.h"

#include <errno.h>

#define EVNTSEL_INT (1u << 20)
/*
 * Modes and enable.  Bits for pins, interrupts and other threads are kept, so that they are
 * refused.
 */
#define EVNTSEL_OF_FIXED (3u << 16 | 0xfu << 19)

/* Pentium 4: FORCE_OVF, OVF_PMI_T0 and CASCADE are for counters that interrupt. */
#define CCCR_OVF_PMI_T0 (1u << 26)
#define CCCR_INT (1u << 25 | CCCR_OVF_PMI_T0 | 1u << 30)
#define ESCR_OTHER_THREAD 3u

int compat_count_counters(const struct perfctr_cpu_control *c)
{
	if (c->nractrs > COMPAT_COUNTERS || c->nrictrs > COMPAT_COUNTERS - c->nractrs) {
		errno = EINVAL;
		return -1;
	}
	return (int)(c->nractrs + c->nrictrs);
}

bool compat_is_stop(const struct perfctr_cpu_control *c)
{
	return !c->tsc_on && !c->nractrs && !c->nrictrs;
}

/* 2.6 ignored values for registers that the machine does not have, but not those for Nehalem's. */
static int translate_rest(const struct perfctr_cpu_control *from,
			  const struct perfctr_pmu_info *info, struct perfctr_control *to)
{
	if (info->pmu == PERFCTR_PMU_P4) {
		to->p4_pebs_enable = from->p4.pebs_enable;
		to->p4_pebs_matrix_vert = from->p4.pebs_matrix_vert;
	}
	if (info->pmu == PERFCTR_PMU_ARCH && compat_cpu_type(info) == PERFCTR_X86_INTEL_WSTMR &&
	    (from->nhlm.offcore_rsp[0] || from->nhlm.offcore_rsp[1])) {
		errno = EPERM;
		return -1;
	}
	return 0;
}

/* Does the event ask for interrupts, or for events of another logical processor? */
static bool asks_for_more(const struct perfctr_pmu_info *info, unsigned int evntsel,
			  unsigned int escr)
{
	switch (info->pmu) {
	case PERFCTR_PMU_ARCH:
	case PERFCTR_PMU_P6:
	case PERFCTR_PMU_K7:
	case PERFCTR_PMU_K8:
	case PERFCTR_PMU_AMD:
		return evntsel & EVNTSEL_INT;
	case PERFCTR_PMU_P4:
		return evntsel & CCCR_INT || escr & ESCR_OTHER_THREAD;
	default:
		return false;
	}
}

/* Returns the bit that lets a counter interrupt.  Our driver sets this bit itself. */
static unsigned int interrupt_bit(const struct perfctr_pmu_info *info)
{
	return info->pmu == PERFCTR_PMU_P4 ? CCCR_OVF_PMI_T0 : EVNTSEL_INT;
}

/* A counter that interrupts counts from ireset, which is less than 0, up to 0. */
static int translate_period(const struct perfctr_cpu_control *from, unsigned int i,
			    struct perfctr_event_control *to, int signal)
{
	if (from->ireset[i] >= 0) {
		errno = EINVAL;
		return -1;
	}
	to->period = -(int64_t)from->ireset[i];
	to->signal = (uint32_t)signal;
	to->flags = PERFCTR_EVENT_STOP;
	return 0;
}

static int translate_event(const struct perfctr_cpu_control *from, unsigned int i,
			   const struct perfctr_pmu_info *info, struct perfctr_control *to)
{
	bool interrupts = i >= from->nractrs;
	unsigned int bit = interrupts ? interrupt_bit(info) : 0;
	uint64_t evntsel = from->evntsel[i] & ~bit, evntsel2 = 0;

	if ((from->evntsel[i] & bit) != bit ||
	    asks_for_more(info, (unsigned int)evntsel, from->p4.escr[i])) {
		errno = EINVAL;
		return -1;
	}
	if (info->pmu == PERFCTR_PMU_P4)
		evntsel2 = from->p4.escr[i];
	else if (info->pmu == PERFCTR_PMU_AMD)
		evntsel |= (uint64_t)from->evntsel_high[i] << 32;
	else if (info->pmu == PERFCTR_PMU_ARCH && from->pmc_map[i] & PERFCTR_FIXED)
		evntsel &= EVNTSEL_OF_FIXED;
	perfctr_control_add(to, from->pmc_map[i], evntsel, evntsel2);
	return 0;
}

int compat_translate(const struct perfctr_cpu_control *from, const struct perfctr_pmu_info *info,
		     int signal, struct perfctr_control *to)
{
	int n = compat_count_counters(from);

	perfctr_control_init(to);
	if (n > 0 && from->nrictrs && !(info->features & PERFCTR_FEATURE_SIGNAL)) {
		errno = EPERM;
		return -1;
	}
	for (unsigned int i = 0; (int)i < n; i++)
		if (translate_event(from, i, info, to) < 0 ||
		    (i >= from->nractrs &&
		     translate_period(from, i, &to->event[to->n_events - 1], signal) < 0))
			return -1;
	return n < 0 ? -1 : translate_rest(from, info, to);
}

/* Do all counters that interrupt come after the others, as in 2.6? */
static bool interrupts_last(const struct perfctr_control *c)
{
	for (uint32_t i = 1; i < c->n_events; i++)
		if (c->event[i - 1].period && !c->event[i].period)
			return false;
	return true;
}

void compat_translate_back(const struct perfctr_control *from, const struct perfctr_pmu_info *info,
			   struct perfctr_cpu_control *to)
{
	bool ordered = interrupts_last(from);

	to->tsc_on = 1;
	for (uint32_t i = 0; i < from->n_events && i < COMPAT_COUNTERS; i++) {
		const struct perfctr_event_control *e = &from->event[i];

		to->pmc_map[i] = e->counter;
		to->evntsel[i] = (uint32_t)e->evntsel;
		if (ordered && e->period && e->period <= INT32_MAX) {
			to->nrictrs++;
			to->ireset[i] = -(int)e->period;
			to->evntsel[i] |= interrupt_bit(info);
		} else {
			to->nractrs++;
		}
		if (info->pmu == PERFCTR_PMU_P4)
			to->p4.escr[i] = (uint32_t)e->evntsel2;
		else if (info->pmu == PERFCTR_PMU_AMD)
			to->evntsel_high[i] = e->evntsel >> 32;
	}
	if (info->pmu == PERFCTR_PMU_P4) {
		to->p4.pebs_enable = (uint32_t)from->p4_pebs_enable;
		to->p4.pebs_matrix_vert = (uint32_t)from->p4_pebs_matrix_vert;
	}
}

int compat_refusal(int error, const struct perfctr_control *control)
{
	switch (error) {
	case EINVAL:
		return control->bad_reason == PERFCTR_BAD_EVNTSEL ||
				       control->bad_reason == PERFCTR_BAD_EVNTSEL2 ||
				       control->bad_reason == PERFCTR_BAD_PEBS
			       ? EPERM
			       : EINVAL;
	case EACCES:
		return EPERM;
	case ENODEV:
	case ENOSPC:
	case ENOTSUP:
		return EINVAL;
	default:
		return error;
	}
}
