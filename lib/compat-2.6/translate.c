// SPDX-License-Identifier: LGPL-2.1-or-later
/* perfctr 2.6: its controls as ours, and our refusals as its. */
#include "compat.h"

#include <errno.h>

#define EVNTSEL_INT (1u << 20)
/* Modes and enable; pins, interrupts and other threads, that they are refused. */
#define EVNTSEL_OF_FIXED (3u << 16 | 0xfu << 19)

/* Pentium 4: FORCE_OVF, OVF_PMI_T0 and CASCADE are for counters that interrupt. */
#define CCCR_INT (1u << 25 | 1u << 26 | 1u << 30)
#define ESCR_OTHER_THREAD 3u

int compat_count_counters(const struct perfctr_cpu_control *c)
{
	if (c->nractrs > COMPAT_COUNTERS || c->nrictrs > COMPAT_COUNTERS - c->nractrs) {
		errno = EINVAL;
		return -1;
	}
	if (c->nrictrs) {
		errno = EPERM;
		return -1;
	}
	return (int)c->nractrs;
}

bool compat_is_stop(const struct perfctr_cpu_control *c)
{
	return !c->tsc_on && !c->nractrs && !c->nrictrs;
}

/* What a machine has no register for was forced to 0, but for Nehalem's. */
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

/* What a counter that only counts, of a thread that is alone on its core, does not have. */
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

static int translate_event(const struct perfctr_cpu_control *from, unsigned int i,
			   const struct perfctr_pmu_info *info, struct perfctr_control *to)
{
	uint64_t evntsel = from->evntsel[i], evntsel2 = 0;

	if (asks_for_more(info, from->evntsel[i], from->p4.escr[i])) {
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
		     struct perfctr_control *to)
{
	int n = compat_count_counters(from);

	perfctr_control_init(to);
	for (int i = 0; i < n; i++)
		if (translate_event(from, (unsigned int)i, info, to) < 0)
			return -1;
	return n < 0 ? -1 : translate_rest(from, info, to);
}

void compat_translate_back(const struct perfctr_control *from, const struct perfctr_pmu_info *info,
			   struct perfctr_cpu_control *to)
{
	to->tsc_on = 1;
	for (uint32_t i = 0; i < from->n_events && i < COMPAT_COUNTERS; i++) {
		const struct perfctr_event_control *e = &from->event[i];

		to->nractrs++;
		to->pmc_map[i] = e->counter;
		to->evntsel[i] = (uint32_t)e->evntsel;
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
