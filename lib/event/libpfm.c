// SPDX-License-Identifier: LGPL-2.1-or-later
#define _GNU_SOURCE
#include "libpfm.h"

#include <errno.h>
#include <perfmon/pfmlib.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_PRESENT 16

/*
 * libpfm4's PMUs of this machine's cores.  perfctr cannot count events of its other PMUs, which
 * belong to perf_events or to an uncore.
 */
static pfm_pmu_info_t present[MAX_PRESENT];
static unsigned int n_present;

/* LIBPFM_FORCE_PMU was set when libpfm4 was initialized. */
static bool was_forced;

static bool is_forced(void)
{
	return getenv("LIBPFM_FORCE_PMU");
}

static void find_present(void)
{
	int pmu;

	was_forced = is_forced();
	if (pfm_initialize() != PFM_SUCCESS)
		return;
	pfm_for_all_pmus(pmu) {
		pfm_pmu_info_t *next = &present[n_present];

		if (n_present == MAX_PRESENT)
			return;
		*next = (pfm_pmu_info_t){ .size = sizeof(*next) };
		if (pfm_get_pmu_info((pfm_pmu_t)pmu, next) == PFM_SUCCESS && next->is_present &&
		    next->type == PFM_PMU_TYPE_CORE)
			n_present++;
	}
}

/*
 * libpfm4 keeps what it has detected in global state, which is the same for all its users.  This is
 * not done under a mutex: after a fork in another thread, the mutex would stay locked in the child.
 * With pthread_once() the child begins again.
 */
static void make_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_present);
}

/*
 * With LIBPFM_FORCE_PMU, libpfm4 reads its list of PMUs only as far as the first name that begins
 * so, and does not know the others.  It reads the list again if the variable is no longer set.
 */
static void find_all(void)
{
	make_ready();
	if (!was_forced || is_forced())
		return;
	pfm_terminate();
	pfm_initialize();
}

const char *perfctr_processor_name(unsigned int i, const char **description)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int pmu;

	pthread_once(&once, find_all);
	pfm_for_all_pmus(pmu) {
		pfm_pmu_info_t processor = { .size = sizeof(processor) };

		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &processor) != PFM_SUCCESS ||
		    processor.type != PFM_PMU_TYPE_CORE || i-- > 0)
			continue;
		if (description)
			*description = processor.desc;
		return processor.name;
	}
	return NULL;
}

/* Returns number i of the PMUs of info's family; NULL: there are fewer. */
static const pfm_pmu_info_t *find_pmu(const struct perfctr_pmu_info *info, unsigned int i)
{
	const struct family *family = perfctr_machine_family(info);

	make_ready();
	for (unsigned int k = 0; k < n_present; k++)
		if (perfctr_machine_of_libpfm(present[k].name) == family && i-- == 0)
			return &present[k];
	return NULL;
}

const char *perfctr_libpfm_pmu(const struct perfctr_pmu_info *info, unsigned int i)
{
	const pfm_pmu_info_t *pmu = find_pmu(info, i);

	return pmu ? pmu->name : NULL;
}

/*
 * Returns the event whose name text begins with.  The event has no attributes if there is no such
 * event.
 */
static pfm_event_info_t find_event(const pfm_pmu_info_t *pmu, const char *text)
{
	size_t length = strcspn(text, ":");
	pfm_event_info_t event;

	for (int e = pmu->first_event; e >= 0; e = pfm_get_event_next(e)) {
		event = (pfm_event_info_t){ .size = sizeof(event) };
		if (pfm_get_event_info(e, PFM_OS_NONE, &event) == PFM_SUCCESS &&
		    strlen(event.name) == length && strncasecmp(event.name, text, length) == 0)
			return event;
	}
	return (pfm_event_info_t){ 0 };
}

static bool get_attribute(const pfm_event_info_t *event, int number,
			  pfm_event_attr_info_t *attribute)
{
	*attribute = (pfm_event_attr_info_t){ .size = sizeof(*attribute) };
	return pfm_get_event_attr_info(event->idx, number, PFM_OS_NONE, attribute) == PFM_SUCCESS;
}

