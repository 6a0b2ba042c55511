// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "names.h"

/*
 * These bits are the same in all event select registers that have them.  The place of the counter
 * mask depends on the family.
 */
#define EVNTSEL_EDGE (UINT64_C(1) << 18)
#define EVNTSEL_INV (UINT64_C(1) << 23)
#define CMASK_MAX 255

/* Fields of NetBurst's CCCR for which libpfm4 has modifiers. */
#define CCCR_THRESHOLD(evntsel) ((unsigned int)((evntsel) >> 20 & 0xf))
#define CCCR_COMPLEMENT (UINT64_C(1) << 19)
#define CCCR_EDGE (UINT64_C(1) << 24)

static bool read_modes(const char *text, struct event *event)
{
	unsigned int modes = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if ((*text | 0x20) == 'u')
			modes |= PERFCTR_MODE_USER;
		else if ((*text | 0x20) == 'k')
			modes |= PERFCTR_MODE_KERNEL;
		else
			return false;
	}
	event->modes |= modes;
	return true;
}

bool perfctr_modifier_read(const struct perfctr_pmu_info *info, const char *text,
			   struct event *event)
{
	unsigned int shift = perfctr_machine_family(info)->cmask_shift;
	unsigned long cmask;
	char *end;

	if (read_modes(text, event))
		return true;
	if (!shift)
		return false;
	if (strcasecmp(text, "e") == 0) {
		event->evntsel |= EVNTSEL_EDGE;
		return true;
	}
	if (strcasecmp(text, "i") == 0) {
		event->evntsel |= EVNTSEL_INV;
		return true;
	}
	if (strncasecmp(text, "c=", 2) || text[2] < '0' || text[2] > '9')
		return false;
	cmask = strtoul(text + 2, &end, 0);
	if (*end || cmask > CMASK_MAX)
		return false;
	event->evntsel |= (uint64_t)cmask << shift;
	return true;
}

void perfctr_modifier_write(const struct perfctr_pmu_info *info, uint64_t bits,
			    const struct line *line)
{
	unsigned int shift = perfctr_machine_family(info)->cmask_shift;

	if (shift) {
		if (bits >> shift & CMASK_MAX)
			perfctr_line_add(line, ":c=%u", (unsigned int)(bits >> shift & CMASK_MAX));
		perfctr_line_add(line, "%s%s", bits & EVNTSEL_INV ? ":i" : "",
				 bits & EVNTSEL_EDGE ? ":e" : "");
	} else if (perfctr_machine_routes(info)) {
		if (CCCR_THRESHOLD(bits))
			perfctr_line_add(line, ":thr=%u", CCCR_THRESHOLD(bits));
		perfctr_line_add(line, "%s%s", bits & CCCR_COMPLEMENT ? ":cmpl" : "",
				 bits & CCCR_EDGE ? ":e" : "");
	}
}

const char *perfctr_modifier_list(const struct perfctr_pmu_info *info)
{
	return perfctr_machine_family(info)->cmask_shift ? "u, k, c=0..255, i, e" : "u, k";
}
