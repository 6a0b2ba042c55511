/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the bits of event select registers mean. */
#ifndef PERFEX_FIELDS_H
#define PERFEX_FIELDS_H

#include <perfctr_events.h>

struct field {
	unsigned int first, last; /* bits */
	const char *name;
	const char *meaning;
};

struct layout {
	const char *name;	   /* of the register */
	const struct field *field; /* ended by one without a name */
};

/* Of evntsel, evntsel2 and evntsel for a fixed counter; without fields where there is none. */
struct layouts {
	struct layout evntsel, evntsel2, fixed;
};

/* NULL: a PMU that this program does not know. */
const struct layouts *layouts_of(const struct perfctr_pmu_info *info);

#endif