/* Appends the names of the unit masks, or of the modifiers: "A, B" or "none". */
static void add_attributes(const pfm_event_info_t *event, bool umasks, const struct line *line)
{
	pfm_event_attr_info_t attribute;
	const char *comma = "";

	for (int a = 0; a < event->nattrs; a++) {
		if (!get_attribute(event, a, &attribute) ||
		    (attribute.type == PFM_ATTR_UMASK) != umasks)
			continue;
		perfctr_line_add(line, "%s%s", comma, attribute.name);
		comma = ", ";
	}
	if (!*comma)
		perfctr_line_add(line, "none");
}

/*
 * Is word, "name" or "name=value", a unit mask or a modifier?  Sets *is_umask if it is a unit mask.
 */
static bool has_attribute(const pfm_event_info_t *event, const char *word, size_t length,
			  bool *is_umask)
{
	pfm_event_attr_info_t attribute;
	size_t named = strcspn(word, "=:");

	for (int a = 0; a < event->nattrs; a++)
		if (get_attribute(event, a, &attribute) &&
		    strlen(attribute.name) == (named < length ? named : length) &&
		    strncasecmp(attribute.name, word, named) == 0) {
			*is_umask |= attribute.type == PFM_ATTR_UMASK;
			return true;
		}
	return false;
}

/* Finds out which attribute is wrong.  libpfm4 says only that one of them is. */
static void refuse_attributes(const pfm_event_info_t *event, const char *text,
			      const struct line *line)
{
	bool is_umask = false;

	for (const char *word = text + strcspn(text, ":"); *word; word += strcspn(word, ":")) {
		size_t length = strcspn(++word, ":");

		/* A unit mask may be a number. */
		if (*word >= '0' && *word <= '9' && !has_attribute(event, word, length, &is_umask))
			is_umask = true;
		else if (!has_attribute(event, word, length, &is_umask)) {
			perfctr_line_refuse(line, EINVAL, "no unit mask or modifier '%.*s'",
					    (int)length, word);
			return;
		}
	}
	perfctr_line_refuse(line, EINVAL,
			    is_umask ? "a modifier lacks another, as e lacks c"
				     : "a unit mask is missing");
}

static int libpfm_refuse(const pfm_pmu_info_t *pmu, const char *text, int error,
			 const struct line *line)
{
	pfm_event_info_t event;

	if (error == PFM_ERR_NOTFOUND) {
		errno = ENOENT;
		return -1;
	}
	event = find_event(pmu, text);
	if (error == PFM_ERR_ATTR)
		refuse_attributes(&event, text, line);
	else
		perfctr_line_refuse(line, EINVAL, "%s",
				    error == PFM_ERR_UMASK
					    ? "a unit mask is missing, or they do not combine"
					    : pfm_strerror(error));
	perfctr_line_add(line, "; its unit masks: ");
	add_attributes(&event, true, line);
	perfctr_line_add(line, "; its modifiers: ");
	add_attributes(&event, false, line);
	return -1;
}

static void take_codes(const struct perfctr_pmu_info *info, const uint64_t codes[],
		       uint64_t *evntsel, uint64_t *evntsel2)
{
	const struct family *family = perfctr_machine_family(info);

	*evntsel = codes[family->libpfm_swapped] & ~family->libpfm_ignored;
	*evntsel2 = codes[!family->libpfm_swapped] & ~family->libpfm_ignored2;
}

/*
 * libpfm4 4.13 gives these no event select, so that they would count nothing, or cycles.  The codes
 * are those of Intel's lists of events (perfmon), as in tools/perf/pmu-events of Linux.
 */
