// SPDX-License-Identifier: GPL-2.0-or-later
#include "selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void take_selected_modes(void *target, const struct option_rule *rule, const char *unused)
{
	struct selection *selection = target;

	exclude_others(&selection->modes_name, rule);
	selection->modes = (unsigned int)rule->value;
}

void take_selected_event(void *target, const struct option_rule *rule, const char *spec)
{
	struct selection *selection = target;

	append_text(&selection->event, &selection->n_events, spec);
}

/* An event select register: event, unit mask, USR, OS, edge, EN, INV and CMASK. */
#define EVNTSEL_ALLOWED 0xffc7ffff
#define EVNTSEL_EN (UINT64_C(1) << 22)
#define EVNTSEL_USR (UINT64_C(1) << 16)
#define EVNTSEL_OS (UINT64_C(1) << 17)
#define EVNTSEL(counters, bits, more, required)                                                    \
	.n_general = (counters), .general_bits = (bits),                                           \
	.evntsel_allowed = EVNTSEL_ALLOWED | (more), .evntsel_required = (required),               \
	.evntsel_user = EVNTSEL_USR, .evntsel_kernel = EVNTSEL_OS
#define CESR(allowed)                                                                              \
	.n_general = 2, .general_bits = 40, .evntsel_allowed = (allowed), .evntsel_user = 0x80,    \
	.evntsel_kernel = 0x40
#define WITHOUT_MODES(bits, allowed)                                                               \
	.n_general = 2, .general_bits = (bits), .evntsel_allowed = (allowed)

/* PMUs that need no machine; of libpfm4's processors the first prefix that fits says which. */
static const struct {
	const char *name, *prefix;
	struct perfctr_pmu_info info;
} pmus[] = {
	{ "p5", NULL, { .pmu = PERFCTR_PMU_P5, CESR(0x1ff) } },
	{ "p5_mmx", NULL, { .pmu = PERFCTR_PMU_P5_MMX, CESR(0x1ff) } },
	{ "p6", NULL, { .pmu = PERFCTR_PMU_P6, EVNTSEL(2, 40, 0, 0) } },
	{ "p4",
	  "netburst",
	  { .pmu = PERFCTR_PMU_P4,
	    .n_general = 18,
	    .general_bits = 40,
	    .evntsel_allowed = 0x01fff000,
	    .evntsel_required = 0x1000,
	    .evntsel2_allowed = 0x7ffffffc,
	    .evntsel2_user = 4,
	    .evntsel2_kernel = 8,
	    .p4_pebs_enable_allowed = 0x01000607,
	    .p4_pebs_matrix_vert_allowed = 3 } },
	{ "k7", "amd64_k7", { .pmu = PERFCTR_PMU_K7, EVNTSEL(4, 48, 0, EVNTSEL_EN) } },
	{ "k8", "amd64_k8", { .pmu = PERFCTR_PMU_K8, EVNTSEL(4, 48, 0, EVNTSEL_EN) } },
	{ "amd",
	  "amd64_",
	  { .pmu = PERFCTR_PMU_AMD, EVNTSEL(6, 48, UINT64_C(0xf) << 32, EVNTSEL_EN) } },
	{ "mii", NULL, { .pmu = PERFCTR_PMU_MII, CESR(0x5ff) } },
	{ "winchip_c6", NULL, { .pmu = PERFCTR_PMU_WINCHIP_C6, WITHOUT_MODES(40, 0xff) } },
	{ "winchip_2", NULL, { .pmu = PERFCTR_PMU_WINCHIP_2, WITHOUT_MODES(40, 0xff) } },
	{ "via_c3", NULL, { .pmu = PERFCTR_PMU_VIA_C3, WITHOUT_MODES(32, 0x1ff) } },
	{ "arch",
	  "",
	  { .pmu = PERFCTR_PMU_ARCH,
	    .n_fixed = 3,
	    .fixed_bits = 48,
	    .fixed_allowed = EVNTSEL_USR | EVNTSEL_OS | EVNTSEL_EN,
	    EVNTSEL(4, 48, 0, EVNTSEL_EN) } },
};

static bool open_database(struct selection *selection, const struct perfctr_pmu_info *info)
{
	selection->database = perfctr_events_open(info);
	if (!selection->database)
		fail("out of memory");
	return true;
}

/* Does libpfm4 have it, now that it was told to take it for this machine's? */
static bool is_processor(const struct selection *selection)
{
	struct perfctr_request request;
	char spec[PERFCTR_REQUEST_NAME], error[512];

	snprintf(spec, sizeof(spec), "%s::cycles", selection->pmu);
	return perfctr_events_parse(selection->database, spec, PERFCTR_MODE_USER, &request, error,
				    sizeof(error)) == 0;
}

static bool open_this_machine(struct selection *selection)
{
	struct perfctr_pmu_info info;

	if (perfctr_get_pmu_info(&info) == 0)
		return open_database(selection, &info);
	complain_of_open(errno);
	return false;
}

bool open_selected_pmu(struct selection *selection)
{
	const char *name = selection->pmu;
	size_t n = sizeof(pmus) / sizeof(pmus[0]);

	if (!name)
		return open_this_machine(selection);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(pmus[i].name, name) == 0) {
			/* No processor, so that libpfm4 does not take this machine's. */
			setenv("LIBPFM_FORCE_PMU", "perf", 1);
			return open_database(selection, &pmus[i].info);
		}
	}
	setenv("LIBPFM_FORCE_PMU", name, 1);
	for (size_t i = 0; i < n; i++) {
		if (!pmus[i].prefix || strncmp(name, pmus[i].prefix, strlen(pmus[i].prefix)))
			continue;
		open_database(selection, &pmus[i].info);
		if (is_processor(selection))
			return true;
		break;
	}
	complain("there is no PMU '%s'; see perfex list --help", name);
	return false;
}

struct perfctr_request *selected_events(const struct selection *selection)
{
	struct perfctr_request *requests;
	char error[512];

	requests = calloc(selection->n_events + 1, sizeof(*requests));
	if (!requests)
		fail("out of memory");
	for (size_t i = 0; i < selection->n_events; i++) {
		const char *spec = selection->event[i];

		if (perfctr_events_parse(selection->database, spec, selection->modes, &requests[i],
					 error, sizeof(error)) == 0)
			continue;
		complain("event '%s': %s", spec, error);
		free(requests);
		return NULL;
	}
	return requests;
}

void free_selection(struct selection *selection)
{
	perfctr_events_close(selection->database);
	free(selection->event);
}
