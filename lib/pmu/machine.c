// SPDX-License-Identifier: LGPL-2.1-or-later
/* Facts about a machine that events need and the kernel does not give. */
#include "machine.h"

#include <stddef.h>
#include <string.h>

static const struct family *const families[] = {
#define PERFCTR_FAMILY(name) &perfctr_pmu_##name,
#include "families.h"
#undef PERFCTR_FAMILY
};

enum { N_FAMILIES = sizeof(families) / sizeof(families[0]) };

const char *perfctr_family_name(unsigned int i)
{
	return i < N_FAMILIES ? families[i]->name : NULL;
}

const struct family *perfctr_machine_family(const struct perfctr_pmu_info *info)
{
	for (size_t i = 0; i < N_FAMILIES; i++)
		if (families[i]->info.pmu == info->pmu)
			return families[i];
	return NULL;
}

/* The longest prefix decides: the empty prefix of one family always matches. */
const struct family *perfctr_machine_of_libpfm(const char *pmu)
{
	const struct family *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < N_FAMILIES; i++)
		for (const char *const *prefix = families[i]->libpfm; *prefix; prefix++) {
			size_t length = strlen(*prefix);

			if ((!found || length > longest) && strncmp(pmu, *prefix, length) == 0) {
				longest = length;
				found = families[i];
			}
		}
	return found;
}

const struct perfctr_pmu_info *perfctr_family_info(const char *name)
{
	const struct family *processor;

	for (size_t i = 0; i < N_FAMILIES; i++)
		if (strcmp(families[i]->name, name) == 0)
			return &families[i]->info;
	processor = perfctr_machine_of_libpfm(name);
	return processor ? &processor->info : NULL;
}

const struct perfctr_register *perfctr_family_register(const struct perfctr_pmu_info *info,
						       unsigned int which)
{
	const struct family *family = perfctr_machine_family(info);
	const struct perfctr_register *found = NULL;

	if (family && which == PERFCTR_REGISTER_EVNTSEL)
		found = &family->evntsel;
	else if (family && which == PERFCTR_REGISTER_EVNTSEL2)
		found = &family->evntsel2;
	else if (family && which == PERFCTR_REGISTER_FIXED)
		found = &family->fixed;
	return found && found->name ? found : NULL;
}

const char *perfctr_family_route(const struct perfctr_pmu_info *info,
				 const struct perfctr_event_control *event)
{
	const struct routes *routes = perfctr_machine_routes(info);
	uint32_t counter = event->counter & ~PERFCTR_FAST;
	int route = routes && counter < 32 ? perfctr_route_to(routes, event->evntsel, counter) : -1;

	return route < 0 ? NULL : routes->route[route].name;
}

void perfctr_machine_probe(const char *vendor, struct perfctr_pmu_info *info)
{
	for (size_t i = 0; i < N_FAMILIES; i++)
		if (families[i]->probe && families[i]->probe(vendor, info)) {
			info->pmu = families[i]->info.pmu;
			info->evntsel_required = families[i]->info.evntsel_required;
			info->evntsel_user = families[i]->info.evntsel_user;
			info->evntsel_kernel = families[i]->info.evntsel_kernel;
			return;
		}
}

const struct routes *perfctr_machine_routes(const struct perfctr_pmu_info *info)
{
	const struct family *family = perfctr_machine_family(info);

	return family ? family->routes : NULL;
}

bool perfctr_machine_counts_alike(const struct perfctr_pmu_info *info, uint64_t evntsel, uint32_t a,
				  uint32_t b)
{
	const struct routes *routes = perfctr_machine_routes(info);
	int to_a, to_b;

	if (!routes || a == b)
		return true;
	to_a = perfctr_route_to(routes, evntsel, a);
	to_b = perfctr_route_to(routes, evntsel, b);
	return to_a >= 0 && to_b >= 0 && perfctr_routes_are_alike(routes, to_a, to_b);
}

uint64_t perfctr_machine_mode_bits(const struct perfctr_pmu_info *info)
{
	return info->evntsel_user | info->evntsel_kernel;
}

