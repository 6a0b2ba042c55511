// SPDX-License-Identifier: LGPL-2.1-or-later
/* The table of backends, and the choice of one. */
#define _GNU_SOURCE
#include "backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * In the order of the automatic choice.  The last one is taken without asking whether it is there.
 */
static const struct perfctr_backend *const backends[] = {
	&perfctr_patch_backend,
	&perfctr_bpf_backend,
	&perfctr_perf_backend,
};

enum { N_BACKENDS = sizeof(backends) / sizeof(backends[0]) };

const char *perfctr_shown_name(const struct perfctr_backend *backend)
{
	return backend->alias && backend->goes_by_alias() ? backend->alias : backend->name;
}

static const struct perfctr_backend *find_backend(const char *name)
{
	for (size_t i = 0; i < N_BACKENDS; i++)
		if (strcmp(backends[i]->name, name) == 0 ||
		    (backends[i]->alias && strcmp(backends[i]->alias, name) == 0))
			return backends[i];
	errno = EINVAL;
	return NULL;
}

static const char *wanted_name(const char *name)
{
	const char *wanted = name ? name : secure_getenv("PERFCTR_BACKEND");

	return wanted && *wanted ? wanted : NULL;
}

/*
 * Fills in *info, and *pmu as pmu_info() does.  If the backend cannot be used, info->capabilities
 * and info->n_counters are 0.
 */
static int describe_backend(const struct perfctr_backend *backend,
			    struct perfctr_backend_info *info, struct perfctr_pmu_info *pmu)
{
	memset(info, 0, sizeof(*info));
	info->available = backend->probe(info, pmu) == 0;
	snprintf(info->name, sizeof(info->name), "%s", perfctr_shown_name(backend));
	return info->available ? 0 : -1;
}

const struct perfctr_backend *perfctr_first(const char *name)
{
	int error = errno;
	const struct perfctr_backend *backend;
	size_t i = 0;

	name = wanted_name(name);
	if (name)
		return find_backend(name);
	do
		backend = backends[i++];
	while (i < N_BACKENDS && !backend->is_there());
	errno = error;
	return backend;
}

static bool has_all(const struct perfctr_backend *backend, uint32_t capabilities,
		    struct perfctr_pmu_info *pmu)
{
	struct perfctr_backend_info info;

	return (!backend->is_there || backend->is_there()) &&
	       describe_backend(backend, &info, pmu) == 0 &&
	       (info.capabilities & capabilities) == capabilities;
}

/*
 * A backend that counts the processor's events counts all others too.  Therefore perf_events is
 * better than BPF programs that were loaded without the processor's events.
 */
const struct perfctr_backend *perfctr_choose(const char *name)
{
	const struct perfctr_backend *first = perfctr_first(name);
	struct perfctr_pmu_info pmu;
	int error = errno;

	/*
	 * If the kernel patch is there but refuses, the caller is told so: no other backend
	 * replaces it.
	 */
	if (!first || wanted_name(name) || first == backends[0] ||
	    has_all(first, PERFCTR_CAN_HARDWARE, &pmu))
		return first;
	for (size_t i = 0; i < N_BACKENDS; i++)
		if (has_all(backends[i], PERFCTR_CAN_HARDWARE, &pmu)) {
			first = backends[i];
			break;
		}
	errno = error;
	return first;
}

const struct perfctr_backend *perfctr_choose_of(const char *name, uint32_t capabilities,
						bool (*fits)(const struct perfctr_backend *backend,
							     const struct perfctr_pmu_info *info,
							     void *arg),
						void *arg)
{
	struct perfctr_pmu_info pmu;
	int error = errno;

	for (size_t i = 0; !wanted_name(name) && i < N_BACKENDS; i++)
		if (has_all(backends[i], capabilities, &pmu) && fits(backends[i], &pmu, arg)) {
			errno = error;
			return backends[i];
		}
	errno = error;
	return perfctr_choose(name);
}

int perfctr_backend(const char *name, struct perfctr_backend_info *info)
{
	const struct perfctr_backend *backend = perfctr_choose(name);
	struct perfctr_pmu_info pmu;

	return backend ? describe_backend(backend, info, &pmu) : -1;
}

int perfctr_backends(struct perfctr_backend_info *list, unsigned int room)
{
	struct perfctr_pmu_info pmu;
	int error = errno;

	for (unsigned int i = 0; i < room && i < N_BACKENDS; i++)
		describe_backend(backends[i], &list[i], &pmu);
	errno = error;
	return N_BACKENDS;
}

static void list_names(const char *wrong, char *text, size_t size)
{
	size_t length;

	snprintf(text, size, "there is no backend '%.40s'; there are:", wrong);
	for (size_t i = 0; i < N_BACKENDS; i++) {
		length = strlen(text);
		snprintf(text + length, size - length, "%s %s", i ? "," : "",
			 perfctr_shown_name(backends[i]));
	}
}

void perfctr_open_error_with(const char *name, int error, char *text, size_t size)
{
	const struct perfctr_backend *backend = perfctr_choose(name);

	if (backend)
		backend->open_error(error, text, size);
	else
		list_names(wanted_name(name), text, size);
}

void perfctr_open_error(int error, char *text, size_t size)
{
	perfctr_open_error_with(NULL, error, text, size);
}

void perfctr_loaded_events(char *text, size_t size)
{
	for (size_t i = 0; i < N_BACKENDS; i++)
		if (backends[i]->loaded_events)
			backends[i]->loaded_events(text, size);
}

int perfctr_get_pmu_info_with(const char *name, struct perfctr_pmu_info *info)
{
	const struct perfctr_backend *backend = perfctr_choose(name);

	return backend ? backend->pmu_info(info) : -1;
}

int perfctr_get_pmu_info(struct perfctr_pmu_info *info)
{
	return perfctr_get_pmu_info_with(NULL, info);
}
