// SPDX-License-Identifier: LGPL-2.1-or-later
#include <perfctr.h>

const char *perfctr_version(void)
{
	return PERFCTR_VERSION;
}