static const struct {
	const char *name; /* of the event, and of the unit mask if the codes are of one */
	uint16_t wrong, code;
} corrections[] = {
	{ "TOPDOWN:BACKEND_BOUND_SLOTS", 0x0200, 0x02a4 }, /* Ice Lake, Sapphire Rapids */
	{ "TOPDOWN:BAD_SPEC_SLOTS", 0x0400, 0x04a4 },
	{ "TOPDOWN:BR_MISPREDICT_SLOTS", 0x0800, 0x08a4 },
	{ "TOPDOWN:MEMORY_BOUND_SLOTS", 0x1000, 0x10a4 },
	{ "TOPDOWN:SLOTS", 0x0400, 0x01a4 },	/* libpfm4: of a fixed counter */
	{ "CPU_CLK_UNHALTED", 0x0000, 0x003c }, /* Goldmont: CORE_P, which is the default */
};

#define EVENT_AND_UMASK UINT64_C(0xffff)

static void correct_code(const char *event, uint64_t *evntsel)
{
	for (size_t i = 0; i < sizeof(corrections) / sizeof(corrections[0]); i++) {
		size_t length = strlen(corrections[i].name);

		if ((*evntsel & EVENT_AND_UMASK) == corrections[i].wrong &&
		    strncasecmp(event, corrections[i].name, length) == 0 &&
		    (!event[length] || event[length] == ':'))
			*evntsel ^= corrections[i].wrong ^ corrections[i].code;
	}
}

int perfctr_libpfm_encode(const struct perfctr_pmu_info *info, const char *event, uint64_t *evntsel,
			  uint64_t *evntsel2, const struct line *line)
{
	const pfm_pmu_info_t *pmu;

	for (unsigned int i = 0; (pmu = find_pmu(info, i)); i++) {
		uint64_t codes[4] = { 0 };
		pfm_pmu_encode_arg_t encoding = {
			.size = sizeof(encoding),
			.codes = codes,
			.count = 4,
		};
		char *text;
		int error;

		if (asprintf(&text, "%s::%s", pmu->name, event) < 0)
			return perfctr_line_refuse(line, ENOMEM, "out of memory");
		error = pfm_get_os_event_encoding(text, PFM_PLM3, PFM_OS_NONE, &encoding);
		free(text);
		if (error == PFM_ERR_NOTFOUND)
			continue;
		if (error != PFM_SUCCESS)
			return libpfm_refuse(pmu, event, error, line);
		take_codes(info, codes, evntsel, evntsel2);
		correct_code(event, evntsel);
		return 0;
	}
	errno = ENOENT;
	return -1;
}

static int visit_event(const struct perfctr_pmu_info *info, const pfm_event_info_t *event,
		       const char *source,
		       int (*visit)(const struct perfctr_event_entry *entry, void *arg), void *arg)
{
	const struct family *family = perfctr_machine_family(info);
	struct perfctr_event_entry entry = {
		.name = event->name,
		.code = family->event_bits ? event->code : 0,
		.general = perfctr_machine_general(info),
		.duration = -1,
		.source = source,
		.description = event->desc,
	};
	int status = visit(&entry, arg);

	for (int a = 0; !status && a < event->nattrs; a++) {
		pfm_event_attr_info_t attribute = { .size = sizeof(attribute) };

		if (pfm_get_event_attr_info(event->idx, a, PFM_OS_NONE, &attribute) ||
		    attribute.type != PFM_ATTR_UMASK)
			continue;
		entry.umask = attribute.name;
		entry.code = family->umask_shift ? attribute.code << family->umask_shift : 0;
		entry.description = attribute.desc;
		status = visit(&entry, arg);
	}
	return status;
}

int perfctr_libpfm_visit(const struct perfctr_pmu_info *info,
			 int (*visit)(const struct perfctr_event_entry *entry, void *arg),
			 void *arg)
{
	const pfm_pmu_info_t *pmu;
	int status = 0;

	for (unsigned int i = 0; !status && (pmu = find_pmu(info, i)); i++) {
		char source[64];

		snprintf(source, sizeof(source), "libpfm4 %s", pmu->name);
		for (int e = pmu->first_event; !status && e >= 0; e = pfm_get_event_next(e)) {
			pfm_event_info_t event = { .size = sizeof(event) };

			if (pfm_get_event_info(e, PFM_OS_NONE, &event) == PFM_SUCCESS)
				status = visit_event(info, &event, source, visit, arg);
		}
	}
	return status;
}