uint64_t perfctr_machine_mode_bits2(const struct perfctr_pmu_info *info)
{
	return info->evntsel2_user | info->evntsel2_kernel;
}

bool perfctr_machine_has_modes(const struct perfctr_pmu_info *info)
{
	return perfctr_machine_mode_bits(info) || perfctr_machine_mode_bits2(info);
}

void perfctr_machine_set_modes(const struct perfctr_pmu_info *info, unsigned int modes,
			       uint64_t *evntsel, uint64_t *evntsel2)
{
	*evntsel &= ~perfctr_machine_mode_bits(info);
	*evntsel2 &= ~perfctr_machine_mode_bits2(info);
	if (modes & PERFCTR_MODE_USER) {
		*evntsel |= info->evntsel_user;
		*evntsel2 |= info->evntsel2_user;
	}
	if (modes & PERFCTR_MODE_KERNEL) {
		*evntsel |= info->evntsel_kernel;
		*evntsel2 |= info->evntsel2_kernel;
	}
}

unsigned int perfctr_machine_modes(const struct perfctr_pmu_info *info, uint64_t evntsel,
				   uint64_t evntsel2)
{
	unsigned int modes = 0;

	if (!perfctr_machine_has_modes(info))
		return PERFCTR_MODE_BOTH;
	if (evntsel & info->evntsel_user || evntsel2 & info->evntsel2_user)
		modes |= PERFCTR_MODE_USER;
	if (evntsel & info->evntsel_kernel || evntsel2 & info->evntsel2_kernel)
		modes |= PERFCTR_MODE_KERNEL;
	return modes;
}

uint64_t perfctr_machine_enable_first(const struct perfctr_pmu_info *info)
{
	const struct family *family = perfctr_machine_family(info);

	return family ? family->enable_first : 0;
}

static uint64_t mask_of(uint32_t n)
{
	return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

uint64_t perfctr_machine_general(const struct perfctr_pmu_info *info)
{
	return mask_of(info->n_general);
}

uint64_t perfctr_machine_fixed(const struct perfctr_pmu_info *info)
{
	return mask_of(info->n_fixed);
}

static uint32_t mask_width(uint64_t mask)
{
	uint32_t n = 0;

	while (mask >> n)
		n++;
	return n;
}

static uint32_t most_counters(const struct perfctr_pmu_info *info, uint32_t n, unsigned int first)
{
	for (uint32_t k = 0; k < info->n_kinds && k < PERFCTR_MAX_KINDS; k++) {
		uint32_t own = mask_width(info->kind[k].counters >> first & UINT32_MAX);

		n = own > n ? own : n;
	}
	return n;
}

uint32_t perfctr_machine_most_general(const struct perfctr_pmu_info *info)
{
	return most_counters(info, info->n_general, 0);
}

uint32_t perfctr_machine_most_fixed(const struct perfctr_pmu_info *info)
{
	return most_counters(info, info->n_fixed, PERFCTR_FIXED_BIT);
}

struct perfctr_pmu_info perfctr_machine_of_kind(const struct perfctr_pmu_info *info,
						unsigned int kind)
{
	struct perfctr_pmu_info own = *info;

	own.n_kinds = 0;
	own.n_general = mask_width(info->kind[kind].counters & UINT32_MAX);
	own.n_fixed = mask_width(info->kind[kind].counters >> PERFCTR_FIXED_BIT);
	own.evntsel_allowed = info->kind[kind].evntsel_allowed;
	return own;
}

bool perfctr_machine_is_common(const struct perfctr_pmu_info *info, uint64_t evntsel)
{
	/* Intel SDM volume 3, "Pre-defined Architectural Performance Events". */
	static const uint64_t architectural[] = { 0x003c, 0x00c0, 0x013c, 0x4f2e,
						  0x412e, 0x00c4, 0x00c5, 0x01a4 };

	if (!info->n_kinds)
		return true;
	for (size_t i = 0; i < sizeof(architectural) / sizeof(architectural[0]); i++)
		if ((evntsel & 0xff000000ffff) == architectural[i])
			return true;
	return false;
}
