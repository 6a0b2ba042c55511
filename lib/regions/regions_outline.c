// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The inline functions as symbols of the library, for languages that cannot use C headers.  The
 * header's own functions get other names here.
 */
#if defined(__x86_64__) || defined(__i386__)
#define perfctr_region_enter inline_region_enter
#define perfctr_region_exit inline_region_exit
#define perfctr_regions_calibrate inline_regions_calibrate
#include <perfctr_regions.h>
#undef perfctr_region_enter
#undef perfctr_region_exit
#undef perfctr_regions_calibrate

void perfctr_region_enter(struct perfctr_region *region, unsigned int n)
{
	inline_region_enter(region, n);
}

void perfctr_region_exit(struct perfctr_region *region, unsigned int n)
{
	inline_region_exit(region, n);
}

int perfctr_regions_calibrate(struct perfctr_region *array, unsigned int n)
{
	return inline_regions_calibrate(array, n);
}
#endif
